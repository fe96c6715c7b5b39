#include "sim/strategy/kv_cells.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "planner/base/check.h"

namespace tidemark {
namespace {

std::vector<int64_t> shares_of(const PhasePlan& phase) {
  std::vector<int64_t> shares;
  for (const UnitUse& use : phase.uses) {
    int64_t bytes = 0;
    for (size_t step = use.steps.lower.index(); step < use.steps.upper.index(); ++step) {
      bytes += phase.graph.op(phase.schedule.order[step]).state_read_per_cell.count();
    }
    shares.push_back(bytes);
  }
  return shares;
}

// `part` of `whole` parts of `bytes`, rounded up.
Bytes share_of_bytes(Bytes bytes, int64_t part, int64_t whole) {
  __extension__ using Wide = __int128;
  const Wide product = static_cast<Wide>(bytes.count()) * part;
  return Bytes::of(static_cast<int64_t>((product + whole - 1) / whole));
}

}  // namespace

std::optional<Bytes> kv_kept(const Scenario& scenario) {
  return scenario.engine.kv_spill == KvSpill::kNone ? std::nullopt : scenario.kv_resident;
}

Bytes most_kv_held(const Scenario& scenario, const MemoryPlan& plan, const Passes& passes) {
  const std::optional<Bytes> kept = kv_kept(scenario);
  if (!scenario.kv_in_blocks && !kept) return plan.breakdown.kv_cache;
  Simulation nothing_runs;
  MemoryLedger ledger(nothing_runs, {});
  WeightStore store(nothing_runs, scenario, plan.units, ledger, nullptr);
  KvCells cells(scenario, plan, store, ledger);
  cells.begin_pass(passes.at(passes.count() - 1));
  return ledger.now().kv_cache;
}

KvCells::KvCells(const Scenario& scenario, const MemoryPlan& plan, WeightStore& store,
                 MemoryLedger& ledger)
    : scenario_(scenario),
      plan_(plan),
      store_(store),
      ledger_(ledger),
      prefill_shares_(shares_of(plan.prefill)),
      decode_shares_(shares_of(plan.decode)),
      kept_(kv_kept(scenario)) {}

Bytes KvCells::bytes_at(int64_t cells) const {
  if (cells >= scenario_.cells_per_sequence()) return plan_.breakdown.kv_cache;
  StateOptions options = state_options(scenario_);
  options.n_cells = cells;
  return std::min(plan_.breakdown.kv_cache, state_sizes(scenario_.model, options).kv_cache());
}

void KvCells::begin_pass(const Pass& pass) {
  shares_ = pass.phase == Phase::kPrefill ? &prefill_shares_ : &decode_shares_;
  all_shares_ = std::accumulate(shares_->begin(), shares_->end(), int64_t{0});
  asked_for_ = -1;
  const int64_t block = scenario_.kv_in_blocks ? scenario_.kv_block : 1;
  const int64_t cells =
      std::min(ceil_div(pass.cells, block) * block, scenario_.cells_per_sequence());
  cells_of_pass_ = cells;
  if (!scenario_.kv_in_blocks && !kept_) return;
  if (cells == cells_) return;
  cells_ = cells;
  const Bytes before = std::exchange(filled_, bytes_at(cells));
  const Bytes kept = kept_.value_or(filled_);
  spilled_ = all_shares_ == 0 ? Bytes{} : std::max(Bytes{}, filled_ - std::min(kept, filled_));
  written_ += spilled_ > Bytes{} ? filled_ - before : Bytes{};
  const Bytes slots = spills() ? slots_beside(kept, filled_) : Bytes{};
  const Bytes reserved = scenario_.kv_in_blocks ? filled_ : plan_.breakdown.kv_cache;
  ledger_.set_kv_cache(spills() ? std::min(kept + slots, reserved) : std::min(kept, reserved));
}

Bytes KvCells::slots_beside(Bytes kept, Bytes filled) const {
  if (all_shares_ == 0 || kept >= filled) return {};
  return share_of_bytes(filled - kept, *std::ranges::max_element(*shares_), all_shares_) * 2;
}

// Less kept is more spilled, and the slots grow with that: by two parts of the largest layer for
// all of them, so with three equal layers or more there is something to gain.
std::optional<Bytes> KvCells::keep_less(Bytes excess) {
  const Bytes held = ledger_.now().kv_cache;
  const Bytes filled = bytes_at(std::max<int64_t>(cells_of_pass_, 1));
  const Bytes target = std::max(held - std::min(excess, held), Bytes{});
  if (scenario_.engine.kv_spill == KvSpill::kNone || held == Bytes{}) return std::nullopt;
  Bytes least;  // fits, or is all that can be done
  Bytes most = std::min(target, kept_.value_or(held));
  while (least < most) {
    const Bytes middle = least + (most - least + Bytes::of(1)) / 2;
    if (middle + slots_beside(middle, filled) <= target) {
      least = middle;
    } else {
      most = middle - Bytes::of(1);
    }
  }
  if (least + slots_beside(least, filled) >= held) return std::nullopt;
  if (kept_ && least >= *kept_) return std::nullopt;
  kept_ = least;
  cells_ = -1;
  return kept_;
}

Bytes KvCells::spilled_of(size_t use) const {
  const int64_t share = shares_->at(use);
  return share == 0 ? Bytes{} : share_of_bytes(spilled_, share, all_shares_);
}

void KvCells::need(size_t use, Action on_resident) {
  if (!spills() || spilled_of(use) == Bytes{}) return on_resident();
  if (asked_for_ != static_cast<int64_t>(use)) read(use);
  if (arrived_) return on_resident();
  on_resident_ = std::move(on_resident);
}

void KvCells::computing(size_t use) {
  const size_t next = use + 1;
  if (scenario_.engine.kv_spill != KvSpill::kReadAhead || !spills() || next >= shares_->size() ||
      spilled_of(next) == Bytes{})
    return;
  read(next);
}

void KvCells::read(size_t use) {
  asked_for_ = static_cast<int64_t>(use);
  arrived_ = false;
  const Bytes bytes = spilled_of(use);
  const Duration service = store_.storage().service(bytes, ReadOrder::kSequential, 1);
  store_.read_bytes("KV cache", bytes, service, [this] {
    arrived_ = true;
    if (Action on_resident = std::exchange(on_resident_, nullptr)) on_resident();
  });
}

}  // namespace tidemark
