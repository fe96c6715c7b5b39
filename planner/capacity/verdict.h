// Limit and verdict.
//   available = app_available;  margin = margin_ratio x available (rounded to nearest byte);
//   limit = min(available - margin, hard limit);  a budget replaces the limit.
//   3 GB device, 0.5 GB system: available 2.5 GB, margin 0.25 GB, limit 2.25 GB. Checked by
//   VerdictTest.RedLine.
#pragma once

#include <optional>
#include <string>

#include "planner/capacity/memory_plan.h"

namespace tidemark {

struct DeviceLimit {
  Bytes total{};
  Bytes os{};  // total - available
  Bytes available{};
  Bytes margin{};
  Bytes limit{};
  std::string rule{};  // "available - margin", "per-app limit", "--budget"
};

// ratio x whole, to the nearest byte. Throws std::overflow_error.
Bytes share_of(Bytes whole, double ratio);

DeviceLimit device_limit(const DeviceSpec& device, double margin_ratio,
                         std::optional<Bytes> budget);

struct Verdict {
  bool fits = false;
  Bytes slack{};               // limit - total; negative when it does not fit
  std::string binding_term{};  // largest part of the total: "weights", "kv_cache", "compute", ...
};

Verdict verdict(const Breakdown& breakdown, const DeviceLimit& limit);

}  // namespace tidemark
