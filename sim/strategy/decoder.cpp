#include "sim/strategy/decoder.h"

#include <fmt/format.h>

#include <utility>

namespace tidemark {

bool counts_live_activations(const EngineProfile& engine) {
  return engine.policy == EnginePolicy::kPlanned && engine.activations == ActivationPolicy::kLive;
}

Decoder::Decoder(const DecoderParts& parts)
    : parts_(parts),
      compute_(parts.simulation, 1),
      live_activations_(counts_live_activations(parts.scenario.engine)) {
  if (!live_activations_) return;
  prefill_live_ = live_bytes(parts.plan.prefill);
  decode_live_ = live_bytes(parts.plan.decode);
}

void Decoder::start() {
  started_ = parts_.simulation.now();
  parts_.ledger.at({.kind = Place::Kind::kLoading});
  parts_.loader.prepare([this] { on_prepared(); });
}

void Decoder::on_prepared() {
  stall_ += parts_.simulation.now() - started_;
  start_next_pass();
}

void Decoder::start_next_pass() {
  if (parts_.between_passes) parts_.between_passes(next_pass_);
  ended_ = next_pass_ >= parts_.passes.count();
  if (!ended_) start_pass();
}

void Decoder::start_pass() {
  pass_ = parts_.passes.at(next_pass_++);
  pass_started_ = parts_.simulation.now();
  visit_in_pass_ = 0;
  parts_.cells.begin_pass(pass_);
  start_visit();
}

void Decoder::start_visit() {
  note_place(use().steps.lower);
  waiting_since_ = parts_.simulation.now();
  parts_.loader.need(visit_, [this] { on_weights_resident(); });
}

void Decoder::on_weights_resident() {
  const SimTime now = parts_.simulation.now();
  stall_ += now - waiting_since_;
  if (visit_ == 0) loading_ = stall_;
  waiting_since_ = now;
  parts_.cells.need(visit_in_pass_, [this] { on_cells_resident(); });
}

void Decoder::on_cells_resident() {
  visit_started_ = parts_.simulation.now();
  stall_ += visit_started_ - waiting_since_;
  waited_for_cells_ += visit_started_ - waiting_since_;
  parts_.cells.computing(visit_in_pass_);
  if (!has_seen_a_layer_ && holds_a_layer(use())) {
    has_seen_a_layer_ = true;
    first_layer_ = visit_started_ - started_;
  }
  if (live_activations_ && !use().steps.empty()) {
    step_ = use().steps.lower;
    return start_step();
  }
  compute(cost().visit_cost(visit_in_pass_, pass_.cells), [this] { on_visit_computed(); });
}

void Decoder::start_step() {
  note_place(step_);
  parts_.ledger.set_compute(live().during.at(step_.index()));
  compute(cost().step_cost(step_, pass_.cells), [this] { on_step_computed(); });
}

void Decoder::compute(const OpCost& cost, Server::Action on_computed) {
  spent_ += std::exchange(serving_, cost);
  service_ = cost.time();
  service_began_ = parts_.simulation.now();
  compute_.request(service_, nullptr, std::move(on_computed));
}

OpCost Decoder::spent() const {
  OpCost sum = spent_;
  if (compute_.in_service() == 0) sum += serving_;
  return sum;
}

void Decoder::on_step_computed() {
  note_computed_steps(1);
  const StepIndex computed = std::exchange(step_, StepIndex(step_.value() + 1));
  if (step_ < use().steps.upper) return start_step();
  parts_.ledger.set_compute(live().after.at(computed.index()));
  on_visit_computed();
}

void Decoder::on_visit_computed() {
  if (!live_activations_)
    note_computed_steps(use().steps.upper.value() - use().steps.lower.value());
  trace_span("compute", parts_.plan.units[use().unit.index()].name, visit_started_);
  parts_.loader.done(visit_++);
  ++visit_in_pass_;
  if (visit_in_pass_ < phase().uses.size()) return start_visit();
  on_pass_done();
}

void Decoder::on_pass_done() {
  trace_span("pass", fmt::format("{} {}", name_of(pass_.phase), pass_.index), pass_started_);
  steps_before_pass_ += static_cast<int64_t>(phase().schedule.order.size());
  if (pass_.phase == Phase::kPrefill) {
    ttft_ = parts_.simulation.now() - started_;
  } else {
    decode_times_.push_back(parts_.simulation.now() - pass_started_);
  }
  start_next_pass();
}

const PhasePlan& Decoder::phase() const {
  return pass_.phase == Phase::kPrefill ? parts_.plan.prefill : parts_.plan.decode;
}

const LiveBytes& Decoder::live() const {
  return pass_.phase == Phase::kPrefill ? prefill_live_ : decode_live_;
}

// All full ubatches cost alike but for their cells, and so do all decode passes: at most three
// tables are made in turn.
const PassCost& Decoder::cost() {
  const bool fits =
      cost_ && cost_made_for_.phase == pass_.phase && cost_made_for_.tokens == pass_.tokens;
  if (!fits) {
    cost_.emplace(parts_.scenario.device, phase(), pass_.tokens, &parts_.plan.weights);
    cost_made_for_ = pass_;
  }
  return *cost_;
}

// Anything but the lookup of the embedding.
bool Decoder::holds_a_layer(const UnitUse& use) const {
  for (size_t step = use.steps.lower.index(); step < use.steps.upper.index(); ++step) {
    if (phase().graph.op(phase().schedule.order[step]).kind != OpKind::kEmbed) return true;
  }
  return false;
}

void Decoder::note_place(StepIndex step) {
  parts_.ledger.at({.kind = Place::Kind::kPass,
                    .phase = pass_.phase,
                    .index = pass_.index,
                    .unit = use().unit,
                    .step = steps_before_pass_ + step.value()});
}

// What is resident as these steps end. Without live activations nothing changes within a visit, so
// its steps end alike.
void Decoder::note_computed_steps(int64_t count) {
  if (parts_.steps == nullptr) return;
  CurvePoint point = parts_.ledger.now();
  point.time = parts_.simulation.now();
  parts_.steps->insert(parts_.steps->end(), static_cast<size_t>(count), point);
}

void Decoder::trace_span(const char* lane, std::string name, SimTime since) {
  if (parts_.trace == nullptr) return;
  parts_.trace->spans.push_back({.lane = lane,
                                 .name = std::move(name),
                                 .start = since,
                                 .duration = parts_.simulation.now() - since});
}

}  // namespace tidemark
