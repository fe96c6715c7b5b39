#include <algorithm>
#include <tuple>

#include "planner/alloc/body.h"

namespace tidemark {
namespace {

// The measure of a union of intervals that come and go: a tree over the addresses at which one
// begins or ends, each node with how many intervals cover it whole and how much of it is covered.
class Coverage {
 public:
  explicit Coverage(std::vector<Bytes> borders)
      : borders_(std::move(borders)), nodes_(4 * borders_.size()) {}

  Bytes covered() const { return nodes_.empty() ? Bytes{} : nodes_[1].covered; }

  void add(const Interval<Bytes>& used, int change) {
    change_(1, {0, borders_.size() - 1}, {index_of(used.lower), index_of(used.upper)}, change);
  }

 private:
  struct Node {
    int64_t whole = 0;
    Bytes covered{};
  };

  size_t index_of(Bytes border) const {
    return static_cast<size_t>(std::ranges::lower_bound(borders_, border) - borders_.begin());
  }

  void change_(size_t node, Interval<size_t> span, const Interval<size_t>& used, int change) {
    if (used.upper <= span.lower || span.upper <= used.lower) return;
    if (used.lower <= span.lower && span.upper <= used.upper) {
      nodes_[node].whole += change;
    } else {
      const size_t middle = (span.lower + span.upper) / 2;
      change_(2 * node, {span.lower, middle}, used, change);
      change_(2 * node + 1, {middle, span.upper}, used, change);
    }
    if (nodes_[node].whole > 0) {
      nodes_[node].covered = borders_[span.upper] - borders_[span.lower];
    } else if (span.upper - span.lower == 1) {
      nodes_[node].covered = Bytes{};
    } else {
      nodes_[node].covered = nodes_[2 * node].covered + nodes_[2 * node + 1].covered;
    }
  }

  std::vector<Bytes> borders_;
  std::vector<Node> nodes_;
};

struct Turn {
  int64_t instant = 0;
  int change = 0;
  size_t piece = 0;
};

}  // namespace

std::vector<UseChange> use_changes(const Body& body) {
  std::vector<UseChange> changes;
  if (body.pieces.size() == 1) {
    const Piece& piece = body.pieces.front();
    const Bytes size = piece.used.upper - piece.used.lower;
    return {{piece.when.lower, size}, {piece.when.upper, Bytes{} - size}};
  }
  std::vector<Bytes> borders;
  std::vector<Turn> turns;
  for (size_t i = 0; i < body.pieces.size(); ++i) {
    const Piece& piece = body.pieces[i];
    borders.insert(borders.end(), {piece.used.lower, piece.used.upper});
    turns.push_back({piece.when.lower, 1, i});
    turns.push_back({piece.when.upper, -1, i});
  }
  if (turns.empty()) return changes;
  std::ranges::sort(borders);
  borders.erase(std::ranges::unique(borders).begin(), borders.end());
  std::ranges::sort(turns, {},
                    [](const Turn& t) { return std::tuple(t.instant, t.change, t.piece); });
  Coverage coverage(std::move(borders));
  Bytes before;
  for (size_t k = 0; k < turns.size(); ++k) {
    coverage.add(body.pieces[turns[k].piece].used, turns[k].change);
    const bool last = k + 1 == turns.size() || turns[k + 1].instant != turns[k].instant;
    if (!last || coverage.covered() == before) continue;
    changes.push_back({turns[k].instant, coverage.covered() - before});
    before = coverage.covered();
  }
  return changes;
}

Bytes load_of(const std::vector<Body>& bodies) {
  std::vector<UseChange> changes;
  for (const Body& body : bodies) {
    const std::vector<UseChange> mine = use_changes(body);
    changes.insert(changes.end(), mine.begin(), mine.end());
  }
  // Lifetimes are half-open: what ends at an instant is gone before what starts there.
  std::ranges::sort(changes);
  Bytes load;
  Bytes peak;
  for (const UseChange& change : changes) {
    load += change.change;
    peak = std::max(peak, load);
  }
  return peak;
}

}  // namespace tidemark
