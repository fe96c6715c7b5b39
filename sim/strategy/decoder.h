// The run itself: prefill passes, then decode passes, each visiting its weight units in order. The
// handlers are named after what has just happened and read downward as a story:
//
//   start -> on_prepared -> start_pass -> start_visit -> on_weights_resident -> on_cells_resident
//         -> [start_step -> on_step_computed]*
//         -> on_visit_computed -> (next visit, or) on_pass_done -> (next pass, or the end)
//
// Steps are events of their own only when activations are allocated one by one; otherwise nothing
// changes between them and a visit is one event.
#pragma once

#include <functional>
#include <optional>

#include "sim/core/server.h"
#include "sim/core/trace.h"
#include "sim/strategy/kv_cells.h"
#include "sim/strategy/memory_ledger.h"
#include "sim/strategy/pass_cost.h"
#include "sim/strategy/passes.h"
#include "sim/strategy/weight_loader.h"

namespace tidemark {

// Do activations come and go step by step, or is their arena reserved for the whole run?
bool counts_live_activations(const EngineProfile& engine);

struct DecoderParts {
  Simulation& simulation;
  const Scenario& scenario;
  const MemoryPlan& plan;
  const Passes& passes;
  WeightLoader& loader;
  KvCells& cells;
  MemoryLedger& ledger;
  Trace* trace = nullptr;                                   // null = none wanted
  std::vector<CurvePoint>* steps = nullptr;                 // null = none wanted
  std::function<void(int64_t next_pass)> between_passes{};  // before each; may change `passes`
};

class Decoder {
 public:
  explicit Decoder(const DecoderParts& parts);

  void start();

  bool ended() const { return ended_; }
  Duration ttft() const { return ttft_; }  // from the start to the end of the last prefill pass
  // Compute waiting, also when the run was ended while it waited.
  Duration stall() const { return is_waiting() ? stall_ + waited_so_far() : stall_; }
  // Up to now, also within an op.
  Duration computed() const {
    if (compute_.in_service() == 0) return compute_.busy();
    return compute_.busy() - service_ + (parts_.simulation.now() - service_began_);
  }
  // What the ops took that have ended.
  OpCost spent() const;
  Duration waited_for_cells() const { return waited_for_cells_; }
  // Of the stall: before the first op.
  Duration loading() const { return compute_.busy() == Duration{} ? stall() : loading_; }
  Duration first_layer() const { return first_layer_; }  // its weights are ready
  const std::vector<Duration>& decode_times() const { return decode_times_; }

 private:
  void on_prepared();
  void start_next_pass();
  void start_pass();
  void start_visit();
  void on_weights_resident();
  void on_cells_resident();
  void start_step();
  void on_step_computed();
  void on_visit_computed();
  void on_pass_done();

  const PhasePlan& phase() const;
  const UnitUse& use() const { return phase().uses.at(visit_in_pass_); }
  const LiveBytes& live() const;
  const PassCost& cost();
  bool holds_a_layer(const UnitUse& use) const;
  bool is_waiting() const { return compute_.in_service() == 0 && !ended_; }
  Duration waited_so_far() const { return parts_.simulation.now() - waiting_since_; }
  void compute(const OpCost& cost, Server::Action on_computed);
  void note_place(StepIndex step);
  void note_computed_steps(int64_t count);
  void trace_span(const char* lane, std::string name, SimTime since);

  DecoderParts parts_;
  Server compute_;
  bool live_activations_;
  LiveBytes prefill_live_{};
  LiveBytes decode_live_{};

  int64_t next_pass_ = 0;
  bool ended_ = false;
  Pass pass_{};
  int64_t steps_before_pass_ = 0;
  std::optional<PassCost> cost_{};  // of passes like the one before
  Pass cost_made_for_{};
  size_t visit_in_pass_ = 0;
  int64_t visit_ = 0;  // over all passes
  StepIndex step_{};   // within the pass

  SimTime pass_started_{};
  SimTime waiting_since_{};
  SimTime visit_started_{};
  Duration ttft_{};
  Duration service_{};  // of the op, or the visit, that computes
  SimTime service_began_{};
  OpCost serving_{};  // its
  OpCost spent_{};    // of those before
  SimTime started_{};
  bool has_seen_a_layer_ = false;
  Duration stall_{};
  Duration loading_{};
  Duration waited_for_cells_{};
  Duration first_layer_{};
  std::vector<Duration> decode_times_{};  // by decode pass
};

}  // namespace tidemark
