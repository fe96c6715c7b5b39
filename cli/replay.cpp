// tidemark replay MODEL: executes the plan on this machine; measured against predicted.
#include "sim/replay/replay.h"

#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>

#include "options.h"
#include "planner/report/replay_report.h"
#include "sim/replay/scratch_file.h"

namespace tidemark::cli {
namespace {

constexpr int kInterrupted = 130;

// Set by Ctrl-C and by a polite kill. A second one ends the program at once; the scratch files have
// no names by then.
std::atomic<bool> stop_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void ask_replay_to_stop(int) { stop_asked.store(true); }

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = &ask_replay_to_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

// On a terminal only, written over itself.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet) : shown_(!quiet && ::isatty(STDERR_FILENO) == 1) {}
  ~ProgressLine() {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::string_view stage, int64_t done, int64_t total) {
    const Clock::time_point now = Clock::now();
    if (!shown_ || total <= 0 || now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    fmt::print(stderr, "\r\x1b[K{}: {} %", stage,
               static_cast<int>(100.0 * static_cast<double>(done) / static_cast<double>(total)));
    std::fflush(stderr);
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool shown_;
  Clock::time_point last_{};
};

// "blk.0.q=64"
Result<OffsetShift> parse_shift(const std::string& text) {
  const size_t equals = text.rfind('=');
  OffsetShift shift{.tensor = text.substr(0, std::min(equals, text.size()))};
  if (equals != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + equals + 1, end, shift.bytes);
    if (error == std::errc{} && rest == end && !shift.tensor.empty()) return shift;
  }
  return one_error("--shift-offset", fmt::format("{} is not TENSOR=BYTES", in_quotes(text)),
                   "write --shift-offset blk.0.q=64");
}

std::string write(const std::vector<ReplayReport>& reports, const OutputOptions& output) {
  switch (output.format) {
    case OutputFormat::kJson:
      return to_json(reports);
    case OutputFormat::kCsv:
      return to_csv(reports);
    case OutputFormat::kMarkdown:
      return to_markdown(reports);
    case OutputFormat::kTable:
      break;
  }
  return to_text(reports, {.color = use_color(output)});
}

}  // namespace

int run_replay(const ReplayCommand& command) {
  ScenarioOptions scenario = command.scenario;
  scenario.defaults = {{"quant", {.text = "int8", .origin = "replay default"}},
                       {"activation_type", {.text = "int8", .origin = "replay default"}}};
  const Result<std::vector<Scenario>> scenarios = resolve(scenario);
  if (!scenarios) return fail(scenarios.diagnostics());

  ProgressLine line(command.output.quiet);
  ReplayOptions options{.scratch = scratch_parent(), .stop = &stop_asked};
  options.progress = [&line](std::string_view stage, int64_t done, int64_t total) {
    line.show(stage, done, total);
  };
  if (!command.shift.empty()) {
    const Result<OffsetShift> shift = parse_shift(command.shift);
    if (!shift) return fail(shift.diagnostics());
    options.shift = *shift;
  }
  catch_interrupts();
  const Result<ReplayOutcome> outcome = replay(*scenarios, options);
  if (!outcome) return fail(outcome.diagnostics());
  if (outcome->interrupted) {
    if (!command.output.quiet) fmt::print(stderr, "interrupted; the scratch files are gone\n");
    return kInterrupted;
  }
  const bool all_passed = std::all_of(outcome->reports.begin(), outcome->reports.end(),
                                      [](const ReplayReport& report) { return passed(report); });
  return emit(command.output, write(outcome->reports, command.output), all_passed ? kYes : kNo);
}

}  // namespace tidemark::cli
