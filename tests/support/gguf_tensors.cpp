#include "support/gguf_tensors.h"

#include <algorithm>
#include <utility>

namespace tidemark::testing {
namespace {

class Table {
 public:
  explicit Table(const GgufModel& model) : m_(model) {}

  std::vector<GgufTensor> make() && {
    add("token_embd.weight", m_.n_embd, m_.n_vocab);
    add("output_norm.weight", m_.n_embd);
    if (!m_.tied) add("output.weight", m_.n_embd, m_.n_vocab);
    if (m_.rope_freqs > 0) add("rope_freqs.weight", m_.rope_freqs);
    if (m_.rope_factors > 0) {
      add("rope_factors_long.weight", m_.rope_factors);
      add("rope_factors_short.weight", m_.rope_factors);
    }
    for (int64_t i = 0; i < m_.n_layer; ++i) layer(i);
    return std::move(tensors_);
  }

 private:
  void add(std::string_view name, int64_t columns, int64_t rows = 1, int64_t count = 1) {
    tensors_.push_back({prefix_ + std::string(name), columns, rows, count});
  }

  void layer(int64_t i) {
    prefix_ = "blk." + std::to_string(i) + ".";
    add("attn_norm.weight", m_.n_embd);
    const bool attends =
        m_.d_inner == 0 || std::ranges::find(m_.attention_layers, i) != m_.attention_layers.end();
    if (attends) {
      attention();
    } else {
      recurrent();
    }
    if (m_.architecture == "mamba") return;
    add("ffn_norm.weight", m_.n_embd);
    feed_forward(i);
  }

  void attention() {
    const int64_t width = m_.head_dim * m_.n_head;
    const int64_t kv_width = m_.head_dim * m_.n_head_kv;
    if (m_.kv_lora > 0) return latent_attention();
    if (m_.architecture == "phi3") {
      add("attn_qkv.weight", m_.n_embd, width + 2 * kv_width);
    } else {
      add("attn_q.weight", m_.n_embd, width);
      add("attn_k.weight", m_.n_embd, kv_width);
      add("attn_v.weight", m_.n_embd, kv_width);
    }
    if (m_.qkv_bias) {
      add("attn_q.bias", width);
      add("attn_k.bias", kv_width);
      add("attn_v.bias", kv_width);
    }
    add("attn_output.weight", width, m_.n_embd);
    if (is_one_of({"qwen3", "qwen3moe", "gemma3"})) {
      add("attn_q_norm.weight", m_.head_dim);
      add("attn_k_norm.weight", m_.head_dim);
    }
    if (is_one_of({"gemma2", "gemma3"})) {
      add("post_attention_norm.weight", m_.n_embd);
      add("post_ffw_norm.weight", m_.n_embd);
    }
  }

  void latent_attention() {
    const int64_t key_width = m_.n_head * (m_.qk_nope + m_.qk_rope);
    if (m_.q_lora > 0) {
      add("attn_q_a.weight", m_.n_embd, m_.q_lora);
      add("attn_q_a_norm.weight", m_.q_lora);
      add("attn_q_b.weight", m_.q_lora, key_width);
    } else {
      add("attn_q.weight", m_.n_embd, key_width);
    }
    add("attn_kv_a_mqa.weight", m_.n_embd, m_.kv_lora + m_.qk_rope);
    add("attn_kv_a_norm.weight", m_.kv_lora);
    if (m_.architecture == "minicpm3") {
      add("attn_kv_b.weight", m_.kv_lora, m_.n_head * (m_.qk_nope + m_.v_head));
    } else {
      add("attn_k_b.weight", m_.qk_nope, m_.kv_lora, m_.n_head);
      add("attn_v_b.weight", m_.kv_lora, m_.v_head, m_.n_head);
    }
    add("attn_output.weight", m_.n_head * m_.v_head, m_.n_embd);
  }

  void recurrent() {
    const bool second = m_.architecture == "granitehybrid";  // Mamba-2
    const int64_t groups = m_.n_group * m_.d_state;
    const int64_t conv = m_.d_inner + (second ? 2 * groups : 0);
    add("ssm_in.weight", m_.n_embd, 2 * m_.d_inner + (second ? 2 * groups + m_.dt_rank : 0));
    add("ssm_conv1d.weight", m_.d_conv, conv);
    add("ssm_conv1d.bias", conv);
    add("ssm_out.weight", m_.d_inner, m_.n_embd);
    if (second) {
      add("ssm_dt.bias", m_.dt_rank);
      add("ssm_a", 1, m_.dt_rank);
      add("ssm_d", 1, m_.dt_rank);
      add("ssm_norm.weight", m_.d_inner / m_.n_group, m_.n_group);
      return;
    }
    add("ssm_x.weight", m_.d_inner, m_.dt_rank + 2 * m_.d_state);
    add("ssm_dt.weight", m_.dt_rank, m_.d_inner);
    add("ssm_dt.bias", m_.d_inner);
    add("ssm_a", m_.d_state, m_.d_inner);
    add("ssm_d", m_.d_inner);
    if (m_.architecture == "jamba") {
      add("ssm_dt_norm.weight", m_.dt_rank);
      add("ssm_b_norm.weight", m_.d_state);
      add("ssm_c_norm.weight", m_.d_state);
    }
  }

  void feed_forward(int64_t i) {
    if (m_.n_expert > 0 && i >= m_.n_dense_lead) {
      add("ffn_gate_inp.weight", m_.n_embd, m_.n_expert);
      gated("_exps", m_.n_ff_exp, m_.n_expert);
      if (m_.n_shared > 0) gated("_shexp", m_.n_ff_exp * m_.n_shared, 1);
      return;
    }
    if (m_.architecture != "phi3") return gated("", m_.n_ff, 1);
    add("ffn_up.weight", m_.n_embd, 2 * m_.n_ff);
    add("ffn_down.weight", m_.n_ff, m_.n_embd);
  }

  void gated(const std::string& suffix, int64_t width, int64_t count) {
    add("ffn_gate" + suffix + ".weight", m_.n_embd, width, count);
    add("ffn_up" + suffix + ".weight", m_.n_embd, width, count);
    add("ffn_down" + suffix + ".weight", width, m_.n_embd, count);
  }

  bool is_one_of(std::initializer_list<std::string_view> architectures) const {
    return std::ranges::find(architectures, m_.architecture) != architectures.end();
  }

  const GgufModel& m_;
  std::string prefix_{};
  std::vector<GgufTensor> tensors_{};
};

}  // namespace

std::vector<GgufTensor> gguf_tensors(const GgufModel& model) { return Table(model).make(); }

std::vector<RecipeTensor> recipe_tensors(const std::vector<GgufTensor>& tensors) {
  std::vector<RecipeTensor> views;
  for (const GgufTensor& tensor : tensors) {
    views.push_back({tensor.name, tensor.columns, tensor.rows, tensor.count});
  }
  return views;
}

RecipeModel recipe_model(const GgufModel& model) {
  // MLA with split k_b and v_b is stored as one KV head; layer 0 of the hybrids is recurrent.
  const bool recurrent_first = model.d_inner > 0;
  return {.architecture = model.architecture,
          .n_layer = model.n_layer,
          .n_head = model.n_head,
          .n_head_kv = model.architecture == "deepseek2" ? 1
                       : recurrent_first                 ? 0
                                                         : model.n_head_kv,
          .n_expert = model.n_expert};
}

}  // namespace tidemark::testing
