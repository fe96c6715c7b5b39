#include "sim/calibrate/calibrate.h"

#include <fmt/core.h>

#include <algorithm>
#include <system_error>

#include "planner/base/units.h"
#include "sim/calibrate/fit.h"
#include "sim/calibrate/machine.h"
#include "sim/calibrate/memory.h"
#include "sim/replay/mapping.h"

namespace tidemark {
namespace {

using literals::operator""_MiB;
using literals::operator""_GiB;

constexpr Duration kPatience = Duration::s(80);
constexpr Duration kQuickPatience = Duration::s(10);

int64_t whole(double value) { return rounded(value); }

class Calibrator {
 public:
  explicit Calibrator(const CalibrateOptions& options)
      : options_(options), rounds_(rounds_options()), file_(options.scratch) {}

  CalibrateOutcome run() {
    const Duration began = rounds_.now();
    facts();
    const bool is_written = write_file();
    if (is_written) measure();
    if (rounds_.stopped()) return {.interrupted = true};
    if (rounds_.made() < rounds_.options().count) {
      result_.notes.push_back(
          fmt::format("each figure was measured {} times and not {}: time ran short",
                      rounds_.made(), rounds_.options().count));
    }
    result_.took = rounds_.now() - began;
    return {.calibration = std::move(result_)};
  }

 private:
  RoundsOptions rounds_options() {
    return {.count = options_.repeats > 0 ? options_.repeats : (options_.quick ? 7 : 15),
            .patience = options_.quick ? kQuickPatience : kPatience,
            .least = options_.quick ? Duration::ms(1) : Duration::ms(2),
            .stop = options_.stop,
            .on_measure = [this](std::string_view stage, int round) { show(stage, round + 1); }};
  }

  void show(std::string_view stage, int round) const {
    if (options_.progress) options_.progress(stage, round, rounds_.options().count);
  }

  Bytes file_size() const {
    if (options_.size > Bytes{}) return whole_pages(options_.size);
    return options_.quick ? 128_MiB : 1_GiB;
  }

  // More than most caches hold, and little of what there is.
  Bytes large_buffer() const {
    const Bytes most = std::clamp(result_.device.app_available / 8, 96_MiB, 1_GiB);
    return options_.quick ? 96_MiB : most;
  }

  void facts() {
    const MemoryFacts memory = memory_facts();
    DeviceSpec& device = result_.device;
    device.name = "this-machine";
    const std::string name = cpu_name();
    device.description = fmt::format("{}, {} cores, Linux",
                                     name.empty() ? "a processor without a name" : name, cores());
    device.ram_total = std::max(memory.total, Bytes::of(1));
    device.app_available = std::min(memory.available, device.ram_total);
    device.swap = memory.swap;
    device.page_size = page_size();
    device.isa = isa_of_machine();
    device.os = SystemKind::kLinux;
  }

  // False when stopped.
  bool write_file() {
    std::vector<std::byte> piece(size_t{4} << 20);
    uint64_t state = 1;
    for (std::byte& byte : piece) {
      state = state * 6'364'136'223'846'793'005U + 1;
      byte = static_cast<std::byte>(state >> 56U);
    }
    show("writing the scratch file", 0);
    while (file_.size() < file_size().count()) {
      if (rounds_.stopped()) return false;
      const int64_t left = file_size().count() - file_.size();
      file_.append(
          std::span(piece).first(static_cast<size_t>(std::min<int64_t>(left, std::ssize(piece)))));
    }
    file_.settle();
    return true;
  }

