// What only llama.cpp heeds: places of weights, devices, a projector, a draft model.
#include "planner/config/llama_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "planner/base/files.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;

using Texts = std::vector<std::pair<std::string, std::string>>;

Result<Scenario> read(const Texts& texts) {
  SettingMap settings;
  for (const auto& [key, text] : texts) settings[key] = {.text = text, .origin = "flag --" + key};
  return resolve_scenario(settings);
}

LlamaChoices choices(Texts texts) {
  texts.insert(texts.begin(), {{"model", "qwen3-30b-a3b"}, {"engine", "llama.cpp"}});
  Result<Scenario> scenario = read(texts);
  EXPECT_TRUE(scenario.ok()) << to_string(scenario.diagnostics());
  return scenario.ok() ? scenario->llama : LlamaChoices{};
}

std::string problems(Texts texts) {
  texts.insert(texts.begin(), {{"model", "qwen3-30b-a3b"}, {"engine", "llama.cpp"}});
  return to_string(read(texts).diagnostics());
}

TEST(LlamaSettingsTest, NothingStated) {
  const LlamaChoices llama = choices({});
  EXPECT_EQ(llama, LlamaChoices{});
  EXPECT_FALSE(llama.uses_devices());
}

TEST(LlamaSettingsTest, PlacesOfWeights) {
  EXPECT_EQ(choices({{"n_cpu_moe", "7"}}).n_cpu_moe, 7);
  EXPECT_GE(choices({{"cpu_moe", "on"}, {"n_cpu_moe", "7"}}).n_cpu_moe, 1000);
  const LlamaChoices llama = choices({{"override_tensor", "exps=CPU,attn=GPU"}});
  ASSERT_EQ(llama.overrides.size(), 2U);
  EXPECT_EQ(llama.overrides[0].device, std::nullopt);
  EXPECT_EQ(llama.overrides[1].device, 0U);
  EXPECT_TRUE(llama.uses_devices());  // one weight is on a device
  EXPECT_FALSE(choices({{"override_tensor", "exps=CPU"}}).uses_devices());
}

TEST(LlamaSettingsTest, Devices) {
  const LlamaChoices llama = choices({{"tensor_split", "3, 0.5,0"}});
  EXPECT_EQ(llama.shares, (std::vector<float>{3, 0.5F, 0}));
  EXPECT_EQ(llama.n_devices(), 3U);
  const LlamaChoices one =
      choices({{"tensor_split", "1,1"}, {"split_mode", "none"}, {"main_gpu", "1"}});
  EXPECT_EQ(one.split_mode, LlamaSplitMode::kNone);
  EXPECT_EQ(one.main_gpu, 1);
  EXPECT_FALSE(choices({{"no_op_offload", "on"}}).offload_products);
}

