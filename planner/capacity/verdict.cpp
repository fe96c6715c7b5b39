#include "planner/capacity/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>

namespace tidemark {

Bytes share_of(Bytes whole, double ratio) {
  // long double holds every 63-bit count exactly, so a ratio of 1 gives back the whole.
  const long double product = static_cast<long double>(whole.count()) * ratio;
  const long double largest = static_cast<long double>(std::numeric_limits<int64_t>::max());
  if (!(std::fabs(product) <= largest)) throw std::overflow_error("share out of range");
  return Bytes::of(std::llround(product));
}

DeviceLimit device_limit(const DeviceSpec& device, double margin_ratio,
                         std::optional<Bytes> budget) {
  DeviceLimit limit{.total = device.ram_total,
                    .os = device.ram_total - device.app_available,
                    .available = device.app_available,
                    .margin = share_of(device.app_available, std::clamp(margin_ratio, 0.0, 1.0)),
                    .rule = "available - margin"};
  limit.limit = limit.available - limit.margin;
  if (device.app_hard_limit && *device.app_hard_limit < limit.limit) {
    limit.limit = *device.app_hard_limit;
    limit.rule = "per-app limit";
  }
  if (budget) {
    limit.limit = *budget;
    limit.rule = "--budget";
  }
  return limit;
}

Verdict verdict(const Breakdown& breakdown, const DeviceLimit& limit) {
  struct Term {
    std::string_view name{};
    Bytes bytes{};
  };
  const std::array<Term, 6> terms = {{{"weights", breakdown.weights},
                                      {"kv_cache", breakdown.kv_cache},
                                      {"recurrent_state", breakdown.recurrent_state},
                                      {"compute", breakdown.compute},
                                      {"output", breakdown.output},
                                      {"runtime", breakdown.runtime}}};
  // The first of equals, so that the answer does not depend on anything but the order above.
  const auto largest = std::ranges::max_element(terms, {}, &Term::bytes);
  const Bytes slack = limit.limit - breakdown.total();
  return {.fits = slack >= Bytes{}, .slack = slack, .binding_term = std::string(largest->name)};
}

}  // namespace tidemark
