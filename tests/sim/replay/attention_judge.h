// Attention of a run against its definition in double: what was stored of every position is kept as
// it came, and each token looks at all of it, with a question for each. Rings, views and tiles are
// unknown here; a cell of the scores is that of the graph's comment.
#pragma once

#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/kernels/rows.h"
#include "tiny.h"

namespace tidemark::testing {

class AttentionJudge : public RunObserver {
 public:
  // `judged` gets the kinds that were looked at.
  AttentionJudge(const Bench& bench, std::set<OpKind>& judged) : bench_(bench), judged_(judged) {}

  bool on_pass(const PassMemory& memory) override {
    memory_.emplace(memory);
    scales_ = activation_scales(memory.phase().graph, bench_.plan.weights,
                                bench_.scenario.model.n_layer());
    return true;
  }

  bool before_op(const Op& op) override {
    if (op.kind == OpKind::kStoreKv) remember(op);
    read_ = op.kind == OpKind::kEmbed ? std::vector<int8_t>{} : raw(op.inputs.front());
    return true;
  }

  bool after_op(const Op& op, StepIndex /*step*/, Duration /*wall*/) override {
    if (op.kind == OpKind::kFlashAttention) judge_context(op, true);
    if (op.kind == OpKind::kScores) judge_scores(op);
    if (op.kind == OpKind::kSoftmax) judge_softmax(op);
    if (op.kind == OpKind::kContext) judge_context(op, false);
    return !::testing::Test::HasFailure();
  }

 private:
  struct Row {
    std::vector<double> keys{};
    std::vector<double> values{};
  };

  const Tensor& tensor(TensorId id) const { return memory_->phase().graph.tensor(id); }
  double scale(TensorId id) const { return double{scales_[id.index()]}; }
  std::vector<int8_t> raw(TensorId id) const {
    std::vector<int8_t> values;
    for (const std::byte byte : memory_->used(id)) values.push_back(static_cast<int8_t>(byte));
    return values;
  }
  const AttentionSpec& spec(int64_t layer) const {
    return *bench_.scenario.model.transformer()->layers.at(static_cast<size_t>(layer)).attention();
  }
  int64_t owner(int64_t layer) const {
    const int64_t other = spec(layer).shares_kv_with;
    return other < 0 ? layer : owner(other);
  }
  int64_t tokens() const { return memory_->pass().tokens; }
  int64_t position(int64_t token) const {
    return memory_->pass().cells - memory_->pass().tokens + token;
  }

  // `count` values from `first` on of a token's row.
  std::vector<double> part(TensorId id, int64_t token, int64_t first, int64_t count) const {
    const std::vector<int8_t> all = raw(id);
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = token * tensor(id).shape[0] + first + i;
      values.push_back(all.at(static_cast<size_t>(at)) * scale(id));
    }
    return values;
  }

  void remember(const Op& op) {
    const AttentionSpec& a = spec(op.layer);
    const TensorId k = op.inputs.front();
    const TensorId v = op.inputs.back();
    const auto is_fused = [&](TensorId id) {
      return tensor(id).name.find("qkv") != std::string::npos;
    };
    const int64_t queries = a.n_head * a.head_dim * (a.output_gate ? 2 : 1);
    const int64_t keys = a.n_head_kv * a.head_dim;
    const int64_t behind = a.value_is_key ? queries : queries + keys;
    auto& rows = stored_[op.layer];
    for (int64_t t = 0; t < tokens(); ++t) {
      EXPECT_EQ(std::ssize(rows), position(t)) << "each position once, in order";
      rows.push_back({.keys = part(k, t, is_fused(k) ? queries : 0, keys),
                      .values = part(v, t, is_fused(v) ? behind : 0, a.n_head_kv * a.value_dim())});
    }
  }

  bool attends(const Op& op, int64_t token, int64_t other) const {
    const AttentionSpec& a = spec(owner(op.layer));
    const int64_t own = position(token);
    return other <= own && (a.window == 0 || own - other < a.window) &&
           (a.chunk == 0 || own / a.chunk == other / a.chunk);
  }

  int64_t stored_head(const Op& op, int64_t head) const {
    return head / (spec(op.layer).n_head / spec(op.layer).n_head_kv);
  }

  // Of queries that were read.
  double score(const Op& op, int64_t token, int64_t head, int64_t other) const {
    const int64_t dim = spec(op.layer).head_dim;
    const std::vector<double>& keys = row_of_position(op, other).keys;
    double dot = 0.0;
    for (int64_t d = 0; d < dim; ++d) {
      const int64_t at = token * tensor(op.inputs.front()).shape[0] + head * dim + d;
      dot += read_.at(static_cast<size_t>(at)) * scale(op.inputs.front()) *
             keys.at(static_cast<size_t>(stored_head(op, head) * dim + d));
    }
    return dot / std::sqrt(static_cast<double>(dim));
  }

