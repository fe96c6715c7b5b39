// Scenarios small enough to work out by hand.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "planner/base/diagnostic.h"
#include "sim/strategy/simulate.h"

namespace tidemark::testing {

// Flash 1 B/ns (1 MB takes 1 ms), memory 10 B/ns, arithmetic 1 op/ns; room for everything.
inline DeviceSpec round_device() {
  return {.name = "round numbers",
          .ram_total = Bytes::of(1'000'000'000'000),
          .app_available = Bytes::of(1'000'000'000'000),
          .memory_bandwidth = BytesPerSecond::of(10'000'000'000),
          .flash_read = BytesPerSecond::of(1'000'000'000),
          .flash_latency = {},
          .compute = OpsPerSecond::of(1'000'000'000)};
}

// Only what is live counts; no runtime.
inline EngineProfile live_engine() {
  return {.name = "live", .activations = ActivationPolicy::kLive};
}
inline EngineProfile arena_engine() { return {.name = "arena", .runtime_fixed = Bytes::of(1000)}; }

inline Scenario layer_scenario(std::vector<PlainLayer> layers, StrategyKind strategy) {
  return {.model = {.name = "layers",
                    .architecture = "layer-list",
                    .dims = LayerListSpec{std::move(layers)}},
          .device = round_device(),
          .engine = live_engine(),
          .strategy = strategy,
          .prompt = Tokens(1),
          .generate = Tokens(1)};
}

// A decoder with `layers` equal layers and dimensions a person can multiply.
inline Scenario decoder_scenario(int64_t layers, StrategyKind strategy) {
  const LayerSpec layer{.mixer = AttentionSpec{.n_head = 2, .n_head_kv = 2, .head_dim = 16},
                        .feed_forward = {.n_ff = 64}};
  return {.model = {.name = "small",
                    .architecture = "llama",
                    .dims = TransformerSpec{.n_embd = 32,
                                            .n_vocab = 100,
                                            .tied_embeddings = true,
                                            .layers = std::vector<LayerSpec>(
                                                static_cast<size_t>(layers), layer)}},
          .device = round_device(),
          .engine = arena_engine(),
          .n_ctx = Tokens(256),
          .n_batch = Tokens(64),
          .n_ubatch = Tokens(64),
          .strategy = strategy,
          .prompt = Tokens(100),
          .generate = Tokens(5)};
}

inline MemoryPlan plan_of(const Scenario& scenario) {
  Result<MemoryPlan> plan = plan_scenario(scenario);
  EXPECT_TRUE(plan.ok()) << to_string(plan.diagnostics());
  return std::move(plan).value();
}

inline SimResult run(const Scenario& scenario, SimOptions options = {}) {
  Result<SimResult> result = simulate(scenario, plan_of(scenario), options);
  EXPECT_TRUE(result.ok()) << to_string(result.diagnostics());
  return std::move(result).value();
}

inline Diagnostics refusal(const Scenario& scenario, SimOptions options = {}) {
  const Result<SimResult> result = simulate(scenario, plan_of(scenario), options);
  EXPECT_FALSE(result.ok());
  return result.diagnostics();
}

}  // namespace tidemark::testing
