#include "planner/engine/llama_cpp/graph_faults.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark {
namespace {

// Each function returns what is wrong, or nothing.

std::string fault_of(const AttentionSpec& spec) {
  if (std::min({spec.n_head, spec.n_head_kv, spec.head_dim, spec.value_dim()}) < 1) {
    return "attention without heads or width";
  }
  if (spec.value_is_key && spec.value_dim() != spec.head_dim) {
    return "values that are keys have another width";
  }
  return {};
}

std::string fault_of(const MlaSpec& spec) {
  const int64_t least =
      std::min({spec.n_head, spec.kv_lora, spec.qk_nope, spec.qk_rope, spec.v_head});
  return least < 1 || spec.q_lora < 0 ? "latent attention without heads or width" : "";
}

std::string fault_of(const MambaSpec& spec) {
  const int64_t least = std::min({spec.d_conv - 1, spec.d_inner, spec.d_state, spec.dt_rank});
  return least < 1 ? "a recurrence without width" : "";
}

std::string fault_of(const Mamba2Spec& spec) {
  if (std::min({spec.d_conv - 1, spec.d_inner, spec.d_state, spec.n_head, spec.n_group}) < 1) {
    return "a recurrence without width";
  }
  if (spec.d_inner % spec.n_head != 0) {
    return fmt::format("{} heads do not divide d_inner {}", spec.n_head, spec.d_inner);
  }
  if (spec.d_inner % spec.n_group != 0) {
    return fmt::format("{} groups do not divide d_inner {}", spec.n_group, spec.d_inner);
  }
  return {};
}

template <typename Other>
std::string fault_of(const Other&) {
  return {};
}

std::string fault_of(const MoeSpec& spec) {
  if (spec.n_expert == 0) return {};
  if (spec.n_expert < 0 || spec.n_ff_exp < 1 || spec.n_ff_shared < 0)
    return "experts without width";
  if (spec.n_expert_used < 1 || spec.n_expert_used > spec.n_expert) {
    return fmt::format("{} of {} experts are used", spec.n_expert_used, spec.n_expert);
  }
  return {};
}

// Reads the cache of an earlier layer of its own kind.
std::string fault_of_sharing(const TransformerSpec& spec, size_t layer) {
  const AttentionSpec* reader = spec.layers[layer].attention();
  if (reader == nullptr || reader->shares_kv_with < 0) return {};
  const auto from = static_cast<size_t>(reader->shares_kv_with);
  const AttentionSpec* owner = from < layer ? spec.layers[from].attention() : nullptr;
  if (owner == nullptr || owner->shares_kv_with >= 0) return "it reads the cache of no layer";
  const bool alike = owner->n_head_kv == reader->n_head_kv && owner->head_dim == reader->head_dim &&
                     owner->value_dim() == reader->value_dim() && owner->window == reader->window &&
                     owner->chunk == reader->chunk;
  return alike ? "" : "it reads the cache of another kind of layer";
}

std::string fault_of_layer(const TransformerSpec& spec, size_t layer) {
  const LayerSpec& of = spec.layers[layer];
  std::string fault = std::visit([](const auto& mixer) { return fault_of(mixer); }, of.mixer);
  if (fault.empty()) fault = fault_of(of.moe);
  if (fault.empty() && of.feed_forward.n_ff < 0) fault = "a feed-forward without width";
  if (fault.empty()) fault = fault_of_sharing(spec, layer);
  return fault;
}

}  // namespace

std::string graph_fault(const TransformerSpec& spec) {
  if (spec.n_embd < 1 || spec.n_vocab < 1) return "it has no width or no vocabulary";
  for (size_t layer = 0; layer < spec.layers.size(); ++layer) {
    const std::string fault = fault_of_layer(spec, layer);
    if (!fault.empty()) return fmt::format("layer {}: {}", layer, fault);
  }
  return {};
}

}  // namespace tidemark
