// tidemark pack PROBLEM.csv: offsets for the buffers of a packing problem, on the public format.
#include "pack.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "interrupt.h"
#include "pack_settings.h"
#include "planner/alloc/conflict.h"
#include "planner/alloc/csv.h"
#include "planner/alloc/lower_bound.h"
#include "planner/alloc/planners.h"
#include "planner/alloc/portfolio.h"
#include "planner/alloc/validate.h"
#include "planner/base/check.h"
#include "planner/base/files.h"
#include "planner/base/gzip.h"
#include "planner/engine/ggml_dump.h"
#include "planner/engine/ggml_problem.h"
#include "planner/report/pack_report.h"
#include "planner/report/writers.h"
#include "threads.h"

namespace tidemark::cli {
namespace {

using Clock = std::chrono::steady_clock;
using literals::operator""_MiB;

constexpr Bytes kMostFile = 512_MiB;
constexpr int64_t kConflictNodes = 2'000'000;
constexpr int64_t kBodyNodes = 50'000;  // of an exact search over bodies, without --minimize

// Ends the search when the time is over or the user wants it to.
class Stop {
 public:
  explicit Stop(double seconds)
      : end_(seconds > 0 ? std::optional(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                            std::chrono::duration<double>(seconds)))
                         : std::nullopt) {}
  bool operator()() const { return stop_asked || (end_ && Clock::now() >= *end_); }

 private:
  std::optional<Clock::time_point> end_{};
};

void tell_progress(const PackCommand& command, const Plan& plan) {
  if (command.output.quiet || !command.pools.empty()) return;
  talk("peak {} by {}, lower bound {}\n", plan.peak.count(), plan.planner,
       plan.lower_bound.count());
}

class Solver {
 public:
  Solver(const PackCommand& command, const PackSettings& settings, const Stop& stop)
      : command_(command), settings_(settings), stop_(stop) {}

  Plan solve(const Problem& problem) const {
    const bool searches =
        settings_.kind == PlannerKind::kPortfolio || settings_.kind == PlannerKind::kExact;
    // A planner asked for by name says what it makes of the problem, also above the capacity.
    const bool as_asked = !searches && settings_.pools.empty();
    const PlainPlanner planner = [&](const Problem& plain, std::optional<Bytes> capacity) {
      if (searches) return search(plain, capacity);
      return plain_planner(settings_.kind)(plain, as_asked ? std::nullopt : capacity);
    };
    return plan_all(
        problem, settings_.capacity, planner,
        {.nodes = command_.minimize ? command_.nodes : std::min(command_.nodes, kBodyNodes),
         .by_pieces = settings_.kind != PlannerKind::kNoReuse,
         .stop = stop_,
         .found = teller()});
  }

 private:
  std::function<void(const Plan&)> teller() const {
    return [this](const Plan& better) { tell_progress(command_, better); };
  }

  // Of a plain problem. Without a capacity: the lowest peak. With one: a plan that fits it, lower
  // only with --minimize.
  Plan search(const Problem& problem, std::optional<Bytes> capacity) const {
    PortfolioOptions cheap{.seed = settings_.seed, .stop = stop_, .found = teller()};
    cheap.run_all = executor();
    cheap.node_limit = capacity ? 0 : command_.nodes;
    Plan best = plan_by_portfolio(problem, cheap);
    const bool fits = !best.offsets.empty() && (!capacity || best.peak <= *capacity);
    if (best.status == PlanStatus::kInfeasible) return best;
    if (best.status == PlanStatus::kProvedOptimal && (fits || !capacity)) return best;
    const ExactOptions exact{.node_limit = command_.nodes,
                             .seed = settings_.seed,
                             .stop = stop_,
                             .found = teller(),
                             .run_all = executor()};
    if (capacity && !fits) {
      Plan decided = decide(problem, *capacity, exact);
      if (!command_.minimize || decided.offsets.empty()) return decided;
      best = std::move(decided);
    }
    return command_.minimize ? minimise(problem, std::move(best), exact) : best;
  }

  Executor executor() const {
    if (settings_.threads <= 1) return {};
    return [this](std::span<const std::function<void()>> tasks) {
      run_on_threads(settings_.threads, tasks);
    };
  }

