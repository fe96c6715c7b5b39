// The shipped engine profiles against what their engines printed or held in public.
#include <gtest/gtest.h>

#include <initializer_list>
#include <tuple>
#include <utility>

#include "planner/capacity/memory_kinds.h"
#include "planner/config/load.h"
#include "planner/config/settings.h"

namespace tidemark {
namespace {

using namespace literals;

Scenario resolved(std::initializer_list<std::pair<const char*, const char*>> stated) {
  SettingMap settings;
  for (const auto& [key, value] : stated) settings[key] = {.text = value, .origin = "flag --set"};
  Result<Scenario> scenario = resolve_scenario(settings);
  EXPECT_TRUE(scenario.ok()) << to_string(scenario.diagnostics());
  return std::move(scenario).value();
}

MemoryPlan planned(const Scenario& scenario) {
  Result<MemoryPlan> plan = plan_scenario(scenario);
  EXPECT_TRUE(plan.ok()) << to_string(plan.diagnostics());
  return std::move(plan).value();
}

double mib(Bytes bytes) { return static_cast<double>(bytes.count()) / (1024.0 * 1024.0); }

// Resident 3,185 MiB for the 1B model and 7,419 MiB for the 3B one, in bf16, after a prompt of 64
// tokens with a cache for 2,048: pytorch/executorch, examples/models/llama/README.md.
TEST(ShippedEngines, ExecuTorchInBf16) {
  for (const auto& [model, seen] : {std::pair{"llama-3.2-1b", 3185.0}, {"llama-3.2-3b", 7419.0}}) {
    const Scenario scenario = resolved({{"model", model},
                                        {"engine", "static"},
                                        {"ctx_size", "2048"},
                                        {"ubatch_size", "64"},
                                        {"prompt", "64"}});
    const MemoryInterval interval = memory_interval(scenario, planned(scenario)).value();
    EXPECT_LE(mib(interval.least), seen) << model;
    EXPECT_GE(mib(interval.most), seen) << model;
    EXPECT_LT(mib(interval.most - interval.least), 0.13 * seen) << model;
  }
}

// Three logs of MLC-LLM: parameters and cache as printed, in MiB. mlc-ai/mlc-llm#2026 and #1603,
// and a server's log of May 2024.
TEST(ShippedEngines, MlcLogs) {
  const auto check_log = [](const char* model, const char* quant, const char* context,
                            double parameters, double cache) {
    const Scenario scenario =
        resolved({{"model", model}, {"engine", "mlc"}, {"quant", quant}, {"ctx_size", context}});
    const MemoryPlan plan = planned(scenario);
    EXPECT_NEAR(mib(plan.breakdown.weights), parameters, 0.001 * parameters) << model;
    EXPECT_GE(mib(plan.breakdown.kv_cache) + 0.01, cache) << model;
    EXPECT_LE(mib(plan.breakdown.kv_cache - (455_MiB - 49_MiB)), cache) << model;
  };
  check_log("llama-2-7b", "q4f16_1", "21275", 3615.13, 10689.56);
  check_log("llama-2-7b", "f16", "18267", 12852.51, 9590.18);
  check_log("llama-3-8b", "q4f16_1", "126754", 4308.13, 16054.47);
}

// The buffer for temporary tensors of a prompt of 1,024 tokens: 56.44 MiB in mlc-ai/mlc-llm#2026.
TEST(ShippedEngines, MlcTemporaryTensors) {
  const Scenario scenario = resolved({{"model", "llama-2-7b"},
                                      {"engine", "mlc"},
                                      {"quant", "q4f16_1"},
                                      {"ctx_size", "21275"},
                                      {"ubatch_size", "1024"}});
  EXPECT_NEAR(mib(planned(scenario).activations), 56.44, 0.25 * 56.44);
}

// vllm-project/vllm#15871: 0.95 GiB of cache for 32,768 tokens, 27 layers of 576 values.
TEST(ShippedEngines, PagedLatentCache) {
  const Scenario scenario =
      resolved({{"model", "deepseek-v2-lite"}, {"engine", "paged"}, {"ctx_size", "32768"}});
  EXPECT_EQ(planned(scenario).breakdown.kv_cache, Bytes::of(int64_t{27} * 576 * 2 * 32768));
  EXPECT_EQ(scenario.engine.kv_block, 16);
}

// Qwen2-7B: the table of 152,064 rows of 3,584 stays in flash; 512 rows of a prompt are held.
TEST(ShippedEngines, MnnReadsTheEmbeddingFromFlash) {
  const Scenario flash = resolved({{"model", "qwen2-7b"}, {"engine", "mnn"}});
  const Scenario resident =
      resolved({{"model", "qwen2-7b"}, {"engine", "mnn"}, {"embedding", "resident"}});
  const Bytes saved = planned(resident).breakdown.weights - planned(flash).breakdown.weights;
  EXPECT_EQ(saved, Bytes::of(int64_t{152064 - 512} * 3584 * 2));
}

// Keys in int8 and values in fp8 (quant_qkv 3), of Qwen2-7B: 28 layers of 4 x 128 values, with 2 B
// of scale for the keys of a token: 1,026 B a token and layer, the paper's 1,024 and the scale.
// Of 4,096 cells 1,000 are used: 28,728,000 B, of which 8 MiB stay; the rest are pages of a file.
// One layer is needed at a time: 1,000 x 1,026 B.
TEST(ShippedEngines, MnnSpillsTheCache) {
  const Scenario scenario = resolved({{"model", "qwen2-7b"},
                                      {"engine", "mnn"},
                                      {"ctx_size", "4096"},
                                      {"cache_type_k", "int8"},
                                      {"cache_type_v", "fp8_e4m3"},
                                      {"kv_resident", "8 MiB"},
                                      {"prompt", "968"},
                                      {"generate", "32"}});
  const MemoryPlan plan = planned(scenario);
  EXPECT_EQ(plan.breakdown.kv_cache, Bytes::of(int64_t{28} * 1026 * 4096));
  const TermKinds cache = memory_kinds(scenario, plan)->terms.at(1);
  ASSERT_EQ(cache.term, "kv_cache");
  EXPECT_EQ(cache.reserved, plan.breakdown.kv_cache);
  EXPECT_EQ(cache.resident, Bytes::of(28'728'000));
  EXPECT_EQ(cache.dirty, 8_MiB);
  EXPECT_EQ(cache.file_backed, Bytes::of(28'728'000) - 8_MiB);
  EXPECT_EQ(cache.needed, 8_MiB + Bytes::of(1'026'000));
  EXPECT_NE(cache.how.find("all but 8.00 MiB of it in a mapped file"), std::string::npos);
}

// kvcache_mmap as it is: nothing has to stay but the layer at work. A limit beyond the cache
// changes nothing.
TEST(ShippedEngines, MnnSpillsAllOrNothing) {
  const auto cache_with = [](const char* engine, const char* resident) {
    const Scenario scenario =
        resolved({{"model", "qwen2-7b"}, {"engine", engine}, {"kv_resident", resident}});
    return memory_kinds(scenario, planned(scenario))->terms.at(1);
  };
  const TermKinds all = cache_with("mnn", "0 B");
  EXPECT_EQ(all.dirty, Bytes{});
  EXPECT_EQ(all.file_backed, all.resident);
  EXPECT_EQ(all.needed * 28, all.resident);
  const TermKinds none = cache_with("mnn", "1 GiB");
  EXPECT_EQ(none.file_backed, Bytes{});
  EXPECT_EQ(none.needed, none.resident);
  // An engine that cannot spill ignores it, and a note of the report says so.
  EXPECT_EQ(cache_with("tidemark", "0 B").file_backed, Bytes{});
}

TEST(ShippedEngines, ChoicesOfAnEngineAreChecked) {
  for (const auto& [key, value] : {std::pair{"n_gpu_layers", "-1"},
                                   {"n_gpu_layers", "all"},
                                   {"repack", "neon"},
                                   {"cache_type_k", "int8"},
                                   {"cache_type_v", "fp8_e4m3"},
                                   {"no_mmap", "maybe"},
                                   {"mlock", "2"},
                                   {"no_repack", "x"},
                                   {"kv_resident", "8 M"},
                                   {"kv_resident", "-1 B"},
                                   {"kv_resident", "8"}}) {
    const SettingMap settings{{"model", {.text = "llama-3.2-1b", .origin = "flag"}},
                              {"engine", {.text = "llama.cpp", .origin = "flag"}},
                              {key, {.text = value, .origin = std::string("flag ") + key}}};
    const Result<Scenario> scenario = resolve_scenario(settings);
    ASSERT_FALSE(scenario.ok()) << key << " " << value;
    EXPECT_NE(to_string(scenario.diagnostics()).find(key), std::string::npos) << key;
  }
}

// Measured processes stand in the interval, its upper end in the total.
TEST(ShippedEngines, ProcessesAreIntervals) {
  for (const auto& [engine, least, most] :
       {std::tuple{"mnn", 10_MiB, 50_MiB}, {"tensorrt", 37_MiB, 674_MiB}}) {
    const Scenario scenario = resolved({{"model", "llama-3.2-1b"}, {"engine", engine}});
    const MemoryPlan plan = planned(scenario);
    EXPECT_EQ(plan.breakdown.runtime, most) << engine;
    const MemoryInterval interval = memory_interval(scenario, plan).value();
    EXPECT_EQ(interval.most - interval.least, most - least) << engine;
    EXPECT_EQ(interval.term, "runtime") << engine;
  }
}

// Every profile that stands for a runtime says what it can do; our own three stand for none.
TEST(ShippedEngines, EveryCellHasASource) {
  size_t runtimes = 0;
  for (const std::string& name : list_configs(ConfigKind::kEngine)) {
    const Result<EngineProfile> engine = load_engine(name);
    ASSERT_TRUE(engine.ok()) << to_string(engine.diagnostics());
    const bool is_ours = name == "bare" || name == "formula" || name == "tidemark";
    EXPECT_EQ(engine->features.empty(), is_ours) << name;
    for (const RuntimeFeatures& runtime : engine->features) {
      ++runtimes;
      for (const FeatureKey& key : feature_keys()) {
        const EngineFeature& cell = runtime.*key.cell;
        EXPECT_FALSE(cell.value.empty()) << runtime.runtime << " " << key.key;
        EXPECT_FALSE(cell.source.empty()) << runtime.runtime << " " << key.key;
        // What was not found says where it was looked for.
        EXPECT_EQ(cell.value == "not found", cell.source.starts_with("looked for"))
            << runtime.runtime << " " << key.key;
      }
    }
  }
  EXPECT_EQ(runtimes, 9U);
}

// Phi-3-mini-128k at the length it was trained for: 51.5 GB of cache, 2 x 32 x 32 x 96 x 2 B each.
TEST(ShippedEngines, StaticTakesTheLongestSequence) {
  const Scenario scenario = resolved({{"model", "phi-3-mini-128k"}, {"engine", "static"}});
  const MemoryPlan plan = planned(scenario);
  const Bytes others = plan.breakdown.total() - plan.breakdown.kv_cache;
  EXPECT_EQ(memory_kinds(scenario, plan)->default_total - others,
            Bytes::of(int64_t{2} * 32 * 32 * 96 * 2 * 131072));
}

TEST(ShippedEngines, LlamaCppsChoices) {
  const Scenario plain = resolved({{"model", "llama-3.2-1b"}, {"engine", "llama.cpp"}});
  EXPECT_EQ(plain.llama, LlamaChoices{});
  const Scenario stated = resolved({{"model", "llama-3.2-1b"},
                                    {"engine", "llama.cpp"},
                                    {"n_gpu_layers", "17"},
                                    {"no_mmap", "on"},
                                    {"mlock", "on"},
                                    {"repack", "avx512"}});
  EXPECT_EQ(
      stated.llama,
      (LlamaChoices{
          .n_gpu_layers = 17, .mapped = false, .locked = true, .repack = LlamaRepack::kAvx512}));
  const Scenario off = resolved({{"model", "llama-3.2-1b"},
                                 {"engine", "llama.cpp"},
                                 {"repack", "avx2"},
                                 {"no_repack", "on"}});
  EXPECT_EQ(off.llama.repack, LlamaRepack::kNone);
}

}  // namespace
}  // namespace tidemark
