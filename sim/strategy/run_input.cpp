#include "sim/strategy/run_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "planner/base/units.h"
#include "planner/capacity/verdict.h"
#include "sim/strategy/decoder.h"
#include "sim/strategy/residency_input.h"

namespace tidemark {
namespace {

// Names of weight units and what they mean.
class UnitNames {
 public:
  explicit UnitNames(const std::vector<WeightUnit>& units) : units_(units) {
    for (size_t i = 0; i < units.size(); ++i) ids_.emplace(units[i].name, UnitId::of(i));
  }

  // The known ones, in order. Each unknown name becomes one diagnostic, however often it stands
  // there.
  std::vector<UnitId> resolve(const std::string& path, const std::vector<std::string>& names,
                              Diagnostics& problems) const {
    std::vector<UnitId> found;
    std::set<std::string_view> unknown;
    for (const std::string& name : names) {
      const auto id = ids_.find(name);
      if (id != ids_.end()) {
        found.push_back(id->second);
      } else if (unknown.insert(name).second && unknown.size() <= kMostNamed) {
        problems.push_back({.path = path,
                            .message = fmt::format("the model has no weight unit '{}'", name),
                            .hint = unknown.size() == 1 ? list() : ""});
      }
    }
    if (unknown.size() > kMostNamed) {
      problems.push_back(
          {.path = path,
           .message = fmt::format("and {} more unknown units", unknown.size() - kMostNamed)});
    }
    return found;
  }

 private:
  static constexpr size_t kMostNamed = 10;

  std::string list() const {
    std::vector<std::string_view> names;
    for (size_t i = 0; i < std::min(units_.size(), kMostNamed); ++i)
      names.push_back(units_[i].name);
    if (units_.size() > names.size()) {
      return fmt::format("its units are {}, ... {} ({} in all)", fmt::join(names, ", "),
                         units_.back().name, units_.size());
    }
    return fmt::format("its units are {}", fmt::join(names, ", "));
  }

