// tidemark pack PROBLEM.csv: offsets for the buffers of a packing problem, on the public format.
#include "pack.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <stdexcept>

#include "interrupt.h"
#include "planner/alloc/conflict.h"
#include "planner/alloc/csv.h"
#include "planner/alloc/lower_bound.h"
#include "planner/alloc/planners.h"
#include "planner/alloc/portfolio.h"
#include "planner/alloc/validate.h"
#include "planner/base/check.h"
#include "planner/base/files.h"
#include "planner/base/units.h"
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

// "1048576" are bytes here, as in the file itself.
Result<Bytes> read_size(std::string_view flag, const std::string& text) {
  const Parsed<int64_t> number = parse_integer(text);
  if (const auto* bytes = std::get_if<int64_t>(&number); bytes != nullptr && *bytes >= 0) {
    return Bytes::of(*bytes);
  }
  const Parsed<Bytes> size = parse_bytes(text);
  if (const auto* bytes = std::get_if<Bytes>(&size)) return *bytes;
  const auto& error = std::get<UnitError>(size);
  return one_error(std::string(flag), error.message, error.hint);
}

// What the flags say, resolved.
struct PackSettings {
  std::optional<Bytes> capacity{};
  std::vector<Pool> pools{};
  Alignment bank{};
  PlannerKind kind = PlannerKind::kPortfolio;
  uint64_t seed = 0;
  int threads = 1;
};

class SettingsReader {
 public:
  explicit SettingsReader(const PackCommand& command) : command_(command) {}

  Result<PackSettings> read() {
    if (command_.capacity) settings_.capacity = size("--capacity", *command_.capacity);
    for (const std::string& text : command_.pools) read_pool(text);
    if (command_.capacity && !command_.pools.empty()) {
      fail("--capacity", "stands beside --pool", "give each pool its own: --pool NAME=SIZE");
    }
    if (command_.bank) read_bank(*command_.bank);
    const std::optional<PlannerKind> kind = parse_planner(command_.planner);
    if (!kind) {
      fail("--planner", fmt::format("{} is not known", in_quotes(command_.planner)),
           "`tidemark list planners` shows them all");
    }
    settings_.kind = kind.value_or(PlannerKind::kPortfolio);
    if (!std::isfinite(command_.time_limit)) fail("--time-limit", "is not a number of seconds");
    read_seed();
    settings_.threads = command_.threads > 0 ? command_.threads : all_threads();
    if (!problems_.empty()) return problems_;
    return settings_;
  }

 private:
  void fail(std::string flag, std::string message, std::string hint = "") {
    const Diagnostics one = one_error(std::move(flag), std::move(message), std::move(hint));
    problems_.insert(problems_.end(), one.begin(), one.end());
  }

  Bytes size(std::string_view flag, const std::string& text) {
    const Result<Bytes> bytes = read_size(flag, text);
    if (bytes) return *bytes;
    problems_.insert(problems_.end(), bytes.diagnostics().begin(), bytes.diagnostics().end());
    return {};
  }

  void read_pool(const std::string& text) {
    const size_t equals = text.find('=');
    Pool pool{.name = text.substr(0, equals)};
    if (pool.name.empty() || pool.name.find_first_of(", \t") != std::string::npos) {
      return fail("--pool", in_quotes(text) + " has no name that a file could use",
                  "as in --pool sram=512KiB");
    }
    const auto same = [&](const Pool& other) { return other.name == pool.name; };
    if (std::ranges::any_of(settings_.pools, same)) {
      return fail("--pool", in_quotes(pool.name) + " stands twice");
    }
    if (equals != std::string::npos) pool.capacity = size("--pool", text.substr(equals + 1));
    settings_.pools.push_back(std::move(pool));
    if (settings_.pools.size() == kMostPools + 1) {
      fail("--pool", fmt::format("more than {} pools", kMostPools));
    }
  }

  void read_bank(const std::string& text) {
    const Bytes bank = size("--bank", text);
    if (!problems_.empty()) return;
    if (bank.count() < 1 || !std::has_single_bit(static_cast<uint64_t>(bank.count()))) {
      return fail("--bank", in_quotes(text) + " is no power of two");
    }
    settings_.bank = Alignment::of(bank.count());
  }

  void read_seed() {
    const std::string& text = command_.seed;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), settings_.seed);
    if (error == std::errc{} && end == text.data() + text.size()) return;
    fail("--seed", fmt::format("{} is no integer from 0 to {}", in_quotes(text),
                               std::numeric_limits<uint64_t>::max()));
  }

  static constexpr size_t kMostPools = 64;

  const PackCommand& command_;
  PackSettings settings_{};
  Diagnostics problems_{};
};

void tell_progress(const PackCommand& command, const Plan& plan) {
  if (command.output.quiet || !command.pools.empty()) return;
  talk("peak {} by {}, lower bound {}\n", plan.peak.count(), plan.planner,
       plan.lower_bound.count());
}

