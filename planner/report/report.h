// Every number a front end shows, as plain values. The command line, the window and the golden
// tests read these and compute nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/capacity/memory_kinds.h"
#include "planner/capacity/memory_plan.h"
#include "planner/capacity/scenario.h"
#include "planner/capacity/textbook.h"
#include "planner/capacity/verdict.h"
#include "planner/lifetime/relief.h"

namespace tidemark {

inline constexpr const char* kToolVersion = "0.1.0";

struct ModelFacts {
  std::string name{};
  std::string architecture{};
  int64_t parameters = 0;
  int64_t active_parameters = 0;
  int64_t layers = 0;
  Bytes tensor_bytes{};  // as stored
};

// One reservation of the arena, for the memory map.
struct ArenaRow {
  std::string name{};  // of its first tensor
  Bytes offset{};
  Bytes size{};
  Interval<StepIndex> lifetime{};
  std::optional<size_t> piece_of{};  // an earlier row, of the same buffer: one letter for both
  std::optional<size_t> body{};      // rows of one body may share addresses
};

// What an order of the ops other than the program's saves.
struct OrderFacts {
  Bytes program_load{};  // peak load before
  Bytes load{};          // and after
  Bytes lower_bound{};   // over all orders
  bool is_optimal = false;
  int64_t states = 0;
};

// One of the phases that run in the arena, one after another.
struct PhaseFacts {
  std::string name{};   // "encode vision", "prefill", "decode"
  std::string input{};  // of an encode phase: "one image of 896 x 896 pixels: 4,096 patches, ..."
  std::string status{};
  Bytes peak{};
  Bytes lower_bound{};
  Bytes scratch{};
};

// The largest tensor that is live at the fullest step.
struct TensorFacts {
  std::string name{};
  Bytes bytes{};
  std::string shape{};  // "4,096 cells x 512 tokens x 36 heads of f32"; empty where it is unknown
};

struct ArenaFacts {
  std::string planner{};
  std::string status{};
  std::string phase{};  // the phase with the largest arena
  Bytes peak{};
  Bytes lower_bound{};
  Bytes no_reuse{};
  int64_t buffers = 0;
  int64_t steps = 0;
  int64_t peak_step = 0;
  std::string peak_op{};
  std::optional<TensorFacts> largest{};
  std::optional<OrderFacts> order{};  // op_order memory only
  std::vector<ArenaRow> rows{};
  std::vector<PhaseFacts> phases{};      // in the order in which they run
  std::vector<ArenaScaling> scalings{};  // when asked for: arena_scaling()
};

struct DeviceFacts {
  std::string name{};
  DeviceLimit limit{};
  std::vector<std::string> estimates{};
};

// The weights by what they belong to. Less in_flash, their sum is the weights term of the strategy
// resident, of an engine that neither maps nor copies them.
struct WeightParts {
  Bytes embedding{};  // token embedding; of a tied model also the head
  Bytes head{};
  Bytes layers{};
  Bytes stacks{};    // encoder, towers, counted draft heads
  Bytes other{};     // norms outside the layers, positions, tables
  Bytes in_flash{};  // of the embedding; 0 where all of it is held
};

// The caches by what they keep.
struct StateParts {
  Bytes full{};    // layers that see the whole context
  Bytes window{};  // layers that see a window, window_cells each
  Bytes cross{};   // the encoder's states
  int64_t window_cells = 0;
};

// --engine llama.cpp: its own table, and beside it what our planner makes of the same.
struct LlamaFacts {
  std::vector<LlamaColumns> columns{};
  Bytes slack{};  // limit - all columns; negative when they alone are over it
  LlamaHighWater peak{};
  int64_t nodes = 0;
  Bytes compute_generation{};            // of the graph of one token, all on the CPU
  std::vector<LlamaScaling> scalings{};  // of compute
  Bytes compute{};                       // what it reserves, all on the CPU
  std::optional<Plan> own_plan{};        // its graph, placed by our planner
  Bytes own_arena{};                     // our graph: arena + scratch
  bool is_exact = false;
};

struct PlanReport {
  std::vector<Setting> settings{};
  ModelFacts model{};
  std::string engine{};
  std::string strategy{};
  Breakdown memory{};
  WeightParts weight_parts{};
  StateParts state_parts{};
  Bytes activations{};  // memory.compute = activations + scratch
  Bytes scratch{};
  Bytes kv_per_token{};
  ArenaFacts arena{};
  std::optional<LlamaFacts> llama{};  // --engine llama.cpp only
  std::optional<MemoryKinds> kinds{};
  std::optional<MemoryInterval> interval{};  // where the engine's profile is not exact
  std::optional<ReliefFacts> relief{};  // when asked for: what would lower the arena's peak load
  DeviceFacts device{};
  Verdict verdict{};
  std::vector<TextbookRow> textbook{};  // filled for --engine formula
  std::vector<std::string> notes{};     // what the reader must know: fallbacks, estimates
};

// The arena of one phase, with its rows for the map; without the other phases.
ArenaFacts make_arena_facts(const PhasePlan& phase);
// Of the largest phase, with all phases; without the scalings, which are planned again.
ArenaFacts make_arena_facts(const MemoryPlan& plan);

WeightParts weight_parts_of(const WeightsInventory& weights);

// Of the arena's phase, at most `most` reliefs; attention counted at a full context.
ReliefFacts relief_of(const Scenario& scenario, const MemoryPlan& plan, size_t most);

PlanReport make_plan_report(const Scenario& scenario, const MemoryPlan& plan);

// One point of the memory curve: what is resident from `time` until the next point.
struct CurvePoint {
  Duration time{};
  Bytes weights{};
  Bytes kv_cache{};
  Bytes recurrent_state{};
  Bytes compute{};
  Bytes output{};
  Bytes runtime{};
  Bytes file_backed{};  // of the weights: clean pages of a file, dropped when memory is short
  Bytes total() const { return weights + kv_cache + recurrent_state + compute + output + runtime; }
  bool operator==(const CurvePoint&) const = default;
};

enum class SimOutcome { kCompleted, kOverLimit, kKilled };
std::string_view name_of(SimOutcome outcome);  // "completed", "over_limit", "killed"

// Where the time of a run went, by what was busy.
struct StageFacts {
  Duration read{};
  Duration initialise{};
  Duration compute{};
  // Of it, by what ops waited for; all zero where a run does not tell them apart.
  Duration arithmetic{};
  Duration memory{};
  Duration overhead{};       // op_overhead of the device
  Duration first_layer{};    // the first layer's weights are ready
  std::string limited_by{};  // the busiest: "read", "initialise", "compute"
};

// Compute waiting, by cause. They sum to SimReport::stall.
struct StallFacts {
  Duration loading{};  // before the first op
  Duration weights{};
  Duration kv_cache{};  // cells read back from storage
};

// Time from one token to the next, over the decode passes: nearest rank.
struct IntervalFacts {
  Duration p50{};
  Duration p90{};
  Duration p99{};
  Duration longest{};
};

// Several requests served together. Percentiles are of the requests, or of the gaps between tokens.
struct ServingFacts {
  int64_t requests = 0;
  int64_t completed = 0;
  int64_t most_running = 0;  // at once
  int64_t prefill_passes = 0;
  int64_t decode_passes = 0;
  int64_t generated_tokens = 0;
  int64_t prefilled_tokens = 0;  // computed in prefill passes
  int64_t prefix_tokens = 0;     // of prompts, shared with another request
  int64_t preemptions = 0;
  int64_t lost_tokens = 0;                     // computed whose cells a preemption freed
  std::optional<IntervalFacts> first_token{};  // since the request arrived
  std::optional<IntervalFacts> between_tokens{};
  std::optional<IntervalFacts> end_to_end{};
  double requests_per_second = 0.0;
  int64_t block_tokens = 0;  // a whole context without blocks
  Bytes block{};
  int64_t pool_blocks = 0;
  int64_t peak_blocks = 0;      // held
  Bytes mean_held{};            // over the whole run
  Bytes mean_used{};            // of it, by tokens
  int64_t waste_per_mille = 0;  // of what was held, not used
};

// Something that happened to the run: an action, a change of state, its end.
struct SimEvent {
  Duration time{};
  std::string what{};    // "memory state", "killed"
  std::string detail{};  // "approaching limit"
  bool operator==(const SimEvent&) const = default;
};

// Units read before they were asked for; block-cache with a prefetch only.
struct PrefetchFacts {
  int64_t begun = 0;
  int64_t late = 0;  // asked for while they were being read
  int64_t lost = 0;  // evicted before they were asked for
};

// What one process has of a mapped file and of its own, from `time` on.
struct ProcessPoint {
  Duration time{};
  Bytes rss{};
  Bytes pss{};  // each page of the file shared out among those that map it
};

// One of several processes over one mapped file.
struct ProcessFacts {
  Duration start{};
  Duration ttft{};  // since it started
  std::optional<Duration> tpot{};
  Bytes own{};  // anonymous memory
  Bytes rss{};  // when the last process has ended
  Bytes pss{};
  Bytes bytes_read{};
  int64_t page_faults = 0;
  int64_t minor_faults = 0;
  std::vector<ProcessPoint> curve{};
};

// Experts that come and go. SimReport's cache counts are of all passes, these of decode passes.
struct ExpertFacts {
  int64_t layers = 0;
  int64_t experts = 0;  // of a layer
  int64_t used = 0;     // by a token
  Bytes expert{};
  int64_t slots = 0;  // of each layer; 0 = one cache for all of them
  Bytes capacity{};   // of all caches
  int64_t hits = 0;
  int64_t misses = 0;
  std::optional<Bytes> read_per_token{};  // undefined without a decode pass
};

// Feed-forward rows that are not kept.
struct ColdRowFacts {
  int64_t neurons = 0;  // of all layers
  int64_t kept = 0;     // of them
  Bytes cold{};         // in storage only
  Bytes request{};      // the largest of one neuron
  int64_t requests_per_token = 0;
  Bytes read_per_token{};
};

struct SimReport {
  std::vector<Setting> settings{};
  ModelFacts model{};
  DeviceFacts device{};
  std::string engine{};
  std::string strategy{};
  std::string cache_policy{};  // block-cache only
  SimOutcome outcome = SimOutcome::kCompleted;
  std::string reason{};  // empty when completed: "peak 3.1 GiB is 512 MiB over the limit at blk.3"
  Bytes peak{};
  Duration peak_time{};
  int64_t peak_step = 0;  // index of the step, counted over all passes
  std::string peak_at{};  // "prefill 0, blk.3"
  Duration ttft{};
  std::optional<Duration> tpot{};  // undefined below two tokens
  Duration end{};                  // of the run
  double tokens_per_second = 0.0;  // decode rate; 0 when tpot is undefined
  Bytes bytes_read{};
  int64_t page_faults = 0;  // major: each waits for a read
  int64_t minor_faults = 0;
  int64_t cache_hits = 0;
  int64_t cache_misses = 0;
  int64_t cache_evictions = 0;
  std::optional<double> hit_rate{};  // hits / accesses; undefined without accesses
  Duration stall{};                  // compute waiting
  StallFacts stalls{};
  StageFacts stages{};
  std::optional<EnergyFacts> energy{};       // where the device gives figures
  std::optional<IntervalFacts> intervals{};  // undefined below two tokens
  std::optional<ServingFacts> serving{};     // several requests only
  std::optional<PrefetchFacts> prefetch{};
  std::vector<ProcessFacts> processes{};  // several processes only
  std::optional<ExpertFacts> experts{};   // --expert-cache only
  std::optional<ColdRowFacts> rows{};     // --hot-rows only
  std::vector<SimEvent> events{};
  std::vector<std::string> notes{};  // settings without effect; what is not run
  std::vector<CurvePoint> curve{};
};

}  // namespace tidemark
