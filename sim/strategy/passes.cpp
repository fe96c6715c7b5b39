#include "sim/strategy/passes.h"

#include <algorithm>
#include <utility>

namespace tidemark {
namespace {

std::vector<UnitId> units_visited(const PhasePlan& phase) {
  std::vector<UnitId> units;
  units.reserve(phase.uses.size());
  for (const UnitUse& use : phase.uses) units.push_back(use.unit);
  return units;
}

}  // namespace

Pass Passes::at(int64_t index) const {
  if (index < prefill) {
    const int64_t before = tokens_before + (index - changed_at) * ubatch;
    const int64_t tokens = std::min(ubatch, prompt_tokens - before);
    const int64_t cells = ceil_div(before + tokens, n_seq);
    return {Phase::kPrefill, index, tokens, std::min(cells, cells_limit)};
  }
  const int64_t step = index - prefill;
  const int64_t cells = checked_add(ceil_div(prompt_tokens, n_seq), step + 1);
  return {Phase::kDecode, step, n_seq, std::min(cells, cells_limit)};
}

void Passes::change_ubatch(int64_t next, int64_t tokens) {
  tokens_before = std::min(tokens_before + (next - changed_at) * ubatch, prompt_tokens);
  changed_at = next;
  ubatch = tokens;
  prefill = changed_at + ceil_div(prompt_tokens - tokens_before, ubatch);
}

Passes passes_of(const Scenario& scenario, const MemoryPlan& plan) {
  Passes passes{.ubatch = std::max<int64_t>(plan.prefill.options.n_tokens, 1),
                .n_seq = scenario.n_seq,
                .cells_limit = scenario.cells_per_sequence()};
  passes.prompt_tokens = checked_mul(std::max<int64_t>(scenario.prompt.count(), 1), passes.n_seq);
  passes.prefill = ceil_div(passes.prompt_tokens, passes.ubatch);
  passes.decode = std::max<int64_t>(scenario.generate.count() - 1, 0);
  return passes;
}

int64_t Itinerary::visits() const {
  return checked_add(checked_mul(prefill_passes, static_cast<int64_t>(prefill.size())),
                     checked_mul(decode_passes, static_cast<int64_t>(decode.size())));
}

UnitId Itinerary::unit_at(int64_t visit) const {
  const int64_t prefill_visits = prefill_passes * static_cast<int64_t>(prefill.size());
  if (visit < prefill_visits) return prefill[static_cast<size_t>(visit) % prefill.size()];
  return decode.at(static_cast<size_t>(visit - prefill_visits) % decode.size());
}

Itinerary itinerary_of(const MemoryPlan& plan, const Passes& passes) {
  return {.prefill = units_visited(plan.prefill),
          .decode = units_visited(plan.decode),
          .prefill_passes = passes.prefill,
          .decode_passes = passes.decode};
}

Itinerary itinerary_of(std::vector<UnitId> accesses) {
  return {.prefill = std::move(accesses), .prefill_passes = 1};
}

}  // namespace tidemark
