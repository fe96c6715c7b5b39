#include "planner/engine/llama_cpp/graph_scope.h"

namespace tidemark {

BuiltId GraphScope::weight(const std::string& name, GgmlShape ne) {
  const auto found = held.find(name);
  if (found != held.end()) return found->second;
  const auto stored = weights.find(name);
  const bool has_type = stored != weights.end() && ggml_id_of(stored->second->dtype) >= 0;
  const DType type = has_type ? stored->second->dtype : DType::kF16;
  return held.emplace(name, build.weight(name, type, ne)).first->second;
}

BuiltId GraphScope::layer_weight(std::string_view local, GgmlShape ne) {
  return weight("blk." + std::to_string(layer) + "." + std::string(local), ne);
}

bool GraphScope::has_layer_weight(std::string_view local) const {
  return weights.contains("blk." + std::to_string(layer) + "." + std::string(local));
}

void GraphScope::name(BuiltId id, std::string_view local) {
  build.name(id, std::string(local) + "-" + std::to_string(layer));
}

BuiltId add_norm(GraphScope& scope, BuiltId x, NormKind kind, std::string_view local) {
  if (kind == NormKind::kNone) return x;
  const GgmlShape width{scope.build[x].ne[0], 1, 1, 1};
  const bool is_rms = kind == NormKind::kScale && !scope.traits.layer_norm;
  BuiltId cur = scope.build.map(is_rms ? "RMS_NORM" : "NORM", {x});
  scope.name(cur, "norm");
  if (kind == NormKind::kPlain) return cur;
  const std::string name(local);
  cur = scope.build.map("MUL", {cur, scope.layer_weight(name + ".weight", width)});
  if (kind == NormKind::kScaleAndShift) {
    cur = scope.build.map("ADD", {cur, scope.layer_weight(name + ".bias", width)});
  }
  scope.name(cur, local);
  return cur;
}

BuiltId add_linear(GraphScope& scope, BuiltId x, std::string_view local, int64_t rows, bool bias) {
  const std::string name(local);
  const BuiltId matrix = scope.layer_weight(name + ".weight", {scope.build[x].ne[0], rows, 1, 1});
  const BuiltId product = scope.build.mul_mat(matrix, x);
  if (!bias) return product;
  return scope.build.map("ADD", {product, scope.layer_weight(name + ".bias", {rows, 1, 1, 1})});
}

BuiltId add_rope(GraphScope& scope, BuiltId x) {
  if (!scope.traits.rope) return x;
  std::vector<BuiltId> sources{x, scope.inputs.positions};
  if (scope.inputs.has_rope_factors) sources.push_back(scope.inputs.rope_factors);
  return scope.build.op("ROPE", scope.build[x].ne, std::move(sources));
}

}  // namespace tidemark
