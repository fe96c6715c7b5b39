// What the builders of all layer kinds share: names, weights, and the ops that they all use. Used
// in planner/graph alone.
//
//   writer.enter_layer(3); writer.linear("q", WeightRole::kQuery, x)
//     adds blk.3.q = matmul(x) with blk.3.attn_q.weight, and, when the inventory holds
//     blk.3.attn_q.bias, blk.3.q_bias = add_bias(blk.3.q): the inventory says what a layer has.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/graph/build_graph.h"

namespace tidemark {

using Shape = std::array<int64_t, 4>;

// A tensor on its way, with the shape that the ops reading it build theirs from. Of a view, the
// shape is what is seen and the id names the whole tensor.
struct Value {
  TensorId id{};
  Shape shape{1, 1, 1, 1};
};

// `width` values of each row.
Value view(const Value& x, int64_t width);

// Each tensor once, in the order of first mention.
std::vector<TensorId> each_once(std::initializer_list<TensorId> ids);

// Keeps the weights of each layer at hand, so that a deep model does not search its whole inventory
// for every op. Stack -1 is the main one.
class WeightIndex {
 public:
  explicit WeightIndex(const WeightsInventory& weights);

  struct Key {
    int64_t stack = -1;
    int64_t layer = -1;
    WeightRole role = WeightRole::kPlain;
    bool is_bias = false;
    auto operator<=>(const Key&) const = default;
  };
  bool has(const Key& key) const { return ids_.contains(key); }
  WeightId find(const Key& key) const;  // the first; CHECKs
  std::optional<WeightId> named(int64_t stack, const std::string& name) const;
  std::vector<WeightId> all(const Key& key) const;  // in file order
  const WeightTensor& tensor(WeightId id) const { return weights_.tensors.at(id.index()); }

 private:
  const WeightsInventory& weights_;
  std::map<Key, std::vector<WeightId>> ids_{};
  std::map<std::pair<int64_t, std::string_view>, WeightId> names_{};
};

// `operations` counts the products (matrix products, convolutions, scores, context, recurrences)
// and nothing else: norms, rope and the other elementwise ops wait for memory, not for arithmetic.
class GraphWriter {
 public:
  GraphWriter(const WeightsInventory& weights, const GraphOptions& options)
      : index_(weights), options_(options) {}

  const GraphOptions& options() const { return options_; }
  int64_t n_tokens() const { return options_.n_tokens; }
  int64_t layer() const { return layer_; }  // -1 outside the layers
  void enter_layer(size_t layer);
  void leave_layers();
  // Names and weights of the layers and of what stands outside them are that stack's from here on.
  // `prefix` stands before its names ("v."). The main stack is where a writer begins.
  void enter_stack(int64_t stack, std::string prefix);
  void enter_main_stack() { enter_stack(-1, ""); }

  bool has(WeightRole role, bool is_bias = false) const { return index_.has(key(role, is_bias)); }
  WeightId weight(WeightRole role, bool is_bias = false) const {
    return index_.find(key(role, is_bias));
  }
  // "time_mix_w1" or "time_mix_decay.weight": the name without "blk.N.".
  WeightId named(std::string_view name) const;  // CHECKs
  std::optional<WeightId> find_named(std::string_view name) const {
    return index_.named(stack_, full_name(name));
  }
  std::vector<WeightId> all(WeightRole role) const { return index_.all(key(role)); }
  const WeightTensor& tensor(WeightId id) const { return index_.tensor(id); }
  Bytes bytes_of(const std::vector<WeightId>& weights) const;

  Value input(std::string name);  // an integer for each token
  // Written by the caller before step 0, in the type of the activations.
  Value input(std::string_view name, const Shape& shape);
  // [width, cells, streams] outside the arena; written by an op that lists it as output, if at all.
  Value state(std::string_view name, DType dtype, const Shape& shape);

  // Adds the op and the activation it writes; both carry the same name.
  Value emit(std::string_view name, const Shape& shape, Op op);
  // The same with further outputs (state, a second activation) behind the first.
  Value emit_with(std::string_view name, const Shape& shape, Op op, std::vector<TensorId> more);
  Value activation(std::string_view name, const Shape& shape);
  Value activation(std::string_view name, const Shape& shape, DType dtype);
  void add(std::string_view name, Op op);
  // Writes the model's output, f32 and outside the arena.
  void output(std::string_view name, const Shape& shape, Op op);

  Value embed(std::string_view name, WeightId table, int64_t width, const Value& ids);
  // Of a lookup: one row per token, and no more rows than there are.
  Bytes looked_up(const WeightTensor& table) const;

  // Everything of a product with all rows of a weight but its name and output. A weight with a
  // matrix for each head takes its share of the row and makes rows x count values.
  Op product_op(WeightId weight, const Value& x) const;
  Value product(std::string_view name, WeightId weight, const Value& x);
  Value matmul(std::string_view name, WeightRole role, const Value& x);
  // With the bias of that role, if there is one.
  Value linear(std::string_view name, WeightRole role, const Value& x);
  Value add_bias(std::string_view name, WeightId weight, const Value& x);
  // By name instead of role: "<stem>.weight", and "<stem>.bias" if there is one.
  Value linear_named(std::string_view stem, const Value& x);
  Value norm_named(std::string_view stem, const Value& x);

  // The norm of that role, after what the inventory holds: RMSNorm, or LayerNorm with a shift.
  Value norm(std::string_view name, WeightRole role, const Value& x);
  Value norm(std::string_view name, std::vector<WeightId> weights, const Value& x);
  Op norm_op(std::vector<WeightId> weights, const Value& x) const;
  std::vector<WeightId> norm_weights(WeightRole role) const;  // gain, and shift if there is one
  // x itself without a norm.
  Value norm_if(std::string_view name, WeightRole role, NormKind kind, const Value& x);

  Value unary(std::string_view name, OpKind kind, const Value& x);
  // The output has the shape of the first input.
  Value elementwise(std::string_view name, OpKind kind, const Value& first, TensorId second);
  // act(gate) * up.
  Value gated(const std::string& stem, const Value& gate, const Value& up);

  Graph build() && { return std::move(builder_).build(); }

 private:
  std::string full_name(std::string_view name) const { return prefix_ + std::string(name); }
  WeightIndex::Key key(WeightRole role, bool is_bias = false) const {
    return {.stack = stack_, .layer = layer_, .role = role, .is_bias = is_bias};
  }

  WeightIndex index_;
  const GraphOptions& options_;
  GraphBuilder builder_{};
  int64_t stack_ = -1;
  int64_t layer_ = -1;
  std::string stack_prefix_{};
  std::string prefix_{};
};

}  // namespace tidemark
