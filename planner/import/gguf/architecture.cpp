#include "planner/import/gguf/architecture.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace tidemark {
namespace {

constexpr std::array<GgufRename, 2> kPostNorms = {
    {{"post_attention_norm", "attn_output_norm"}, {"post_ffw_norm", "layer_output_norm"}}};
constexpr std::array<GgufRename, 1> kNormAfterAttention = {{{"ffn_norm", "post_attention_norm"}}};
constexpr std::array<GgufRename, 1> kSecondNorm = {{{"ffn_norm", "attn_norm_2"}}};
constexpr std::array<GgufRename, 1> kOutputNorm = {{{"ffn_norm", "attn_output_norm"}}};
constexpr std::array<GgufRename, 1> kEmbeddingNorm = {{{"output_norm", "token_embd_norm"}}};
constexpr std::array<GgufRename, 2> kT5 = {
    {{"attn_output", "attn_o"}, {"cross_attn_output", "cross_attn_o"}}};

constexpr GgufArchitecture dense(std::string_view name) { return {.name = name}; }

constexpr GgufArchitecture layer_norm(std::string_view name) {
  return {.name = name, .layer_norm = true};
}

constexpr GgufArchitecture sliding(std::string_view name, int64_t period) {
  return {.name = name, .window_period = period};
}

constexpr GgufArchitecture bert(std::string_view name) {
  return {.name = name, .renames = kPostNorms, .layer_norm = true, .is_encoder = true};
}

constexpr GgufArchitecture gated_delta(std::string_view name, bool splits_beta_alpha) {
  return {.name = name,
          .renames = kNormAfterAttention,
          .output_gate = true,
          .splits_beta_alpha = splits_beta_alpha};
}

constexpr GgufArchitecture rwkv(std::string_view name, int64_t version) {
  return {.name = name, .renames = kSecondNorm, .rwkv_version = version, .layer_norm = true};
}

// In alphabetical order.
constexpr auto kArchitectures = std::to_array<GgufArchitecture>({
    dense("apertus"),
    dense("arcee"),
    dense("baichuan"),
    dense("bailingmoe"),
    dense("bailingmoe2"),
    bert("bert"),
    dense("bitnet"),
    layer_norm("bloom"),
    dense("chatglm"),
    layer_norm("codeshell"),
    {.name = "cohere2", .window_period = 4, .layer_norm = true},
    layer_norm("command-r"),
    {.name = "dbrx", .renames = kOutputNorm, .layer_norm = true},
    dense("deepseek"),
    dense("deepseek2"),
    dense("dots1"),
    dense("dream"),
    dense("ernie4_5"),
    dense("ernie4_5-moe"),
    dense("exaone"),
    sliding("exaone4", 4),
    {.name = "falcon", .renames = kSecondNorm, .parallel = true, .layer_norm = true},
    dense("gemma"),
    {.name = "gemma-embedding", .window_period = 6, .is_encoder = true},
    {.name = "gemma2", .window_period = 2, .default_window = 4096},
    sliding("gemma3", 6),
    {.name = "gemma3n", .window_period = 5, .n_own_cache = 20},
    {.name = "gemma4", .window_period = 6, .value_is_key = true},
    dense("glm4"),
    {.name = "glm4moe", .renames = kNormAfterAttention},
    {.name = "gpt-oss", .renames = kNormAfterAttention, .window_period = 2},
    layer_norm("gpt2"),
    layer_norm("gptj"),
    {.name = "gptneox", .parallel = true, .layer_norm = true},
    dense("granite"),
    dense("granitehybrid"),
    dense("granitemoe"),
    {.name = "grok", .renames = kPostNorms},
    dense("hunyuan-dense"),
    dense("hunyuan-moe"),
    dense("internlm2"),
    dense("jais"),
    dense("jamba"),
    {.name = "lfm2", .renames = kEmbeddingNorm},
    {.name = "lfm2moe", .renames = kEmbeddingNorm},
    dense("llama"),
    {.name = "llama4", .window_period = 4, .default_window = 8192, .chunked = true},
    dense("mamba"),
    dense("mamba2"),
    dense("minicpm"),
    dense("minicpm3"),
    dense("minimax-m2"),
    dense("mistral3"),
    layer_norm("mpt"),
    layer_norm("nemotron"),
    dense("nemotron_h"),
    dense("nemotron_h_moe"),
    bert("nomic-bert"),
    bert("nomic-bert-moe"),
    {.name = "olmo", .plain_norms = true, .layer_norm = true},
    sliding("olmo2", 4),
    dense("olmoe"),
    layer_norm("orion"),
    layer_norm("phi2"),
    dense("phi3"),
    layer_norm("phimoe"),
    dense("plm"),
    dense("qwen"),
    dense("qwen2"),
    dense("qwen2moe"),
    dense("qwen2vl"),
    dense("qwen3"),
    gated_delta("qwen35", true),
    gated_delta("qwen35moe", true),
    dense("qwen3moe"),
    gated_delta("qwen3next", false),
    dense("qwen3vl"),
    dense("qwen3vlmoe"),
    rwkv("rwkv6", 6),
    rwkv("rwkv7", 7),
    {.name = "seed_oss", .renames = kNormAfterAttention},
    dense("smollm3"),
    layer_norm("stablelm"),
    layer_norm("starcoder"),
    layer_norm("starcoder2"),
    {.name = "t5", .renames = kT5, .main_prefix = "dec.", .is_encoder_decoder = true},
    {.name = "t5encoder", .renames = kT5, .main_prefix = "enc.", .is_encoder = true},
    dense("xverse"),
});

constexpr GgufArchitecture kGeneric = dense("");

constexpr auto kLayerExtras = std::to_array<std::string_view>(
    {"attn_rot_embd", "attn_sub_norm", "cross_attn_rel_b", "ffn_sub_norm", "inp_gate", "laurel_l",
     "laurel_r", "laurel_post_norm", "layer_output_scale", "altup_correct_coef",
     "altup_correct_scale", "altup_predict_coef", "altup_router", "altup_router_norm",
     "post_ffw_norm_1", "post_ffw_norm_2", "post_norm", "pre_ffw_norm_2", "proj"});
constexpr auto kOutsideExtras = std::to_array<std::string_view>(
    {"altup_proj", "altup_unembd_proj", "cls", "cls.norm", "cls.output", "dense_2", "dense_3",
     "per_layer_model_proj", "per_layer_proj_norm", "per_layer_token_embd"});
constexpr auto kTables =
    std::to_array<std::string_view>({"rope_factors_long", "rope_factors_short", "rope_freqs"});

// Insertions, deletions and changes that turn `a` into `b`.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t k = 1; k <= b.size(); ++k) {
      const size_t change = diagonal + (a[i - 1] == b[k - 1] ? 0 : 1);
      diagonal = std::exchange(row[k], std::min({row[k] + 1, row[k - 1] + 1, change}));
    }
  }
  return row.back();
}

}  // namespace

