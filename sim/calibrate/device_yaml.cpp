#include "sim/calibrate/device_yaml.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "planner/base/units.h"
#include "planner/report/layout.h"

namespace tidemark {
namespace {

struct Step {
  const char* unit;
  int64_t factor;
};

constexpr std::array kBinary{Step{"GiB", int64_t{1} << 30}, Step{"MiB", int64_t{1} << 20},
                             Step{"KiB", int64_t{1} << 10}, Step{"B", 1}};
constexpr std::array kRate{Step{"GB/s", 1'000'000'000}, Step{"MB/s", 1'000'000}, Step{"kB/s", 1000},
                           Step{"B/s", 1}};
constexpr std::array kOps{Step{"GOPS", 1'000'000'000}, Step{"MOPS", 1'000'000}, Step{"kOPS", 1000},
                          Step{"OPS", 1}};
constexpr std::array kTime{Step{"ms", 1'000'000}, Step{"us", 1000}, Step{"ns", 1}};

// In the largest unit of which there is one, with all its decimals.
template <size_t count>
std::string decimal_text(int64_t value, const std::array<Step, count>& steps) {
  for (const auto& [unit, factor] : steps) {
    if (value < factor && factor > 1) continue;
    std::string digits = std::to_string(factor).substr(1);  // as many zeros as decimals
    std::string fraction = std::to_string(value % factor);
    fraction.insert(0, digits.size() - std::min(digits.size(), fraction.size()), '0');
    if (factor == 1) fraction.clear();
    fraction.erase(fraction.find_last_not_of('0') + 1);
    return fmt::format("{}{}{} {}", value / factor, fraction.empty() ? "" : ".", fraction, unit);
  }
  return "0";
}

// Three digits, for comments.
std::string short_text(double value, Unit unit) {
  const auto whole = static_cast<int64_t>(std::llround(value));
  switch (unit) {
    case Unit::kBytesPerSecond:
      return format_bandwidth(BytesPerSecond::of(whole));
    case Unit::kOpsPerSecond:
      if (value >= 1e9) return fmt::format("{:.3g} GOPS", value / 1e9);
      return fmt::format("{:.3g} MOPS", value / 1e6);
    case Unit::kNanoseconds:
      return format_duration(Duration::ns(whole));
  }
  return {};
}

std::string comment(const Figure& figure) {
  const Spread& spread = figure.spread;
  return fmt::format("mean of {}, {} to {}", spread.count, short_text(spread.least, figure.unit),
                     short_text(spread.most, figure.unit));
}

class Writer {
 public:
  explicit Writer(const Calibration& calibration) : calibration_(calibration) {}

  std::string text() && {
    const DeviceSpec& device = calibration_.device;
    plain("schema", "device/1");
    plain("name", device.name);
    plain("description", quoted(device.description));
    plain("source", quoted(device.source));
    plain("ram_total", exact_text(device.ram_total), "MemTotal");
    plain("app_available", exact_text(device.app_available), "when it was measured");
    figure("memory_bandwidth", exact_text(device.memory_bandwidth));
    threads("memory_bandwidth");
    figure("flash_read", exact_text(device.flash_read));
    figure("flash_latency", exact_text(device.flash_latency));
    if (device.cached_read) figure("cached_read", exact_text(*device.cached_read));
    if (device.mapped_read) figure("mapped_read", exact_text(*device.mapped_read));
    if (device.fresh_memory) figure("fresh_memory", exact_text(*device.fresh_memory));
    if (device.reused_memory) figure("reused_memory", exact_text(*device.reused_memory));
    figure("compute", exact_text(device.compute));
    threads("compute");
    plain("page_size", exact_text(device.page_size));
    figure("page_fault", exact_text(device.page_fault));
    if (device.isa != DeviceIsa::kUnknown) {
      plain("isa", device.isa == DeviceIsa::kX86 ? "x86" : "arm");
    }
    plain("os", std::string(name_of(device.os)));
    if (device.swap > Bytes{}) plain("swap", exact_text(device.swap), "SwapTotal");
    storage();
    ops();
    for (const std::string& note : calibration_.notes) out_ += "# " + note + "\n";
    return std::move(out_);
  }

 private:
  static std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      if (static_cast<unsigned char>(c) >= 0x20) out += c;
    }
    return out + '"';
  }

  void plain(std::string_view key, const std::string& value, const std::string& said = "") {
    out_ += fmt::format("{}: {}{}{}\n", key, value, said.empty() ? "" : "  # ", said);
  }

  void figure(const std::string& key, const std::string& value) {
    const auto found = calibration_.figures.find(key);
    plain(key, value, found == calibration_.figures.end() ? "" : comment(found->second));
  }

  void threads(std::string_view what) {
    for (const ThreadFigure& each : calibration_.by_threads) {
      if (each.what != what) continue;
      out_ +=
          fmt::format("#   {}: {}, {}\n", counted(each.threads, "thread"),
                      short_text(each.figure.spread.mean, each.figure.unit), comment(each.figure));
    }
  }

  void storage() {
    if (calibration_.storage.empty()) return;
    out_ += "storage:\n";
    for (const MeasuredPoint& measured : calibration_.storage) {
      const StoragePoint& point = measured.point;
      out_ +=
          fmt::format("  - {{order: {}, request: {}, depth: {}, rate: {}}}  # {}\n",
                      name_of(point.order), exact_text(point.request), point.depth,
                      exact_text(point.rate), comment({measured.spread, Unit::kBytesPerSecond}));
    }
  }

  void ops() {
    if (calibration_.ops.empty()) return;
    out_ +=
        "op_rates:  # one thread; behind each what its largest size made, with output and "
        "overhead\n";
    for (const MeasuredOp& op : calibration_.ops) {
      std::string entry = fmt::format("op: {}, tokens: {}, rate: {}", name_of(op.rate.kind),
                                      op.rate.tokens, exact_text(op.rate.rate));
      if (op.rate.output_rate > OpsPerSecond{}) {
        entry += ", output_rate: " + exact_text(op.rate.output_rate);
      }
      if (op.rate.overhead > Duration{}) entry += ", overhead: " + exact_text(op.rate.overhead);
      out_ += fmt::format("  - {{{}}}  # {}\n", entry, comment({op.spread, Unit::kOpsPerSecond}));
    }
  }

  const Calibration& calibration_;
  std::string out_{};
};

}  // namespace

std::string exact_text(Bytes value) {
  for (const auto& [unit, factor] : kBinary) {
    if (value.count() % factor == 0) return fmt::format("{} {}", value.count() / factor, unit);
  }
  return "0 B";
}

std::string exact_text(BytesPerSecond value) { return decimal_text(value.count(), kRate); }
std::string exact_text(OpsPerSecond value) { return decimal_text(value.count(), kOps); }
std::string exact_text(Duration value) { return decimal_text(value.count(), kTime); }

std::string to_yaml(const Calibration& calibration) { return Writer(calibration).text(); }

Listing listing_of(const Calibration& calibration) {
  Listing listing{.columns = {"what", "mean", "median", "least", "most", "spread", "repeats"}};
  for (const auto& [name, figure] : all_figures(calibration)) {
    const Spread& spread = figure.spread;
    listing.rows.push_back(
        {name, short_text(spread.mean, figure.unit), short_text(spread.median, figure.unit),
         short_text(spread.least, figure.unit), short_text(spread.most, figure.unit),
         fmt::format("{:.0f} %", width(spread) * 100.0), std::to_string(spread.count)});
  }
  return listing;
}

}  // namespace tidemark
