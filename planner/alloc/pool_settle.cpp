#include "planner/alloc/pool_settle.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "planner/alloc/body_floor.h"
#include "planner/alloc/pool_spill.h"
#include "planner/alloc/portfolio.h"

namespace tidemark {
namespace {

constexpr int64_t kEvictions = 8;  // one by one, before all that ends too high goes
constexpr int64_t kReturns = 12;   // of bodies, by planning anew
// Of large pools fewer: bodies in all plans, and in all sums of loads, of what may come back.
constexpr int64_t kPlannedAnew = 300'000;
constexpr int64_t kLookedAt = 3'000'000;
constexpr int64_t kMostLooks = 1000;
constexpr int64_t kMostVisits = 30'000'000;  // of pieces, to find free space for what may come back
constexpr int64_t kNodes = 10'000;
constexpr int64_t kPlacements = 200'000;

// Byte-instants: only ranks, so rounding does no harm.
double area_of(const Body& body) {
  double area = 0;
  for (const Piece& piece : body.pieces) {
    area += static_cast<double>((piece.used.upper - piece.used.lower).count()) *
            (static_cast<double>(piece.when.upper) - static_cast<double>(piece.when.lower));
  }
  return area;
}

}  // namespace

Excerpt excerpt(const Problem& problem, const std::vector<Body>& bodies,
                const std::vector<size_t>& chosen) {
  Excerpt part{.problem = {.groups = problem.groups, .bank = problem.bank}};
  for (const size_t i : chosen) {
    part.members.insert(part.members.end(), bodies[i].members.begin(), bodies[i].members.end());
  }
  std::ranges::sort(part.members);
  for (const BufferId id : part.members) {
    Buffer& buffer = part.problem.buffers.emplace_back(problem.buffers[id.index()]);
    buffer.pool.reset();
    buffer.not_in.clear();
    buffer.cost.reset();
  }
  for (const ApartPair& pair : problem.apart) {
    const auto first = std::ranges::lower_bound(part.members, pair.first);
    const auto second = std::ranges::lower_bound(part.members, pair.second);
    if (first == part.members.end() || *first != pair.first) continue;
    if (second == part.members.end() || *second != pair.second) continue;
    part.problem.apart.push_back(
        {BufferId::of(first - part.members.begin()), BufferId::of(second - part.members.begin())});
  }
  return part;
}

bool fits(const Plan& plan, std::optional<Bytes> capacity, bool something) {
  if (something && plan.offsets.empty()) return false;
  return plan.status != PlanStatus::kInfeasible && (!capacity || plan.peak <= *capacity);
}

PlainPlanner quick_planner(const BodyOptions& options) {
  return [&options](const Problem& plain, std::optional<Bytes> capacity) {
    Plan plan = plan_by_portfolio(
        plain, {.node_limit = 0, .placements = kPlacements, .stop = options.stop});
    const bool good = !plan.offsets.empty() && (!capacity || plan.peak <= *capacity);
    if (good || !capacity || plan.status == PlanStatus::kInfeasible) return plan;
    Plan decided = decide(plain, *capacity, {.node_limit = kNodes, .stop = options.stop});
    return decided.status == PlanStatus::kLimitReached ? plan : decided;
  };
}

PoolSettlement::PoolSettlement(const Problem& problem, const std::vector<Body>& bodies,
                               const std::vector<int64_t>& costs, const PoolRequest& request,
                               const BodyOptions& options)
    : problem_(problem),
      bodies_(bodies),
      costs_(costs),
      request_(request),
      options_(options),
      quick_(quick_planner(options)),
      may_leave_(bodies.size(), false),
      stands_(bodies.size(), false),
      bases_(bodies.size()) {
  for (const size_t i : request.leaving) may_leave_[i] = true;
  asked_ = request.staying;
  asked_.insert(asked_.end(), request.leaving.begin(), request.leaving.end());
  std::ranges::sort(asked_);
}

void PoolSettlement::settle() {
  std::vector<size_t> kept = within_the_load();
  bool settled = try_all(kept);
  const int64_t evictions =
      std::clamp<int64_t>(kPlannedAnew / std::max<int64_t>(std::ssize(asked_), 1), 1, kEvictions);
  for (int64_t round = 0; round < evictions && !settled; ++round) {
    const auto worst = std::ranges::min_element(kept, {}, [&](size_t i) { return worth(i); });
    if (worst == kept.end() || !may_leave_[*worst]) break;
    kept.erase(worst);
    settled = try_all(kept);
  }
  if (!settled) one_by_one(kept);
  bring_back();
}

std::vector<size_t> PoolSettlement::standing() const {
  std::vector<size_t> all;
  for (const size_t i : asked_) {
    if (stands_[i]) all.push_back(i);
  }
  return all;
}

Plan PoolSettlement::plan() const {
  const std::vector<size_t> standing = this->standing();
  const Excerpt part = excerpt(problem_, bodies_, standing);
  const std::vector<Bytes> offsets = offsets_at(problem_, bodies_, bases_);
  Plan plan{.planner = "body-fit"};
  for (const BufferId id : part.members) plan.offsets.push_back(offsets[id.index()]);
  plan.peak = peak_of(part.problem, plan.offsets);
  plan.lower_bound = load_of(bodies_at(standing));
  plan.status = plan.peak == plan.lower_bound ? PlanStatus::kProvedOptimal : PlanStatus::kFeasible;
  return plan;
}

std::vector<size_t> PoolSettlement::within_the_load() const {
  if (!request_.capacity) return asked_;
  std::vector<SpillCandidate> leaving;
  for (const size_t i : request_.leaving) leaving.push_back({i, costs_[i]});
  std::vector<size_t> gone = spill_by_load(bodies_, request_.staying, leaving, *request_.capacity);
  std::ranges::sort(gone);
  std::vector<size_t> kept;
  std::ranges::set_difference(asked_, gone, std::back_inserter(kept));
  return kept;
}

// Of what is to be kept: that which ended above the capacity in the last plan comes first, by what
// a byte-instant of it costs; what may not leave comes last.
std::tuple<bool, bool, double> PoolSettlement::worth(size_t i) const {
  const double area = std::max(area_of(bodies_[i]), 1.0);
  return {!may_leave_[i], !too_high_.empty() && !too_high_[i],
          static_cast<double>(costs_[i]) / area};
}

bool PoolSettlement::try_all(const std::vector<size_t>& kept) {
  const Excerpt part = excerpt(problem_, bodies_, kept);
  const Plan plan = plan_one_pool(part.problem, request_.capacity, quick_, options_);
  too_high_.assign(plan.offsets.empty() ? 0 : bodies_.size(), false);
  if (!fits(plan, request_.capacity, !kept.empty())) {
    for (size_t k = 0; k < kept.size() && !too_high_.empty(); ++k) {
      const Bytes base = base_in(part, plan, kept[k]);
      too_high_[kept[k]] = base + bodies_[kept[k]].hull.upper > *request_.capacity;
    }
    return false;
  }
  stands_.assign(bodies_.size(), false);
  for (const size_t i : kept) {
    stands_[i] = true;
    bases_[i] = base_in(part, plan, i);
  }
  return true;
}

Bytes PoolSettlement::base_in(const Excerpt& part, const Plan& plan, size_t body) const {
  const BufferId first = bodies_[body].members.front();
  const auto at = std::ranges::lower_bound(part.members, first) - part.members.begin();
  return plan.offsets[static_cast<size_t>(at)] - problem_.buffers[first.index()].group_offset;
}

// Those that stay first, as a plan of their own if there is one, then largest first.
void PoolSettlement::one_by_one(std::vector<size_t> kept) {
  std::erase_if(kept, [&](size_t i) { return may_leave_[i]; });
  if (!try_all(kept)) stands_.assign(bodies_.size(), false);
  std::vector<size_t> order = asked_;
  std::ranges::stable_sort(
      order, {}, [&](size_t i) { return std::tuple(may_leave_[i], -bodies_[i].height().count()); });
  add(order);
}

// Each that finds a place among those that stand.
void PoolSettlement::add(const std::vector<size_t>& order) {
  const BodyProblem all{
      .bodies = bodies_, .distances = distances_of(problem_, bodies_), .bank = problem_.bank};
  BodyFloor floor(all);
  for (const size_t i : asked_) {
    if (stands_[i]) floor.place(i, bases_[i]);
  }
  for (const size_t i : order) {
    if (stands_[i]) continue;
    if (may_leave_[i] && floor.visits() > kMostVisits) break;
    const Body& body = bodies_[i];
    const bool fixed = body.base && body.ever_live();
    const Bytes base = fixed ? *body.base : floor.lowest(i);
    if (fixed && !floor.is_clear(i, base)) continue;
    if (request_.capacity && base + body.hull.upper > *request_.capacity) continue;
    floor.place(i, base);
    bases_[i] = base;
    stands_[i] = true;
  }
}

void PoolSettlement::bring_back() {
  std::vector<size_t> order = asked_;
  std::erase_if(order, [&](size_t i) { return stands_[i]; });
  std::ranges::stable_sort(order, {}, [&](size_t i) { return -costs_[i]; });
  add(order);
  const int64_t size = std::max<int64_t>(std::ssize(asked_), 1);
  int64_t plans = std::clamp<int64_t>(kPlannedAnew / size, 1, kReturns);
  int64_t looks = std::clamp<int64_t>(kLookedAt / size, plans, kMostLooks);
  for (const size_t i : order) {
    if (stands_[i]) continue;
    if (plans == 0 || looks-- == 0 || (options_.stop && options_.stop())) break;
    std::vector<size_t> more = standing();
    more.insert(std::ranges::lower_bound(more, i), i);
    if (request_.capacity && *request_.capacity < load_of(bodies_at(more))) continue;
    --plans;
    try_all(more);
  }
}

std::vector<Body> PoolSettlement::bodies_at(const std::vector<size_t>& some) const {
  std::vector<Body> those;
  for (const size_t i : some) those.push_back(bodies_[i]);
  return those;
}

}  // namespace tidemark
