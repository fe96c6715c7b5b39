#include "planner/base/quantity.h"

#include <limits>

#include "planner/base/check.h"

namespace tidemark {

Duration time_at_rate(int64_t amount, int64_t rate_per_second) {
  check(amount >= 0, "amount of work must not be negative");
  check(rate_per_second > 0, "rate must be positive");
  __extension__ using Wide = unsigned __int128;
  const Wide scaled = static_cast<Wide>(amount) * 1000000000U;
  const Wide rate = static_cast<Wide>(rate_per_second);
  const Wide nanoseconds = (scaled + rate - 1) / rate;
  if (nanoseconds > static_cast<Wide>(std::numeric_limits<int64_t>::max())) {
    throw std::overflow_error("duration out of range");
  }
  return Duration::ns(static_cast<int64_t>(nanoseconds));
}

}  // namespace tidemark
