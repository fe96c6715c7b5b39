// Any bytes as a GGUF file, and its header as a model: understood or refused. What was understood
// has sizes, and can be written.
#include <algorithm>
#include <stdexcept>

#include "corpus.h"
#include "planner/import/gguf/gguf_metadata.h"
#include "planner/import/gguf/gguf_model.h"
#include "planner/import/gguf_reader.h"
#include "planner/import/gguf_writer.h"
#include "planner/model/state.h"
#include "planner/model/weights.h"

namespace tidemark::fuzz {
namespace {

AttentionSpec heads() { return {.n_head = 4, .n_head_kv = 2, .head_dim = 4}; }

// Two layers of `mixer`, a dense feed-forward, then experts.
ModelSpec small_model(std::string_view architecture, Mixer mixer) {
  LayerSpec dense{.mixer = mixer, .feed_forward = {.n_ff = 8}};
  LayerSpec experts{.mixer = std::move(mixer),
                    .moe = {.n_expert = 2, .n_expert_used = 1, .n_ff_exp = 4, .n_ff_shared = 4}};
  TransformerSpec spec{.n_embd = 16, .n_vocab = 5, .layers = {dense, experts}};
  spec.stacks.push_back(
      {.role = StackRole::kDraft, .n_embd = 16, .layers = {dense}, .is_counted = false});
  return {.name = "x", .architecture = std::string(architecture), .dims = spec};
}

Seed seed(const ModelSpec& model) {
  const std::string name = model.architecture + ".gguf";
  const GgufHeader header = gguf_of_model(model, RecipeChoice{.type = FileType::kF16}).value();
  const GgufHeader laid_out = lay_out_gguf(name, header).value();
  std::string bytes = encode_gguf_header(laid_out);
  bytes.resize(static_cast<size_t>(laid_out.parts.front().file_bytes.count()), '\0');
  return {name, std::move(bytes)};
}

ModelSpec one_layer(std::string_view architecture, Mixer mixer) {
  LayerSpec layer{.mixer = std::move(mixer)};
  return {.name = "x",
          .architecture = std::string(architecture),
          .dims = TransformerSpec{.n_embd = 16, .n_vocab = 5, .layers = {layer}}};
}

std::vector<Seed> seeds() {
  AttentionSpec sliding = heads();
  sliding.window = 8;
  const MlaSpec latent{
      .n_head = 2, .q_lora = 4, .kv_lora = 4, .qk_nope = 4, .qk_rope = 2, .v_head = 4};
  const RwkvSpec rwkv{.head_size = 4, .n_ff = 8, .lora_mix = 2, .lora_decay = 2};
  const MambaSpec mamba{.d_conv = 4, .d_inner = 8, .d_state = 4, .dt_rank = 2};
  const Mamba2Spec mamba2{.d_conv = 4, .d_inner = 8, .d_state = 4, .n_head = 2};
  const GatedDeltaSpec delta{
      .n_key_head = 2, .n_value_head = 2, .key_dim = 4, .value_dim = 4, .d_conv = 4};
  return {seed(small_model("llama", heads())),
          seed(small_model("gemma4", sliding)),
          seed(small_model("deepseek2", latent)),
          seed(small_model("jamba", mamba)),
          seed(small_model("granitehybrid", mamba2)),
          seed(small_model("qwen35", delta)),
          seed(small_model("lfm2", ShortConvSpec{.d_conv = 3})),
          seed(one_layer("rwkv6", rwkv)),
          seed(one_layer("bert", heads())),
          seed(one_layer("t5encoder", heads()))};
}

// Sizes that leave 63 bits are said so; anything else about an understood model holds.
void use(const ImportedModel& imported) {
  require(imported.model.transformer() != nullptr);
  require(imported.stored.has_value());
  try {
    require(parameter_count(imported.model) >= 0);
    state_sizes(imported.model, {.n_cells = 4096, .n_seq = 2, .n_ubatch = 512});
    const Result<GgufHeader> header =
        gguf_of_model(imported.model, RecipeChoice{.type = FileType::kF32});
    use_problems(header);
  } catch (const std::overflow_error&) {
    return;
  }
}

}  // namespace
}  // namespace tidemark::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  tidemark::fuzz::write_corpus_if_asked(*argc, *argv, tidemark::fuzz::seeds());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark;
  MemorySource source(fuzz::as_source(data, size));
  const Result<GgufHeader> header = parse_gguf_header("x.gguf", source);
  if (!header) return 0;
  for (const bool assume_dense : {false, true}) {
    const Result<ImportedModel> read = model_of_gguf(*header, {.assume_dense = assume_dense});
    fuzz::use_problems(read);
    if (read) fuzz::use(*read);
  }
  return 0;
}
