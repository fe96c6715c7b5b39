#include "planner/alloc/portfolio.h"

#include <algorithm>
#include <array>
#include <utility>

#include "planner/alloc/greedy.h"
#include "planner/alloc/skyline.h"
#include "planner/alloc/validate.h"

namespace tidemark {
namespace {

using exact::Instance;
using exact::Key;
using exact::Order;

// First and best fit walk all placed buffers for each: no more than this many.
constexpr size_t kMostBuffersForFits = 4000;
constexpr int64_t kRepetitions = 60;

constexpr std::array kFloorOrders{
    Order{{Key::kTotal, Key::kWidth, Key::kArea}}, Order{{Key::kArea, Key::kSize, Key::kWidth}},
    Order{{Key::kSize, Key::kArea, Key::kWidth}},  Order{{Key::kTotal, Key::kCliques, Key::kArea}},
    Order{{Key::kTotal, Key::kArea, Key::kWidth}},
};

int64_t peak_in_units(const Instance& instance, const std::vector<int64_t>& offsets) {
  int64_t peak = 0;
  for (size_t i = 0; i < offsets.size(); ++i) {
    peak = std::max(peak, offsets[i] + instance.items[i].size);
  }
  return peak;
}

// One pass after another from one order; what ends above the load moves to the front.
class FloorPasses {
 public:
  FloorPasses(const Instance& instance, const PortfolioOptions& options)
      : instance_(instance),
        options_(options),
        passes_(options.placements / std::max<int64_t>(1, std::ssize(instance.items))) {}

  // Each order once, then each repeated for as long as passes are left.
  void run() {
    int64_t free_passes = std::ssize(kFloorOrders);
    for (const Order& order : kFloorOrders) improve(rank_all(instance_, order), 1, free_passes);
    const int64_t each = std::min(kRepetitions, passes_ / std::ssize(kFloorOrders));
    for (const Order& order : kFloorOrders) improve(rank_all(instance_, order), each, passes_);
  }

  const std::vector<int64_t>& best() const { return best_; }

 private:
  bool done() const {
    return best_peak_ == instance_.load || (!best_.empty() && options_.stop && options_.stop());
  }

  void improve(std::vector<int32_t> order, int64_t passes, int64_t& left) {
    for (int64_t pass = 0; pass < passes && left > 0 && !done(); ++pass, --left) {
      std::vector<int64_t> offsets = place_on_skyline(instance_, order);
      std::stable_partition(order.begin(), order.end(), [&](int32_t item) {
        const auto i = static_cast<size_t>(item);
        return offsets[i] + instance_.items[i].size > instance_.load;
      });
      const int64_t peak = peak_in_units(instance_, offsets);
      if (!best_.empty() && best_peak_ <= peak) continue;
      best_peak_ = peak;
      best_ = std::move(offsets);
    }
  }

  const Instance& instance_;
  const PortfolioOptions& options_;
  int64_t passes_ = 0;
  std::vector<int64_t> best_{};
  int64_t best_peak_ = -1;
};

std::vector<Bytes> in_bytes(const Problem& problem, const Instance& instance,
                            const std::vector<int64_t>& offsets) {
  std::vector<Bytes> bytes(problem.buffers.size());
  for (size_t i = 0; i < offsets.size(); ++i) {
    bytes[instance.items[i].buffer.index()] = Bytes::of(checked_mul(offsets[i], instance.unit));
  }
  return bytes;
}

// Keeps the best plan of all stages.
class Portfolio {
 public:
  Portfolio(const Problem& problem, const PortfolioOptions& options)
      : problem_(problem),
        options_(options),
        bound_(std::max(peak_load(problem), padded_load(exact::make_instance(problem)))) {}

  Plan run() {
    const bool few = problem_.buffers.size() <= kMostBuffersForFits;
    const bool fixed =
        std::ranges::any_of(problem_.buffers, [](const Buffer& b) { return b.offset.has_value(); });
    if (few || fixed) {
      offer(with_totals(problem_, "first-fit-by-size", place_first_fit_by_size(problem_)));
      if (!done()) {
        offer(with_totals(problem_, "best-fit-by-start", place_best_fit_by_start(problem_)));
      }
    }
    offer_floors(0);
    if (!done() && options_.node_limit > 0) search_at_load();
    offer_floors(options_.placements);
    if (!done() && options_.node_limit > nodes_) search();
    best_->nodes = nodes_;
    return std::move(*best_);
  }