  const Row& row_of_position(const Op& op, int64_t other) const {
    return stored_.at(owner(op.layer)).at(static_cast<size_t>(other));
  }

  // e^sink, or nothing.
  double sink_weight(const Op& op, int64_t head) const {
    if (op.weights.empty()) return 0.0;
    const WeightPlace& place = bench_.layout.place(op.weights.front());
    std::vector<std::byte> bytes(place.bytes);
    const auto offset = static_cast<int64_t>(place.offset);
    bench_.weights.file().read(bench_.layout.extent(place.unit).lower.count() + offset, bytes);
    return std::exp(double{load_f32(bytes, static_cast<size_t>(head))});
  }

  // The place of a position in the rows [C, T, H] of one op's scores.
  size_t score_place(TensorId scores, int64_t token, int64_t head, int64_t other) const {
    const int64_t cells = tensor(scores).shape[0];
    return static_cast<size_t>((head * tokens() + token) * cells + other % cells);
  }

  // Calls work(token, head, attended positions).
  template <typename Work>
  void for_heads(const Op& op, Work work) const {
    for (int64_t t = 0; t < tokens(); ++t) {
      std::vector<int64_t> others;
      for (int64_t p = 0; p <= position(t); ++p) {
        if (attends(op, t, p)) others.push_back(p);
      }
      for (int64_t h = 0; h < spec(op.layer).n_head; ++h) work(t, h, others);
    }
  }

  void judge_scores(const Op& op) {
    judged_.insert(op.kind);
    const TensorId out = op.outputs.front();
    std::vector<double> wanted(memory_->used(out).size(), -128.0);
    for_heads(op, [&](int64_t t, int64_t h, const std::vector<int64_t>& others) {
      for (const int64_t p : others) {
        const double steps = score(op, t, h, p) / scale(out);
        wanted.at(score_place(out, t, h, p)) = std::clamp(steps, -128.0, 127.0);
      }
    });
    expect_near(op, wanted, 1.0);
  }

  void judge_softmax(const Op& op) {
    judged_.insert(op.kind);
    const TensorId in = op.inputs.front();
    std::vector<double> wanted(read_.size(), -128.0);
    for_heads(op, [&](int64_t t, int64_t h, const std::vector<int64_t>& others) {
      const auto weight_of = [&](int64_t p) {
        return std::exp(read_.at(score_place(in, t, h, p)) * scale(in));
      };
      double total = sink_weight(op, h);
      for (const int64_t p : others) total += weight_of(p);
      for (const int64_t p : others) {
        wanted.at(score_place(in, t, h, p)) = std::fmin(127.0, weight_of(p) / total * 256 - 128);
      }
    });
    expect_near(op, wanted, 0.501);
  }

  // From the queries, or from probabilities.
  void judge_context(const Op& op, bool of_queries) {
    judged_.insert(op.kind);
    const TensorId in = op.inputs.front();
    const int64_t dim = spec(op.layer).value_dim();
    std::vector<double> wanted(memory_->used(op.outputs.front()).size());
    for_heads(op, [&](int64_t t, int64_t h, const std::vector<int64_t>& others) {
      double total = of_queries ? sink_weight(op, h) : 1.0;
      std::vector<double> weights;
      for (const int64_t p : others) {
        weights.push_back(of_queries ? std::exp(score(op, t, h, p))
                                     : (read_.at(score_place(in, t, h, p)) + 128) / 256.0);
        if (of_queries) total += weights.back();
      }
      for (int64_t d = 0; d < dim; ++d) {
        double sum = 0.0;
        for (size_t i = 0; i < others.size(); ++i) {
          const auto at = static_cast<size_t>(stored_head(op, h) * dim + d);
          sum += weights[i] / total * row_of_position(op, others[i]).values.at(at);
        }
        const double steps = sum / scale(op.outputs.front());
        wanted.at(static_cast<size_t>((t * spec(op.layer).n_head + h) * dim + d)) =
            std::clamp(steps, -128.0, 127.0);
      }
    });
    expect_near(op, wanted, 0.8);
  }

  // In steps. A cell that is not attended is exactly so.
  void expect_near(const Op& op, const std::vector<double>& wanted, double most) const {
    const std::vector<int8_t> got = raw(op.outputs.front());
    ASSERT_EQ(wanted.size(), got.size()) << op.name;
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], wanted[i], wanted[i] == -128.0 ? 0.0 : most)
          << op.name << " [" << i << "]";
    }
  }

  const Bench& bench_;
  std::set<OpKind>& judged_;
  std::optional<PassMemory> memory_{};
  std::vector<float> scales_{};
  std::vector<int8_t> read_{};                    // the op's first input, before it ran
  std::map<int64_t, std::vector<Row>> stored_{};  // by layer and position
};

}  // namespace tidemark::testing
