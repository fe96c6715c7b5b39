#include "sim/device/storage_model.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>

#include "planner/base/check.h"

namespace tidemark {
namespace {

Duration time_of(const StoragePoint& point) { return transfer_time(point.request, point.rate); }

// `amount` of `whole` parts of `span`, rounded up.
Duration part_of(Duration span, Bytes amount, Bytes whole) {
  __extension__ using Wide = __int128;
  const Wide product = static_cast<Wide>(span.count()) * amount.count();
  return Duration::ns(static_cast<int64_t>((product + whole.count() - 1) / whole.count()));
}

// Points of one order and depth, by size.
Duration time_along(std::span<const StoragePoint> points, Bytes request, BytesPerSecond peak) {
  if (request <= points.front().request) return time_of(points.front());
  const StoragePoint& largest = points.back();
  if (request > largest.request) {
    return time_of(largest) +
           transfer_time(request - largest.request, std::max(largest.rate, peak));
  }
  const auto above = std::ranges::find_if(
      points, [request](const StoragePoint& point) { return point.request >= request; });
  const StoragePoint& below = *(above - 1);
  return time_of(below) + part_of(time_of(*above) - time_of(below), request - below.request,
                                  above->request - below.request);
}

}  // namespace

StorageModel::StorageModel(const DeviceSpec& device)
    : latency_(device.flash_latency), rate_(device.flash_read), points_(device.storage) {
  std::ranges::sort(points_, {}, [](const StoragePoint& point) {
    return std::tuple(point.order, point.depth, point.request);
  });
}

Duration StorageModel::plain(Bytes request) const {
  return latency_ + transfer_time(request, rate_);
}

Duration StorageModel::service(Bytes request, ReadOrder order, int64_t depth) const {
  check(depth >= 1, "a read has at least itself in flight");
  std::optional<Duration> best;
  for (auto first = points_.begin(); first != points_.end();) {
    const auto last = std::find_if(first, points_.end(), [first](const StoragePoint& point) {
      return std::tie(point.order, point.depth) != std::tie(first->order, first->depth);
    });
    if (first->order == order && first->depth <= depth) {
      const Duration time = time_along({first, last}, request, rate_);
      best = std::min(best.value_or(time), time);
    }
    first = last;
  }
  return best.value_or(plain(request));
}

Duration StorageModel::transfer(Bytes total, Bytes request, ReadOrder order, int64_t depth) const {
  check(request > Bytes{}, "a request has a size");
  // Requests in sequence are never slower than at random places.
  const auto each = [&](Bytes bytes) {
    return std::min(service(bytes, order, depth), service(bytes, ReadOrder::kRandom, depth));
  };
  const int64_t whole = total.count() / request.count();
  const Bytes rest = total - request * whole;
  Duration time = each(request) * whole;
  if (rest > Bytes{}) time += each(rest);
  return time;
}

}  // namespace tidemark