  const std::vector<WeightUnit>& units_;
  std::map<std::string_view, UnitId> ids_{};
};

void check_device(const DeviceSpec& device, Diagnostics& problems) {
  const auto require = [&](std::string path, int64_t rate) {
    if (rate <= 0)
      problems.push_back({.path = std::move(path), .message = "a rate must be positive"});
  };
  require("device.memory_bandwidth", device.memory_bandwidth.count());
  require("device.flash_read", device.flash_read.count());
  require("device.compute", device.compute.count());
  if (device.flash_latency < Duration{}) {
    problems.push_back(
        {.path = "device.flash_latency", .message = "a latency must not be negative"});
  }
}

// As planned, and what the run leaves of the cache of keys and values.
Bytes cache_capacity_of(const Scenario& scenario, const MemoryPlan& plan, const RunInput& input) {
  if (scenario.cache.capacity > Bytes{} || input.is_access_list) return plan.cache_capacity;
  const Bytes left = plan.breakdown.kv_cache - most_kv_held(scenario, plan, input.passes);
  if (left <= Bytes{}) return plan.cache_capacity;
  Bytes everything;
  Bytes largest;
  for (const WeightUnit& unit : plan.units) {
    everything += unit.bytes;
    largest = std::max(largest, unit.bytes);
  }
  const DeviceLimit limit = device_limit(scenario.device, scenario.margin_ratio, scenario.budget);
  const Bytes beside = plan.breakdown.total() - plan.breakdown.weights - left;
  return std::clamp(limit.limit - beside, std::min(largest, everything), everything);
}

void check_cache(const Scenario& scenario, const MemoryPlan& plan, RunInput& input,
                 Diagnostics& problems) {
  input.pinned.assign(plan.units.size(), false);
  const UnitNames names(plan.units);
  const std::vector<UnitId> pinned = names.resolve("pinned", scenario.cache.pinned, problems);
  for (const UnitId unit : pinned) input.pinned[unit.index()] = true;
  if (scenario.cache.policy == CachePolicy::kPinned && scenario.cache.pinned.empty()) {
    problems.push_back({.path = "pinned",
                        .message = "the pinned policy needs the names of the units to keep",
                        .hint = "name them with --pinned, or choose lru"});
  }
  if (!problems.empty()) return;
  const Bytes least = least_cache_capacity(input.itinerary, plan.units, input.pinned);
  if (input.cache_capacity >= least) return;
  // A capacity nobody asked for gives way: that the run then needs more than the limit is an
  // answer, not an error.
  if (scenario.cache.capacity == Bytes{}) {
    input.cache_capacity = least;
    return;
  }
  problems.push_back(
      {.path = "--cache-size",
       .message = fmt::format("{} is too small: the largest block, beside what is pinned, needs {}",
                              format_bytes_exact(input.cache_capacity), format_bytes_exact(least)),
       .hint = "raise --cache-size, or pin less"});
}

// At most this many changes of the curve. A visit brings one unit; only with two slots, or read
// ahead, does it go at another time than the next one comes. Live activations change at each step.
int64_t most_curve_points(const Scenario& scenario, const MemoryPlan& plan, const RunInput& input) {
  const int64_t visits = input.itinerary.visits();
  int64_t points = visits;
  if (scenario.strategy == StrategyKind::kResident)
    points = checked_add(static_cast<int64_t>(plan.units.size()),
                         checked_mul(expert_accesses(scenario, plan), 2));
  if (scenario.residency.rows) points = checked_add(points, checked_mul(visits, 2));
  if (scenario.strategy == StrategyKind::kMmap)
    points = checked_mul(visits, checked_add(scenario.load.prefetch, 1));
  const bool reads_ahead =
      scenario.strategy == StrategyKind::kBlockCache && scenario.load.prefetch > 0;
  if (scenario.strategy == StrategyKind::kDoubleBuffer ||
      scenario.strategy == StrategyKind::kChunked || reads_ahead)
    points = checked_mul(visits, 2);
  if (counts_live_activations(scenario.engine) && !input.is_access_list) {
    const auto steps = [](const PhasePlan& phase, int64_t passes) {
      return checked_mul(static_cast<int64_t>(phase.schedule.order.size()), passes);
    };
    points = checked_add(points, visits);
    points = checked_add(points, steps(plan.prefill, input.passes.prefill));
    points = checked_add(points, steps(plan.decode, input.passes.decode));
  }
  // Each process, and what each then has.
  const int64_t processes = scenario.residency.processes;
  return checked_add(checked_mul(points, checked_mul(processes, processes)), 1);
}

void check_amount(const Scenario& scenario, const MemoryPlan& plan, const RunInput& input,
                  SimOptions options, Diagnostics& problems) {
  const std::string path = input.is_access_list ? "trace" : "--generate";
  const auto refuse = [&](int64_t amount, std::string_view what, int64_t most) {
    problems.push_back(
        {.path = path,
         .message =
             fmt::format("the run would take up to {} {}, more than the {} that are simulated",
                         format_count(amount), what, format_count(most)),
         .hint = "ask for fewer tokens; a decode pass differs from the next by one cell only"});
  };
  const int64_t visits = checked_mul(input.itinerary.visits(), scenario.residency.processes);
  const int64_t points = most_curve_points(scenario, plan, input);
  const bool announced = scenario.strategy == StrategyKind::kBlockCache &&
                         scenario.cache.policy == CachePolicy::kNextUse;
  if (visits > kMostVisits) return refuse(visits, "visits of weight units", kMostVisits);
  if (points > kMostCurvePoints) return refuse(points, "changes of memory", kMostCurvePoints);
  if (announced && visits > kMostAnnouncedVisits) {
    return refuse(visits, "visits known to next-use in advance", kMostAnnouncedVisits);
  }
  const int64_t traced = checked_add(visits, points);
  if (options.trace && traced > kMostTracedEvents)
    refuse(traced, "trace events", kMostTracedEvents);
}

}  // namespace

Bytes least_cache_capacity(const Itinerary& itinerary, const std::vector<WeightUnit>& units,
                           const std::vector<bool>& pinned) {
  Bytes least;
  Bytes kept;
  std::vector<bool> loaded(units.size(), false);
  // Twice through each kind of pass: what is pinned in the first round takes room in all later
  // ones.
  const auto walk = [&](const std::vector<UnitId>& visits, int64_t passes) {
    for (int64_t round = 0; round < std::min<int64_t>(passes, 2); ++round) {
      for (const UnitId unit : visits) {
        if (loaded[unit.index()]) continue;
        least = std::max(least, kept + units[unit.index()].bytes);
        if (!pinned[unit.index()]) continue;
        loaded[unit.index()] = true;
        kept += units[unit.index()].bytes;
      }
    }
  };
  walk(itinerary.prefill, itinerary.prefill_passes);
  walk(itinerary.decode, itinerary.decode_passes);
  return least;
}

Result<RunInput> run_input(const Scenario& scenario, const MemoryPlan& plan, SimOptions options) {
  Diagnostics problems;
  RunInput input{.is_access_list = !scenario.trace.empty()};
  check_device(scenario.device, problems);
  check_residency(scenario, plan, problems);
  if (input.is_access_list) {
    input.itinerary =
        itinerary_of(UnitNames(plan.units).resolve("trace", scenario.trace, problems));
    if (!scenario.adapt.empty()) {
      problems.push_back({.path = "adapt",
                          .message = "acts between passes, and a list of accesses has none",
                          .hint = "leave it out"});
    }
  } else {
    input.passes = passes_of(scenario, plan);
    input.itinerary = itinerary_of(plan, input.passes);
  }
  if (keeps_what_fits(scenario.strategy)) {
    input.cache_capacity = cache_capacity_of(scenario, plan, input);
  }
  if (scenario.strategy == StrategyKind::kBlockCache) check_cache(scenario, plan, input, problems);
  check_amount(scenario, plan, input, options, problems);
  if (!problems.empty()) return problems;
  return input;
}

}  // namespace tidemark
