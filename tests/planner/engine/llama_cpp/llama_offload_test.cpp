#include "planner/engine/llama_cpp/llama_offload.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "planner/config/load.h"
#include "planner/engine/llama_cpp/llama_memory.h"
#include "planner/engine/llama_cpp/llama_model_buffers.h"
#include "support/llamacpp_models.h"

namespace tidemark {
namespace {

using namespace literals;
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

std::string placed_on(const std::string& pattern, size_t device) {
  return pattern + "=GPU" + std::to_string(device);
}

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

// 47 of 48 layers' attention is on the card: three matrices of experts of each layer stay, and the
// graph is cut before and behind each layer's experts when batches are small. A prompt's batch
// copies them to the card instead, one matrix at a time.
TEST(LlamaOffloadTest, ExpertsOfSomeLayers) {
  const MeasuredModel measured = restated_model("qwen3-30b-a3b", "Q4_K_M");
  const auto made = [&](int64_t n_cpu_moe, bool offload_products) {
    LlamaOffload offload = all_layers_on({{.name = "GPU", .alignment = 32}});
    offload.n_cpu_moe = n_cpu_moe;
    offload.offload_products = offload_products;
    return llama_offloaded_memory(measured.model, measured.weights,
                                  {.n_ctx = 2048, .n_outputs_max = 1}, offload)
        .value();
  };
  const LlamaOffloadedMemory none = made(0, true);
  const LlamaOffloadedMemory two = made(2, true);
  Bytes experts;
  Bytes largest;
  for (const WeightTensor& tensor : measured.weights.tensors) {
    if (tensor.layer > 1 || !is_of_experts(tensor.name)) continue;
    experts += tensor.bytes;
    largest = std::max(largest, tensor.bytes);
  }
  EXPECT_EQ(two.devices[1].model - none.devices[1].model, experts);
  EXPECT_EQ(none.devices[0].model - two.devices[0].model, experts);
  EXPECT_EQ(none.n_splits, 2);
  EXPECT_GE(two.devices[0].compute - none.devices[0].compute, largest - 64_MiB);
  EXPECT_GT(two.devices[0].compute, none.devices[0].compute);
  // One token: CPU, card, then experts there and the rest here, twice.
  EXPECT_EQ(made(2, false).n_splits, 2 + 2 * 2);
  EXPECT_LT(made(2, false).devices[0].compute, two.devices[0].compute);
}

// The same by pattern; and patterns before shorthands.
TEST(LlamaOffloadTest, PatternsAndShorthandsAgree) {
  const MeasuredModel measured = restated_model("qwen3-30b-a3b", "Q4_K_M");
  LlamaOffload shorthand = all_layers_on({{.name = "GPU"}});
  shorthand.n_cpu_moe = 2;
  LlamaOffload pattern = all_layers_on({{.name = "GPU"}});
  pattern.overrides =
      parse_buffer_overrides(R"(blk\.[01]\.ffn_(?:up|down|gate)_exps=CPU)", 1).value();
  LlamaOffload both = shorthand;
  both.overrides = parse_buffer_overrides("exps=GPU", 1).value();
  const auto made = [&](const LlamaOffload& offload) {
    return llama_offloaded_memory(measured.model, measured.weights, {.n_ctx = 512}, offload)
        .value();
  };
  for (const size_t device : {0U, 1U}) {
    EXPECT_EQ(made(shorthand).devices[device].model, made(pattern).devices[device].model);
    EXPECT_EQ(made(shorthand).devices[device].compute, made(pattern).devices[device].compute);
    EXPECT_EQ(made(both).devices[device].model,
              made(all_layers_on({{.name = "GPU"}})).devices[device].model);
  }
}

// Whatever is placed by hand, the CPU's weights with all of them there are those without devices;
// a tied table placed by hand is placed for both of its purposes, so once.
TEST(LlamaOffloadTest, EverythingOnTheCpu) {
  for (const char* name : {"llama-3.2-1b", "qwen3-30b-a3b"}) {
    const MeasuredModel measured = restated_model(name, "Q4_K_M");
    const LlamaSettings settings{.n_ctx = 1024, .n_outputs_max = 1};
    LlamaOffload offload = all_layers_on({{.name = "GPU"}});
    offload.overrides = parse_buffer_overrides(".=CPU", 1).value();
    for (const bool mapped : {false, true}) {
      offload.mapped = mapped;
      const LlamaOffloadedMemory made =
          llama_offloaded_memory(measured.model, measured.weights, settings, offload).value();
      const LlamaModelBuffers whole =
          llama_model_buffers(measured.model, measured.weights, LlamaRepack::kNone);
      EXPECT_EQ(made.devices[0].model, Bytes{});
      EXPECT_EQ(made.devices[1].model, mapped ? whole.mapped : whole.whole);
      EXPECT_GT(made.devices[0].kv, Bytes{});  // caches are of layers, not of weights
    }
  }
}

// Mapped, the CPU holds the file from the first tensor it uses to the last: with the experts of the
// first layer that is the table and layer 0, whatever of it is on the card.
TEST(LlamaOffloadTest, TheMappedSpanHasHoles) {
  const MeasuredModel measured = restated_model("qwen3-30b-a3b", "Q4_K_M");
  LlamaOffload offload = all_layers_on({{.name = "GPU", .alignment = 32}});
  offload.n_cpu_moe = 1;
  const auto model_of = [&] {
    return llama_offloaded_memory(measured.model, measured.weights, {.n_ctx = 512}, offload)
        .value()
        .devices[1]
        .model;
  };
  const Bytes read = model_of();
  offload.mapped = true;
  const Bytes mapped = model_of();
  Bytes between;  // what stands in the file between the table and the last of the experts
  for (const WeightTensor& tensor : measured.weights.tensors) {
    const bool is_before = tensor.layer == 0 && tensor.name < "blk.0.ffn_up_exps.weight";
    if (is_before && !is_of_experts(tensor.name)) between += tensor.bytes;
  }
  EXPECT_EQ(mapped - read, between);
}

// Four copies of the inputs where several devices hold everything, and none by hand.
TEST(LlamaOffloadTest, CopiesInFlight) {
  LlamaOffload offload{.n_gpu_layers = 37, .devices = {{}, {}}};
  EXPECT_EQ(copies_in_flight(36, offload), 4);
  EXPECT_EQ(copies_in_flight(37, offload), 1);  // the output stays
  LlamaOffload changed = offload;
  changed.n_cpu_moe = 1;
  EXPECT_EQ(copies_in_flight(36, changed), 1);
  changed = offload;
  changed.overrides = parse_buffer_overrides("a=CPU", 2).value();
  EXPECT_EQ(copies_in_flight(36, changed), 1);
  changed = offload;
  changed.kv_with_layers = false;
  EXPECT_EQ(copies_in_flight(36, changed), 1);
  changed = offload;
  changed.devices.pop_back();
  EXPECT_EQ(copies_in_flight(36, changed), 1);
}

// A share of nothing gets nothing, wherever it stands.
TEST(LlamaOffloadTest, DevicesWithoutAShare) {
  const std::vector<size_t> places = llama_devices_of_layers(
      3, {.n_gpu_layers = 4, .devices = {{.share = 0}, {.share = 0.5F}, {.share = 0}}});
  EXPECT_EQ(places, (std::vector<size_t>{1, 1, 1, 1}));
}

// Every weight is somewhere, once; a tied table twice when its product is elsewhere. More layers
// with the experts on the CPU take no less there.
TEST(LlamaOffloadTest, WeightsArePlacedOnce) {
  const MeasuredModel moe = restated_model("qwen3-30b-a3b", "Q4_K_M");
  const MeasuredModel tied = restated_model("llama-3.2-1b", "Q4_K_M");
  EXPECT_TRUE(rc::check([&] {
    const MeasuredModel& measured = *rc::gen::arbitrary<bool>() ? moe : tied;
    const auto n_devices = *rc::gen::inRange<size_t>(1, 4);
    LlamaOffload offload{.n_gpu_layers = *rc::gen::inRange<int64_t>(0, 60),
                         .n_cpu_moe = *rc::gen::inRange<int64_t>(0, 60)};
    for (size_t i = 0; i < n_devices; ++i) {
      offload.devices.push_back(
          {.share = static_cast<float>(*rc::gen::inRange(1, 9)), .alignment = 32});
    }
    const auto patterns =
        *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
            "attn", "ffn_.*=CPU", "blk\\.[0-4]\\.", "token_embd", "output", "exps", "norm"));
    for (const std::string& pattern : patterns) {
      if (offload.overrides.size() > 3) break;
      const bool whole = pattern.find('=') != std::string::npos;
      const auto device = *rc::gen::inRange<size_t>(0, n_devices);
      const std::string text = whole ? pattern : placed_on(pattern, device);
      offload.overrides.push_back(parse_buffer_overrides(text, n_devices).value().front());
    }
    const auto made = [&] {
      return llama_offloaded_memory(measured.model, measured.weights,
                                    {.n_ctx = 256, .n_ubatch = 32, .n_outputs_max = 1}, offload)
          .value();
    };
    const LlamaOffloadedMemory placed = made();
    Bytes sum;
    for (const LlamaDeviceMemory& device : placed.devices) sum += device.model;
    const LlamaModelBuffers whole =
        llama_model_buffers(measured.model, measured.weights, LlamaRepack::kNone);
    const WeightId table = measured.weights.find(WeightRole::kTokenEmbedding);
    const Bytes twice = whole.whole + measured.weights.tensors[table.index()].bytes;
    RC_ASSERT(sum == whole.whole || (&measured == &tied && sum == twice));
    const Bytes before = placed.devices.back().model;
    offload.n_cpu_moe += 5;
    RC_ASSERT(made().devices.back().model >= before);
  }));
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
