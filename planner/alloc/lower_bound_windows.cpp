#include "planner/alloc/lower_bound_windows.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "planner/alloc/conflict.h"
#include "planner/alloc/exact.h"
#include "planner/alloc/exact_instance.h"
#include "planner/alloc/greedy.h"
#include "planner/alloc/portfolio.h"

namespace tidemark {
namespace {

using exact::Instance;
using exact::Item;

// Up to three cliques without gaps always fit at their load: what lives through all goes to the
// bottom, on it what lives in the first two, and from the top down what lives in the last two.
constexpr int32_t kNarrowest = 4;
// Of each width: many windows say much the same.
constexpr size_t kWindowsOfAWidth = 64;
// A window far below the bound has room to spare.
constexpr int64_t kFullPart = 7;
constexpr int64_t kFullWhole = 8;
// Of the first try at a window, for each item; then twice as many, and so on.
constexpr int64_t kNodesPerItem = 8;
constexpr int64_t kMostNodesPerItem = int64_t{1} << 30;
// To gather the items of a window all are looked at, so many in the time of a node.
constexpr int64_t kItemsPerNode = 64;

// Cliques first..last, both included.
struct Window {
  int32_t first = 0;
  int32_t last = 0;
  int64_t highest = 0;  // load of any of its cliques, units
  int64_t total = 0;    // of all
  bool fits = false;    // was it found to fit?
};

std::vector<int64_t> clique_loads(const Instance& instance) {
  std::vector<int64_t> loads(static_cast<size_t>(instance.cliques) + 1, 0);
  for (const Item& item : instance.items) {
    for (const exact::Span& piece : item.pieces) {
      loads[static_cast<size_t>(piece.first)] += item.size;
      loads[static_cast<size_t>(piece.last) + 1] -= item.size;
    }
  }
  for (size_t c = 1; c < loads.size(); ++c) loads[c] += loads[c - 1];
  loads.pop_back();
  return loads;
}

// The fullest of one width, fullest first.
std::vector<Window> windows_of(const std::vector<int64_t>& loads, int32_t width, int64_t full) {
  std::vector<Window> windows;
  const auto cliques = static_cast<int32_t>(loads.size());
  for (int32_t first = 0; first + width / 2 < cliques; first += std::max(1, width / 2)) {
    Window window{.first = first, .last = std::min(cliques, first + width) - 1};
    for (int32_t c = first; c <= window.last; ++c) {
      const int64_t load = loads[static_cast<size_t>(c)];
      window.highest = std::max(window.highest, load);
      window.total += load;
    }
    if (full <= window.highest) windows.push_back(window);
  }
  std::ranges::stable_sort(windows, [](const Window& a, const Window& b) {
    return std::tuple(b.highest, b.total) < std::tuple(a.highest, a.total);
  });
  if (windows.size() > kWindowsOfAWidth) windows.resize(kWindowsOfAWidth);
  return windows;
}

Problem problem_of(const Problem& problem, const std::vector<BufferId>& ids) {
  Problem few;
  for (const BufferId id : ids) few.buffers.push_back(problem.buffers[id.index()]);
  return few;
}

class WindowSearch {
 public:
  WindowSearch(const Problem& problem, const LowerBoundOptions& options, LowerBound& bound)
      : problem_(problem),
        options_(options),
        bound_(bound),
        instance_(exact::make_instance(problem)) {
    list_windows();
  }

  // In every round what is not known to fit is searched again, the whole problem first: once it
  // fits, all is known. If it does not, a small part may show it as well.
  void run() {
    if (instance_.items.empty()) return;
    for (int64_t effort = kNodesPerItem; !done() && effort < kMostNodesPerItem; effort *= 2) {
      const Bytes before = bound_.bytes;
      const PlanStatus whole = look_at(whole_, effort);
      for (Window& window : windows_) {
        if (done()) return;
        if (window.fits || look_at(window, effort) != PlanStatus::kInfeasible) continue;
        raise(window);
      }
      if (whole == PlanStatus::kInfeasible && bound_.bytes == before) raise(whole_);
    }
  }

