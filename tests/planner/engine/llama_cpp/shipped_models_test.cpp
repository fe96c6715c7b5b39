// The models in configs/models: dimensions read from YAML instead of a file's header.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "planner/config/load.h"
#include "planner/engine/llama_cpp/llama_memory.h"
#include "support/gguf_tensors.h"
#include "support/llamacpp_models.h"

namespace tidemark {
namespace {

using namespace literals;

ModelSpec shipped(const std::string& name) {
  return load_model(std::string(TIDEMARK_SOURCE_DIR) + "/configs/models/" + name + ".yaml").value();
}

LlamaMemory memory_of(const ModelSpec& model, const std::string& quantization,
                      const LlamaSettings& settings) {
  const WeightsInventory weights =
      quantized_weights(model, parse_quantization(quantization).value()).value();
  return llama_memory(model, weights, settings, LlamaRepack::kNone).value();
}

// Twenty of the 21 models that were measured are shipped; both ways lead to the same buffers.
TEST(ShippedModelsTest, SameAsFromTheHeaderOfAFile) {
  int compared = 0;
  for (const testing::GgufModel& published : testing::gguf_models()) {
    const std::string name(published.name);
    if (name == "jamba-3b-shape") continue;  // not a published model
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, name);
    const testing::MeasuredModel file = testing::restated_model(name, "Q4_K_M");
    const ModelSpec yaml = shipped(name);
    for (const LlamaFlash flash : {LlamaFlash::kOn, LlamaFlash::kOff}) {
      const LlamaSettings settings{.n_ctx = 4096, .n_outputs_max = 1, .flash = flash};
      const LlamaMemory ours = memory_of(yaml, "Q4_K_M", settings);
      const LlamaMemory theirs =
          llama_memory(file.model, file.weights, settings, LlamaRepack::kNone).value();
      EXPECT_EQ(ours.compute, theirs.compute);
      EXPECT_EQ(ours.kv(), theirs.kv());
      EXPECT_EQ(ours.recurrent, theirs.recurrent);
      EXPECT_EQ(ours.n_nodes_prompt, theirs.n_nodes_prompt);
      EXPECT_TRUE(ours.exact_for_architecture);
    }
    ++compared;
  }
  EXPECT_EQ(compared, 20);
}

// Every shipped decoder has a graph whose buffer holds at least its logits; the others are refused.
TEST(ShippedModelsTest, EveryDecoderHasMemory) {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path folder = std::string(TIDEMARK_SOURCE_DIR) + "/configs/models";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  int refused = 0;
  for (const std::filesystem::path& file : files) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, file.stem().string());
    const ModelSpec model = load_model(file.string()).value();
    const WeightsInventory weights = weights_inventory(model, DType::kF16);
    const LlamaSettings settings{.n_ctx = 512, .n_seq = 2, .n_outputs_max = 2};
    const Result<LlamaMemory> made = llama_memory(model, weights, settings, LlamaRepack::kNone);
    const TransformerSpec* spec = model.transformer();
    const bool is_decoder = spec != nullptr && spec->is_causal && !spec->layers.empty();
    EXPECT_EQ(made.ok(), is_decoder);
    if (!made.ok()) {
      ++refused;
      continue;
    }
    EXPECT_GE(made->compute.count(), spec->has_head ? 2 * 4 * spec->n_vocab : 1);
  }
  EXPECT_LT(refused, 30);
  EXPECT_GT(std::ssize(files), 190);
}

}  // namespace
}  // namespace tidemark
