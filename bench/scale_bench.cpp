// Planning time against the number of buffers, from 10 to 1,000,000, as CSV:
//
//   scale_bench [--most-seconds S] [--largest N] [PLANNER...]
//
// Instances are those of random_problem.h. Each planner stops growing once it took more than S
// seconds (default 20) of CPU time. Every run is a process of its own, so that its memory is its
// own: peak resident memory with the instance, the plan and the program. Every plan is judged,
// outside the time. bench/plot_scale.py draws the picture.
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "planner/alloc/planners.h"
#include "planner/alloc/validate.h"
#include "random_problem.h"

namespace tidemark {
namespace {

struct Settings {
  double most_seconds = 20;
  int64_t largest = 1'000'000;
  std::vector<PlannerKind> planners{};
};

// What a child process tells of one run.
struct Outcome {
  double seconds = 0;
  int64_t peak = 0;
  int64_t load = 0;
  int64_t nodes = 0;
  PlanStatus status = PlanStatus::kFeasible;
  bool valid = false;
};

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--most-seconds" && i + 1 < argc) {
      settings.most_seconds = std::strtod(argv[++i], nullptr);
    } else if (flag == "--largest" && i + 1 < argc) {
      settings.largest = std::strtoll(argv[++i], nullptr, 10);
    } else if (const auto kind = parse_planner(flag)) {
      settings.planners.push_back(*kind);
    } else {
      fmt::print(stderr, "{} is no planner\n", flag);
      std::exit(2);
    }
  }
  if (settings.planners.empty()) {
    settings.planners = {PlannerKind::kFirstFitBySize, PlannerKind::kBestFitByStart,
                         PlannerKind::kLowestFloor, PlannerKind::kPortfolio, PlannerKind::kExact};
  }
  return settings;
}

Outcome measure(PlannerKind kind, int64_t count) {
  const Problem problem = random_problem(count);
  const std::clock_t start = std::clock();
  const Plan made = plan(problem, kind);
  Outcome outcome{.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC,
                  .peak = made.peak.count(),
                  .load = peak_load(problem).count(),
                  .nodes = made.nodes,
                  .status = made.status};
  outcome.valid = validate(problem, made).empty();
  return outcome;
}

// Runs measure() in a process of its own; prints its line. The seconds it took.
double report(PlannerKind kind, int64_t count) {
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  const pid_t child = fork();
  if (child == 0) {
    const Outcome outcome = measure(kind, count);
    _exit(write(ends[1], &outcome, sizeof outcome) == sizeof outcome ? 0 : 1);
  }
  close(ends[1]);
  Outcome outcome;
  const bool told = read(ends[0], &outcome, sizeof outcome) == sizeof outcome;
  close(ends[0]);
  rusage usage{};
  int status = 0;
  wait4(child, &status, 0, &usage);
  if (!told || status != 0 || !outcome.valid) {
    fmt::print(stderr, "{} fails at {} buffers\n", name_of(kind), count);
    std::exit(1);
  }
  fmt::print("{},{},{:.3f},{},{},{:.5f},{},{},{:.1f}\n", name_of(kind), count,
             outcome.seconds * 1e3, outcome.peak, outcome.load,
             static_cast<double>(outcome.peak) / static_cast<double>(outcome.load),
             name_of(outcome.status), outcome.nodes, static_cast<double>(usage.ru_maxrss) / 1024);
  std::fflush(stdout);
  return outcome.seconds;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  const tidemark::Settings settings = tidemark::parse(argc, argv);
  fmt::print("planner,buffers,cpu_ms,peak,load,peak_per_load,status,nodes,rss_mib\n");
  std::fflush(stdout);
  for (const tidemark::PlannerKind kind : settings.planners) {
    double seconds = 0;
    for (int64_t decade = 10; decade <= settings.largest; decade *= 10) {
      for (const int64_t count : {decade, 3 * decade}) {
        if (count > settings.largest || seconds > settings.most_seconds) continue;
        seconds = tidemark::report(kind, count);
      }
    }
  }
}