std::span<const GgufArchitecture> gguf_architectures() { return kArchitectures; }

const GgufArchitecture* find_architecture(std::string_view name) {
  const auto* found = std::ranges::find(kArchitectures, name, &GgufArchitecture::name);
  return found == kArchitectures.end() ? nullptr : found;
}

const GgufArchitecture& generic_architecture() { return kGeneric; }

std::vector<std::string_view> nearest_architectures(std::string_view name) {
  constexpr size_t kMost = 3;
  constexpr size_t kLongest = 64;
  std::vector<std::pair<size_t, std::string_view>> ranked;
  for (const GgufArchitecture& one : kArchitectures) {
    ranked.emplace_back(distance(name.substr(0, kLongest), one.name), one.name);
  }
  std::ranges::sort(ranked);
  std::vector<std::string_view> nearest;
  for (size_t i = 0; i < kMost; ++i) nearest.push_back(ranked[i].second);
  return nearest;
}

std::string file_stem(const GgufArchitecture& architecture, std::string_view ours) {
  const size_t dot = std::min(ours.rfind('.'), ours.size());
  const std::string_view stem = ours.substr(0, dot);
  for (const GgufRename& rename : architecture.renames) {
    if (rename.ours == stem) return std::string(rename.file) + std::string(ours.substr(dot));
  }
  const bool is_taken = std::ranges::find(architecture.renames, stem, &GgufRename::file) !=
                        architecture.renames.end();
  return is_taken ? "" : std::string(ours);
}

std::span<const GgufParts> gguf_parts() {
  static const std::vector<GgufParts> parts = {
      {"ssm_ba.weight", {"ssm_beta.weight", "ssm_alpha.weight"}},
      {"time_mix_lerp_fused.weight",
       {"time_mix_lerp_w.weight", "time_mix_lerp_k.weight", "time_mix_lerp_v.weight",
        "time_mix_lerp_r.weight", "time_mix_lerp_g.weight"}}};
  return parts;
}

bool is_known_extra(std::string_view stem) {
  const auto is_in = [stem](const auto& list) {
    return std::ranges::find(list, stem) != list.end();
  };
  return is_in(kLayerExtras) || is_in(kOutsideExtras) || is_in(kTables) ||
         stem.starts_with("nextn.") || stem.starts_with("indexer.");
}

bool is_table(std::string_view stem) { return std::ranges::find(kTables, stem) != kTables.end(); }

}  // namespace tidemark