 private:
  bool done() const {
    return best_ &&
           (best_->status == PlanStatus::kProvedOptimal || (options_.stop && options_.stop()));
  }

  void offer(std::optional<Plan> plan) {
    if (!plan || (best_ && best_->peak <= plan->peak)) return;
    best_ = std::move(plan);
    best_->lower_bound = bound_;
    if (best_->peak == bound_) best_->status = PlanStatus::kProvedOptimal;
    if (options_.found) options_.found(*best_);
  }

  void offer_floors(int64_t placements) {
    if (done()) return;
    PortfolioOptions once = options_;
    once.placements = placements;
    offer(plan_by_lowest_floor(problem_, once));
  }

  ExactOptions exact_options(int64_t nodes) const {
    return {.node_limit = nodes,
            .seed = options_.seed,
            .stop = options_.stop,
            .run_all = options_.run_all};
  }

  // Where it can be met at all, the load is often met by the first search that tries, with little
  // more than a node for each buffer.
  void search_at_load() {
    const int64_t least = std::ssize(problem_.buffers) * 5 / 4;
    const int64_t nodes = std::max(options_.node_limit / 2, std::min(least, options_.node_limit));
    Plan plan = decide(problem_, best_->lower_bound, exact_options(nodes));
    nodes_ = plan.nodes;
    if (!plan.offsets.empty()) offer(std::move(plan));
  }

  void search() {
    ExactOptions exact = exact_options(options_.node_limit - nodes_);
    exact.found = options_.found;
    exact.bound_first = false;  // that was search_at_load()
    *best_ = minimise(problem_, std::move(*best_), exact);
    nodes_ += best_->nodes;
    if (best_->status != PlanStatus::kProvedOptimal) best_->status = PlanStatus::kFeasible;
  }

  const Problem& problem_;
  const PortfolioOptions& options_;
  Bytes bound_;
  std::optional<Plan> best_{};
  int64_t nodes_ = 0;
};

}  // namespace

PortfolioOptions quick_portfolio(const Problem& problem) {
  // A node costs time in proportion to the number of buffers, and a search that meets no trouble
  // takes one for each.
  constexpr int64_t kNodesTimesBuffers = 130'000;
  constexpr int64_t kQuickPlacements = 5'000;
  const int64_t buffers = std::max<int64_t>(1, std::ssize(problem.buffers));
  const int64_t nodes = kNodesTimesBuffers / buffers;
  return {.node_limit = 3 * nodes >= 4 * buffers ? nodes : 0, .placements = kQuickPlacements};
}

Plan with_totals(const Problem& problem, std::string_view planner, std::vector<Bytes> offsets) {
  Plan plan{.planner = std::string(planner), .offsets = std::move(offsets)};
  plan.peak = peak_of(problem, plan.offsets);
  plan.lower_bound = peak_load(problem);
  plan.status = plan.peak == plan.lower_bound ? PlanStatus::kProvedOptimal : PlanStatus::kFeasible;
  return plan;
}

bool fixed_offsets_clash(const Problem& problem) {
  Problem fixed;
  std::vector<Bytes> offsets;
  for (const Buffer& buffer : problem.buffers) {
    if (!buffer.offset || !is_ever_live(buffer)) continue;
    if (*buffer.offset < Bytes{} || !is_aligned(*buffer.offset, buffer.alignment)) return true;
    fixed.buffers.push_back(buffer);
    offsets.push_back(*buffer.offset);
  }
  return !overlaps_by_sweep(fixed, {.offsets = std::move(offsets)}).empty();
}

std::optional<Plan> plan_by_lowest_floor(const Problem& problem, const PortfolioOptions& options) {
  const auto is_fixed = [](const Buffer& b) { return b.offset.has_value(); };
  if (std::ranges::any_of(problem.buffers, is_fixed)) return std::nullopt;
  const Instance instance = exact::make_instance(problem);
  FloorPasses passes(instance, options);
  if (!instance.items.empty()) passes.run();
  return with_totals(problem, "lowest-floor", in_bytes(problem, instance, passes.best()));
}

Plan plan_by_portfolio(const Problem& problem, const PortfolioOptions& options) {
  if (fixed_offsets_clash(problem)) {
    return {.planner = "portfolio",
            .status = PlanStatus::kInfeasible,
            .lower_bound = peak_load(problem)};
  }
  return Portfolio(problem, options).run();
}

}  // namespace tidemark
