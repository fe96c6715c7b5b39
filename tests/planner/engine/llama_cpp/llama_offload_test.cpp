#include "planner/engine/llama_cpp/llama_offload.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "planner/config/load.h"
#include "planner/engine/llama_cpp/llama_memory.h"
#include "support/llamacpp_models.h"

namespace tidemark {
namespace {

using testing::MeasuredModel;
using testing::restated_model;

struct Published {
  ModelSpec model{};
  WeightsInventory weights{};
};

Published shipped(const std::string& name, const std::string& quantization) {
  Published made;
  made.model =
      load_model(std::string(TIDEMARK_SOURCE_DIR) + "/configs/models/" + name + ".yaml").value();
  made.weights = quantized_weights(made.model, parse_quantization(quantization).value()).value();
  return made;
}

// As the logs print them.
double mib(Bytes bytes) { return static_cast<double>(bytes.count()) / (1 << 20); }

LlamaOffload all_layers_on(std::vector<LlamaDevice> devices) {
  return {.n_gpu_layers = 1000, .devices = std::move(devices)};
}

TEST(LlamaOffloadTest, WorkedInTheHeader) {
  const std::vector<size_t> places = llama_devices_of_layers(80, all_layers_on({{}, {}}));
  ASSERT_EQ(places.size(), 81U);
  EXPECT_EQ(std::ranges::count(places, 0U), 41);
  EXPECT_EQ(places[40], 0U);
  EXPECT_EQ(places[41], 1U);
  EXPECT_EQ(places[80], 1U);
}

// 36 layers, -ngl 20: the output and the last 19 layers. Three times the memory: three quarters.
TEST(LlamaOffloadTest, PlacesOfLayers) {
  const std::vector<size_t> some =
      llama_devices_of_layers(36, {.n_gpu_layers = 20, .devices = {{.name = "GPU"}}});
  EXPECT_EQ(std::ranges::count(some, 1U), 17);  // the CPU's
  EXPECT_EQ(some[16], 1U);
  EXPECT_EQ(some[17], 0U);
  const std::vector<size_t> uneven =
      llama_devices_of_layers(7, {.n_gpu_layers = 8, .devices = {{.share = 30}, {.share = 10}}});
  EXPECT_EQ(uneven, (std::vector<size_t>{0, 0, 0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(llama_devices_of_layers(2, {.n_gpu_layers = 9}), (std::vector<size_t>{0, 0, 0}));
}

// Without devices the CPU reserves what it always does.
TEST(LlamaOffloadTest, WithoutDevicesNothingChanges) {
  for (const char* name : {"llama-3.2-1b", "gemma-3-1b", "qwen3-30b-a3b", "deepseek-v2-lite",
                           "granite-4.0-h-micro", "mamba-130m"}) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, name);
    const MeasuredModel measured = restated_model(name, "Q4_K_M");
    for (const LlamaFlash flash : {LlamaFlash::kOn, LlamaFlash::kOff}) {
      const LlamaSettings settings{.n_ctx = 4096, .n_seq = 2, .n_outputs_max = 2, .flash = flash};
      const LlamaMemory whole =
          llama_memory(measured.model, measured.weights, settings, LlamaRepack::kNone).value();
      const LlamaOffloadedMemory made =
          llama_offloaded_memory(measured.model, measured.weights, settings, {}).value();
      ASSERT_EQ(made.devices.size(), 1U);
      EXPECT_EQ(made.devices[0].compute, whole.compute);
      EXPECT_EQ(made.devices[0].model, whole.model.whole);
      EXPECT_EQ(made.devices[0].kv, whole.kv());
      EXPECT_EQ(made.devices[0].recurrent, whole.recurrent);
      EXPECT_EQ(made.n_splits, 1);
    }
  }
}

// However many layers go: weights, caches and states are shared out, not made; a tied table is
// doubled once its product leaves the CPU.
TEST(LlamaOffloadTest, NothingIsLostOnTheWay) {
  for (const char* name : {"llama-3.2-1b", "jamba-3b-shape", "deepseek-v2-lite"}) {
    const MeasuredModel measured = restated_model(name, "Q4_K_M");
    const LlamaSettings settings{.n_ctx = 2048, .n_outputs_max = 1};
    const LlamaMemory whole =
        llama_memory(measured.model, measured.weights, settings, LlamaRepack::kNone).value();
    const WeightId table = measured.weights.find(WeightRole::kTokenEmbedding);
    const Bytes doubled = measured.model.transformer()->tied_embeddings
                              ? measured.weights.tensors[table.index()].bytes
                              : Bytes{};
    for (const int64_t n_gpu_layers : {0, 1, 7, 100}) {
      const LlamaOffload offload{
          .n_gpu_layers = n_gpu_layers,
          .devices = {{.name = "A", .alignment = 32}, {.name = "B", .alignment = 32}}};
      const LlamaOffloadedMemory made =
          llama_offloaded_memory(measured.model, measured.weights, settings, offload).value();
      LlamaDeviceMemory sum;
      for (const LlamaDeviceMemory& device : made.devices) {
        sum.model += device.model;
        sum.kv += device.kv;
        sum.recurrent += device.recurrent;
        sum.n_layers += device.n_layers;
      }
      EXPECT_EQ(sum.kv, whole.kv());
      EXPECT_EQ(sum.recurrent, whole.recurrent);
      EXPECT_EQ(sum.n_layers, std::ssize(measured.model.transformer()->layers));
      EXPECT_EQ(sum.model, whole.model.whole + (n_gpu_layers == 0 ? Bytes{} : doubled));
    }
  }
}

// The experts of all 48 layers, 128 x 3 matrices each, stay with the CPU.
TEST(LlamaOffloadTest, ExpertsMayStayWithTheCpu) {
  const MeasuredModel measured = restated_model("qwen3-30b-a3b", "Q4_K_M");
  LlamaOffload offload = all_layers_on({{.name = "GPU", .alignment = 32}});
  offload.n_cpu_moe = 48;
  const LlamaOffloadedMemory made =
      llama_offloaded_memory(measured.model, measured.weights, {.n_ctx = 2048}, offload).value();
  Bytes experts;
  for (const WeightTensor& tensor : measured.weights.tensors) {
    if (tensor.name.find("_exps") != std::string::npos) experts += tensor.bytes;
  }
  const WeightId table = measured.weights.find(WeightRole::kTokenEmbedding);
  EXPECT_EQ(made.devices[1].model, experts + measured.weights.tensors[table.index()].bytes);
  EXPECT_EQ(made.devices[0].kv, Bytes::of(2 * 48 * 4 * 128 * 2 * 2048));
}

// Llama-3.1-70B at Q4_0 on two workers, as llama.cpp b6209 printed it (MiB). The CPU's buffer held
// 28.01; since then embeddings given from outside are an input as well: 4 x 8,192 x 512 B = 16 MiB.
TEST(LlamaOffloadTest, LoggedTwoDevices) {
  const Published llama = shipped("llama-3.1-70b", "Q4_0");
  const LlamaOffloadedMemory made =
      llama_offloaded_memory(llama.model, llama.weights, {.n_ctx = 4096, .flash = LlamaFlash::kOff},
                             all_layers_on({{.name = "RPC0"}, {.name = "RPC1"}}))
          .value();
  EXPECT_NEAR(mib(made.devices[0].model), 18821.56, 0.01);
  EXPECT_NEAR(mib(made.devices[1].model), 18725.42, 0.01);
  EXPECT_NEAR(mib(made.devices[2].model), 563.62, 0.01);
  EXPECT_EQ(mib(made.devices[0].kv), 656.0);
  EXPECT_EQ(mib(made.devices[1].kv), 624.0);
  EXPECT_NEAR(mib(made.devices[0].compute), 588.01, 0.01);
  EXPECT_NEAR(mib(made.devices[1].compute), 588.01, 0.01);
  EXPECT_NEAR(mib(made.devices[2].compute), 28.01 + 16, 0.01);
  EXPECT_EQ(made.n_splits, 3);
}

// Llama-3-8B at Q4_K_M, all layers on one card, in a log of 2024.
TEST(LlamaOffloadTest, LoggedOneCard) {
  const Published llama = shipped("llama-3-8b", "Q4_K_M");
  const LlamaOffloadedMemory made =
      llama_offloaded_memory(llama.model, llama.weights, {.n_ctx = 512, .flash = LlamaFlash::kOff},
                             all_layers_on({{.name = "CUDA0", .row_multiple = 512}}))
          .value();
  EXPECT_NEAR(mib(made.devices[0].model), 4403.49, 0.01);
  EXPECT_NEAR(mib(made.devices[1].model), 281.81, 0.01);
  EXPECT_EQ(mib(made.devices[0].kv), 64.0);
  EXPECT_NEAR(mib(made.devices[0].compute), 258.5, 0.01);
  EXPECT_EQ(made.n_splits, 2);
}

// Qwen3-8B's widths, 131,072 tokens, 19 of 36 layers on a card, in a log of July 2025: 9,240 MiB
// there, with the weights of the CPU's layers copied for products of 512 rows. The CPU's 264.01 MiB
// lacked the embeddings from outside (8) and the index of the values (4).
TEST(LlamaOffloadTest, LoggedSomeLayers) {
  const Published qwen = shipped("qwen3-8b", "Q4_K_M");
  const LlamaOffloadedMemory made =
      llama_offloaded_memory(
          qwen.model, qwen.weights,
          {.n_ctx = 131072, .n_batch = 512, .flash = LlamaFlash::kOff, .kv_unified = true},
          {.n_gpu_layers = 20, .devices = {{.name = "CUDA0", .row_multiple = 512}}})
          .value();
  EXPECT_EQ(mib(made.devices[0].kv), 9728.0);
  EXPECT_EQ(mib(made.devices[1].kv), 8704.0);
  EXPECT_NEAR(mib(made.devices[0].compute), 9240.0, 0.01);
  EXPECT_NEAR(mib(made.devices[1].compute), 264.01 + 12, 0.01);
}

TEST(LlamaOffloadTest, RejectedSettings) {
  const MeasuredModel measured = restated_model("llama-3.2-1b", "Q4_K_M");
  const LlamaOffloadedMemory made =
      llama_offloaded_memory(measured.model, measured.weights,
                             {.flash = LlamaFlash::kOff, .type_v = DType::kQ8_0}, {})
          .value();
  EXPECT_FALSE(made.context.rejection.empty());
  EXPECT_TRUE(made.devices.empty());
}

}  // namespace
}  // namespace tidemark
