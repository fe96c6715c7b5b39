// The six parts a memory total is made of, in the one order and under the one name every writer
// uses.
#pragma once

#include <span>
#include <string_view>

#include "planner/report/report.h"

namespace tidemark {

struct MemoryPart {
  std::string_view key{};        // "kv_cache": Verdict::binding_term
  std::string_view bytes_key{};  // "kv_cache_bytes": JSON key and CSV column
  std::string_view label{};      // "KV cache": for people
  Bytes Breakdown::*planned = nullptr;
  Bytes CurvePoint::*simulated = nullptr;
};

std::span<const MemoryPart> memory_parts();

// "kv_cache" -> "KV cache"; a key that is no part comes back as it is.
std::string_view label_of_part(std::string_view key);

// A point of the curve as a breakdown, so that both are shown by the same code.
Breakdown breakdown_of(const CurvePoint& point);

// What was resident at the peak: the first point of the curve with the largest total; zeros for an
// empty curve.
CurvePoint point_at_peak(const SimReport& report);

// The value of one setting, "" when it is not there.
std::string setting_value(std::span<const Setting> settings, std::string_view key);

}  // namespace tidemark
