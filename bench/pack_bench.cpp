// The planners on packing problems from files, one line each:
//
//   pack_bench [--planner NAME | --quick | --capacity N | --minimise SECONDS] [--threads N]
//              [--seed N] [--nodes N] [--reflect] [--shuffle SEED] [--scale N] FILE.csv...
//
// Without a mode the planner (default: portfolio) is run; with --quick the portfolio for answers in
// milliseconds; with --capacity the exact search decides; with --minimise it works downward from
// the portfolio's plan for so many CPU seconds, or --nodes N. --threads run searches side by side:
// the plan is the same, the CPU time that of all threads. --reflect turns time round, --shuffle
// mixes the buffers, --scale multiplies sizes (and the capacity): all three should change little.
// Every plan is judged.
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "planner/alloc/csv.h"
#include "planner/alloc/exact.h"
#include "planner/alloc/planners.h"
#include "planner/alloc/portfolio.h"
#include "planner/alloc/validate.h"
#include "planner/base/files.h"

namespace tidemark {
namespace {

struct Settings {
  PlannerKind planner = PlannerKind::kPortfolio;
  std::optional<Bytes> capacity{};
  double minimise_seconds = 0;
  bool quick = false;
  int64_t threads = 1;
  uint64_t seed = 0;
  int64_t nodes = 0;  // 0: no limit to --minimise, 50 million to --capacity
  int64_t scale = 1;
  bool reflect = false;
  std::optional<uint32_t> shuffle{};
  std::vector<std::string> files{};
};

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const auto value = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    const auto number = [&] { return std::strtoll(value().c_str(), nullptr, 10); };
    if (flag == "--planner") {
      settings.planner = parse_planner(value()).value_or(PlannerKind::kPortfolio);
    } else if (flag == "--capacity") {
      settings.capacity = Bytes::of(number());
    } else if (flag == "--minimise") {
      settings.minimise_seconds = std::strtod(value().c_str(), nullptr);
    } else if (flag == "--quick") {
      settings.quick = true;
    } else if (flag == "--threads") {
      settings.threads = number();
    } else if (flag == "--seed") {
      settings.seed = static_cast<uint64_t>(number());
    } else if (flag == "--nodes") {
      settings.nodes = number();
    } else if (flag == "--scale") {
      settings.scale = number();
    } else if (flag == "--shuffle") {
      settings.shuffle = static_cast<uint32_t>(number());
    } else if (flag == "--reflect") {
      settings.reflect = true;
    } else {
      settings.files.emplace_back(flag);
    }
  }
  return settings;
}

Problem changed(Problem problem, const Settings& settings) {
  for (Buffer& buffer : problem.buffers) {
    buffer.size = buffer.size * settings.scale;
    if (!settings.reflect) continue;
    buffer.lifetime = {-buffer.lifetime.upper, -buffer.lifetime.lower};
    for (auto& gap : buffer.gaps) gap = {-gap.upper, -gap.lower};
  }
  if (settings.shuffle) {
    std::shuffle(problem.buffers.begin(), problem.buffers.end(), std::mt19937(*settings.shuffle));
  }
  return problem;
}

// Each thread takes the next task that nobody has taken.
void run_on_threads(int64_t threads, std::span<const std::function<void()>> tasks) {
  std::atomic<size_t> next{0};
  std::vector<std::jthread> workers;
  for (int64_t i = 0; i < std::min(threads, std::ssize(tasks)); ++i) {
    workers.emplace_back([&] {
      for (size_t task = next++; task < tasks.size(); task = next++) tasks[task]();
    });
  }
}

Plan run(const Problem& problem, const Settings& settings) {
  ExactOptions options{.node_limit = 50'000'000, .seed = settings.seed, .bound_first = false};
  if (settings.threads > 1) {
    options.run_all = [&](std::span<const std::function<void()>> tasks) {
      run_on_threads(settings.threads, tasks);
    };
  }
  if (settings.nodes > 0) options.node_limit = settings.nodes;
  if (settings.capacity) return decide(problem, *settings.capacity * settings.scale, options);
  if (settings.quick) return plan_by_portfolio(problem, quick_portfolio(problem));
  if (settings.minimise_seconds <= 0) return plan(problem, settings.planner);
  const double start = cpu_seconds();
  if (settings.nodes == 0) options.node_limit = int64_t{1} << 60;
  options.stop = [&] { return cpu_seconds() - start > settings.minimise_seconds; };
  options.found = [&](const Plan& better) {
    fmt::print("  {:9.2f} s  {}\n", cpu_seconds() - start, better.peak.count());
    std::fflush(stdout);
  };
  return minimise(problem, plan_by_portfolio(problem, {.seed = settings.seed}), options);
}

bool report(const std::string& file, const Settings& settings) {
  const Result<std::string> text = read_file(file, Bytes::of(int64_t{1} << 30));
  const Result<CsvProblem> read =
      text ? read_csv(*text, file) : Result<CsvProblem>(text.diagnostics());
  if (!read) {
    fmt::print(stderr, "{}", to_string(read.diagnostics()));
    return false;
  }
  const Problem problem = changed(read->problem, settings);
  const double start = cpu_seconds();
  const Plan made = run(problem, settings);
  const double seconds = cpu_seconds() - start;
  const bool valid = made.offsets.empty() || validate(problem, made).empty();
  const auto load = static_cast<double>(std::max<int64_t>(1, peak_load(problem).count()));
  fmt::print("{:24} {:>7} {:>14} {:>14} {:8.5f} {:16} {:>10} {:>10.1f}{}\n",
             file.substr(file.find_last_of('/') + 1), problem.buffers.size(),
             made.lower_bound.count(), made.peak.count(),
             static_cast<double>(made.peak.count()) / load, name_of(made.status), made.nodes,
             seconds * 1e3, valid ? "" : "  INVALID");
  std::fflush(stdout);
  return valid;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  const tidemark::Settings settings = tidemark::parse(argc, argv);
  fmt::print("{:24} {:>7} {:>14} {:>14} {:8} {:16} {:>10} {:>10}\n", "file", "buffers",
             "lower bound", "peak", "/load", "status", "nodes", "CPU ms");
  bool all_valid = true;
  for (const std::string& file : settings.files) {
    all_valid = tidemark::report(file, settings) && all_valid;
  }
  return all_valid ? 0 : 1;
}