  const PackCommand& command_;
  const PackSettings& settings_;
  const Stop& stop_;
};

std::string rendered(const PackCommand& command, const CsvProblem& file, const PackReport& report) {
  switch (command.output.format) {
    case OutputFormat::kJson:
      return to_json(report);
    case OutputFormat::kCsv:
      return write_csv(file.problem, report.plan.offsets.empty() ? nullptr : &report.plan,
                       file.closed_ends);
    default:
      break;
  }
  std::string text = to_text(report, {.color = use_color(command.output)});
  if (command.map && !report.plan.offsets.empty()) {
    for (size_t k = 0; k < std::max<size_t>(file.problem.pools.size(), 1); ++k) {
      text += "\n" + pack_map(file.problem, report.plan, PoolId::of(k));
    }
  }
  return text;
}

int answer_of(const PackReport& report) {
  if (!has_plan(report)) return kNo;
  return report.capacity && report.plan.peak > *report.capacity ? kNo : kYes;
}

Result<CsvProblem> read_problem(const PackCommand& command, const PackSettings& settings) {
  const Result<std::string> text = read_file_or_gzip(command.file, kMostFile);
  if (!text) return text.diagnostics();
  if (is_ggml_dump(*text)) {
    Result<Problem> dumped = read_graph_problem(*text, command.file);
    if (!dumped) return dumped.diagnostics();
    CsvProblem read{.problem = std::move(dumped).value()};
    read.problem.pools = settings.pools;
    read.problem.bank = settings.bank;
    return read;
  }
  // UTF-16 is full of them, and read_csv says so.
  const size_t nul = text->find('\0');
  if (nul != std::string::npos && !text->starts_with("\xFF\xFE") &&
      !text->starts_with("\xFE\xFF")) {
    return Diagnostics{{.where = {.file = command.file},
                        .message = fmt::format("byte {}: a NUL, which no text holds", nul),
                        .hint = "a problem is a table in text: see `tidemark pack --help`"}};
  }
  Result<CsvProblem> file = read_csv(*text, command.file, settings.pools);
  if (!file) return file;
  CsvProblem read = std::move(file).value();
  read.problem.bank = settings.bank;
  return read;
}

std::vector<std::string> names_of(const Problem& problem, const std::vector<BufferId>& ids) {
  std::vector<std::string> names;
  for (size_t k = 0; k < std::min(ids.size(), kPeakRows); ++k) {
    names.push_back(problem.buffers[ids[k].index()].name);
  }
  return names;
}

// Which buffers can not stand together within the capacity; each of many searches is short.
void explain_no(const PackSettings& settings, const Stop& stop, const Problem& problem,
                PackReport& report) {
  if (!settings.capacity || report.plan.status != PlanStatus::kInfeasible) return;
  const int64_t buffers = std::max<int64_t>(std::ssize(problem.buffers), 1);
  const Infeasibility why = why_infeasible(
      problem, *settings.capacity,
      {.node_limit = std::max<int64_t>(1000, kConflictNodes / buffers), .stop = stop});
  if (!why.proved) return;
  report.conflict = PackConflict{.names = names_of(problem, why.buffers),
                                 .buffers = std::ssize(why.buffers),
                                 .irreducible = why.irreducible};
}

// A bound is raised by its certificate, never lowered.
void certify(const Stop& stop, const Problem& problem, PackReport& report) {
  if (!problem.pools.empty()) return;
  LowerBound bound = lower_bound(problem, {.node_limit = 0});
  if (bound.bytes < report.plan.lower_bound) {
    bound = lower_bound(problem, {.stop = stop});
  }
  if (bound.bytes < report.plan.lower_bound) return;
  report.plan.lower_bound = bound.bytes;
  if (has_plan(report) && report.plan.peak == bound.bytes) {
    report.plan.status = PlanStatus::kProvedOptimal;
  }
  report.bound = PackBound{.kind = std::string(name_of(bound.kind)),
                           .names = names_of(problem, bound.buffers),
                           .buffers = std::ssize(bound.buffers)};
}

int pack(const PackCommand& command) {
  const std::vector<NamedFile> outputs{{"-o", command.output.file}, {"--svg", command.svg_file}};
  if (auto refused = overwrites(outputs, {{"PROBLEM", command.file}})) return fail(*refused);
  if (auto refused = same_file_twice(outputs)) return fail(*refused);
  const Result<PackSettings> settings = read_settings(command);
  if (!settings) return fail(settings.diagnostics());
  const Result<CsvProblem> file = read_problem(command, *settings);
  if (!file) return fail(file.diagnostics());
  if (auto refused = unwritable(outputs)) return fail(*refused);
  const Clock::time_point begin = Clock::now();
  const Stop stop(command.time_limit);
  Plan made = Solver(command, *settings, stop).solve(file->problem);
  const auto wall = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin);
  check(made.offsets.empty() || validate(file->problem, made).empty(),
        "the judge accepts the planner's plan");
  PackReport report = make_pack_report(std::filesystem::path(command.file).stem().string(),
                                       file->problem, std::move(made));
  report.capacity = settings->capacity;
  explain_no(*settings, stop, file->problem, report);
  certify(stop, file->problem, report);
  report.solve_wall = Duration::ns(wall.count());
  report.limited_by_time = command.time_limit > 0;
  for (const Diagnostic& note : file->notes) report.notes.push_back(note.message);
  if (report.limited_by_time) {
    report.notes.emplace_back("Limited by time: another run may find another plan.");
  }
  int code = emit(command.output, rendered(command, *file, report), answer_of(report));
  if (!command.svg_file.empty() && code != kBadInput && has_plan(report)) {
    code = write_extra(command.output, command.svg_file, pack_to_svg(file->problem, report), code);
  }
  return code;
}

}  // namespace

int run_pack(const PackCommand& command) {
  try {
    catch_interrupts();
    const int code = pack(command);
    return stop_asked && code != kBadInput ? kInterrupted : code;
  } catch (const std::overflow_error&) {
    return fail(one_error(command.file, "sizes leave the 63-bit range", "is a size a slip?"));
  }
}

}  // namespace tidemark::cli
