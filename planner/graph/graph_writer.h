// What the builders of all layer kinds share: names, weights, and the ops that they all use. Used
// in planner/graph alone.
//
//   writer.enter_layer(3); writer.linear("q", WeightRole::kQuery, x)
//     adds blk.3.q = matmul(x) with blk.3.attn_q.weight, and, when the inventory holds
//     blk.3.attn_q.bias, blk.3.q_bias = add_bias(blk.3.q): the inventory says what a layer has.
#pragma once

#include <map>
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

// Keeps the weights of each layer of the main stack at hand, so that a deep model does not search
// its whole inventory for every op.
class WeightIndex {
 public:
  explicit WeightIndex(const WeightsInventory& weights);

  bool has(WeightRole role, int64_t layer, bool is_bias = false) const;
  WeightId find(WeightRole role, int64_t layer, bool is_bias = false) const;  // the first; CHECKs
  WeightId named(const std::string& name) const;                              // CHECKs
  std::vector<WeightId> all(WeightRole role, int64_t layer) const;            // in file order
  const WeightTensor& tensor(WeightId id) const { return weights_.tensors.at(id.index()); }

 private:
  struct Key {
    int64_t layer = -1;
    WeightRole role = WeightRole::kPlain;
    bool is_bias = false;
    auto operator<=>(const Key&) const = default;
  };
  const WeightsInventory& weights_;
  std::map<Key, std::vector<WeightId>> ids_{};
  std::map<std::string_view, WeightId> names_{};
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

  bool has(WeightRole role, bool is_bias = false) const {
    return index_.has(role, layer_, is_bias);
  }
  WeightId weight(WeightRole role, bool is_bias = false) const {
    return index_.find(role, layer_, is_bias);
  }
  // "time_mix_w1" or "time_mix_decay.weight": the name without "blk.N.".
  WeightId named(std::string_view name) const { return index_.named(full_name(name)); }
  std::vector<WeightId> all(WeightRole role) const { return index_.all(role, layer_); }
  const WeightTensor& tensor(WeightId id) const { return index_.tensor(id); }
  Bytes bytes_of(const std::vector<WeightId>& weights) const;

  Value input(std::string name);
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

  // Everything of a product with all rows of a weight but its name and output. A weight with a
  // matrix for each head takes its share of the row and makes rows x count values.
  Op product_op(WeightId weight, const Value& x) const;
  Value product(std::string_view name, WeightId weight, const Value& x);
  Value matmul(std::string_view name, WeightRole role, const Value& x);
  // With the bias of that role, if there is one.
  Value linear(std::string_view name, WeightRole role, const Value& x);
  Value add_bias(std::string_view name, WeightId weight, const Value& x);

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

  WeightIndex index_;
  const GraphOptions& options_;
  GraphBuilder builder_{};
  int64_t layer_ = -1;
  std::string prefix_{};
};

}  // namespace tidemark