  // Memory goes last, far from where a round before has given some back.
  void measure() {
    KernelSizes sizes{.weight_pool = large_buffer()};
    if (options_.quick) {
      sizes.product_tokens = {1, 16, 64};
      sizes.attention_tokens = {1, 16};
    }
    WeightPool pool(sizes.weight_pool);
    const KernelProbes kernels(rounds_, sizes, pool);
    std::vector<ThreadProbe> products;
    std::vector<ThreadProbe> bandwidths;
    for (const int threads : thread_counts()) {
      const int64_t tokens = sizes.product_tokens.back();
      products.push_back({threads, &add_product_probe(rounds_, threads, tokens)});
      bandwidths.push_back({threads, &add_bandwidth_probe(rounds_, pool.all(), threads)});
    }
    const Duration span = options_.quick ? Duration::ms(40) : Duration::ms(100);
    const StorageProbes storage(rounds_, file_, points_wanted(options_.quick, file_size()), span);
    const MemoryProbes memory = add_memory_probes(rounds_, file_, memory_sizes());
    rounds_.run();
    if (rounds_.stopped()) return;
    take_storage(storage);
    take_memory(memory);
    take_bandwidth(bandwidths);
    take_compute(products);
    take_ops(kernels);
  }

  struct ThreadProbe {
    int threads = 1;
    const Probe* probe = nullptr;
  };

  MemorySizes memory_sizes() const {
    const Bytes most = options_.quick ? 32_MiB : 64_MiB;
    const Bytes held = std::clamp(result_.device.app_available / 8, 96_MiB, 1_GiB);
    const Bytes share = held / rounds_.options().count;
    return {.piece = std::min(file_size(), most),
            .fresh = std::clamp(2_MiB * (share / 2_MiB), 4_MiB, most),
            .most_held = held};
  }

  void take_storage(const StorageProbes& storage) {
    result_.storage = storage.points();
    DeviceSpec& device = result_.device;
    for (const MeasuredPoint& measured : result_.storage) {
      const StoragePoint& point = measured.point;
      device.storage.push_back(point);
      if (point.rate > device.flash_read) {
        device.flash_read = point.rate;
        state("flash_read", measured.spread, Unit::kBytesPerSecond);
      }
      const bool is_smallest = point.order == ReadOrder::kRandom && point.depth == 1 &&
                               device.flash_latency == Duration{};
      if (!is_smallest) continue;
      device.flash_latency = Duration::ns(
          rounded(static_cast<double>(transfer_time(point.request, point.rate).count())));
      state("flash_latency",
            inverse(measured.spread, static_cast<double>(point.request.count()) * 1e9),
            Unit::kNanoseconds);
    }
  }

  void take_memory(const MemoryProbes& memory) {
    DeviceSpec& device = result_.device;
    device.fresh_memory = rate("fresh_memory", *memory.fresh_memory);
    device.reused_memory = rate("reused_memory", *memory.reused_memory);
    device.cached_read = rate("cached_read", *memory.cached_read);
    if (memory.mapped_read != nullptr) {
      device.mapped_read = rate("mapped_read", *memory.mapped_read);
    } else {
      result_.notes.emplace_back(
          "the scratch folder keeps files in memory: storage is that memory, and a mapped file was "
          "not measured");
    }
    const Spread fault = memory.mapped_fault->spread();
    device.page_fault = Duration::ns(whole(fault.median));
    state("page_fault", fault, Unit::kNanoseconds);
    result_.notes.push_back(fmt::format(
        "page_fault is of a mapped file in the page cache; a fresh anonymous page takes {:.0f} ns",
        memory.anonymous_fault->spread().median));
  }

  void take_bandwidth(const std::vector<ThreadProbe>& probes) {
    for (const auto& [threads, probe] : probes) {
      const Spread rate = probe->spread();
      by_threads("memory_bandwidth", threads, {rate, Unit::kBytesPerSecond});
      result_.device.memory_bandwidth =
          std::max(result_.device.memory_bandwidth, BytesPerSecond::of(whole(rate.median)));
    }
  }

  void take_compute(const std::vector<ThreadProbe>& probes) {
    for (const auto& [threads, probe] : probes) {
      const Spread rate = probe->spread();
      by_threads("compute", threads, {rate, Unit::kOpsPerSecond});
      if (threads == 1) result_.device.compute = OpsPerSecond::of(whole(rate.median));
    }
  }

