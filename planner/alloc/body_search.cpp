#include "planner/alloc/body_search.h"

#include <algorithm>

namespace tidemark {
namespace {

constexpr size_t kMostPiecePairs = 1'000'000;

// `to` stands at or above a height that follows from where `from` does.
struct Side {
  size_t from = 0;
  size_t to = 0;
  Bytes rise{};           // base of `to` >= base of `from` + rise
  bool by_banks = false;  // else: base of `to` + start >= end of the last bank of `from` + end
  Bytes end{};
  Bytes start{};

  Bytes least(Bytes base, Alignment bank) const {
    return by_banks ? align_up(base + end, bank) - start : base + rise;
  }
};

// One of the two holds in every plan.
struct Choice {
  Side up{};
  Side down{};
};

class Choices {
 public:
  explicit Choices(const BodyProblem& problem) : bodies_(problem.bodies) {
    for (size_t j = 0; j < bodies_.size() && !too_many_; ++j) {
      for (size_t i = 0; i < j && !too_many_; ++i) add_differences(i, j);
      if (!problem.distances.empty()) add_distances(j, problem.distances[j]);
    }
  }

  bool too_many() const { return too_many_ || all_.size() > kMostSides; }
  const std::vector<Choice>& all() const { return all_; }

 private:
  // Open ranges of base j - base i.
  void add_differences(size_t i, size_t j) {
    std::vector<Interval<Bytes>> none;
    piece_pairs_ += bodies_[i].pieces.size() * bodies_[j].pieces.size();
    too_many_ = piece_pairs_ > kMostPiecePairs;
    if (too_many_) return;
    for (const Piece& p : bodies_[i].pieces) {
      for (const Piece& q : bodies_[j].pieces) {
        if (!overlaps(p.when, q.when)) continue;
        none.push_back({p.used.lower - q.used.upper, p.used.upper - q.used.lower});
      }
    }
    std::ranges::sort(none);
    std::vector<Interval<Bytes>> merged;
    for (const Interval<Bytes>& range : none) {
      if (!merged.empty() && range.lower < merged.back().upper) {
        merged.back().upper = std::max(merged.back().upper, range.upper);
      } else {
        merged.push_back(range);
      }
    }
    for (const Interval<Bytes>& range : merged) {
      all_.push_back({.up = {.from = i, .to = j, .rise = range.upper},
                      .down = {.from = j, .to = i, .rise = Bytes{} - range.lower}});
    }
  }

  // Each pair stands with both of its bodies: taken once.
  void add_distances(size_t j, const std::vector<Distance>& distances) {
    for (const Distance& d : distances) {
      if (d.other > j) continue;
      all_.push_back({.up = {.from = d.other,
                             .to = j,
                             .by_banks = true,
                             .end = d.theirs.upper,
                             .start = d.mine.lower},
                      .down = {.from = j,
                               .to = d.other,
                               .by_banks = true,
                               .end = d.mine.upper,
                               .start = d.theirs.lower}});
    }
  }

  const std::vector<Body>& bodies_;
  std::vector<Choice> all_{};
  size_t piece_pairs_ = 0;
  bool too_many_ = false;
};

class Search {
 public:
  Search(const BodyProblem& problem, const BodySearchOptions& options,
         const std::vector<Choice>& choices)
      : problem_(problem),
        bodies_(problem.bodies),
        options_(options),
        choices_(choices),
        limit_(options.limit),
        chosen_(problem.bodies.size()) {}

  BodySearchResult run() {
    result_.complete = true;
    std::vector<Bytes> bases;
    bool fits = true;
    for (const Body& body : bodies_) {
      bases.push_back(body.base && body.ever_live() ? *body.base : lowest_base(body));
      fits = fits && (!body.ever_live() || bases.back() + body.hull.upper <= limit_);
    }
    if (fits) explore(bases);
    return std::move(result_);
  }

 private:
  // How far the upper body has to rise for the side to hold.
  Bytes push(const Side& side, const std::vector<Bytes>& bases) const {
    const Bytes least = side.least(bases[side.from], problem_.bank);
    return std::max(least - bases[side.to], Bytes{});
  }

  // The clash that costs most whichever side is taken.
  const Choice* worst(const std::vector<Bytes>& bases) const {
    const Choice* worst = nullptr;
    Bytes most;
    for (const Choice& choice : choices_) {
      const Bytes cost = std::min(push(choice.up, bases), push(choice.down, bases));
      if (cost <= most) continue;
      most = cost;
      worst = &choice;
    }
    return worst;
  }

  bool give_up() {
    const bool up = result_.nodes >= options_.nodes ||
                    (result_.nodes % 256 == 255 && options_.stop && options_.stop());
    if (up) result_.complete = false;
    gave_up_ = gave_up_ || up;
    return up;
  }

  // Nothing better is wanted, or can be had in the time.
  bool over() const { return met_ || gave_up_; }

  void explore(const std::vector<Bytes>& bases) {
    if (give_up()) return;
    ++result_.nodes;
    const Choice* choice = worst(bases);
    if (choice == nullptr) return record(bases);
    const bool up_first = push(choice->up, bases) <= push(choice->down, bases);
    for (const Side& side :
         {up_first ? choice->up : choice->down, up_first ? choice->down : choice->up}) {
      std::vector<Bytes> raised = bases;
      chosen_[side.from].push_back(side);
      if (raise(side, raised)) explore(raised);
      chosen_[side.from].pop_back();
      if (over()) return;
    }
  }

  void record(const std::vector<Bytes>& bases) {
    const Bytes peak = peak_of(bodies_, bases);
    result_.bases = bases;
    limit_ = peak - Bytes::of(1);
    met_ = peak <= options_.bound;
  }

  // Raises bases until every chosen side holds again; false when one would end above the limit.
  bool raise(const Side& first, std::vector<Bytes>& bases) {
    std::vector<Side> open{first};
    for (size_t step = 0; step < open.size(); ++step) {
      const Side side = open[step];
      const Body& body = bodies_[side.to];
      const Bytes least = side.least(bases[side.from], problem_.bank);
      if (least <= bases[side.to]) continue;
      if (body.base) return false;
      bases[side.to] = next_base(body, least);
      if (bases[side.to] + body.hull.upper > limit_) return false;
      open.insert(open.end(), chosen_[side.to].begin(), chosen_[side.to].end());
      // A circle of sides that can not hold climbs to the limit, perhaps slowly.
      if (open.size() > kMostRaises) {
        result_.complete = false;
        return false;
      }
    }
    return true;
  }

  static constexpr size_t kMostRaises = 100'000;

  const BodyProblem& problem_;
  const std::vector<Body>& bodies_;
  const BodySearchOptions& options_;
  const std::vector<Choice>& choices_;
  Bytes limit_;
  std::vector<std::vector<Side>> chosen_;  // by `from`
  bool met_ = false;
  bool gave_up_ = false;
  BodySearchResult result_{};
};

}  // namespace

BodySearchResult search_bodies(const BodyProblem& problem, const BodySearchOptions& options) {
  if (problem.bodies.size() > kMostSearched) return {};
  const Choices choices(problem);
  if (choices.too_many()) return {};
  return Search(problem, options, choices.all()).run();
}

}  // namespace tidemark
