#include "sim/strategy/expert_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "planner/capacity/kept_weights.h"
#include "sim/memory/make_policy.h"
#include "sim/strategy/expert_table.h"
#include "sim/strategy/pass_walk.h"

namespace tidemark {
namespace {

class ExpertLoader : public WeightLoader {
 public:
  ExpertLoader(WeightStore& store, const RunInput& input, const ExpertUnits& units,
               ExpertCaches& caches)
      : store_(store),
        itinerary_(input.itinerary),
        units_(units),
        caches_(caches),
        router_(units.routing),
        walk_(input.passes, input.itinerary) {}

  void prepare(Action on_prepared) override {
    for (size_t unit = 0; unit + 1 < units_.dense; ++unit) store_.read(UnitId::of(unit), nullptr);
    store_.read(UnitId::of(units_.dense - 1), std::move(on_prepared));
  }

  void need(int64_t visit, Action on_resident) override {
    const Pass& pass = walk_.next_visit();
    layer_ = units_.layer_of.at(itinerary_.unit_at(visit).index());
    if (layer_ < 0) return on_resident();
    phase_ = pass.phase;
    wanted_ = router_.route(layer_, pass.tokens);
    next_ = 0;
    on_resident_ = std::move(on_resident);
    take_next();
  }

 private:
  void take_next() {
    while (next_ < wanted_.size()) {
      const UnitId expert = wanted_[next_++];
      const Access access = caches_.access(layer_, expert, phase_);
      for (const UnitId evicted : access.evicted) store_.release(evicted);
      if (access.outcome == AccessOutcome::kHit) continue;
      return store_.read(units_.unit_of(layer_, expert), ReadOrder::kRandom,
                         [this] { take_next(); });
    }
    std::exchange(on_resident_, nullptr)();
  }

