#include "sim/calibrate/calibration.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "planner/base/units.h"
#include "planner/report/layout.h"
#include "sim/calibrate/fit.h"

namespace tidemark {
namespace {

class Taker {
 public:
  explicit Taker(Calibration& calibration) : result_(calibration) {}

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
    device.cached_read = rate("cached_read", *memory.cached_read);
    if (memory.mapped_read != nullptr) {
      device.mapped_read = rate("mapped_read", *memory.mapped_read);
    } else {
      result_.notes.emplace_back(
          "the scratch folder keeps files in memory: storage is that memory, and a mapped file was "
          "not measured");
    }
    const Spread fault = memory.mapped_fault->spread();
    device.page_fault = Duration::ns(rounded(fault.mean));
    state("page_fault", fault, Unit::kNanoseconds);
    result_.notes.push_back(fmt::format(
        "page_fault is of a mapped file in the page cache; a fresh anonymous page takes {:.0f} ns",
        memory.anonymous_fault->spread().mean));
  }

  void take_unused(const Spread& unused) {
    const BytesPerSecond slow = BytesPerSecond::of(rounded(1e9 / unused.mean));
    const BytesPerSecond fresh = *result_.device.fresh_memory;
    if (slow.count() > fresh.count() / 2) return;
    result_.notes.push_back(
        fmt::format("memory that nobody used for a while is slower to take; to predict a load into "
                    "such: fresh_memory: {}, reused_memory: {}",
                    format_bandwidth(slow), format_bandwidth(fresh)));
  }

  void take_bandwidth(std::span<const ThreadProbe> probes) {
    for (const auto& [threads, probe] : probes) {
      const Spread rate = inverse(probe->spread(), 1e9);
      by_threads("memory_bandwidth", threads, {rate, Unit::kBytesPerSecond});
      result_.device.memory_bandwidth =
          std::max(result_.device.memory_bandwidth, BytesPerSecond::of(rounded(rate.mean)));
    }
  }

  void take_compute(std::span<const ThreadProbe> probes) {
    for (const auto& [threads, probe] : probes) {
      const Spread rate = inverse(probe->spread(), 1e9);
      by_threads("compute", threads, {rate, Unit::kOpsPerSecond});
      if (threads == 1) result_.device.compute = OpsPerSecond::of(rounded(rate.mean));
    }
  }

  void take_ops(const KernelProbes& kernels) {
    result_.ops = kernels.ops();
    for (const MeasuredOp& op : result_.ops) {
      result_.device.op_rates.push_back(op.rate);
      if (op.rate.kind == OpKind::kMatMul && op.rate.tokens == 1) raise_bandwidth(op.spread);
    }
  }

 private:
  // A product of one token reads a byte for two operations. Where it reads quicker than the loop
  // that measured memory, memory is as quick as that.
  void raise_bandwidth(const Spread& operations) {
    const Spread rate = scaled(operations, 0.5);
    const BytesPerSecond read = BytesPerSecond::of(rounded(rate.mean));
    if (read <= result_.device.memory_bandwidth) return;
    result_.device.memory_bandwidth = read;
    state("memory_bandwidth", rate, Unit::kBytesPerSecond);
    result_.notes.emplace_back("memory_bandwidth is that of products of one token");
  }

  BytesPerSecond rate(const char* key, const Probe& probe) {
    const Spread spread = inverse(probe.spread(), 1e9);
    state(key, spread, Unit::kBytesPerSecond);
    return BytesPerSecond::of(rounded(spread.mean));
  }

  void state(const char* key, const Spread& spread, Unit unit) {
    result_.figures[key] = {spread, unit};
  }

  // The device's number is that of one thread where ops take one, of the most where they share.
  void by_threads(const char* what, int threads, const Figure& figure) {
    result_.by_threads.push_back({what, threads, figure});
    Figure& kept = result_.figures[what];
    if (kept.spread.count == 0 || figure.spread.mean > kept.spread.mean) {
      const bool is_of_one = std::string_view(what) == "compute" && threads > 1;
      if (!is_of_one) kept = figure;
    }
  }

  Calibration& result_;
};

std::string too_wide(const std::string& what, const Spread& spread) {
  return fmt::format("{}: the middle half of {} repeats spans {:.0f} % of the median", what,
                     spread.count, width(spread) * 100.0);
}

}  // namespace

void take_figures(const AllProbes& probes, Calibration& calibration) {
  Taker taker(calibration);
  taker.take_storage(probes.storage);
  taker.take_memory(probes.memory);
  taker.take_unused(probes.unused_memory);
  taker.take_bandwidth(probes.bandwidths);
  taker.take_compute(probes.products);
  taker.take_ops(probes.kernels);
}

std::vector<NamedFigure> all_figures(const Calibration& calibration) {
  std::vector<NamedFigure> all;
  for (const auto& [key, figure] : calibration.figures) all.push_back({key, figure});
  for (const ThreadFigure& each : calibration.by_threads) {
    all.push_back({fmt::format("{}, {}", each.what, counted(each.threads, "thread")), each.figure});
  }
  for (const MeasuredPoint& measured : calibration.storage) {
    all.push_back({fmt::format("{} {} x {}", name_of(measured.point.order), measured.point.depth,
                               format_bytes(measured.point.request)),
                   {measured.spread, Unit::kBytesPerSecond}});
  }
  for (const MeasuredOp& op : calibration.ops) {
    all.push_back({fmt::format("{}, {}", name_of(op.rate.kind), counted(op.rate.tokens, "token")),
                   {op.spread, Unit::kOpsPerSecond}});
  }
  return all;
}

std::vector<std::string> wide_figures(const Calibration& calibration) {
  std::vector<std::string> lines;
  for (const auto& [name, figure] : all_figures(calibration)) {
    if (width(figure.spread) > kWideSpread) lines.push_back(too_wide(name, figure.spread));
  }
  return lines;
}

}  // namespace tidemark
