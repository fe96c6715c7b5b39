#include "sim/strategy/system_watch.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "planner/base/units.h"
#include "planner/capacity/verdict.h"

namespace tidemark {
namespace {

constexpr int64_t kWhole = 1000;  // of a ratio

// Content compressed ratio : kWhole frees the rest of itself.
Bytes freed(Bytes content, int64_t ratio) {
  __extension__ using Wide = __int128;
  return Bytes::of(
      static_cast<int64_t>(static_cast<Wide>(content.count()) * (ratio - kWhole) / ratio));
}

// "1.03 : 1".
std::string in_words(int64_t ratio) {
  return fmt::format("{} : 1", static_cast<double>(ratio) / static_cast<double>(kWhole));
}

Bytes gain_of_swap(const DeviceSpec& device) {
  const std::optional<CompressedSwap> swap = compressed_swap(device);
  return swap ? swap->freed_by_others() : device.swap;
}

}  // namespace

std::optional<CompressedSwap> compressed_swap(const DeviceSpec& device) {
  const bool compresses = device.zram.has_value() || device.os == SystemKind::kAndroid;
  if (!compresses || device.swap == Bytes{}) return std::nullopt;
  const Bytes held = std::max(Bytes{}, device.ram_total - device.app_available);
  const Bytes others = std::min(device.swap, held);
  return CompressedSwap{.others = others,
                        .tensors = device.swap - others,
                        .ratios = device.zram.value_or(ZramRatios{})};
}

Bytes CompressedSwap::freed_by_others() const { return freed(others, ratios.other_apps); }

Bytes CompressedSwap::freed_by_tensors(Bytes weights, Bytes kv_cache) const {
  const Bytes of_weights = std::min(weights, tensors);
  const Bytes of_cache = std::min(kv_cache, tensors - of_weights);
  return freed(of_weights, ratios.weights) + freed(of_cache, ratios.kv_cache);
}

std::vector<SystemWatch::Rule> SystemWatch::rules_of(const Scenario& scenario) {
  const DeviceSpec& device = scenario.device;
  const Bytes available = device.app_available;
  const Bytes with_swap = available + gain_of_swap(device);
  std::vector<Rule> rules;
  if (scenario.budget) rules.push_back({.name = "cgroup", .limit = *scenario.budget});
  switch (device.os) {
    case SystemKind::kIos:
      if (device.app_hard_limit) {
        rules.push_back({.name = "jetsam, per-process limit", .limit = *device.app_hard_limit});
      }
      rules.push_back({.name = "jetsam, memory pressure", .limit = available});
      break;
    case SystemKind::kAndroid:
      if (device.app_hard_limit) {
        rules.push_back({.name = "MemoryLimiter:AnonSwap",
                         .limit = *device.app_hard_limit + device.swap,
                         .grace = kLimiterGrace});
      }
      rules.push_back({.name = "lmkd, critical stall", .limit = with_swap, .swaps = true});
      break;
    case SystemKind::kLinux:
      rules.push_back({.name = "OOM killer", .limit = with_swap, .swaps = true});
      break;
    case SystemKind::kMacos:
      rules.push_back({.name = "memory pressure", .limit = with_swap, .swaps = true});
      break;
  }
  return rules;
}

SystemWatch::SystemWatch(Simulation& simulation, const Scenario& scenario)
    : simulation_(simulation),
      enforces_(scenario.enforce),
      tells_states_(scenario.enforce || !scenario.adapt.empty()),
      critical_(scenario.budget.value_or(scenario.device.app_available)) {
  const Bytes margin = share_of(critical_, scenario.margin_ratio);
  approaching_ = critical_ - margin;
  if (!enforces_) return;
  available_ = scenario.device.app_available;
  swap_ = compressed_swap(scenario.device);
  rules_ = rules_of(scenario);
  pending_.resize(rules_.size());
}

void SystemWatch::on_change(const CurvePoint& now) {
  if (killed_) return;
  own_ = now.total() - now.file_backed;
  note_state(own_);
  note_swapping(now);
  const Bytes by_tensors =
      swap_ ? swap_->freed_by_tensors(now.weights - now.file_backed, now.kv_cache) : Bytes{};
  for (size_t i = 0; i < rules_.size() && !killed_; ++i) {
    const Rule& rule = rules_[i];
    const Bytes limit = rule.swaps ? rule.limit + by_tensors : rule.limit;
    const bool is_over = own_ > limit;
    if (is_over && rule.grace == Duration{}) {
      kill(rule, limit);
    } else if (is_over && pending_[i] == EventId()) {
      pending_[i] = simulation_.after(rule.grace, [this, i] { kill(rules_[i], rules_[i].limit); });
      events_.push_back({simulation_.now(), "notice", rule.name});
    } else if (!is_over && pending_[i] != EventId()) {
      simulation_.cancel(pending_[i]);
      pending_[i] = {};
    }
  }
}

void SystemWatch::note_state(Bytes own) {
  const State state = own > critical_      ? State::kCritical
                      : own > approaching_ ? State::kApproaching
                                           : State::kOk;
  if (state == state_) return;
  state_ = state;
  if (!tells_states_ || events_.size() >= kMostStatesTold) return;
  const char* word = state == State::kCritical      ? "critical"
                     : state == State::kApproaching ? "approaching limit"
                                                    : "ok";
  events_.push_back({simulation_.now(), "memory state", word});
}

void SystemWatch::note_swapping(const CurvePoint& now) {
  if (!swap_) return;
  const Bytes by_others = swap_->freed_by_others();
  const bool takes_tensors = swap_->tensors > Bytes{} && own_ > available_ + by_others;
  const Swapping next = takes_tensors       ? Swapping::kTensors
                        : own_ > available_ ? Swapping::kOthers
                                            : Swapping::kNothing;
  const bool is_more = next > swapping_;
  const Swapping before = std::exchange(swapping_, next);
  if (!is_more || events_.size() >= kMostStatesTold) return;
  const ZramRatios& ratios = swap_->ratios;
  if (before == Swapping::kNothing && swap_->others > Bytes{}) {
    events_.push_back(
        {simulation_.now(), "swap",
         fmt::format("other apps, {}: {} of them free {}", in_words(ratios.other_apps),
                     format_bytes(swap_->others), format_bytes(by_others))});
  }
  if (next != Swapping::kTensors) return;
  const Bytes weights = std::min(now.weights - now.file_backed, swap_->tensors);
  const Bytes cache = std::min(now.kv_cache, swap_->tensors - weights);
  events_.push_back(
      {simulation_.now(), "swap",
       fmt::format("weights, {}, and KV cache, {}: {} and {} of them free {}",
                   in_words(ratios.weights), in_words(ratios.kv_cache), format_bytes(weights),
                   format_bytes(cache), format_bytes(swap_->freed_by_tensors(weights, cache)))});
}

void SystemWatch::kill(const Rule& rule, Bytes limit) {
  killed_ = true;
  rule_ =
      fmt::format("{}: {} of its own over {}", rule.name, format_bytes(own_), format_bytes(limit));
  events_.push_back({simulation_.now(), "killed", rule_});
}

}  // namespace tidemark
