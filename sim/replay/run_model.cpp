#include "sim/replay/run_model.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "planner/base/check.h"
#include "sim/replay/executor.h"

namespace tidemark {
namespace {

using Clock = std::chrono::steady_clock;

Duration since(Clock::time_point start) {
  return Duration::ns(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
}

class Run {
 public:
  Run(const RunParts& parts, std::span<const int32_t> prompt)
      : parts_(parts),
        prompt_(prompt),
        prefill_(parts.model, parts.plan, parts.plan.prefill, parts.layout, parts.memory.scratch()),
        decode_(parts.model, parts.plan, parts.plan.decode, parts.layout, parts.memory.scratch()) {}

  RunResult result() && {
    parts_.observer.on_prepare();
    const Clock::time_point start = Clock::now();
    parts_.loader.prepare();
    result_.wall += since(start);
    for (int64_t i = 0; i < parts_.passes.count(); ++i) {
      if (!run_pass(parts_.passes.at(i))) break;
    }
    return std::move(result_);
  }

 private:
  // Each part of a run returns whether the run goes on.
  bool go_on(bool observer_agrees) {
    if (!observer_agrees) result_.end = RunEnd::kStoppedByObserver;
    return observer_agrees;
  }

  bool run_pass(const Pass& pass) {
    const bool is_prefill = pass.phase == Phase::kPrefill;
    const PhasePlan& phase = is_prefill ? parts_.plan.prefill : parts_.plan.decode;
    const PassMemory memory(phase, parts_.memory, pass);
    if (const KvBlocks& blocks = parts_.kv_blocks; blocks.cells > 0) {
      const int64_t cells = ceil_div(pass.cells, blocks.cells) * blocks.cells;
      parts_.memory.touch_state(phase, cells >= blocks.context ? phase.options.n_cells : cells);
    }
    write_inputs(memory);
    if (!go_on(parts_.observer.on_pass(memory))) return false;
    for (const UnitUse& use : phase.uses) {
      if (!run_visit(memory, use, is_prefill ? prefill_ : decode_)) return false;
    }
    const std::span<const std::byte> logits = logits_of(memory);
    const bool is_last_of_prompt = !is_prefill || pass.index + 1 == parts_.passes.prefill;
    if (is_last_of_prompt) sample(logits);
    return go_on(parts_.observer.on_logits(logits));
  }

  void write_inputs(const PassMemory& memory) const {
    for (const Tensor& tensor : memory.phase().graph.tensors()) {
      if (tensor.kind != TensorKind::kInput) continue;
      if (tensor.dtype != DType::kI32) {  // a tower's rows, which a text has no use for
        std::ranges::fill(memory.used(tensor.id), std::byte{0});
        continue;
      }
      const bool is_position = tensor.name == "positions";
      for (int64_t i = 0; i < memory.pass().tokens; ++i) {
        const int32_t position = memory.positions()[static_cast<size_t>(i)];
        const int32_t value = is_position ? position : token_at(position);
        const std::span<std::byte> bytes = memory.used(tensor.id);
        std::memcpy(&bytes[static_cast<size_t>(i) * sizeof value], &value, sizeof value);
      }
    }
  }

  // The prompt, then what was sampled.
  int32_t token_at(int64_t position) const {
    const auto index = static_cast<size_t>(position);
    return index < prompt_.size() ? prompt_[index] : result_.tokens.at(index - prompt_.size());
  }

  bool run_visit(const PassMemory& memory, const UnitUse& use, const Executor& executor) {
    parts_.observer.before_visit(use.unit);
    Clock::time_point start = Clock::now();
    const std::span<const std::byte> unit = parts_.loader.need(visit_);
    Duration waited = since(start);
    for (StepIndex step = use.steps.lower; step < use.steps.upper;
         step = StepIndex(step.value() + 1)) {
      if (parts_.stop != nullptr && parts_.stop->load()) {
        result_.end = RunEnd::kInterrupted;
        return false;
      }
      const Op& op = memory.phase().graph.op(memory.phase().schedule.order.at(step.index()));
      if (!go_on(parts_.observer.before_op(op))) return false;
      start = Clock::now();
      executor.run(op, memory, unit);
      const Duration wall = std::exchange(waited, Duration()) + since(start);
      result_.wall += wall;
      if (!go_on(parts_.observer.after_op(op, step, wall))) return false;
    }
    parts_.loader.done(visit_++);
    return true;
  }

  static std::span<const std::byte> logits_of(const PassMemory& memory) {
    for (const Tensor& tensor : memory.phase().graph.tensors()) {
      if (tensor.kind == TensorKind::kOutput) return memory.used(tensor.id);
    }
    check(false, "a decoder has logits");
    return {};
  }

  void sample(std::span<const std::byte> logits) {
    const auto vocabulary = static_cast<size_t>(parts_.model.n_vocab);
    std::vector<float> row(vocabulary);
    const auto last = logits.last(vocabulary * sizeof(float));
    std::memcpy(row.data(), last.data(), last.size());
    const auto largest = std::max_element(row.begin(), row.end());
    result_.tokens.push_back(static_cast<int32_t>(largest - row.begin()));
  }

  const RunParts& parts_;
  std::span<const int32_t> prompt_;
  Executor prefill_;
  Executor decode_;
  RunResult result_{};
  int64_t visit_ = 0;
};

}  // namespace

KvBlocks kv_blocks_of(const Scenario& scenario) {
  if (!scenario.kv_in_blocks) return {};
  return {.cells = scenario.kv_block, .context = scenario.cells_per_sequence()};
}

RunResult run_model(const RunParts& parts, std::span<const int32_t> prompt) {
  check(parts.passes.n_seq == 1 && std::ssize(prompt) == parts.passes.prompt_tokens,
        "a run has one sequence and its whole prompt");
  return Run(parts, prompt).result();
}

}  // namespace tidemark