  void take_ops(const KernelProbes& kernels) {
    result_.ops = kernels.ops();
    for (const MeasuredOp& op : result_.ops) {
      result_.device.op_rates.push_back(op.rate);
      if (op.rate.kind == OpKind::kMatMul && op.rate.tokens == 1) raise_bandwidth(op.spread);
    }
  }

  // A product of one token reads a byte for two operations. Where it reads quicker than the loop
  // that measured memory, memory is as quick as that.
  void raise_bandwidth(const Spread& operations) {
    const Spread rate = scaled(operations, 0.5);
    const BytesPerSecond read = BytesPerSecond::of(whole(rate.median));
    if (read <= result_.device.memory_bandwidth) return;
    result_.device.memory_bandwidth = read;
    state("memory_bandwidth", rate, Unit::kBytesPerSecond);
    result_.notes.emplace_back("memory_bandwidth is that of products of one token");
  }

  BytesPerSecond rate(const char* key, const Probe& probe) {
    const Spread spread = probe.spread();
    state(key, spread, Unit::kBytesPerSecond);
    return BytesPerSecond::of(whole(spread.median));
  }

  void state(const char* key, const Spread& spread, Unit unit) {
    result_.figures[key] = {spread, unit};
  }

  // The device's number is that of one thread where ops take one, of the most where they share.
  void by_threads(const char* what, int threads, const Figure& figure) {
    result_.by_threads.push_back({what, threads, figure});
    Figure& kept = result_.figures[what];
    if (kept.spread.count == 0 || figure.spread.median > kept.spread.median) {
      const bool is_of_one = std::string_view(what) == "compute" && threads > 1;
      if (!is_of_one) kept = figure;
    }
  }

  // One thread is always there: an op takes one.
  std::vector<int> thread_counts() const {
    std::vector<int> counts = options_.threads;
    if (counts.empty()) counts = {1, cores()};
    counts.push_back(1);
    std::ranges::sort(counts);
    const auto [first, last] = std::ranges::unique(counts);
    counts.erase(first, last);
    return counts;
  }

  const CalibrateOptions& options_;
  Rounds rounds_;
  ScratchFile file_;
  Calibration result_{};
};

std::string too_wide(const std::string& what, const Spread& spread) {
  return fmt::format("{}: the middle half of {} repeats spans {:.0f} % of the median", what,
                     spread.count, width(spread) * 100.0);
}

}  // namespace

std::vector<std::string> wide_figures(const Calibration& calibration) {
  std::vector<std::string> lines;
  const auto look = [&](const std::string& what, const Spread& spread) {
    if (width(spread) > kWideSpread) lines.push_back(too_wide(what, spread));
  };
  for (const auto& [key, figure] : calibration.figures) look(key, figure.spread);
  for (const MeasuredPoint& measured : calibration.storage) {
    look(fmt::format("storage, {} {} x {}", name_of(measured.point.order), measured.point.depth,
                     format_bytes(measured.point.request)),
         measured.spread);
  }
  for (const MeasuredOp& op : calibration.ops) {
    look(fmt::format("{} of {} tokens", name_of(op.rate.kind), op.rate.tokens), op.spread);
  }
  return lines;
}

Result<CalibrateOutcome> calibrate(const CalibrateOptions& options) {
  try {
    const int64_t room = free_space(options.scratch);
    const int64_t needed = std::max<int64_t>(options.size.count(), int64_t{128} << 20);
    if (room < needed) {
      return one_error(
          "--scratch",
          fmt::format("{} has {} left, {} are needed", in_quotes(options.scratch.string()),
                      format_bytes(Bytes::of(room)), format_bytes(Bytes::of(needed))),
          "name another folder, or a smaller --size");
    }
    return Calibrator(options).run();
  } catch (const std::system_error& failed) {
    return one_error("calibrate", failed.what(), "the scratch folder is --scratch, or TMPDIR");
  }
}

}  // namespace tidemark