 private:
  bool done() const {
    return bound_.tight || spent_ >= options_.node_limit || (options_.stop && options_.stop());
  }
  int64_t left() const { return std::max<int64_t>(0, options_.node_limit - spent_); }

  void spend(int64_t nodes, size_t items) {
    bound_.nodes += nodes;
    spent_ += std::max(nodes, std::ssize(instance_.items) / kItemsPerNode);
    spent_ += static_cast<int64_t>(items);
  }

  void list_windows() {
    whole_.last = instance_.cliques - 1;
    const auto is_special = [](const Item& item) {
      return item.fixed >= 0 || item.alignment > 1 || item.pieces.size() > 1;
    };
    const int32_t narrowest = std::ranges::any_of(instance_.items, is_special) ? 1 : kNarrowest;
    const std::vector<int64_t> loads = clique_loads(instance_);
    const int64_t full = instance_.load / kFullWhole * kFullPart;
    for (int32_t width = narrowest; width < instance_.cliques; width *= 2) {
      const std::vector<Window> more = windows_of(loads, width, full);
      windows_.insert(windows_.end(), more.begin(), more.end());
    }
  }

  std::vector<BufferId> buffers_of(const Window& window) const {
    std::vector<BufferId> ids;
    for (const Item& item : instance_.items) {
      const auto within = [&](const exact::Span& piece) {
        return piece.first <= window.last && window.first <= piece.last;
      };
      if (std::ranges::any_of(item.pieces, within)) ids.push_back(item.buffer);
    }
    return ids;
  }

  ExactOptions searching(int64_t nodes) const {
    return {.node_limit = std::min(nodes, left()), .stop = options_.stop};
  }

  // Does it fit at the bound?
  PlanStatus look_at(Window& window, int64_t effort) {
    const std::vector<BufferId> ids = buffers_of(window);
    const Problem part = problem_of(problem_, ids);
    const Plan plan = decide(part, bound_.bytes, searching(effort * std::ssize(ids)));
    spend(plan.nodes, ids.size());
    window.fits = !plan.offsets.empty();
    if (window.fits) bound_.tight = ids.size() == instance_.items.size();
    return plan.status;
  }

  // It does not fit at the bound: by how much, and which buffers of it are to blame?
  void raise(const Window& window) {
    const std::vector<BufferId> ids = buffers_of(window);
    const Problem part = problem_of(problem_, ids);
    // First fit takes O(n^2).
    const bool few = ids.size() <= exact::kLargestPart;
    Plan start = with_totals(part, "", few ? place_first_fit_by_size(part) : place_apart(part));
    const Plan lowest = minimise(part, std::move(start), searching(left() / 2));
    spend(lowest.nodes, ids.size());
    bound_ = {.kind = BoundKind::kSearch,
              .bytes = std::max(bound_.bytes + Bytes::of(1), lowest.lower_bound),
              .buffers = ids,
              .nodes = bound_.nodes};
    bound_.tight = lowest.peak == bound_.bytes && ids.size() == instance_.items.size();
    reduce(part, ids);
  }

  // Each buffer is left out in turn, and what is found not to be needed stays out.
  void reduce(const Problem& part, const std::vector<BufferId>& ids) {
    const int64_t each = left() / 2 / std::ssize(ids);
    if (each < std::ssize(ids)) return;
    const Infeasibility why =
        why_infeasible(part, bound_.bytes - Bytes::of(1), {.node_limit = each});
    spend(each * std::ssize(ids), 0);
    if (why.buffers.empty() || !why.proved) return;
    bound_.irreducible = why.irreducible;
    bound_.buffers.clear();
    for (const BufferId id : why.buffers) bound_.buffers.push_back(ids[id.index()]);
  }

  const Problem& problem_;
  const LowerBoundOptions& options_;
  LowerBound& bound_;
  Instance instance_;
  Window whole_{};
  std::vector<Window> windows_{};
  int64_t spent_ = 0;
};

}  // namespace

void raise_by_windows(const Problem& problem, const LowerBoundOptions& options, LowerBound& bound) {
  WindowSearch(problem, options, bound).run();
}

}  // namespace tidemark
