// tidemark pack PROBLEM.csv: offsets for the buffers of a packing problem, on the public format.
#include "pack.h"

#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "interrupt.h"
#include "planner/alloc/csv.h"
#include "planner/alloc/planners.h"
#include "planner/alloc/portfolio.h"
#include "planner/alloc/validate.h"
#include "planner/base/check.h"
#include "planner/base/files.h"
#include "planner/base/units.h"
#include "planner/report/pack_report.h"
#include "planner/report/writers.h"

namespace tidemark::cli {
namespace {

using Clock = std::chrono::steady_clock;
using literals::operator""_MiB;

constexpr Bytes kMostFile = 512_MiB;

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

// "1048576" are bytes here, as in the file itself.
Result<std::optional<Bytes>> read_capacity(const std::optional<std::string>& text) {
  if (!text) return std::optional<Bytes>{};
  const Parsed<int64_t> number = parse_integer(*text);
  if (const auto* bytes = std::get_if<int64_t>(&number); bytes != nullptr && *bytes >= 0) {
    return std::optional(Bytes::of(*bytes));
  }
  const Parsed<Bytes> size = parse_bytes(*text);
  if (const auto* bytes = std::get_if<Bytes>(&size)) return std::optional(*bytes);
  const auto& error = std::get<UnitError>(size);
  return one_error("--capacity", error.message, error.hint);
}

void tell_progress(const PackCommand& command, const Plan& plan) {
  if (command.output.quiet) return;
  talk("peak {} by {}, lower bound {}\n", plan.peak.count(), plan.planner,
       plan.lower_bound.count());
}

// Without a capacity: the lowest peak. With one: a plan that fits it, lower only with --minimize.
Plan solve(const PackCommand& command, const Problem& problem, std::optional<Bytes> capacity,
           PlannerKind kind) {
  const Stop stop(command.time_limit);
  if (kind != PlannerKind::kPortfolio && kind != PlannerKind::kExact) return plan(problem, kind);
  const auto found = [&](const Plan& better) { tell_progress(command, better); };
  PortfolioOptions cheap{.seed = command.seed, .stop = stop, .found = found};
  cheap.node_limit = capacity ? 0 : command.nodes;
  Plan best = plan_by_portfolio(problem, cheap);
  const bool fits = !best.offsets.empty() && (!capacity || best.peak <= *capacity);
  if (best.status == PlanStatus::kProvedOptimal || best.status == PlanStatus::kInfeasible) {
    if (fits || !capacity || best.status == PlanStatus::kInfeasible) return best;
  }
  const ExactOptions exact{
      .node_limit = command.nodes, .seed = command.seed, .stop = stop, .found = found};
  if (capacity && !fits) {
    Plan decided = decide(problem, *capacity, exact);
    if (!command.minimize || decided.offsets.empty()) return decided;
    best = std::move(decided);
  }
  return command.minimize ? minimise(problem, std::move(best), exact) : best;
}

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
    text += "\n" + arena_map(map_of(file.problem, report.plan));
  }
  return text;
}

int answer_of(const PackReport& report) {
  if (!has_plan(report)) return kNo;
  return report.capacity && report.plan.peak > *report.capacity ? kNo : kYes;
}

int pack(const PackCommand& command) {
  const Result<std::optional<Bytes>> capacity = read_capacity(command.capacity);
  if (!capacity) return fail(capacity.diagnostics());
  const std::optional<PlannerKind> kind = parse_planner(command.planner);
  if (!kind) {
    return fail(one_error("--planner", fmt::format("{} is not known", in_quotes(command.planner)),
                          "`tidemark list planners` shows them all"));
  }
  if (!std::isfinite(command.time_limit)) {
    return fail(one_error("--time-limit", "is not a number of seconds"));
  }
  const Result<std::string> text = read_file(command.file, kMostFile);
  if (!text) return fail(text.diagnostics());
  if (const size_t nul = text->find('\0'); nul != std::string::npos) {
    return fail(one_error(command.file, fmt::format("byte {}: a NUL, which no text holds", nul)));
  }
  const Result<CsvProblem> file = read_csv(*text, command.file);
  if (!file) return fail(file.diagnostics());
  const Clock::time_point begin = Clock::now();
  Plan made = solve(command, file->problem, *capacity, *kind);
  const auto wall = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin);
  check(made.offsets.empty() || validate(file->problem, made).empty(),
        "the judge accepts the planner's plan");
  PackReport report = make_pack_report(std::filesystem::path(command.file).stem().string(),
                                       file->problem, std::move(made));
  report.capacity = *capacity;
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
