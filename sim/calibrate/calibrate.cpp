#include "sim/calibrate/calibrate.h"

#include <fmt/core.h>

#include <algorithm>
#include <system_error>

#include "planner/base/units.h"
#include "sim/calibrate/fit.h"
#include "sim/calibrate/machine.h"
#include "sim/calibrate/memory.h"
#include "sim/replay/mapping.h"
#include "sim/replay/resident.h"

namespace tidemark {
namespace {

using literals::operator""_MiB;
using literals::operator""_GiB;

constexpr Duration kPatience = Duration::s(80);
constexpr Duration kQuickPatience = Duration::s(10);

Bytes file_size(const CalibrateOptions& options) {
  if (options.size > Bytes{}) return whole_pages(options.size);
  return options.quick ? 128_MiB : 3_GiB;  // as large as a model
}

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
    device.app_available =
        std::min(available_memory().value_or(memory.available), device.ram_total);
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
    while (file_.size() < file_size(options_).count()) {
      if (rounds_.stopped()) return false;
      const int64_t left = file_size(options_).count() - file_.size();
      file_.append(
          std::span(piece).first(static_cast<size_t>(std::min<int64_t>(left, std::ssize(piece)))));
      const bool is_much = file_.size() % (64_MiB).count() == 0;
      if (is_much) file_.settle();  // a stop need not wait for all of it
    }
    file_.settle();
    return true;
  }

  void measure() {
    const Bytes piece = std::min(file_size(options_), options_.quick ? 32_MiB : 64_MiB);
    show("unused memory", 0);
    const Spread unused = unused_memory(rounds_, piece, large_buffer() / piece);
    if (rounds_.stopped()) return;  // the buffers that follow take seconds to make
    KernelSizes sizes{.weight_pool = large_buffer()};
    if (options_.quick) {
      sizes.product_tokens = {1, 16, 64};
      sizes.attention_tokens = {1, 16};
      sizes.expert_tokens = {1, 16};
    }
    WeightPool pool(sizes.weight_pool);
    if (rounds_.stopped()) return;
    const KernelProbes kernels(rounds_, sizes, pool);
    std::vector<ThreadProbe> products;
    std::vector<ThreadProbe> bandwidths;
    for (const int threads : thread_counts()) {
      const int64_t tokens = sizes.product_tokens.back();
      products.push_back({threads, &add_product_probe(rounds_, threads, tokens)});
      bandwidths.push_back({threads, &add_bandwidth_probe(rounds_, pool.all(), threads)});
    }
    const Duration span = options_.quick ? Duration::ms(40) : Duration::ms(100);
    const StorageProbes storage(rounds_, file_, points_wanted(options_.quick, file_size(options_)),
                                span);
    const MemoryProbes memory = add_memory_probes(rounds_, file_, piece);
    rounds_.run();
    if (rounds_.stopped()) return;
    take_figures({.kernels = kernels,
                  .products = products,
                  .bandwidths = bandwidths,
                  .storage = storage,
                  .memory = memory,
                  .unused_memory = unused},
                 result_);
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

}  // namespace

Result<CalibrateOutcome> calibrate(const CalibrateOptions& options) {
  try {
    const int64_t room = free_space(options.scratch);
    const int64_t needed = file_size(options).count();
    if (room < needed) {
      return one_error(
          "--scratch",
          fmt::format("{} has {} left, {} are needed", in_quotes(options.scratch.string()),
                      format_bytes(Bytes::of(room)), format_bytes(Bytes::of(needed))),
          "name another folder, or a smaller --size");
    }
    const Bytes least = options.quick ? 256_MiB : 512_MiB;
    if (const Bytes memory = available_memory().value_or(least); memory < least) {
      return one_error("calibrate",
                       fmt::format("{} of memory are available, {} are needed",
                                   format_bytes(memory), format_bytes(least)),
                       "end other programs, or raise the limit of the control group");
    }
    return Calibrator(options).run();
  } catch (const std::system_error& failed) {
    return one_error("calibrate", failed.what(), hint_of(failed));
  }
}

}  // namespace tidemark
