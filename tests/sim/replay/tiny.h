// Decoders of a few kilobytes, and everything a run of one needs.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/replay/replay.h"
#include "sim/replay/run_model.h"
#include "sim/replay/value_ranges.h"
#include "support/sample_models.h"

namespace tidemark::testing {

inline constexpr Dimensions kTiny{.n_layer = 2,
                                  .n_embd = 32,
                                  .n_head = 4,
                                  .n_head_kv = 2,
                                  .head_dim = 8,
                                  .n_ff = 64,
                                  .n_vocab = 300,
                                  .tied_embeddings = true};

// Prompt 5 in ubatches of 4: a full pass, a partial one, then two decode passes.
inline Scenario tiny_scenario(StrategyKind strategy = StrategyKind::kResident,
                              const Dimensions& dimensions = kTiny) {
  return {.model = transformer(dimensions, "tiny"),
          .device = {.name = "round numbers",
                     .ram_total = Bytes::of(1'000'000'000'000),
                     .app_available = Bytes::of(1'000'000'000'000),
                     .memory_bandwidth = BytesPerSecond::of(10'000'000'000),
                     .flash_read = BytesPerSecond::of(1'000'000'000),
                     .compute = OpsPerSecond::of(1'000'000'000),
                     .page_size = Bytes::of(4096)},
          .engine = {.name = "arena",
                     .runtime_fixed = Bytes::of(1'000'000),
                     .alignment = Alignment::of(64)},
          .quant = {.kind = QuantKind::kFormat, .format = DType::kInt8},
          .n_ctx = Tokens(16),
          .n_batch = Tokens(4),
          .n_ubatch = Tokens(4),
          .type_act = DType::kInt8,
          .strategy = strategy,
          .prompt = Tokens(5),
          .generate = Tokens(3)};
}

inline MemoryPlan plan_of(const Scenario& scenario) {
  Result<MemoryPlan> plan = plan_scenario(scenario);
  EXPECT_TRUE(plan.ok()) << to_string(plan.diagnostics());
  return std::move(plan).value();
}

inline std::vector<ReplayReport> replay_all(const std::vector<Scenario>& scenarios,
                                            ReplayOptions options = {}) {
  options.scratch = ::testing::TempDir();
  Result<ReplayOutcome> outcome = replay(scenarios, options);
  EXPECT_TRUE(outcome.ok()) << to_string(outcome.diagnostics());
  return std::move(outcome).value().reports;
}

inline std::vector<Scenario> under_all_strategies(Scenario scenario) {
  std::vector<Scenario> all;
  for (const StrategyKind strategy : strategies()) {
    scenario.strategy = strategy;
    all.push_back(scenario);
  }
  return all;
}

// One run of a scenario without a report: layout and observer are the test's.
struct Bench {
  explicit Bench(const Scenario& wanted)
      : scenario(wanted),
        plan(plan_of(scenario)),
        passes(passes_of(scenario, plan)),
        itinerary(itinerary_of(plan, passes)),
        layout(plan),
        source(scenario.seed, scenario.model.n_layer()),
        weights(plan.weights, source, ::testing::TempDir(), nullptr) {}

  RunResult run(const ArenaLayout& arena, const auto& make_observer) const {
    const TensorMemory memory(plan, arena, Fault::kOnTouch);
    const auto loader = make_unit_loader(
        scenario, plan, {.weights = weights, .layout = layout, .itinerary = itinerary});
    const auto observer = make_observer(memory);
    const TransformerSpec& model = *scenario.model.transformer();
    return run_model({.model = model,
                      .plan = plan,
                      .passes = passes,
                      .layout = layout,
                      .memory = memory,
                      .loader = *loader,
                      .observer = *observer},
                     made_up_prompt(scenario.seed, passes.prompt_tokens, model.n_vocab));
  }

  Scenario scenario;
  MemoryPlan plan;
  Passes passes;
  Itinerary itinerary;
  UnitLayout layout;
  MadeUpWeights source;
  WeightFile weights;
};

}  // namespace tidemark::testing
