#include "planner/graph/graph_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/base/check.h"

namespace tidemark {

Value view(const Value& x, int64_t width) {
  Value seen = x;
  seen.shape[0] = width;
  return seen;
}

std::vector<TensorId> each_once(std::initializer_list<TensorId> ids) {
  std::vector<TensorId> once;
  for (const TensorId id : ids) {
    if (std::find(once.begin(), once.end(), id) == once.end()) once.push_back(id);
  }
  return once;
}

WeightIndex::WeightIndex(const WeightsInventory& weights) : weights_(weights) {
  for (size_t i = 0; i < weights.tensors.size(); ++i) {
    const WeightTensor& tensor = weights.tensors[i];
    ids_[{tensor.stack, tensor.layer, tensor.role, tensor.is_bias}].push_back(WeightId::of(i));
    names_.emplace(std::pair{tensor.stack, std::string_view(tensor.name)}, WeightId::of(i));
  }
}

WeightId WeightIndex::find(const Key& key) const {
  const auto found = ids_.find(key);
  check(found != ids_.end(), "the inventory holds every weight that the graph reads");
  return found->second.front();
}

std::optional<WeightId> WeightIndex::named(int64_t stack, const std::string& name) const {
  const auto found = names_.find({stack, name});
  return found == names_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<WeightId> WeightIndex::all(const Key& key) const {
  const auto found = ids_.find(key);
  return found == ids_.end() ? std::vector<WeightId>{} : found->second;
}

void GraphWriter::enter_layer(size_t layer) {
  layer_ = static_cast<int64_t>(layer);
  prefix_ = fmt::format("{}blk.{}.", stack_prefix_, layer);
}

void GraphWriter::leave_layers() {
  layer_ = -1;
  prefix_ = stack_prefix_;
}

void GraphWriter::enter_stack(int64_t stack, std::string prefix) {
  stack_ = stack;
  stack_prefix_ = std::move(prefix);
  leave_layers();
}

WeightId GraphWriter::named(std::string_view name) const {
  const std::optional<WeightId> found = find_named(name);
  check(found.has_value(), "the inventory holds every weight that the graph reads");
  return *found;
}

Bytes GraphWriter::bytes_of(const std::vector<WeightId>& weights) const {
  Bytes sum;
  for (const WeightId id : weights) sum += tensor(id).bytes;
  return sum;
}

Value GraphWriter::input(std::string name) {
  const Shape shape{options_.n_tokens, 1, 1, 1};
  return {builder_.add_tensor(std::move(name), TensorKind::kInput, DType::kI32, shape), shape};
}

Value GraphWriter::input(std::string_view name, const Shape& shape) {
  return {builder_.add_tensor(full_name(name), TensorKind::kInput, options_.type_act, shape),
          shape};
}

Value GraphWriter::state(std::string_view name, DType dtype, const Shape& shape) {
  return {builder_.add_tensor(full_name(name), TensorKind::kState, dtype, shape), shape};
}

Value GraphWriter::activation(std::string_view name, const Shape& shape) {
  return activation(name, shape, options_.type_act);
}

Value GraphWriter::activation(std::string_view name, const Shape& shape, DType dtype) {
  return {builder_.add_tensor(full_name(name), TensorKind::kActivation, dtype, shape), shape};
}

Value GraphWriter::emit(std::string_view name, const Shape& shape, Op op) {
  return emit_with(name, shape, std::move(op), {});
}

Value GraphWriter::emit_with(std::string_view name, const Shape& shape, Op op,
                             std::vector<TensorId> more) {
  const Value out = activation(name, shape);
  op.outputs = {out.id};
  op.outputs.insert(op.outputs.end(), more.begin(), more.end());
  add(name, std::move(op));
  return out;
}

void GraphWriter::add(std::string_view name, Op op) {
  op.name = full_name(name);
  op.layer = layer_;
  builder_.add_op(std::move(op));
}

void GraphWriter::output(std::string_view name, const Shape& shape, Op op) {
  op.outputs = {builder_.add_tensor(full_name(name), TensorKind::kOutput, DType::kF32, shape)};
  add(name, std::move(op));
}

Value GraphWriter::embed(std::string_view name, WeightId table, int64_t width, const Value& ids) {
  return emit(name, {width, options_.n_tokens, 1, 1},
              {.kind = OpKind::kEmbed,
               .inputs = {ids.id},
               .weights = {table},
               .weights_read = looked_up(tensor(table))});
}

Bytes GraphWriter::looked_up(const WeightTensor& table) const {
  return row_bytes(table.dtype, table.columns) * std::min(options_.n_tokens, table.rows);
}

Op GraphWriter::product_op(WeightId weight, const Value& x) const {
  const WeightTensor& matrix = tensor(weight);
  const int64_t n_rows = x.shape[1];
  return {.kind = OpKind::kMatMul,
          .inputs = {x.id},
          .weights = {weight},
          .weights_read = matrix.bytes,
          .scratch = matmul_scratch(matrix.dtype, options_.type_act, matrix.columns,
                                    checked_mul(n_rows, matrix.count)),
          .operations = checked_mul(checked_mul(2, matrix.elements()), n_rows)};
}

Value GraphWriter::product(std::string_view name, WeightId weight, const Value& x) {
  const int64_t width = checked_mul(tensor(weight).rows, tensor(weight).count);
  return emit(name, {width, x.shape[1], 1, 1}, product_op(weight, x));
}

Value GraphWriter::matmul(std::string_view name, WeightRole role, const Value& x) {
  return product(name, weight(role), x);
}

Value GraphWriter::linear(std::string_view name, WeightRole role, const Value& x) {
  const Value made = matmul(name, role, x);
  if (!has(role, true)) return made;
  return add_bias(std::string(name) + "_bias", weight(role, true), made);
}

Value GraphWriter::add_bias(std::string_view name, WeightId weight, const Value& x) {
  return emit(name, x.shape,
              {.kind = OpKind::kAddBias,
               .inputs = {x.id},
               .weights = {weight},
               .weights_read = tensor(weight).bytes});
}

Value GraphWriter::linear_named(std::string_view stem, const Value& x) {
  const Value made = product(stem, named(fmt::format("{}.weight", stem)), x);
  const std::optional<WeightId> bias = find_named(fmt::format("{}.bias", stem));
  return bias ? add_bias(fmt::format("{}_bias", stem), *bias, made) : made;
}

Value GraphWriter::norm_named(std::string_view stem, const Value& x) {
  std::vector<WeightId> weights = {named(fmt::format("{}.weight", stem))};
  if (const auto bias = find_named(fmt::format("{}.bias", stem))) weights.push_back(*bias);
  return norm(stem, std::move(weights), x);
}

std::vector<WeightId> GraphWriter::norm_weights(WeightRole role) const {
  std::vector<WeightId> weights = {weight(role)};
  if (has(role, true)) weights.push_back(weight(role, true));
  return weights;
}

Op GraphWriter::norm_op(std::vector<WeightId> weights, const Value& x) const {
  const Bytes bytes = bytes_of(weights);
  return {.kind = weights.size() == 1 ? OpKind::kRmsNorm : OpKind::kLayerNorm,
          .inputs = {x.id},
          .weights = std::move(weights),
          .weights_read = bytes};
}

Value GraphWriter::norm(std::string_view name, WeightRole role, const Value& x) {
  return norm(name, norm_weights(role), x);
}

Value GraphWriter::norm(std::string_view name, std::vector<WeightId> weights, const Value& x) {
  return emit(name, x.shape, norm_op(std::move(weights), x));
}

Value GraphWriter::norm_if(std::string_view name, WeightRole role, NormKind kind, const Value& x) {
  if (kind == NormKind::kNone) return x;
  return kind == NormKind::kPlain ? norm(name, std::vector<WeightId>{}, x) : norm(name, role, x);
}

Value GraphWriter::unary(std::string_view name, OpKind kind, const Value& x) {
  return emit(name, x.shape, {.kind = kind, .inputs = {x.id}});
}

Value GraphWriter::elementwise(std::string_view name, OpKind kind, const Value& first,
                               TensorId second) {
  return emit(name, first.shape, {.kind = kind, .inputs = each_once({first.id, second})});
}

Value GraphWriter::gated(const std::string& stem, const Value& gate, const Value& up) {
  const Value silu = unary(stem + "silu", OpKind::kSilu, gate);
  return elementwise(stem + "mul", OpKind::kMul, silu, up.id);
}

}  // namespace tidemark
