#include "sim/strategy/processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "planner/capacity/verdict.h"

namespace tidemark {
namespace {

// Tells when the unit of a visit has been touched.
class ToldLoader : public WeightLoader {
 public:
  ToldLoader(std::unique_ptr<WeightLoader> loader, std::function<void()> on_touched)
      : loader_(std::move(loader)), on_touched_(std::move(on_touched)) {}

  void prepare(Action on_prepared) override { loader_->prepare(std::move(on_prepared)); }
  void need(int64_t visit, Action on_resident) override {
    loader_->need(visit, [this, on_resident = std::move(on_resident)] {
      on_touched_();
      on_resident();
    });
  }
  void done(int64_t visit) override { loader_->done(visit); }

 private:
  std::unique_ptr<WeightLoader> loader_;
  std::function<void()> on_touched_;
};

}  // namespace

Processes::Processes(const Simulation& simulation, const Scenario& scenario, const MemoryPlan& plan,
                     const CurvePoint& own, RunWeights& weights, MemoryLedger& ledger)
    : simulation_(simulation),
      scenario_(scenario),
      plan_(plan),
      own_(own),
      weights_(weights),
      ledger_(ledger) {}

std::unique_ptr<WeightLoader> Processes::start_next() {
  if (!open_.empty()) {
    ledger_.at({.kind = Place::Kind::kLoading});
    shrink_page_cache();
    ledger_.reserve(own_);
  }
  std::unique_ptr<WeightLoader> loader = weights_.make_loader();
  const PageAccess& totals = weights_.mapped()->cache.totals();
  open_.push_back({.views = weights_.mapped()->views,
                   .read_before = weights_.store().bytes_read(),
                   .major_before = totals.major_faults,
                   .minor_before = totals.minor_faults});
  facts_.push_back({.start = simulation_.now(), .own = own_.total()});
  return std::make_unique<ToldLoader>(std::move(loader), [this] { note_mapped(); });
}

// As the first one's capacity was found (run_input.h), with the others' memory beside it. Live
// activations are those of the one that answers: the others have let go of theirs.
void Processes::shrink_page_cache() {
  if (scenario_.cache.capacity > Bytes{}) return;
  Bytes everything;
  Bytes largest;
  for (const WeightUnit& unit : plan_.units) {
    everything += unit.bytes;
    largest = std::max(largest, unit.bytes);
  }
  const DeviceLimit limit =
      device_limit(scenario_.device, scenario_.margin_ratio, scenario_.budget);
  const Bytes live = counts_live_activations(scenario_.engine) ? plan_.breakdown.compute : Bytes{};
  const Bytes beside = own_.total() * static_cast<int64_t>(open_.size() + 1) + live;
  const Bytes room = std::max(limit.limit - beside, std::min(largest, everything));
  PageCache& cache = weights_.mapped()->cache;
  if (room >= everything || room >= cache.limit()) return;
  cache.set_limit(room);
  ledger_.set_mapped_weights(cache.resident());
}

Bytes Processes::sum(const Open& process, Bytes (PageCache::*of)(ViewId) const) const {
  Bytes bytes;
  for (const ViewId view : process.views) bytes += (weights_.mapped()->cache.*of)(view);
  return bytes;
}

// A PSS changes only with what some process has mapped.
void Processes::note_mapped() {
  bool has_changed = false;
  for (Open& process : open_) {
    const Bytes mapped = sum(process, &PageCache::rss);
    has_changed = has_changed || mapped != process.mapped;
    process.mapped = mapped;
  }
  if (!has_changed) return;
  for (size_t i = 0; i < open_.size(); ++i) {
    facts_[i].rss = own_.total() + open_[i].mapped;
    facts_[i].pss = own_.total() + sum(open_[i], &PageCache::pss);
    std::vector<ProcessPoint>& curve = facts_[i].curve;
    if (!curve.empty() && curve.back().rss == facts_[i].rss && curve.back().pss == facts_[i].pss) {
      continue;
    }
    if (!curve.empty() && curve.back().time == simulation_.now()) curve.pop_back();
    curve.push_back({.time = simulation_.now(), .rss = facts_[i].rss, .pss = facts_[i].pss});
  }
}

void Processes::note_end(const Decoder& decoder, int64_t decode_passes) {
  ProcessFacts& facts = facts_.back();
  const Open& process = open_.back();
  const PageAccess& totals = weights_.mapped()->cache.totals();
  facts.ttft = decoder.ttft();
  if (decode_passes > 0) {
    facts.tpot = (simulation_.now() - facts.start - facts.ttft) / decode_passes;
  }
  facts.bytes_read = weights_.store().bytes_read() - process.read_before;
  facts.page_faults = totals.major_faults - process.major_before;
  facts.minor_faults = totals.minor_faults - process.minor_before;
}

void Processes::add_to(SimReport& report) {
  report.notes.push_back(fmt::format(
      "{} processes map one file: each starts when the one before it has ended its answer, and "
      "stays open. Rates are those of the first.",
      facts_.size()));
  report.processes = std::move(facts_);
}

void trace_processes(const std::vector<ProcessFacts>& processes, Trace& trace) {
  for (size_t i = 0; i < processes.size(); ++i) {
    for (const ProcessPoint& point : processes[i].curve) {
      trace.counters.push_back(
          {.name = fmt::format("process {} RSS", i + 1), .time = point.time, .value = point.rss});
      trace.counters.push_back(
          {.name = fmt::format("process {} PSS", i + 1), .time = point.time, .value = point.pss});
    }
  }
}

}  // namespace tidemark
