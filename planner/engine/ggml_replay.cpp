#include "planner/engine/ggml_replay.h"

#include <iterator>
#include <map>
#include <utility>

#include "planner/base/check.h"
#include "planner/base/interval.h"

namespace tidemark {
namespace {

constexpr Bytes kFarthest = Bytes::of(int64_t{1} << 62);  // no sum with a tensor's bytes overflows

// Which tensor was last written at each address.
class Memory {
 public:
  void write(Interval<int64_t> where, TensorId tensor) {
    if (where.empty()) return;
    cut(where.lower);
    cut(where.upper);
    pieces_.erase(pieces_.lower_bound(where.lower), pieces_.lower_bound(where.upper));
    pieces_[where.lower] = {where.upper, tensor};
  }

  bool holds(Interval<int64_t> where, TensorId tensor) const {
    auto piece = pieces_.upper_bound(where.lower);
    if (piece == pieces_.begin()) return where.empty();
    for (--piece; where.lower < where.upper; ++piece) {
      if (piece == pieces_.end() || piece->first > where.lower) return false;
      if (piece->second.end <= where.lower || piece->second.tensor != tensor) return false;
      where.lower = piece->second.end;
    }
    return true;
  }

 private:
  struct Piece {
    int64_t end = 0;
    TensorId tensor{};
  };

  // No piece reaches over `address` afterwards.
  void cut(int64_t address) {
    const auto after = pieces_.lower_bound(address);
    if (after == pieces_.begin()) return;
    Piece& piece = std::prev(after)->second;
    if (piece.end <= address) return;
    pieces_[address] = piece;
    piece.end = address;
  }

  std::map<int64_t, Piece> pieces_{};  // by start; they do not overlap
};

class Replay {
 public:
  Replay(const GgmlGraph& graph, const std::vector<std::optional<Bytes>>& offsets, Bytes arena,
         GgmlInPlace in_place)
      : graph_(graph), offsets_(offsets), arena_(arena), in_place_(in_place) {}

  std::vector<GgmlReplayFault> run() && {
    check(offsets_.size() == graph_.tensors.size(), "one offset, or none, for each tensor");
    const auto given = [](const GgmlTensor& tensor) { return tensor.leaf || tensor.input; };
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      // What is given but has no place may be read by nobody.
      if (given(graph_.tensors[i]) && offsets_[i]) write(TensorId::of(i));
    }
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      const TensorId id = TensorId::of(i);
      for (const TensorId source : graph_[id].sources) read(id, source);
      if (given(graph_[id]) || !needs_memory(graph_[id])) continue;
      for (const TensorId source : graph_[id].sources) check_overlap(id, source);
      write(id);
    }
    for (size_t i = 0; i < graph_.tensors.size(); ++i) {
      if (graph_.tensors[i].output) read(TensorId::of(i), TensorId::of(i));
    }
    return std::move(faults_);
  }

 private:
  // The addresses of a tensor or view whose root has a place that can be counted with.
  std::optional<Interval<int64_t>> addresses(TensorId id) const {
    const std::optional<Bytes> start = offsets_[root_of(graph_, id).index()];
    if (!start || *start < Bytes{} || kFarthest < *start) return std::nullopt;
    const Bytes from = *start + graph_[id].offset_in_owner;
    return Interval<int64_t>{from.count(), (from + graph_[id].bytes).count()};
  }

  void read(TensorId reader, TensorId id) {
    const TensorId root = root_of(graph_, id);
    if (!needs_memory(graph_[root]) || graph_[id].bytes == Bytes{}) return;
    const auto where = addresses(id);
    if (!where) return fail(GgmlReplayRule::kNoPlace, reader, root, "has no place");
    if (!memory_.holds(*where, root)) {
      fail(GgmlReplayRule::kLost, reader, root, "was overwritten before it was read");
    }
  }

  void write(TensorId id) {
    const auto where = addresses(id);
    if (!needs_memory(graph_[id])) return;
    if (!offsets_[id.index()]) return fail(GgmlReplayRule::kNoPlace, id, id, "has no place");
    if (!where || !is_aligned(Bytes::of(where->lower), kGgmlAlignment) ||
        arena_ < Bytes::of(where->upper)) {
      fail(GgmlReplayRule::kOutside, id, id, "stands outside the arena or off its grid");
    }
    if (where) memory_.write(*where, id);
  }

  void check_overlap(TensorId id, TensorId source) {
    const GgmlTensor& seen = graph_[source];
    if (seen.external) return;
    const auto mine = addresses(id);
    const auto read_from = addresses(source);
    if (!mine || !read_from || !overlaps(*mine, *read_from)) return;
    if (may_write_over(graph_[id].op) && *mine == *read_from && same_layout(graph_[id], seen))
      return;
    fail(GgmlReplayRule::kOverlaps, id, root_of(graph_, source), "is written over by its reader");
  }

  bool may_write_over(const std::string& op) const {
    switch (in_place_) {
      case GgmlInPlace::kNone:
        return false;
      case GgmlInPlace::kEngine:
      case GgmlInPlace::kThroughViews:
        return engine_runs_in_place(op);
      case GgmlInPlace::kWithGlu:
        return can_run_in_place(op);
    }
    check(false, "every way of running in place is handled");
    return false;
  }

  void fail(GgmlReplayRule rule, TensorId node, TensorId tensor, std::string_view what) {
    if (faults_.size() == kMostGgmlReplayFaults) return;
    const auto name = [&](TensorId id) {
      return in_quotes(graph_[id].name) + " (" + std::to_string(id.value()) + ")";
    };
    faults_.push_back(
        {rule, node, tensor, "at " + name(node) + ": " + name(tensor) + " " + std::string(what)});
  }

  const GgmlGraph& graph_;
  const std::vector<std::optional<Bytes>>& offsets_;
  Bytes arena_;
  GgmlInPlace in_place_;
  Memory memory_{};
  std::vector<GgmlReplayFault> faults_{};
};

}  // namespace

std::vector<GgmlReplayFault> replay(const GgmlGraph& graph,
                                    const std::vector<std::optional<Bytes>>& offsets, Bytes arena,
                                    GgmlInPlace in_place) {
  return Replay(graph, offsets, arena, in_place).run();
}

}  // namespace tidemark
