#include "planner/alloc/exact_climb.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace tidemark::exact {
namespace {

constexpr int64_t kStarts = 20;  // orders drawn before a climb begins
// A run gives up after so many nodes, or so many without progress, at least.
constexpr int64_t kNodesPerRun = 2000;
constexpr int64_t kNodesPerItem = 5;
constexpr int64_t kIdleNodes = 300;
constexpr int64_t kMostIdleRuns = 150;  // without progress, before a new climb begins
constexpr int64_t kTolerance = 500;     // 1/500 of the part's area
constexpr uint64_t kDisturbed = 10;     // one factor in so many is drawn anew

int32_t shapes_of(const Instance& instance) {
  int32_t shapes = 0;
  for (const Item& item : instance.items) shapes = std::max(shapes, item.shape + 1);
  return shapes;
}

}  // namespace

Climb::Climb(const Instance& instance, std::vector<int32_t> part, uint64_t seed)
    : instance_(instance),
      part_(std::move(part)),
      shapes_(shapes_of(instance)),
      seed_(mixed(seed)),
      one_in_(kDisturbed),
      starts_(kStarts) {
  const std::vector<int64_t> areas = areas_of(instance);
  for (const int32_t item : part_) area_ += areas[static_cast<size_t>(item)];
  tolerance_ = area_ / kTolerance;
  current_.left = least_ = std::numeric_limits<int64_t>::max();
}

uint64_t Climb::draw(uint64_t below) { return mixed(seed_ ^ mixed(draws_++)) % below; }

Climb::Variant Climb::drawn() {
  Variant variant{.order = random_order(seed_, draws_++)};
  variant.factors = factors_of(variant.order, shapes_);
  return variant;
}

// Mostly some of the factors; sometimes the choice or the place of two keys.
Climb::Variant Climb::disturbed(const Variant& from) {
  constexpr std::array kChoices{Choice::kFewest, Choice::kTightest, Choice::kLowest};
  Variant variant{.order = from.order, .factors = from.factors};
  const uint64_t what = draw(8);
  if (what == 0) {
    auto& keys = variant.order.keys;
    std::swap(keys[draw(keys.size())], keys[draw(keys.size())]);
  } else if (what == 1) {
    variant.order.choice = kChoices[draw(kChoices.size())];
  } else {
    const uint64_t noise = uint64_t{8} << draw(7);
    for (uint32_t& factor : variant.factors) {
      if (draw(one_in_) != 0) continue;
      factor = static_cast<uint32_t>(kOnce + draw(1024) * noise - 512 * noise);
    }
  }
  return variant;
}

// What solved is run again as it is: the capacity has changed since.
std::vector<Climb::Variant> Climb::next_variants(size_t count) {
  std::vector<Variant> variants;
  if (std::exchange(solved_, false)) variants.push_back(current_);
  while (variants.size() < count) {
    variants.push_back(starts_ > 0 ? drawn() : disturbed(current_));
    starts_ = std::max<int64_t>(0, starts_ - 1);
  }
  return variants;
}

void Climb::begin_again() {
  constexpr std::array<int64_t, 4> kTolerances{100, 300, 1000, 10'000};
  constexpr std::array<uint64_t, 4> kRates{3, 10, 30, 100};
  tolerance_ = area_ / kTolerances[draw(kTolerances.size())];
  one_in_ = kRates[draw(kRates.size())];
  idle_runs_ = 0;
  least_ = current_.left = std::numeric_limits<int64_t>::max();
  if (!winner_.factors.empty() && draw(2) == 0) {
    current_ = winner_;
    solved_ = true;
  } else {
    starts_ = kStarts;
  }
}

void Climb::take(Variant variant, bool starting) {
  if (variant.left < least_) {
    least_ = variant.left;
    idle_runs_ = 0;
  }
  const int64_t most = starting ? current_.left : current_.left + tolerance_;
  if (variant.left <= most) current_ = std::move(variant);
}

Outcome Climb::step(Lanes& lanes, int64_t node_limit) {
  if (idle_runs_ >= kMostIdleRuns) begin_again();
  const bool starting = starts_ > 0;
  std::vector<Variant> variants =
      next_variants(static_cast<size_t>(std::clamp<int64_t>(node_limit, 1, kLanes)));
  const auto size = static_cast<int64_t>(part_.size());
  const Patience patience{.nodes = std::min(std::max(kNodesPerRun, kNodesPerItem * size),
                                            node_limit / std::ssize(variants)),
                          .idle_nodes = std::max(kIdleNodes, size)};
  std::vector<Run> runs;
  for (Variant& variant : variants) {
    runs.push_back({.order = variant.order, .patience = patience});
    runs.back().order.factors = variant.factors;
  }
  const std::vector<RunResult> results = lanes.run(part_, runs);
  idle_runs_ += std::ssize(results);
  size_t best = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    variants[i].left = results[i].least_left;
    if (variants[i].left < variants[best].left) best = i;
  }
  if (results.back().outcome == Outcome::kSolved) {
    current_ = std::move(variants[results.size() - 1]);
    least_ = current_.left = std::numeric_limits<int64_t>::max();
    winner_ = current_;
    solved_ = true;
    idle_runs_ = starts_ = 0;
  } else {
    take(std::move(variants[best]), starting);
  }
  return results.back().outcome;
}

}  // namespace tidemark::exact
