#include "planner/engine/ggml_alloc.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace tidemark {
namespace {

// The blocks that are free below the open end, and the open end.
class FreeBlocks {
 public:
  int64_t take(int64_t size) {
    // The key (size, -offset) puts the later one of equals first.
    const auto best = by_size_.lower_bound({size, std::numeric_limits<int64_t>::min()});
    if (best == by_size_.end()) {
      open_end_ += size;
      return open_end_ - size;
    }
    const auto [block_size, minus_offset] = *best;
    remove(-minus_offset, block_size);
    if (size < block_size) insert(-minus_offset + size, block_size - size);
    return -minus_offset;
  }

  void give_back(int64_t offset, int64_t size) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + size) {
      const auto [next_offset, next_size] = *next;
      size += next_size;
      remove(next_offset, next_size);
      next = by_offset_.lower_bound(offset);
    }
    if (next != by_offset_.begin()) {
      const auto [before_offset, before_size] = *std::prev(next);
      if (before_offset + before_size == offset) {
        offset = before_offset;
        size += before_size;
        remove(before_offset, before_size);
      }
    }
    if (offset + size == open_end_) {
      open_end_ = offset;
    } else {
      insert(offset, size);
    }
  }

 private:
  void insert(int64_t offset, int64_t size) {
    by_offset_.emplace(offset, size);
    by_size_.emplace(size, -offset);
  }
  void remove(int64_t offset, int64_t size) {
    by_offset_.erase(offset);
    by_size_.erase({size, -offset});
  }

  std::map<int64_t, int64_t> by_offset_{};           // size by offset
  std::set<std::pair<int64_t, int64_t>> by_size_{};  // size, -offset
  int64_t open_end_ = 0;
};

class Allocator {
 public:
  explicit Allocator(const GgmlGraph& graph) : graph_(graph), uses_(graph.tensors.size()) {
    result_.offsets.resize(graph.tensors.size());
    result_.overwrites.resize(graph.tensors.size());
  }

  GgmlReservation run() && {
    for (const GgmlTensor& tensor : graph_.tensors) {
      for (const TensorId source : tensor.sources) ++uses_[source.index()].readers;
      if (tensor.owner) ++uses_[tensor.owner->index()].views;
    }
    each([&](TensorId id, const GgmlTensor& tensor) {
      if (tensor.leaf) place(id);
    });
    each([&](TensorId id, const GgmlTensor& tensor) {
      if (!tensor.leaf && tensor.input) place(id);
    });
    each([&](TensorId id, const GgmlTensor& tensor) {
      if (tensor.leaf) return;
      if (!result_.offsets[id.index()] && !take_over(id)) place(id);
      for (const TensorId source : tensor.sources) lose_reader(source);
    });
    return std::move(result_);
  }

 private:
  struct Uses {
    int64_t readers = 0;
    int64_t views = 0;
    bool owned = false;  // has memory that it may free or hand on
  };

  template <typename Action>
  void each(Action action) {
    for (size_t i = 0; i < graph_.tensors.size(); ++i) action(TensorId::of(i), graph_.tensors[i]);
  }

  void place(TensorId id) {
    if (!needs_memory(graph_[id])) return;
    const int64_t size = padded_bytes(graph_[id]).count();
    const Bytes offset = Bytes::of(free_.take(size));
    const Bytes end = offset + Bytes::of(size);
    if (result_.reserved < end) {
      result_.reserved = end;
      result_.high_water = id;
    }
    result_.offsets[id.index()] = offset;
    uses_[id.index()].owned = true;
  }

  bool take_over(TensorId id) {
    const GgmlTensor& node = graph_[id];
    if (!needs_memory(node) || !engine_runs_in_place(node.op)) return false;
    for (const TensorId source : node.sources) {
      Uses& of_source = uses_[source.index()];
      if (!of_source.owned || graph_[source].output || !same_layout(node, graph_[source])) continue;
      if (of_source.readers != 1 || of_source.views != 0) continue;
      result_.offsets[id.index()] = result_.offsets[source.index()];
      result_.overwrites[id.index()] = source;
      of_source.owned = false;
      uses_[id.index()].owned = true;
      return true;
    }
    return false;
  }

  void lose_reader(TensorId source) {
    Uses& of_source = uses_[source.index()];
    if (--of_source.readers > 0 || of_source.views > 0) return;
    const std::optional<TensorId> owner = graph_[source].owner;
    if (!owner) return free(source);
    Uses& of_owner = uses_[owner->index()];
    if (--of_owner.views == 0 && of_owner.readers == 0) free(*owner);
  }

  void free(TensorId id) {
    if (!uses_[id.index()].owned || graph_[id].output) return;
    uses_[id.index()].owned = false;
    free_.give_back(result_.offsets[id.index()]->count(), padded_bytes(graph_[id]).count());
  }

  const GgmlGraph& graph_;
  std::vector<Uses> uses_;
  FreeBlocks free_{};
  GgmlReservation result_{};
};

}  // namespace

GgmlReservation reserve(const GgmlGraph& graph) { return Allocator(graph).run(); }

}  // namespace tidemark
