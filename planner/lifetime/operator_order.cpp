#include "planner/lifetime/operator_order.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "planner/base/check.h"
#include "planner/lifetime/operator_order_search.h"

namespace tidemark {
namespace {

constexpr int kMostPasses = 4;  // over windows of what is too large to be solved whole

uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0xff51afd7ed558ccdu;
  return hash ^ (hash >> 32);
}

template <typename Container>
uint64_t mixed_all(uint64_t hash, const Container& values) {
  for (const auto value : values) hash = mixed(hash, static_cast<uint64_t>(value));
  return mixed(hash, values.size());
}

uint64_t hash_of(const Piece& piece) {
  uint64_t hash = mixed(static_cast<uint64_t>(piece.entry.count()), piece.ops.size());
  for (const CutOp& op : piece.ops) {
    hash = mixed(hash, static_cast<uint64_t>(op.writes.count()));
    hash = mixed_all(mixed_all(hash, op.before), op.reads);
  }
  for (const PieceTensor& tensor : piece.tensors) {
    hash = mixed(hash, static_cast<uint64_t>(tensor.size.count()));
  }
  return hash;
}

// A piece and all that are equal to it.
struct Shape {
  Piece piece{};
  OrderedPiece as_written{};            // its own order
  std::optional<OrderedPiece> found{};  // once it was searched
  const OrderedPiece& best() const { return found ? *found : as_written; }
};

// The layers of a model are mostly one shape.
class Shapes {
 public:
  size_t number_of(Piece piece, bool use_bounds) {
    std::vector<size_t>& alike = by_hash_[hash_of(piece)];
    for (const size_t number : alike) {
      if (shapes_[number].piece == piece) return number;
    }
    alike.push_back(shapes_.size());
    shapes_.push_back({.piece = std::move(piece)});
    Shape& made = shapes_.back();
    for (size_t op = 0; op < made.piece.ops.size(); ++op) made.as_written.order.push_back(op);
    made.as_written.peak = peak_of(made.piece);
    if (use_bounds) made.as_written.lower_bound = lower_bound_of(made.piece);
    return alike.back();
  }
  Shape& operator[](size_t number) { return shapes_[number]; }

 private:
  std::vector<Shape> shapes_{};
  std::map<uint64_t, std::vector<size_t>> by_hash_{};
};

// Bytes that are live from each step on into the next.
std::vector<Bytes> live_across(const Graph& graph, const Schedule& schedule) {
  std::vector<Bytes> change(schedule.order.size() + 1);
  for (const LiveRange& range : live_ranges(graph, schedule)) {
    const Bytes size = graph.tensor(range.tensor).bytes;
    change[range.steps.lower.index()] += size;
    change[range.steps.upper.index() - 1] -= size;
  }
  Bytes live;
  for (Bytes& step : change) step = live += step;
  return change;
}

// A run too long to be solved whole, cut where the least is live, each part between half of `most`
// and `most` steps; the first is shorter when `shifted`, so that two passes cut in other places.
void add_windows(std::vector<Interval<size_t>>& windows, Interval<size_t> run,
                 const std::vector<Bytes>& live, size_t most, bool shifted) {
  size_t begin = run.lower;
  size_t longest = shifted ? std::max<size_t>(most / 2, 1) : most;
  while (run.upper - begin > longest) {
    const auto first = live.begin() + static_cast<std::ptrdiff_t>(begin + longest / 2);
    const auto last = live.begin() + static_cast<std::ptrdiff_t>(begin + longest);
    const size_t end = static_cast<size_t>(std::min_element(first, last) - live.begin()) + 1;
    windows.push_back({begin, end});
    begin = end;
    longest = most;
  }
  windows.push_back({begin, run.upper});
}

class Orderer {
 public:
  Orderer(const Graph& graph, const OrderOptions& options) : graph_(graph), options_(options) {}

  OrderResult run() {
    result_.schedule = schedule_in_program_order(graph_);
    result_.program_peak = result_.peak = load_of(graph_, result_.schedule).peak;
    if (graph_.ops().empty()) return proved();
    if (!sizes_add_up()) return std::move(result_);
    divide();
    for (int pass = 0; pass < kMostPasses; ++pass) {
      const Bytes before = result_.peak;
      improve(pass % 2 == 1);
      if (!has_long_runs_ || result_.peak == result_.lower_bound) break;
      if (pass > 0 && result_.peak == before) break;
    }
    result_.proved_optimal = result_.peak == result_.lower_bound;
    return std::move(result_);
  }

 private:
  OrderResult proved() {
    result_.lower_bound = result_.peak;
    result_.proved_optimal = true;
    return std::move(result_);
  }

  // Any order's sums then stay within 63 bits.
  bool sizes_add_up() const {
    int64_t sum = 0;
    for (const Tensor& tensor : graph_.tensors()) {
      if (__builtin_add_overflow(sum, tensor.bytes.count(), &sum)) return false;
    }
    return true;
  }

  size_t max_piece() const { return static_cast<size_t>(std::max<int64_t>(options_.max_piece, 1)); }

