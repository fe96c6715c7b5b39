#include "sim/strategy/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "planner/base/units.h"
#include "sim/strategy/decoder.h"

namespace tidemark {
namespace {

Bytes own(const CurvePoint& point) { return point.total() - point.file_backed; }

}  // namespace

void Control::on_change(const CurvePoint& now) {
  if (parts_.watch.is_short() && (!worst_ || own(now) > own(*worst_))) worst_ = now;
}

void Control::before_pass(int64_t next) {
  if (!worst_ && parts_.watch.is_short()) worst_ = parts_.ledger.now();
  if (!worst_ || next >= parts_.input.passes.count()) return;
  for (const AdaptAction action : parts_.scenario.adapt) {
    const size_t place = parts_.watch.events().size();
    const std::string done = take(action, next);
    if (done.empty()) continue;
    tell(fmt::format("{}: {}", name_of(action), done), place);
    worst_.reset();
    return;
  }
  worst_.reset();
  if (std::exchange(has_given_up_, true)) return;
  tell("none of those stated can be taken", parts_.watch.events().size());
}

std::string Control::take(AdaptAction action, int64_t next) {
  switch (action) {
    case AdaptAction::kDropPrefetch:
      return parts_.loader.drop_prefetch();
    case AdaptAction::kShrinkCache:
      return shrink_cache();
    case AdaptAction::kShrinkUbatch:
      return shrink_ubatch(next);
    case AdaptAction::kShortenContext:
      return shorten_context(next);
    case AdaptAction::kSpillKv:
      return spill_kv();
  }
  return "";
}

Bytes Control::excess() const { return own(*worst_) - parts_.watch.approaching(); }

std::string Control::shrink_cache() {
  if (parts_.experts != nullptr) return shrink_experts();
  if (parts_.cache == nullptr) return "";
  const Bytes least =
      least_cache_capacity(parts_.input.itinerary, parts_.plan.units, parts_.input.pinned);
  const Bytes before = parts_.cache->capacity();
  const Bytes after = std::max(std::min(before, worst_->weights) - excess(), least);
  if (after >= before) return "";
  for (const UnitId unit : parts_.cache->set_capacity(after)) parts_.store.release(unit);
  const Bytes reached = parts_.cache->capacity();  // what is being read stays
  if (reached >= before) return "";
  return fmt::format("{} instead of {}", format_bytes(reached), format_bytes(before));
}

std::string Control::shrink_experts() {
  const Bytes before = parts_.experts->capacity();
  for (const UnitId unit : parts_.experts->shrink(excess())) parts_.store.release(unit);
  const Bytes after = parts_.experts->capacity();
  if (after >= before) return "";
  return fmt::format("{} of experts instead of {}", format_bytes(after), format_bytes(before));
}

// The plan for half the ubatch says what its arena takes.
std::string Control::shrink_ubatch(int64_t next) {
  const Scenario& scenario = parts_.scenario;
  Passes& passes = parts_.input.passes;
  const int64_t half = passes.ubatch / 2;
  const bool is_ours =
      scenario.engine.policy == EnginePolicy::kPlanned && !counts_live_activations(scenario.engine);
  const bool is_announced = scenario.strategy == StrategyKind::kBlockCache &&
                            scenario.cache.policy == CachePolicy::kNextUse;
  if (has_least_arena_ || next >= passes.prefill || half < std::max(scenario.n_seq, kLeastUbatch) ||
      !is_ours || is_announced)
    return "";
  Passes after = passes;
  after.change_ubatch(next, half);
  Itinerary itinerary = parts_.input.itinerary;
  itinerary.prefill_passes = after.prefill;
  if (itinerary.visits() > (parts_.trace != nullptr ? kMostTracedEvents / 2 : kMostVisits))
    return "";

  Scenario smaller = scenario;
  smaller.n_ubatch = Tokens(half);
  smaller.n_outputs = std::min(smaller.n_outputs, std::max(half, smaller.n_seq));
  const Result<MemoryPlan> plan = plan_scenario(smaller);
  has_least_arena_ = !plan || plan->breakdown.compute >= parts_.ledger.now().compute;
  if (has_least_arena_) return "";
  passes = after;
  parts_.input.itinerary.prefill_passes = after.prefill;
  parts_.ledger.set_compute(plan->breakdown.compute);
  return fmt::format("{} tokens, an arena of {}", half, format_bytes(plan->breakdown.compute));
}

std::string Control::shorten_context(int64_t next) {
  Passes& passes = parts_.input.passes;
  if (next < passes.prefill) return "";
  passes.decode = next - passes.prefill;
  parts_.input.itinerary.decode_passes = passes.decode;
  return fmt::format("generation stops after {} tokens", format_count(passes.decode + 1));
}

std::string Control::spill_kv() {
  const std::optional<Bytes> kept = parts_.cells.keep_less(excess());
  return kept ? fmt::format("{} of the cache stay", format_bytes(*kept)) : "";
}

// Before the changes of state that it brought about.
void Control::tell(std::string detail, size_t place) {
  const SimTime now = parts_.simulation.now();
  if (parts_.trace != nullptr) {
    parts_.trace->instants.push_back({.name = "action", .time = now, .detail = detail});
  }
  std::vector<SimEvent>& events = parts_.watch.events();
  events.insert(events.begin() + static_cast<std::ptrdiff_t>(place),
                {now, "action", std::move(detail)});
}

}  // namespace tidemark
