#include "planner/lifetime/operator_order_piece.h"

#include <algorithm>
#include <map>

#include "planner/base/check.h"
#include "planner/lifetime/live_ranges.h"

namespace tidemark {
namespace {

// Where each arena tensor is written and read, in steps of the order at hand.
class Flows {
 public:
  Flows(const Graph& graph, const Schedule& schedule)
      : graph_(graph),
        schedule_(schedule),
        readers_(graph.tensors().size()),
        ends_(schedule.order.size()) {
    for (const LiveRange& range : live_ranges(graph, schedule)) {
      std::vector<size_t>& readers = readers_[range.tensor.index()];
      for (const OpId reader : graph.consumers(range.tensor)) readers.push_back(step_of(reader));
      std::sort(readers.begin(), readers.end());
      if (!readers.empty()) ends_[readers.back()].push_back(range.tensor);
    }
  }

  size_t step_of(OpId op) const { return schedule_.step_of[op.index()].index(); }
  const std::vector<size_t>& readers(TensorId id) const { return readers_[id.index()]; }
  bool is_read(TensorId id) const { return !readers(id).empty(); }
  // The tensors whose last reader runs at this step.
  const std::vector<TensorId>& ends(size_t step) const { return ends_[step]; }
  std::optional<size_t> writer(TensorId id) const {
    if (graph_.tensor(id).kind != TensorKind::kActivation) return std::nullopt;
    return step_of(*graph_.producer(id));
  }

 private:
  const Graph& graph_;
  const Schedule& schedule_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<std::vector<TensorId>> ends_;
};

class PieceMaker {
 public:
  PieceMaker(const Graph& graph, const Schedule& schedule, const Flows& flows)
      : graph_(graph), schedule_(schedule), flows_(flows) {
    for (const Tensor& tensor : graph.tensors()) {
      if (tensor.kind != TensorKind::kInput) continue;
      (flows.is_read(tensor.id) ? live_ : unread_inputs_) += tensor.bytes;
    }
  }

  // Runs must be asked for in order.
  PlacedPiece make(Interval<size_t> steps) {
    PlacedPiece placed{.steps = steps};
    Piece& piece = placed.piece;
    number_tensors(piece, steps);
    placed.base = live_ - piece.entry;
    if (steps.lower == 0) piece.first_extra = unread_inputs_;
    for (size_t step = steps.lower; step < steps.upper; ++step) add_op(piece, steps, step);
    return placed;
  }

 private:
  void number_tensors(Piece& piece, Interval<size_t> steps) {
    local_.clear();
    for (size_t step = steps.lower; step < steps.upper; ++step) {
      for (const TensorId id : flows_.ends(step)) {
        PieceTensor tensor{.size = graph_.tensor(id).bytes};
        const std::optional<size_t> writer = flows_.writer(id);
        if (writer && steps.contains(*writer)) tensor.writer = *writer - steps.lower;
        if (!tensor.writer) piece.entry += tensor.size;
        for (const size_t reader : flows_.readers(id)) {
          if (steps.contains(reader)) tensor.readers.push_back(reader - steps.lower);
        }
        local_.emplace(id, piece.tensors.size());
        piece.tensors.push_back(std::move(tensor));
      }
    }
  }

  void add_op(Piece& piece, Interval<size_t> steps, size_t step) {
    const Op& op = graph_.op(schedule_.order[step]);
    CutOp made;
    for (const OpId before : graph_.predecessors(op.id)) {
      const size_t at = flows_.step_of(before);
      if (steps.contains(at)) made.before.push_back(at - steps.lower);
    }
    std::sort(made.before.begin(), made.before.end());
    made.reads = local_of(op.inputs);
    made.overwrites = local_of(may_write_over(graph_, op));
    for (const TensorId id : op.outputs) {
      if (graph_.tensor(id).kind != TensorKind::kActivation) continue;
      const Bytes size = graph_.tensor(id).bytes;
      made.writes += size;
      if (!flows_.is_read(id)) continue;
      made.keeps += size;
      if (flows_.readers(id).back() >= steps.upper) made.leaves += size;
      live_ += size;
    }
    for (const TensorId id : flows_.ends(step)) live_ -= graph_.tensor(id).bytes;
    piece.ops.push_back(std::move(made));
  }