// Of a plain problem. Without a capacity: the lowest peak. With one: a plan that fits it, lower
// only with --minimize.
Plan solve_plain(const PackCommand& command, const PackSettings& settings, const Problem& problem,
                 std::optional<Bytes> capacity) {
  const Stop stop(command.time_limit);
  const auto found = [&](const Plan& better) { tell_progress(command, better); };
  PortfolioOptions cheap{.seed = settings.seed, .stop = stop, .found = found};
  cheap.node_limit = capacity ? 0 : command.nodes;
  Plan best = plan_by_portfolio(problem, cheap);
  const bool fits = !best.offsets.empty() && (!capacity || best.peak <= *capacity);
  if (best.status == PlanStatus::kProvedOptimal || best.status == PlanStatus::kInfeasible) {
    if (fits || !capacity || best.status == PlanStatus::kInfeasible) return best;
  }
  ExactOptions exact{
      .node_limit = command.nodes, .seed = settings.seed, .stop = stop, .found = found};
  if (settings.threads > 1) {
    exact.run_all = [&settings](std::span<const std::function<void()>> tasks) {
      run_on_threads(settings.threads, tasks);
    };
  }
  if (capacity && !fits) {
    Plan decided = decide(problem, *capacity, exact);
    if (!command.minimize || decided.offsets.empty()) return decided;
    best = std::move(decided);
  }
  return command.minimize ? minimise(problem, std::move(best), exact) : best;
}

Plan solve(const PackCommand& command, const PackSettings& settings, const Problem& problem) {
  const bool searches =
      settings.kind == PlannerKind::kPortfolio || settings.kind == PlannerKind::kExact;
  // A planner that was asked for by name says what it makes of the problem, also above the
  // capacity.
  const bool as_asked = !searches && settings.pools.empty();
  const PlainPlanner planner = [&](const Problem& plain, std::optional<Bytes> capacity) {
    if (searches) return solve_plain(command, settings, plain, capacity);
    return plain_planner(settings.kind)(plain, as_asked ? std::nullopt : capacity);
  };
  const BodyOptions options{
      .nodes = std::min(command.nodes, command.minimize ? command.nodes : kBodyNodes),
      .by_pieces = settings.kind != PlannerKind::kNoReuse,
      .stop = Stop(command.time_limit),
      .found = [&](const Plan& better) { tell_progress(command, better); }};
  return plan_all(problem, settings.capacity, planner, options);
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
    for (size_t k = 0; k < std::max<size_t>(file.problem.pools.size(), 1); ++k) {
      text += "\n" + arena_map(map_of(file.problem, report.plan, PoolId::of(k)));
    }
  }
  return text;
}

int answer_of(const PackReport& report) {
  if (!has_plan(report)) return kNo;
  return report.capacity && report.plan.peak > *report.capacity ? kNo : kYes;
}

Result<CsvProblem> read_problem(const PackCommand& command, const PackSettings& settings) {
  const Result<std::string> text = read_file(command.file, kMostFile);
  if (!text) return text.diagnostics();
  // UTF-16 is full of them, and read_csv says so.
  const size_t nul = text->find('\0');
  if (nul != std::string::npos && !text->starts_with("\xFF\xFE") &&
      !text->starts_with("\xFE\xFF")) {
    return one_error(command.file, fmt::format("byte {}: a NUL, which no text holds", nul));
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
void explain_no(const PackCommand& command, const PackSettings& settings, const Problem& problem,
                PackReport& report) {
  if (!settings.capacity || report.plan.status != PlanStatus::kInfeasible) return;
  const int64_t buffers = std::max<int64_t>(std::ssize(problem.buffers), 1);
  const Infeasibility why =
      why_infeasible(problem, *settings.capacity,
                     {.node_limit = std::max<int64_t>(1000, kConflictNodes / buffers),
                      .stop = Stop(command.time_limit)});
  if (!why.proved) return;
  report.conflict = PackConflict{.names = names_of(problem, why.buffers),
                                 .buffers = std::ssize(why.buffers),
                                 .irreducible = why.irreducible};
}

// A bound is raised by its certificate, never lowered.
void certify(const PackCommand& command, const Problem& problem, PackReport& report) {
  if (!problem.pools.empty()) return;
  LowerBound bound = lower_bound(problem, {.node_limit = 0});
  if (bound.bytes < report.plan.lower_bound) {
    bound = lower_bound(problem, {.stop = Stop(command.time_limit)});
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
  const Result<PackSettings> settings = SettingsReader(command).read();
  if (!settings) return fail(settings.diagnostics());
  const Result<CsvProblem> file = read_problem(command, *settings);
  if (!file) return fail(file.diagnostics());
  const Clock::time_point begin = Clock::now();
  Plan made = solve(command, *settings, file->problem);
  const auto wall = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin);
  check(made.offsets.empty() || validate(file->problem, made).empty(),
        "the judge accepts the planner's plan");
  PackReport report = make_pack_report(std::filesystem::path(command.file).stem().string(),
                                       file->problem, std::move(made));
  report.capacity = settings->capacity;
  explain_no(command, *settings, file->problem, report);
  certify(command, file->problem, report);
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
