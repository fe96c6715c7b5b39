#include "planner/alloc/body_fit.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "planner/alloc/body_floor.h"

namespace tidemark {
namespace {

// Only ranks: rounding does no harm.
double area_of(const Body& body) {
  double area = 0;
  for (const Piece& piece : body.pieces) {
    area += static_cast<double>((piece.used.upper - piece.used.lower).count()) *
            (static_cast<double>(piece.when.upper) - static_cast<double>(piece.when.lower));
  }
  return area;
}

struct Shape {
  double area = 0;
  double width = 0;
  double height = 0;
  int64_t start = 0;
};

Shape shape_of(const Body& body) {
  Interval<int64_t> life = body.pieces.front().when;
  for (const Piece& piece : body.pieces) life = hull(life, piece.when);
  return {.area = area_of(body),
          .width = static_cast<double>(life.upper) - static_cast<double>(life.lower),
          .height = static_cast<double>(body.height().count()),
          .start = life.lower};
}

// Positions of the bodies that are ever live, in each of the orders.
std::vector<std::vector<size_t>> orders_of(const std::vector<Body>& bodies) {
  std::vector<Shape> shapes(bodies.size());
  std::vector<size_t> live;
  for (size_t i = 0; i < bodies.size(); ++i) {
    if (!bodies[i].ever_live()) continue;
    live.push_back(i);
    shapes[i] = shape_of(bodies[i]);
  }
  std::vector<std::vector<size_t>> orders(4, live);
  const auto sort = [&](std::vector<size_t>& order, auto key) {
    std::ranges::stable_sort(order, {}, [&](size_t i) { return key(shapes[i]); });
  };
  sort(orders[0], [](const Shape& s) { return std::tuple(-s.height, -s.width); });
  sort(orders[1], [](const Shape& s) { return std::tuple(-s.area, -s.height); });
  sort(orders[2], [](const Shape& s) { return std::tuple(-s.width, -s.height); });
  sort(orders[3], [](const Shape& s) { return std::tuple(s.start, -s.height); });
  return orders;
}

constexpr int64_t kRepetitions = 40;

// One pass after another from one order; what ends above the target moves to the front.
class BodyPasses {
 public:
  BodyPasses(const BodyProblem& problem, const BodyFitOptions& options)
      : problem_(problem), options_(options) {
    int64_t pieces = 1;
    for (const Body& body : problem.bodies) pieces += std::ssize(body.pieces);
    left_ = std::max<int64_t>(1, options.placements / pieces);
  }

  std::vector<Bytes> run() {
    std::vector<std::vector<size_t>> orders = orders_of(problem_.bodies);
    for (auto& order : orders) improve(order, 1);
    for (auto& order : orders) improve(order, kRepetitions);
    return std::move(best_);
  }

 private:
  bool done() const {
    return !best_.empty() &&
           (left_ <= 0 || best_peak_ <= options_.target || (options_.stop && options_.stop()));
  }

  void improve(std::vector<size_t>& order, int64_t passes) {
    for (int64_t pass = 0; pass < passes && !done(); ++pass, --left_) {
      std::vector<Bytes> bases = fit_bodies(problem_, order);
      std::ranges::stable_partition(order, [&](size_t i) {
        return bases[i] + problem_.bodies[i].hull.upper > options_.target;
      });
      const Bytes peak = peak_of(problem_.bodies, bases);
      if (!best_.empty() && best_peak_ <= peak) continue;
      best_peak_ = peak;
      best_ = std::move(bases);
    }
  }

  const BodyProblem& problem_;
  const BodyFitOptions& options_;
  int64_t left_ = 0;
  std::vector<Bytes> best_{};
  Bytes best_peak_{};
};

}  // namespace

std::vector<std::vector<Distance>> distances_of(const Problem& problem,
                                                const std::vector<Body>& bodies) {
  if (problem.apart.empty()) return {};
  std::vector<size_t> body_of(problem.buffers.size());
  for (size_t i = 0; i < bodies.size(); ++i) {
    for (const BufferId id : bodies[i].members) body_of[id.index()] = i;
  }
  std::vector<std::vector<Distance>> distances(bodies.size());
  const auto part = [&](BufferId id) {
    const Buffer& buffer = problem.buffers[id.index()];
    return Interval<Bytes>{buffer.group_offset, buffer.group_offset + buffer.size};
  };
  for (const ApartPair& pair : problem.apart) {
    if (!is_ever_live(problem.buffers[pair.first.index()])) continue;
    if (!is_ever_live(problem.buffers[pair.second.index()])) continue;
    const size_t first = body_of[pair.first.index()];
    const size_t second = body_of[pair.second.index()];
    distances[first].push_back({second, part(pair.first), part(pair.second)});
    distances[second].push_back({first, part(pair.second), part(pair.first)});
  }
  return distances;
}

BodyProblem body_problem(const Problem& problem) {
  BodyProblem made{.bodies = bodies_of(problem), .bank = problem.bank};
  made.distances = distances_of(problem, made.bodies);
  return made;
}

Bytes peak_of(const std::vector<Body>& bodies, const std::vector<Bytes>& bases) {
  Bytes peak;
  for (size_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i].ever_live()) peak = std::max(peak, bases[i] + bodies[i].hull.upper);
  }
  return peak;
}

bool are_clear(const BodyProblem& problem, const std::vector<Bytes>& bases) {
  BodyFloor floor(problem);
  for (size_t i = 0; i < problem.bodies.size(); ++i) {
    if (!problem.bodies[i].ever_live()) continue;
    if (!floor.is_clear(i, bases[i])) return false;
    floor.place(i, bases[i]);
  }
  return true;
}

bool fixed_bodies_clash(const BodyProblem& problem) {
  BodyFloor floor(problem);
  for (size_t i = 0; i < problem.bodies.size(); ++i) {
    const Body& body = problem.bodies[i];
    if (!body.base || !body.ever_live()) continue;
    if (!floor.is_clear(i, *body.base)) return true;
    floor.place(i, *body.base);
  }
  return false;
}

std::vector<Bytes> fit_bodies(const BodyProblem& problem, std::span<const size_t> order) {
  std::vector<Bytes> bases(problem.bodies.size());
  BodyFloor floor(problem);
  for (size_t i = 0; i < problem.bodies.size(); ++i) {
    const Body& body = problem.bodies[i];
    bases[i] = body.base && body.ever_live() ? *body.base : lowest_base(body);
    if (body.base && body.ever_live()) floor.place(i, *body.base);
  }
  for (const size_t i : order) {
    if (problem.bodies[i].base || !problem.bodies[i].ever_live()) continue;
    bases[i] = floor.lowest(i);
    floor.place(i, bases[i]);
  }
  return bases;
}

std::vector<Bytes> fit_bodies_in_orders(const BodyProblem& problem, const BodyFitOptions& options) {
  return BodyPasses(problem, options).run();
}

}  // namespace tidemark
