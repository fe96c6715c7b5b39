#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <linux/magic.h>
#include <sys/vfs.h>

#include "sim/replay/replay_input.h"
#include "tiny.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using testing::tiny_scenario;

std::string refusal(const Scenario& scenario, const std::string& scratch = ::testing::TempDir()) {
  const Result<ReplayOutcome> outcome = replay(std::span(&scenario, 1), {.scratch = scratch});
  return to_string(outcome.diagnostics());
}

TEST(ReplayRefusals, SayAllThatTheKernelsCannotDo) {
  Scenario scenario = tiny_scenario(StrategyKind::kBlockCache);
  scenario.quant = {.kind = QuantKind::kFormat, .format = DType::kQ5_0};
  scenario.type_act = DType::kF32;
  scenario.type_k = DType::kF32;
  scenario.type_v = DType::kQ8_0;
  scenario.n_seq = 2;
  scenario.engine.activations = ActivationPolicy::kLive;
  EXPECT_EQ(refusal(scenario),
            "error: --quant: the replay multiplies rows of int8, int4, Q8_0 and Q4_0; "
            "token_embd.weight is Q5_0\n"
            "  hint: add --quant int8\n"
            "error: --activation-type: the replay runs int8 activations, not f32\n"
            "  hint: leave --activation-type out\n"
            "error: --cache-type-k: the replay keeps the KV cache in int8 or f16, not f32\n"
            "  hint: add --cache-type-k int8\n"
            "error: --cache-type-v: the replay keeps the KV cache in int8 or f16, not Q8_0\n"
            "  hint: add --cache-type-v int8\n"
            "error: --parallel: the replay runs one sequence\n"
            "  hint: leave --parallel out\n"
            "error: --engine: arena plans no arena that could be replayed\n"
            "  hint: add --engine tidemark\n");
}

TEST(ReplayRefusals, WhatOnlyASimulatedRunKnows) {
  Scenario scenario = tiny_scenario();
  scenario.enforce = true;
  scenario.kv_resident = Bytes::of(1024);
  scenario.load.initialise = BytesPerSecond::of(1'000'000);
  EXPECT_EQ(refusal(scenario),
            "error: --enforce: the replay's limit is a real one\n"
            "  hint: give --memory-limit in its place\n"
            "error: --kv-resident: the replay holds the whole KV cache\n"
            "  hint: leave --kv-resident out\n"
            "error: --initialise: the replay uses what it reads as it lies\n"
            "  hint: leave --initialise out\n");
}

