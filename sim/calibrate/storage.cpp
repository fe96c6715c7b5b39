#include "sim/calibrate/storage.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <thread>
#include <tuple>

#include "planner/base/units.h"
#include "sim/calibrate/fit.h"
#include "sim/replay/mapping.h"

namespace tidemark {
namespace {

// Splitmix64: where random requests go.
uint64_t next_random(uint64_t& state) {
  state += 0x9E3779B97F4A7C15U;
  uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

// Readers of one point. They run until their time is over, each for one request at least.
class Readers {
 public:
  Readers(const Rounds& rounds, const ScratchFile& file, const PointWanted& wanted)
      : rounds_(rounds),
        file_(file),
        wanted_(wanted),
        places_(static_cast<uint64_t>(file.size() / wanted.request.count())) {
    for (int64_t i = 0; i < wanted.depth; ++i) buffers_.emplace_back(wanted.request, Fault::kNow);
  }

  // Nanoseconds of a byte.
  double run(Duration span) {
    const Duration begin = rounds_.now();
    done_ = 0;
    ++seed_;
    std::vector<std::jthread> running;
    for (size_t i = 1; i < buffers_.size(); ++i) {
      running.emplace_back([this, i, end = begin + span] { read(i, end); });
    }
    read(0, begin + span);
    running.clear();
    if (failed_) std::rethrow_exception(failed_);
    const auto ns = static_cast<double>(std::max<int64_t>(1, (rounds_.now() - begin).count()));
    return ns / (static_cast<double>(done_.load()) * static_cast<double>(wanted_.request.count()));
  }

 private:
  void read(size_t reader, Duration end) {
    uint64_t state = seed_ * 1000 + reader;
    const auto size = static_cast<size_t>(wanted_.request.count());
    try {
      do {
        const uint64_t place =
            wanted_.order == ReadOrder::kRandom ? next_random(state) : next_.fetch_add(1);
        file_.read_direct(static_cast<int64_t>(place % places_) * wanted_.request.count(),
                          buffers_[reader].bytes().first(size));
        done_.fetch_add(1);
      } while (rounds_.now() < end && !rounds_.stopped());
    } catch (...) {
      if (!has_failed_.exchange(true)) failed_ = std::current_exception();
    }
  }

  const Rounds& rounds_;
  const ScratchFile& file_;
  PointWanted wanted_;
  uint64_t places_;
  uint64_t seed_ = 0;
  std::vector<Mapping> buffers_{};
  std::atomic<int64_t> done_{0};
  std::atomic<uint64_t> next_{0};
  std::atomic<bool> has_failed_{false};
  std::exception_ptr failed_{};
};

Duration time_of(const StoragePoint& point) { return transfer_time(point.request, point.rate); }

}  // namespace

std::vector<PointWanted> points_wanted(bool quick, Bytes file) {
  const auto kib = [](int64_t count) { return Bytes::of(count * 1024); };
  std::vector<PointWanted> wanted;
  const auto add = [&](ReadOrder order, Bytes request, std::initializer_list<int64_t> depths) {
    for (const int64_t depth : depths) {
      if (request <= file) wanted.push_back({order, request, depth});
    }
  };
  if (quick) {
    add(ReadOrder::kSequential, kib(128), {1});
    add(ReadOrder::kSequential, kib(8192), {1});
    add(ReadOrder::kRandom, kib(4), {1, 8});
    return wanted;
  }
  add(ReadOrder::kSequential, kib(128), {1, 4});
  add(ReadOrder::kSequential, kib(1024), {1, 4});
  add(ReadOrder::kSequential, kib(8192), {1, 4});
  add(ReadOrder::kSequential, kib(65536), {1});
  add(ReadOrder::kRandom, kib(4), {1, 8, 32});
  add(ReadOrder::kRandom, kib(64), {1, 8});
  add(ReadOrder::kRandom, kib(512), {1, 8});
  add(ReadOrder::kRandom, kib(4096), {1});
  return wanted;
}

StorageProbes::StorageProbes(Rounds& rounds, const ScratchFile& file,
                             const std::vector<PointWanted>& wanted, Duration span) {
  for (const PointWanted& each : wanted) {
    const auto readers = std::make_shared<Readers>(rounds, file, each);
    const Probe& probe = rounds.add(fmt::format("storage, {} {} x {}", name_of(each.order),
                                                each.depth, format_bytes(each.request)),
                                    [readers, span] { return readers->run(span); });
    points_.push_back({.wanted = each, .probe = &probe});
  }
}

std::vector<MeasuredPoint> StorageProbes::points() const {
  std::vector<MeasuredPoint> points;
  for (const auto& [wanted, probe] : points_) {
    const Spread spread = inverse(probe->spread(), 1e9);
    points.push_back({.point = {.order = wanted.order,
                                .request = wanted.request,
                                .depth = wanted.depth,
                                .rate = BytesPerSecond::of(rounded(spread.mean))},
                      .spread = spread});
  }
  make_monotonic(points);
  return points;
}

void make_monotonic(std::vector<MeasuredPoint>& points) {
  std::ranges::stable_sort(points, {}, [](const MeasuredPoint& measured) {
    const StoragePoint& point = measured.point;
    return std::tuple(point.order, point.depth, point.request);
  });
  for (size_t i = 1; i < points.size(); ++i) {
    const StoragePoint& smaller = points[i - 1].point;
    StoragePoint& larger = points[i].point;
    if (smaller.order != larger.order || smaller.depth != larger.depth) continue;
    const Duration least = time_of(smaller);
    if (time_of(larger) >= least) continue;
    const double rate =
        static_cast<double>(larger.request.count()) * 1e9 / static_cast<double>(least.count());
    larger.rate = BytesPerSecond::of(rounded(rate));
    // Rounded up, it may still be a little too quick.
    while (time_of(larger) < least) {
      larger.rate = BytesPerSecond::of(rounded(static_cast<double>(larger.rate.count()) * 0.9995));
    }
  }
}

}  // namespace tidemark
