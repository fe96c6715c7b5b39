#include "planner/capacity/op_rate.h"

#include <algorithm>

namespace tidemark {
namespace {

// The same op with the tokens that a point was measured with.
Duration time_at(const OpRate& point, const OpSize& size, int64_t rows) {
  Duration time = point.overhead + compute_time(checked_mul(size.row_work, rows), point.rate);
  if (point.output_rate > OpsPerSecond{}) {
    time += compute_time(checked_mul(size.row_outputs, rows), point.output_rate);
  }
  return time;
}

// `amount` of `whole` parts of `span`, which may be negative.
Duration part_of(Duration span, int64_t amount, int64_t whole) {
  __extension__ using Wide = __int128;
  return Duration::ns(static_cast<int64_t>(static_cast<Wide>(span.count()) * amount / whole));
}

}  // namespace

std::optional<OpKind> parse_op_kind(std::string_view name) {
  for (int kind = 0; kind <= static_cast<int>(OpKind::kPlainLayer); ++kind) {
    if (name_of(static_cast<OpKind>(kind)) == name) return static_cast<OpKind>(kind);
  }
  return std::nullopt;
}

std::optional<Duration> measured_time(std::span<const OpRate> rates, const OpSize& size) {
  if (size.rows <= 0) return std::nullopt;
  const OpRate* below = nullptr;  // the nearest with at most as many tokens
  const OpRate* above = nullptr;
  for (const OpRate& point : rates) {
    if (point.kind != size.kind) continue;
    const bool is_below = point.tokens <= size.rows;
    if (is_below && (below == nullptr || point.tokens > below->tokens)) below = &point;
    if (!is_below && (above == nullptr || point.tokens < above->tokens)) above = &point;
  }
  if (below == nullptr && above == nullptr) return std::nullopt;
  if (below == nullptr) return time_at(*above, size, size.rows);
  if (above == nullptr) return time_at(*below, size, size.rows);
  const Duration low = time_at(*below, size, below->tokens);
  const Duration high = time_at(*above, size, above->tokens);
  return low + part_of(high - low, size.rows - below->tokens, above->tokens - below->tokens);
}

}  // namespace tidemark
