// The planners on packing problems from files, one line each:
//
//   pack_bench [--planner NAME] [--capacity N | --minimise SECONDS] [--reflect] [--shuffle SEED]
//   FILE.csv...
//
// Without a mode the planner (default: portfolio) is run; with --capacity the exact search decides;
// with --minimise it works downward from the portfolio's plan for so many CPU seconds. --reflect
// turns time round and --shuffle mixes the buffers: both should change little. Every plan is
// judged.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <random>
#include <string>
#include <string_view>
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
    if (flag == "--planner") {
      settings.planner = parse_planner(value()).value_or(PlannerKind::kPortfolio);
    } else if (flag == "--capacity") {
      settings.capacity = Bytes::of(std::strtoll(value().c_str(), nullptr, 10));
    } else if (flag == "--minimise") {
      settings.minimise_seconds = std::strtod(value().c_str(), nullptr);
    } else if (flag == "--shuffle") {
      settings.shuffle = static_cast<uint32_t>(std::strtoul(value().c_str(), nullptr, 10));
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
    if (!settings.reflect) break;
    buffer.lifetime = {-buffer.lifetime.upper, -buffer.lifetime.lower};
    for (auto& gap : buffer.gaps) gap = {-gap.upper, -gap.lower};
  }
  if (settings.shuffle) {
    std::shuffle(problem.buffers.begin(), problem.buffers.end(), std::mt19937(*settings.shuffle));
  }
  return problem;
}

Plan run(const Problem& problem, const Settings& settings) {
  if (settings.capacity) {
    return decide(problem, *settings.capacity, {.node_limit = 50'000'000});
  }
  if (settings.minimise_seconds <= 0) return plan(problem, settings.planner);
  const double start = cpu_seconds();
  ExactOptions options{.node_limit = int64_t{1} << 60, .bound_first = false};
  options.stop = [&] { return cpu_seconds() - start > settings.minimise_seconds; };
  options.found = [&](const Plan& better) {
    fmt::print("  {:9.2f} s  {}\n", cpu_seconds() - start, better.peak.count());
    std::fflush(stdout);
  };
  return minimise(problem, plan_by_portfolio(problem), options);
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