TEST(LlamaSettingsTest, WhatIsRefused) {
  EXPECT_THAT(problems({{"override_tensor", "(=CPU"}}),
              HasSubstr("--override_tensor: \"(\": not a pattern of tensor names: an unmatched ("));
  EXPECT_THAT(problems({{"override_tensor", "a=CUDA1"}}), HasSubstr("none of the 1 devices"));
  EXPECT_THAT(problems({{"tensor_split", "1,x"}}), HasSubstr("\"x\" is no share"));
  EXPECT_THAT(problems({{"tensor_split", "1,-1"}}), HasSubstr("\"-1\" is no share"));
  EXPECT_THAT(problems({{"tensor_split", "inf"}}), HasSubstr("is no share"));
  EXPECT_THAT(problems({{"tensor_split", "0,0"}}), HasSubstr("no device has a share"));
  EXPECT_THAT(problems({{"tensor_split", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"}}),
              HasSubstr("17 devices"));
  EXPECT_THAT(problems({{"split_mode", "row"}}), HasSubstr("row shares out each matrix"));
  EXPECT_THAT(problems({{"split_mode", "rows"}}), HasSubstr("\"rows\" is not known"));
  EXPECT_THAT(problems({{"main_gpu", "1"}}), HasSubstr("1 is out of range"));
  EXPECT_THAT(
      problems({{"tensor_split", "1,1"}, {"split_mode", "none"}, {"override_tensor", "a=GPU1"}}),
      HasSubstr("split_mode none leaves out"));
  EXPECT_THAT(problems({{"mmproj", "auto"}}), HasSubstr("has no vision or audio tower"));
  EXPECT_THAT(problems({{"mmproj", "nowhere.gguf"}}), HasSubstr("nowhere.gguf"));
  EXPECT_THAT(problems({{"ctx_size_draft", "512"}}), HasSubstr("there is no draft model"));
  EXPECT_THAT(problems({{"model_draft", "qwen3-0.6"}}), HasSubstr("qwen3-0.6"));
  EXPECT_THAT(problems({{"model_draft", "phi-2"}, {"cache_type_k_draft", "q4_0"}}),
              HasSubstr("that 32 divides, phi-2 has 80"));
}

// Kernels are those of the device's processor: a phone's, or a PC's.
TEST(LlamaSettingsTest, RepackingFollowsTheDevice) {
  const std::string file = ::testing::TempDir() + "pc.yaml";
  std::ofstream(file) << R"(schema: device/1
name: pc
description: a PC
source: none
ram_total: 16 GiB
app_available: 12 GiB
memory_bandwidth: 40 GB/s
flash_read: 3 GB/s
flash_latency: 100 us
compute: 500 GOPS
page_size: 4 KiB
isa: x86
)";
  const Result<Scenario> pc =
      read({{"model", "qwen3-30b-a3b"}, {"engine", "llama.cpp"}, {"device", file}});
  ASSERT_TRUE(pc.ok()) << to_string(pc.diagnostics());
  EXPECT_EQ(pc->llama.repack, LlamaRepack::kAvx2);
  const auto repack = std::ranges::find(pc->settings, "repack", &Setting::key);
  ASSERT_NE(repack, pc->settings.end());
  EXPECT_EQ(*repack, (Setting{"repack", "avx2", "device pc"}));
  EXPECT_EQ(choices({}).repack, LlamaRepack::kArm);
  EXPECT_EQ(choices({{"no_repack", "on"}}).repack, LlamaRepack::kNone);
}

TEST(LlamaSettingsTest, ADraftModel) {
  const LlamaChoices llama = choices({{"model_draft", "qwen3-0.6b"},
                                      {"quant", "Q4_K_M"},
                                      {"ctx_size", "8192"},
                                      {"parallel", "2"},
                                      {"n_gpu_layers", "99"}});
  ASSERT_TRUE(llama.draft.has_value());
  EXPECT_EQ(llama.draft->model.name, "qwen3-0.6b");
  EXPECT_EQ(llama.draft->quant.file_type, FileType::kQ4KM);
  EXPECT_EQ(llama.draft->n_ctx, Tokens(4096));  // one sequence's
  EXPECT_EQ(llama.draft->type_k, DType::kF16);
  EXPECT_EQ(llama.draft->n_gpu_layers, 29);  // 28 and the output
  const LlamaChoices stated = choices({{"model_draft", "qwen3-0.6b"},
                                       {"quant_draft", "Q8_0"},
                                       {"ctx_size_draft", "1024"},
                                       {"cache_type_k_draft", "q8_0"},
                                       {"n_gpu_layers_draft", "3"}});
  EXPECT_EQ(stated.draft->quant.file_type, FileType::kQ8_0);
  EXPECT_EQ(stated.draft->n_ctx, Tokens(1024));
  EXPECT_EQ(stated.draft->type_k, DType::kQ8_0);
  EXPECT_EQ(stated.draft->n_gpu_layers, 3);
  EXPECT_EQ(choices({{"model_draft", "qwen3-0.6b"}}).draft->n_gpu_layers, 0);
}

TEST(LlamaSettingsTest, AProjector) {
  const Result<Scenario> scenario =
      read({{"model", "gemma-3-4b"}, {"engine", "llama.cpp"}, {"mmproj", "auto"}});
  ASSERT_TRUE(scenario.ok()) << to_string(scenario.diagnostics());
  EXPECT_TRUE(scenario->llama.projector);
  EXPECT_FALSE(scenario->llama.projector_file.has_value());
}

}  // namespace
}  // namespace tidemark
