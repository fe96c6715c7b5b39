// Any bytes as a config.json: understood or refused, with and without assume_dense. What is
// understood has sizes, and can be written as a model file.
#include <stdexcept>

#include "corpus.h"
#include "planner/import/hf/hf_config.h"
#include "planner/model/quantized_weights.h"
#include "planner/model/state.h"

namespace tidemark::fuzz {
namespace {

std::vector<Seed> seeds() {
  return {
      {"llama.json",
       R"({"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":64,"intermediate_size":128,)"
       R"("num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":100,)"
       R"("tie_word_embeddings":true,"torch_dtype":"bfloat16","max_position_embeddings":512})"},
      {"gemma3.json",
       R"({"model_type":"gemma3_text","hidden_size":64,"intermediate_size":128,"num_hidden_layers":6,)"
       R"("num_attention_heads":4,"num_key_value_heads":1,"head_dim":16,"vocab_size":100,"sliding_window":32,)"
       R"("sliding_window_pattern":6})"},
      {"deepseek.json",
       R"({"model_type":"deepseek_v3","hidden_size":64,"intermediate_size":128,"num_hidden_layers":3,)"
       R"("num_attention_heads":4,"kv_lora_rank":16,"q_lora_rank":24,"qk_nope_head_dim":8,"qk_rope_head_dim":4,)"
       R"("v_head_dim":8,"n_routed_experts":8,"num_experts_per_tok":2,"moe_intermediate_size":32,)"
       R"("n_shared_experts":1,"first_k_dense_replace":1,"vocab_size":100,"num_nextn_predict_layers":1})"},
      {"mamba.json",
       R"({"model_type":"mamba","hidden_size":64,"num_hidden_layers":2,"state_size":16,"conv_kernel":4,"expand":2,)"
       R"("time_step_rank":4,"vocab_size":100})"},
      {"gptq.json",
       R"({"model_type":"qwen2","hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,)"
       R"("num_attention_heads":4,"num_key_value_heads":2,"vocab_size":100,)"
       R"("quantization_config":{"quant_method":"gptq","bits":4,"group_size":32,"desc_act":true}})"},
      {"vl.json",
       R"({"model_type":"qwen2_vl","hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,)"
       R"("num_attention_heads":4,"num_key_value_heads":2,"vocab_size":100,)"
       R"("vision_config":{"depth":2,"embed_dim":32,"num_heads":2,"patch_size":14,"spatial_merge_size":2,)"
       R"("hidden_size":64,"mlp_ratio":4,"in_chans":3,"temporal_patch_size":2}})"},
      {"whisper.json",
       R"({"model_type":"whisper","d_model":64,"encoder_layers":2,"decoder_layers":2,)"
       R"("encoder_attention_heads":4,"decoder_attention_heads":4,"encoder_ffn_dim":128,"decoder_ffn_dim":128,)"
       R"("vocab_size":100,"num_mel_bins":8,"max_source_positions":50,"max_target_positions":30})"},
  };
}

void weigh(const ImportedModel& imported) {
  try {
    const Result<WeightsInventory> weights = quantized_weights(imported.model, Quantization{});
    use_problems(weights);
    if (!weights) return;
    require(weights->parameters >= 0 && weights->active_parameters <= weights->parameters);
    require(state_sizes(imported.model, {.n_cells = 64, .n_source = 8}).kv_cache() >= Bytes{});
  } catch (const std::overflow_error&) {
    // Sizes past 63 bits are told apart by whoever plans the model.
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
  const std::string text(data, data + size);
  for (const bool assume_dense : {false, true}) {
    const Result<ImportedModel> imported =
        parse_hf_config("config.json", text, {.assume_dense = assume_dense});
    fuzz::use_problems(imported);
    if (imported) fuzz::weigh(*imported);
  }
  return 0;
}