  void divide() {
    const size_t count = result_.schedule.order.size();
    runs_ = {{0, count}};
    if (options_.divide) runs_ = cut_at_articulations(graph_, result_.schedule);
    for (const Interval<size_t> run : runs_) {
      const size_t length = run.upper - run.lower;
      has_long_runs_ = has_long_runs_ || length > max_piece();
      result_.largest_piece = std::max(result_.largest_piece, static_cast<int64_t>(length));
    }
    result_.pieces = static_cast<int64_t>(runs_.size());
    // What windows can reach says nothing about other orders, so long runs are bounded as a whole.
    if (!has_long_runs_ || !options_.use_bounds) return;
    for (const PlacedPiece& placed : make_pieces(graph_, result_.schedule, runs_)) {
      if (placed.piece.ops.size() <= max_piece()) continue;
      raise_bound(placed.base + lower_bound_of(placed.piece));
    }
  }

  void raise_bound(Bytes bound) { result_.lower_bound = std::max(result_.lower_bound, bound); }

  std::vector<Interval<size_t>> short_runs(bool shifted) const {
    const std::vector<Bytes> live = live_across(graph_, result_.schedule);
    std::vector<Interval<size_t>> runs;
    for (const Interval<size_t> run : runs_) add_windows(runs, run, live, max_piece(), shifted);
    return runs;
  }

  bool is_whole(Interval<size_t> run) const {
    return std::binary_search(runs_.begin(), runs_.end(), run);
  }

  // Solves pieces from the highest down, as long as one is higher than what was reached so far.
  void improve(bool shifted) {
    struct Work {
      size_t place = 0;
      size_t shape = 0;
      Bytes peak{};
    };
    std::vector<PlacedPiece> pieces = make_pieces(graph_, result_.schedule, short_runs(shifted));
    std::vector<Work> work;
    for (size_t place = 0; place < pieces.size(); ++place) {
      const size_t shape =
          shapes_.number_of(std::exchange(pieces[place].piece, {}), options_.use_bounds);
      work.push_back({place, shape, pieces[place].base + shapes_[shape].as_written.peak});
    }
    std::stable_sort(work.begin(), work.end(),
                     [](const Work& a, const Work& b) { return a.peak > b.peak; });
    Bytes reached;
    std::vector<const std::vector<size_t>*> orders(pieces.size(), nullptr);
    for (const Work& item : work) {
      const PlacedPiece& placed = pieces[item.place];
      if (item.peak > reached) {
        const OrderedPiece& best = solved(item.shape);
        reached = std::max(reached, placed.base + best.peak);
        if (placed.base + best.peak < item.peak) orders[item.place] = &best.order;
      }
      if (is_whole(placed.steps)) {
        raise_bound(placed.base + shapes_[item.shape].best().lower_bound);
      }
    }
    adopt(pieces, orders, reached);
  }

  const OrderedPiece& solved(size_t number) {
    Shape& shape = shapes_[number];
    if (shape.found) return *shape.found;
    ++result_.searched;
    OrderedPiece known = shape.as_written;
    const bool may_improve = known.lower_bound < known.peak;
    for (int64_t width = 1; options_.use_bounds && may_improve; width = options_.beam_width) {
      OrderedPiece beam = beam_order(shape.piece, width);
      if (beam.peak < known.peak) {
        known.order = std::move(beam.order);
        known.peak = beam.peak;
      }
      if (width >= options_.beam_width || known.lower_bound == known.peak) break;
    }
    shape.found = exact_order(shape.piece, known,
                              {.max_states = options_.max_states - result_.states,
                               .max_memory = options_.max_memory,
                               .take_free_ops = options_.take_free_ops,
                               .lower_bound = known.lower_bound});
    result_.states += shape.found->states;
    return *shape.found;
  }

  void adopt(const std::vector<PlacedPiece>& pieces,
             const std::vector<const std::vector<size_t>*>& orders, Bytes reached) {
    if (reached >= result_.peak) return;
    std::vector<OpId> order;
    order.reserve(result_.schedule.order.size());
    for (size_t place = 0; place < pieces.size(); ++place) {
      const Interval<size_t> steps = pieces[place].steps;
      for (size_t i = 0; i < steps.upper - steps.lower; ++i) {
        const size_t local = orders[place] == nullptr ? i : (*orders[place])[i];
        order.push_back(result_.schedule.order[steps.lower + local]);
      }
    }
    result_.schedule = schedule_of(graph_, std::move(order));
    result_.peak = load_of(graph_, result_.schedule).peak;
    check(result_.peak == reached, "pieces add up to the load of the whole");
  }

  const Graph& graph_;
  const OrderOptions& options_;
  OrderResult result_{};
  Shapes shapes_{};
  std::vector<Interval<size_t>> runs_{};
  bool has_long_runs_ = false;
};

}  // namespace

LoadProfile load_of(const Graph& graph, const Schedule& schedule) {
  if (schedule.order.empty()) return {};  // inputs live in a first step that there is not
  return load_profile(share_in_place(graph, schedule, live_ranges(graph, schedule)),
                      static_cast<int64_t>(schedule.order.size()));
}

OrderResult order_for_memory(const Graph& graph, const OrderOptions& options) {
  return Orderer(graph, options).run();
}

}  // namespace tidemark
