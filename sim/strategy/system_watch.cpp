#include "sim/strategy/system_watch.h"

#include <fmt/core.h>

#include <algorithm>

#include "planner/base/units.h"
#include "planner/capacity/verdict.h"

namespace tidemark {

std::vector<SystemWatch::Rule> SystemWatch::rules_of(const Scenario& scenario) {
  const DeviceSpec& device = scenario.device;
  const Bytes available = device.app_available;
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
      rules.push_back({.name = "lmkd, critical stall", .limit = available + device.swap / 2});
      break;
    case SystemKind::kLinux:
      rules.push_back({.name = "OOM killer", .limit = available + device.swap});
      break;
    case SystemKind::kMacos:
      rules.push_back({.name = "memory pressure", .limit = available + device.swap});
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
  rules_ = rules_of(scenario);
  pending_.resize(rules_.size());
}

void SystemWatch::on_change(const CurvePoint& now) {
  if (killed_) return;
  own_ = now.total() - now.file_backed;
  note_state(own_);
  for (size_t i = 0; i < rules_.size() && !killed_; ++i) {
    const Rule& rule = rules_[i];
    const bool is_over = own_ > rule.limit;
    if (is_over && rule.grace == Duration{}) {
      kill(rule, own_);
    } else if (is_over && pending_[i] == EventId()) {
      pending_[i] = simulation_.after(rule.grace, [this, i] { kill(rules_[i], own_); });
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

void SystemWatch::kill(const Rule& rule, Bytes own) {
  killed_ = true;
  rule_ = fmt::format("{}: {} of its own over {}", rule.name, format_bytes(own),
                      format_bytes(rule.limit));
  events_.push_back({simulation_.now(), "killed", rule_});
}

}  // namespace tidemark
