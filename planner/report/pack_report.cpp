#include "planner/report/pack_report.h"

#include <algorithm>
#include <utility>

#include "planner/alloc/body.h"
#include "planner/alloc/body_hints.h"
#include "planner/report/pack_explain.h"

namespace tidemark {
namespace {

std::vector<PackPool> pools_of(const Problem& problem, const Plan& plan) {
  std::vector<PackPool> pools;
  for (const Pool& pool : problem.pools) {
    pools.push_back({.name = pool.name, .capacity = pool.capacity});
  }
  for (size_t k = 0; k < plan.pools.size(); ++k) pools[k].plan = plan.pools[k];
  for (const PoolId id : plan.pool_of) ++pools[id.index()].buffers;
  return pools;
}

// Groups that contradict themselves can stand nowhere.
void note_impossible_groups(const Problem& problem, PackReport& report) {
  if (problem.groups.empty()) return;
  for (const Body& body : bodies_of(problem)) {
    const Buffer& first = problem.buffers[body.members.front().index()];
    if (body.possible || !first.group) continue;
    report.notes.push_back("The alignments or fixed offsets in group " +
                           problem.groups[first.group->index()].name + " contradict each other.");
  }
}

void count_spilled(const Problem& problem, PackReport& report) {
  for (size_t i = 0; i < report.plan.pool_of.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    PoolId first = buffer.pool.value_or(PoolId{});
    while (std::ranges::count(buffer.not_in, first) > 0) first = PoolId(first.value() + 1);
    if (report.plan.pool_of[i] == first || !is_ever_live(buffer)) continue;
    ++report.spilled;
    report.spilled_bytes += buffer.size;
  }
}

// The instants at which something begins or ends, in order, each once.
std::vector<int64_t> changes_of(const Problem& problem) {
  std::vector<int64_t> instants;
  for (const Buffer& buffer : problem.buffers) {
    for (const Piece& piece : pieces_of(buffer)) {
      instants.insert(instants.end(), {piece.when.lower, piece.when.upper});
    }
  }
  std::ranges::sort(instants);
  instants.erase(std::ranges::unique(instants).begin(), instants.end());
  return instants;
}

}  // namespace

PackReport make_pack_report(std::string instance, const Problem& problem, Plan plan) {
  PackReport report{.instance = std::move(instance),
                    .buffers = static_cast<int64_t>(problem.buffers.size()),
                    .groups = std::ssize(problem.groups),
                    .apart = std::ssize(problem.apart),
                    .bank = Bytes::of(problem.bank.count()),
                    .plan = std::move(plan),
                    .load = peak_load(problem),
                    .no_reuse = no_reuse_bytes(problem)};
  explain_peak(problem, report);
  report.pools = pools_of(problem, report.plan);
  const HintCount hints = count_hints(problem, report.plan);
  report.hints = hints.hints;
  report.hints_met = hints.met;
  for (const BufferId id : report.plan.unplaced) {
    report.unplaced.push_back(problem.buffers[id.index()].name);
  }
  count_spilled(problem, report);
  note_impossible_groups(problem, report);
  return report;
}

std::vector<int64_t> instants_of(const Problem& whole, const Plan& plan, PoolId pool) {
  if (plan.offsets.empty()) return {};
  return changes_of(excerpt_of(whole, plan, pool).problem);
}

ArenaFacts map_of(const Problem& whole, const Plan& plan, PoolId pool) {
  const bool in_pools = !plan.pools.empty();
  ArenaFacts facts{
      .planner = plan.planner,
      .phase = "packed",
      .peak = in_pools ? plan.pools[pool.index()].peak : plan.peak,
      .lower_bound = in_pools ? plan.pools[pool.index()].lower_bound : plan.lower_bound};
  if (in_pools) facts.phase = "pool " + whole.pools[pool.index()].name;
  if (plan.offsets.empty()) return facts;
  const PoolExcerpt part = excerpt_of(whole, plan, pool);
  const std::vector<Buffer>& buffers = part.problem.buffers;
  const std::vector<int64_t> instants = changes_of(part.problem);
  const auto rank = [&](int64_t instant) {
    return StepIndex::of(std::ranges::lower_bound(instants, instant) - instants.begin());
  };
  for (size_t i = 0; i < buffers.size(); ++i) {
    std::optional<size_t> first;
    for (const Piece& piece : pieces_of(buffers[i])) {
      ArenaRow row{.name = buffers[i].name,
                   .offset = part.offsets[i] + piece.used.lower,
                   .size = piece.used.upper - piece.used.lower,
                   .lifetime = {rank(piece.when.lower), rank(piece.when.upper)},
                   .piece_of = first};
      if (buffers[i].group) row.body = buffers[i].group->index();
      if (!first) first = facts.rows.size();
      facts.rows.push_back(std::move(row));
    }
    facts.buffers += first ? 1 : 0;
  }
  facts.steps = std::max<int64_t>(std::ssize(instants) - 1, 0);
  facts.peak_step = rank(fullest_instant(part.problem)).value();
  return facts;
}

}  // namespace tidemark