  WeightStore& store_;
  const Itinerary& itinerary_;
  const ExpertUnits& units_;
  ExpertCaches& caches_;
  ExpertRouter router_;
  PassWalk walk_;
  int64_t layer_ = 0;
  Phase phase_ = Phase::kPrefill;
  std::vector<UnitId> wanted_{};
  size_t next_ = 0;
  Action on_resident_{};
};

// Do all layers with experts have as many, and use as many?
bool are_alike(const TransformerSpec& spec, const RoutingOptions& routing) {
  return std::all_of(spec.layers.begin(), spec.layers.end(), [&](const LayerSpec& layer) {
    return layer.moe.n_expert == 0 ||
           (layer.moe.n_expert == routing.n_expert && layer.moe.n_expert_used == routing.n_used);
  });
}

}  // namespace

Bytes ExpertUnits::largest() const { return *std::max_element(expert.begin(), expert.end()); }

std::optional<ExpertUnits> expert_units(const Scenario& scenario, const MemoryPlan& plan) {
  const std::optional<ExpertShape> shape = expert_shape(scenario, plan);
  if (!shape || !are_alike(*scenario.model.transformer(), shape->routing)) return std::nullopt;
  ExpertUnits made{.routing = shape->routing, .units = plan.units, .dense = plan.units.size()};
  for (size_t i = 0; i < made.dense; ++i) {
    const Bytes each = expert_bytes(plan.units[i], plan.weights) / made.routing.n_expert;
    made.layer_of.push_back(each > Bytes{} ? static_cast<int64_t>(made.expert.size()) : -1);
    if (each == Bytes{}) continue;
    made.units[i].bytes -= each * made.routing.n_expert;
    made.expert.push_back(each);
    for (int64_t expert = 0; expert < made.routing.n_expert; ++expert) {
      made.units.push_back(
          {.name = fmt::format("{} expert {}", plan.units[i].name, expert), .bytes = each});
    }
  }
  made.routing.n_layer = static_cast<int64_t>(made.expert.size());
  if (made.expert.empty()) return std::nullopt;
  return made;
}

ExpertRouter::ExpertRouter(const RoutingOptions& options)
    : is_wanted_(static_cast<size_t>(options.n_expert), false) {
  for (int64_t layer = 0; layer < options.n_layer; ++layer) layers_.emplace_back(options, layer);
}

std::vector<UnitId> ExpertRouter::route(int64_t layer, int64_t tokens) {
  std::vector<UnitId> wanted;
  for (int64_t token = 0; token < tokens; ++token) {
    for (const UnitId expert : layers_.at(static_cast<size_t>(layer)).next()) {
      if (is_wanted_[expert.index()]) continue;
      is_wanted_[expert.index()] = true;
      wanted.push_back(expert);
    }
  }
  for (const UnitId expert : wanted) is_wanted_[expert.index()] = false;
  return wanted;
}

ExpertCaches::ExpertCaches(const Scenario& scenario, const ExpertUnits& units,
                           const RunInput& input)
    : scenario_(scenario), units_(units), slots_(scenario.residency.expert_slots) {
  std::vector<std::vector<UnitId>> announced;
  if (scenario.cache.policy == CachePolicy::kNextUse) announced = sequences(input);
  const auto add_cache = [&](const std::vector<Bytes>& sizes, Bytes capacity) {
    const std::span<const UnitId> sequence =
        announced.empty() ? std::span<const UnitId>{} : announced.at(caches_.size());
    caches_.emplace_back(
        sizes, capacity,
        make_policy(name_of(scenario.cache.policy),
                    {.sizes = sizes, .sequence = sequence, .seed = scenario.seed}));
  };
  std::vector<Bytes> all;
  for (int64_t layer = 0; layer < units.routing.n_layer; ++layer) {
    const Bytes each = units.expert[static_cast<size_t>(layer)];
    const std::vector<Bytes> sizes(static_cast<size_t>(units.routing.n_expert), each);
    if (slots_ > 0) add_cache(sizes, each * slots_);
    all.insert(all.end(), sizes.begin(), sizes.end());
  }
  if (slots_ == 0) add_cache(all, scenario.residency.expert_bytes);
}

ExpertCaches::Place ExpertCaches::place_of(int64_t layer, UnitId expert) const {
  if (slots_ > 0) return {static_cast<size_t>(layer), expert};
  return {0, UnitId(layer * units_.routing.n_expert + expert.value())};
}

// The whole run's accesses by cache: what route() will say, from the same seed.
std::vector<std::vector<UnitId>> ExpertCaches::sequences(const RunInput& input) const {
  ExpertRouter rehearsal(units_.routing);
  std::vector<std::vector<UnitId>> all(slots_ > 0 ? static_cast<size_t>(units_.routing.n_layer)
                                                  : 1);
  PassWalk walk(input.passes, input.itinerary);
  for (int64_t visit = 0; visit < input.itinerary.visits(); ++visit) {
    const Pass& pass = walk.next_visit();
    const int64_t layer = units_.layer_of.at(input.itinerary.unit_at(visit).index());
    if (layer < 0) continue;
    for (const UnitId expert : rehearsal.route(layer, pass.tokens)) {
      const Place place = place_of(layer, expert);
      all.at(place.cache).push_back(place.block);
    }
  }
  return all;
}

std::vector<UnitId> ExpertCaches::units_of(size_t cache, const std::vector<UnitId>& blocks) const {
  const int64_t layer = slots_ > 0 ? static_cast<int64_t>(cache) : 0;
  std::vector<UnitId> units;
  for (const UnitId block : blocks) units.push_back(units_.unit_of(layer, block));
  return units;
}

Access ExpertCaches::access(int64_t layer, UnitId expert, Phase phase) {
  const Place place = place_of(layer, expert);
  Access access = caches_.at(place.cache).access(place.block);
  check(access.outcome != AccessOutcome::kTooLarge, "an expert fits the cache");
  access.evicted = units_of(place.cache, access.evicted);
  if (phase == Phase::kPrefill) return access;
  const bool is_hit = access.outcome == AccessOutcome::kHit;
  ++(is_hit ? decode_hits_ : decode_misses_);
  if (!is_hit) decode_read_ += units_.expert[static_cast<size_t>(layer)];
  return access;
}

Bytes ExpertCaches::capacity() const {
  Bytes sum;
  for (const BlockCache& cache : caches_) sum += cache.capacity();
  return sum;
}

std::vector<UnitId> ExpertCaches::shrink(Bytes excess) {
  Bytes held;
  for (const BlockCache& cache : caches_) held += cache.stats().resident;
  const Bytes target = held - std::min(excess, held);
  const int64_t used = units_.routing.n_used;
  if (slots_ == 0) {
    const Bytes after = std::max(target, units_.largest() * used);
    if (after >= capacity()) return {};
    return units_of(0, caches_.front().set_capacity(after));
  }
  Bytes slot;  // one of every layer
  for (const Bytes expert : units_.expert) slot += expert;
  const int64_t slots = std::max(target / slot, used);
  std::vector<UnitId> gone;
  if (slots >= slots_) return gone;
  slots_ = slots;
  for (size_t layer = 0; layer < caches_.size(); ++layer) {
    const auto blocks = caches_[layer].set_capacity(units_.expert[layer] * slots);
    const std::vector<UnitId> units = units_of(layer, blocks);
    gone.insert(gone.end(), units.begin(), units.end());
  }
  return gone;
}

void ExpertCaches::add_to(SimReport& report, int64_t decode_passes) const {
  report.cache_policy = name_of(scenario_.cache.policy);
  for (const BlockCache& cache : caches_) {
    report.cache_hits += cache.stats().hits;
    report.cache_misses += cache.stats().misses;
    report.cache_evictions += cache.stats().evictions;
  }
  const int64_t accesses = report.cache_hits + report.cache_misses;
  if (accesses > 0) {
    report.hit_rate = static_cast<double>(report.cache_hits) / static_cast<double>(accesses);
  }
  report.experts = ExpertFacts{.layers = units_.routing.n_layer,
                               .experts = units_.routing.n_expert,
                               .used = units_.routing.n_used,
                               .expert = units_.largest(),
                               .slots = slots_,
                               .capacity = capacity(),
                               .hits = decode_hits_,
                               .misses = decode_misses_};
  if (decode_passes > 0) report.experts->read_per_token = decode_read_ / decode_passes;
}

std::unique_ptr<WeightLoader> make_expert_loader(WeightStore& store, const RunInput& input,
                                                 const ExpertUnits& units, ExpertCaches& caches) {
  return std::make_unique<ExpertLoader>(store, input, units, caches);
}

}  // namespace tidemark