  std::vector<size_t> local_of(const std::vector<TensorId>& ids) const {
    std::vector<size_t> found;
    for (const TensorId id : ids) {
      const auto local = local_.find(id);
      if (local != local_.end()) found.push_back(local->second);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  const Graph& graph_;
  const Schedule& schedule_;
  const Flows& flows_;
  Bytes live_{};  // at the start of the next run: what is read from there on
  Bytes unread_inputs_{};
  std::map<TensorId, size_t> local_{};
};

// Do all readers of `tensor` but `op` stand in `done`?
bool ends_with(const PieceTensor& tensor, OpSet done, size_t op) {
  return std::all_of(tensor.readers.begin(), tensor.readers.end(),
                     [&](size_t reader) { return reader == op || holds(done, reader); });
}

// Sets of ops that must run before or after each op.
class Paths {
 public:
  explicit Paths(const Piece& piece)
      : words_(words_for(piece.ops.size())),
        before_(piece.ops.size() * words_),
        after_(piece.ops.size() * words_) {
    for (size_t op = 0; op < piece.ops.size(); ++op) {
      for (const size_t earlier : piece.ops[op].before) add(before_, op, earlier);
    }
    for (size_t op = piece.ops.size(); op-- > 0;) {
      for (const size_t earlier : piece.ops[op].before) add(after_, earlier, op);
    }
  }

  OpSet before(size_t op) const { return OpSet(before_).subspan(op * words_, words_); }
  OpSet after(size_t op) const { return OpSet(after_).subspan(op * words_, words_); }

 private:
  // `other` and all that is in its set.
  void add(std::vector<uint64_t>& sets, size_t op, size_t other) const {
    const auto set = std::span(sets).subspan(op * words_, words_);
    for (size_t word = 0; word < words_; ++word) set[word] |= sets[other * words_ + word];
    insert(set, other);
  }

  size_t words_;
  std::vector<uint64_t> before_;
  std::vector<uint64_t> after_;
};

// What must be live while `op` runs, whatever the order.
Bytes least_load_at(const Piece& piece, const Paths& paths, size_t op) {
  const OpSet before = paths.before(op);
  const OpSet after = paths.after(op);
  const auto runs_later = [&](size_t reader) { return holds(after, reader); };
  Bytes load = piece.ops[op].writes;
  for (const PieceTensor& tensor : piece.tensors) {
    const bool exists = !tensor.writer || holds(before, *tensor.writer);
    const auto& readers = tensor.readers;
    if (exists && std::any_of(readers.begin(), readers.end(),
                              [&](size_t reader) { return reader == op || runs_later(reader); })) {
      load += tensor.size;
    }
  }
  for (size_t earlier = 0; earlier < op; ++earlier) {
    if (holds(before, earlier)) load += piece.ops[earlier].leaves;
  }
  const auto& free = piece.ops[op].overwrites;
  const bool may_overwrite = std::any_of(free.begin(), free.end(), [&](size_t tensor) {
    const auto& readers = piece.tensors[tensor].readers;
    return std::none_of(readers.begin(), readers.end(), runs_later);
  });
  return may_overwrite ? load - piece.ops[op].writes : load;
}

// What the op itself reads and writes.
Bytes own_load_at(const Piece& piece, size_t op) {
  Bytes load = piece.ops[op].overwrites.empty() ? piece.ops[op].writes : Bytes{};
  for (const size_t tensor : piece.ops[op].reads) load += piece.tensors[tensor].size;
  return load;
}

// Any op that comes first finds all that was live before the piece.
Bytes least_first_load(const Piece& piece) {
  const std::vector<uint64_t> none(words_for(piece.ops.size()));
  std::optional<Bytes> least;
  for (size_t op = 0; op < piece.ops.size(); ++op) {
    if (!piece.ops[op].before.empty()) continue;
    const Bytes load = effect_of(piece, none, piece.entry, op).load;
    if (!least || load < *least) least = load;
  }
  return least.value_or(Bytes{});
}

}  // namespace

bool is_ready(const Piece& piece, OpSet done, size_t op) {
  if (holds(done, op)) return false;
  const auto& before = piece.ops[op].before;
  return std::all_of(before.begin(), before.end(),
                     [&](size_t earlier) { return holds(done, earlier); });
}

OpEffect effect_of(const Piece& piece, OpSet done, Bytes memory, size_t op) {
  const CutOp& run = piece.ops[op];
  OpEffect effect{.load = memory + run.writes, .after = memory + run.keeps};
  for (const size_t tensor : run.reads) {
    if (ends_with(piece.tensors[tensor], done, op)) effect.after -= piece.tensors[tensor].size;
  }
  if (std::any_of(run.overwrites.begin(), run.overwrites.end(),
                  [&](size_t tensor) { return ends_with(piece.tensors[tensor], done, op); })) {
    effect.load -= run.writes;
  }
  const bool is_first = std::all_of(done.begin(), done.end(), [](uint64_t word) { return !word; });
  if (is_first) effect.load += piece.first_extra;
  return effect;
}

Bytes peak_of(const Piece& piece, std::span<const size_t> order) {
  std::vector<uint64_t> done(words_for(piece.ops.size()));
  Bytes memory = piece.entry;
  Bytes peak;
  for (const size_t op : order) {
    check(is_ready(piece, done, op), "an op runs after what it reads, once");
    const OpEffect effect = effect_of(piece, done, memory, op);
    peak = std::max(peak, effect.load);
    memory = effect.after;
    insert(done, op);
  }
  return peak;
}

Bytes peak_of(const Piece& piece) {
  std::vector<size_t> order(piece.ops.size());
  for (size_t op = 0; op < order.size(); ++op) order[op] = op;
  return peak_of(piece, order);
}

Bytes lower_bound_of(const Piece& piece) {
  Bytes bound = least_first_load(piece);
  if (piece.ops.size() > kMostOpsForPaths) {
    for (size_t op = 0; op < piece.ops.size(); ++op) {
      bound = std::max(bound, own_load_at(piece, op));
    }
    return bound;
  }
  const Paths paths(piece);
  for (size_t op = 0; op < piece.ops.size(); ++op) {
    bound = std::max(bound, least_load_at(piece, paths, op));
  }
  return bound;
}

// Everything passes through the op at a step when it is the only sink of the ops up to it and the
// only source of the ops from it on: any earlier op leads to some sink, any later one comes from
// some source.
std::vector<Interval<size_t>> cut_at_articulations(const Graph& graph, const Schedule& schedule) {
  const size_t count = schedule.order.size();
  std::vector<bool> is_only_sink(count);
  std::vector<bool> has_follower(count);
  size_t sinks = 0;
  for (size_t step = 0; step < count; ++step) {
    ++sinks;
    for (const OpId before : graph.predecessors(schedule.order[step])) {
      if (!has_follower[before.index()]) --sinks;
      has_follower[before.index()] = true;
    }
    is_only_sink[step] = sinks == 1;
  }
  std::vector<Interval<size_t>> runs;
  std::vector<bool> has_predecessor(count);
  size_t sources = 0;
  size_t end = count;
  for (size_t step = count; step-- > 0;) {
    ++sources;
    for (const OpId after : graph.successors(schedule.order[step])) {
      if (!has_predecessor[after.index()]) --sources;
      has_predecessor[after.index()] = true;
    }
    if (step + 1 < end && is_only_sink[step] && sources == 1) {
      runs.push_back({step + 1, end});
      end = step + 1;
    }
  }
  if (end > 0) runs.push_back({0, end});
  std::reverse(runs.begin(), runs.end());
  return runs;
}

std::vector<PlacedPiece> make_pieces(const Graph& graph, const Schedule& schedule,
                                     std::span<const Interval<size_t>> runs) {
  const Flows flows(graph, schedule);
  PieceMaker maker(graph, schedule, flows);
  std::vector<PlacedPiece> pieces;
  pieces.reserve(runs.size());
  for (const Interval<size_t> run : runs) pieces.push_back(maker.make(run));
  return pieces;
}

}  // namespace tidemark
