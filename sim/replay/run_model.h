// A run for real: the simulator's passes and visits (sim/strategy/decoder.h), each step computed.
// Greedy: the token with the largest logit of the last row goes into the next pass, the first of
// several equal ones.
//
//   prepare -> for each pass: inputs -> for each visit: need unit -> steps -> done -> (sample) ->
//   next pass
#pragma once

#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "planner/base/quantity.h"
#include "sim/replay/pass_memory.h"
#include "sim/replay/unit_loader.h"

namespace tidemark {

// Looks on. False stops the run.
class RunObserver {
 public:
  RunObserver() = default;
  virtual ~RunObserver() = default;
  RunObserver(const RunObserver&) = delete;
  RunObserver& operator=(const RunObserver&) = delete;

  // The weights are being made resident that are so before the first pass.
  virtual void on_prepare() {}
  // The inputs are written.
  virtual bool on_pass(const PassMemory& /*memory*/) { return true; }
  // The unit is about to be made resident.
  virtual void before_visit(UnitId /*unit*/) {}
  virtual bool before_op(const Op& /*op*/) { return true; }
  // `wall`: of the op, and of getting its weights when it is the first of a visit.
  virtual bool after_op(const Op& /*op*/, StepIndex /*step*/, Duration /*wall*/) { return true; }
  virtual bool on_logits(std::span<const std::byte> /*logits*/) { return true; }
};

enum class RunEnd { kDone, kStoppedByObserver, kInterrupted };

// A KV cache that grows block by block as tokens come.
struct KvBlocks {
  int64_t cells = 0;    // of one block; 0 = the cache is there from the start
  int64_t context = 0;  // cells of the whole cache
};

KvBlocks kv_blocks_of(const Scenario& scenario);

struct RunParts {
  const TransformerSpec& model;
  const MemoryPlan& plan;
  const Passes& passes;  // of one sequence
  const UnitLayout& layout;
  const TensorMemory& memory;
  UnitLoader& loader;
  RunObserver& observer;
  KvBlocks kv_blocks{};
  const std::atomic<bool>* stop = nullptr;  // looked at before each op; null = never stopped
};

struct RunResult {
  RunEnd end = RunEnd::kDone;
  std::vector<int32_t> tokens{};  // sampled
  Duration wall{};                // reading and computing; the observer's time is its own
};

// One sequence; `prompt` has passes.prompt_tokens tokens. Throws std::system_error when weights
// cannot be read.
RunResult run_model(const RunParts& parts, std::span<const int32_t> prompt);

}  // namespace tidemark
