// What a run may do beside loading and computing: serve several requests, and give memory up when
// it runs short. What each choice does stands in sim/strategy/serving_run.h and control.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "planner/base/bytes.h"

namespace tidemark {

// Requests of a trace, or drawn by chance; neither: one run of prompt and generate.
struct ServingChoices {
  std::string file{};               // where the trace was read, for messages
  std::string text{};               // what it says
  int64_t count = 0;                // drawn instead, when above 0
  int64_t per_million_seconds = 0;  // that arrive
  std::optional<Bytes> kv_pool{};   // of the cache they share
  bool operator==(const ServingChoices&) const = default;

  bool any() const { return count > 0 || !file.empty(); }
};

// What is given up when memory nears the limit.
enum class AdaptAction { kDropPrefetch, kShrinkCache, kShrinkUbatch, kShortenContext, kSpillKv };

inline constexpr std::array<std::pair<AdaptAction, std::string_view>, 5> kAdaptActions = {{
    {AdaptAction::kDropPrefetch, "drop-prefetch"},
    {AdaptAction::kShrinkCache, "shrink-cache"},
    {AdaptAction::kShrinkUbatch, "shrink-ubatch"},
    {AdaptAction::kShortenContext, "shorten-context"},
    {AdaptAction::kSpillKv, "spill-kv"},
}};

constexpr std::string_view name_of(AdaptAction action) {
  for (const auto& [kind, name] : kAdaptActions) {
    if (kind == action) return name;
  }
  return "";
}

constexpr std::optional<AdaptAction> parse_adapt_action(std::string_view name) {
  for (const auto& [kind, its_name] : kAdaptActions) {
    if (its_name == name) return kind;
  }
  return std::nullopt;
}

}  // namespace tidemark