TEST(ReplayRefusals, NameTheSettingThatIsMeant) {
  Scenario scenario = tiny_scenario();
  scenario.quant.overrides = parse_overrides("attn_k=f16").value();
  scenario.residency = {
      .split_files = 2, .processes = 3, .expert_slots = 4, .rows = HotRows{.kept_ppm = 500'000}};
  EXPECT_EQ(refusal(scenario),
            "error: --tensor-type: the replay multiplies rows of int8, int4, Q8_0 and Q4_0; "
            "blk.0.attn_k.weight is f16\n"
            "  hint: leave --tensor-type out\n"
            "error: --split: the replay has one weight file\n"
            "  hint: leave --split out\n"
            "error: --processes: the replay is one process\n"
            "  hint: leave --processes out\n"
            "error: --expert-cache: the replay moves whole weight units\n"
            "  hint: leave --expert-cache out\n"
            "error: --hot-rows: the replay moves whole weight units\n"
            "  hint: leave --hot-rows out\n");
}

TEST(ReplayRefusals, AVocabularyOfOneTokenIsNoTable) {
  testing::Dimensions dimensions = testing::kTiny;
  dimensions.n_vocab = 1;
  EXPECT_THAT(refusal(tiny_scenario(StrategyKind::kResident, dimensions)),
              HasSubstr("has a vocabulary of one token, which the replay cannot run"));
}

TEST(ReplayRefusals, AListOfSizesHasNothingToCompute) {
  Scenario scenario = tiny_scenario();
  scenario.model = testing::demo_layers();
  EXPECT_EQ(
      refusal(scenario),
      "error: MODEL: demo-layers is a list of sizes and has no layers that could be computed\n"
      "  hint: name a decoder: see `tidemark list models`\n");
}

TEST(ReplayRefusals, TokensMustFitTheContext) {
  Scenario scenario = tiny_scenario();
  scenario.generate = Tokens(13);  // 5 + 12 = 17 of 16 cells
  EXPECT_EQ(refusal(scenario),
            "error: --generate: 17 cells are needed, the context has 16\n"
            "  hint: raise --ctx-size, or lower --prompt or --generate\n");
}

TEST(ReplayRefusals, OnePromptRunsAsItIsPlanned) {
  Scenario scenario = tiny_scenario();
  scenario.serving.count = 2;
  scenario.adapt = {AdaptAction::kDropPrefetch};
  EXPECT_EQ(refusal(scenario),
            "error: --requests: the replay runs one prompt\n"
            "  hint: leave --requests out\n"
            "error: --adapt: the replay runs the plan as it is\n"
            "  hint: leave --adapt out\n");
}

TEST(ReplayRefusals, AMissingScratchFolder) {
  EXPECT_THAT(refusal(tiny_scenario(), "/no/such/folder"),
              HasSubstr("cannot use /no/such/folder: No such file or directory"));
}

TEST(ReplayRefusals, NoRoomOnDiskOrInMemoryIsSaidBeforeAnythingIsWritten) {
  const MemoryPlan plan = testing::plan_of(tiny_scenario());
  const Passes passes = passes_of(tiny_scenario(), plan);
  EXPECT_TRUE(missing_room(plan, passes, Bytes::of(1), ::testing::TempDir()).empty());
  const std::string memory =
      to_string(missing_room(plan, passes, Bytes::of(int64_t{1} << 60), ::testing::TempDir()));
  EXPECT_THAT(memory, HasSubstr("would be held and 64.0 MiB must be left, "));
  Passes endless = passes;
  endless.decode = int64_t{1} << 50;
  EXPECT_THAT(to_string(missing_room(plan, endless, Bytes::of(1), ::testing::TempDir())),
              HasSubstr("and 16.0 MiB must be left, "));
  EXPECT_EQ(logits_bytes(plan, passes), 4 * 300 * 4)
      << "two prefill and two decode passes of a row";
}

TEST(ReplayRefusals, AMappedFileThatCannotBeginCold) {
  struct statfs answer = {};
  const bool is_memory =
      ::statfs("/dev/shm", &answer) == 0 && static_cast<int64_t>(answer.f_type) == TMPFS_MAGIC;
  if (!is_memory) GTEST_SKIP() << "no folder here lives in memory";
  Scenario scenario = tiny_scenario(StrategyKind::kMmap);
  EXPECT_EQ(
      refusal(scenario, "/dev/shm"),
      "error: --scratch: \"/dev/shm\" keeps files in memory, where a mapped file cannot begin "
      "cold\n"
      "  hint: name a folder on a disk, here or in TMPDIR, or add --page-cache warm\n");
  EXPECT_EQ(refusal(scenario), "");
  scenario.load.is_cached = true;
  EXPECT_EQ(refusal(scenario, "/dev/shm"), "");
  EXPECT_EQ(refusal(tiny_scenario(StrategyKind::kLayerwise), "/dev/shm"), "");
}

TEST(ReplayRefusals, MoreStepsThanCanBeKept) {
  Scenario scenario = tiny_scenario();
  scenario.n_ctx = Tokens(1'000'000);
  scenario.generate = Tokens(900'000);
  EXPECT_THAT(refusal(scenario), HasSubstr("steps would have to be measured; at most 2000000 are"));
}

}  // namespace
}  // namespace tidemark
