// tidemark replay MODEL: executes the plan on this machine; measured against predicted.
#include "sim/replay/replay.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "interrupt.h"
#include "options.h"
#include "planner/base/units.h"
#include "planner/report/replay_report.h"
#include "planner/report/run_notes.h"
#include "progress_line.h"
#include "render.h"
#include "sim/replay/idle_settings.h"
#include "sim/replay/mapping.h"
#include "sim/replay/scratch_file.h"
#include "stated.h"

namespace tidemark::cli {
namespace {

// "blk.0.q=64"
Result<OffsetShift> parse_shift(const std::string& text) {
  const std::string flag = "--shift-offset";
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) {
    return one_error(flag, fmt::format("{} is not TENSOR=BYTES", in_quotes(text)),
                     "write --shift-offset blk.0.q=64");
  }
  const Parsed<int64_t> bytes = parse_integer(std::string_view(text).substr(equals + 1));
  if (const auto* error = std::get_if<UnitError>(&bytes)) {
    return one_error(flag, error->message, "a number of bytes: write --shift-offset blk.0.q=64");
  }
  return OffsetShift{.tensor = text.substr(0, equals), .bytes = std::get<int64_t>(bytes)};
}

Result<Bytes> parse_limit(const std::string& text) {
  const Parsed<Bytes> parsed = parse_bytes(text);
  if (const auto* error = std::get_if<UnitError>(&parsed)) {
    return one_error("--memory-limit", error->message, error->hint);
  }
  if (std::get<Bytes>(parsed) >= page_size()) return std::get<Bytes>(parsed);
  return one_error("--memory-limit",
                   fmt::format("{} is less than a page of memory, {}", in_quotes(text),
                               format_bytes(page_size())),
                   "write a size that a run fits in, as 512MiB");
}

// What the flags say beside the scenario.
Result<ReplayOptions> replay_options(const ReplayCommand& command) {
  ReplayOptions options{.scratch = scratch_parent(), .stop = &stop_asked};
  if (!command.scratch.empty()) options.scratch = command.scratch;
  options.weights = command.weights;
  if (!command.shift.empty()) {
    const Result<OffsetShift> shift = parse_shift(command.shift);
    if (!shift) return shift.diagnostics();
    options.shift = *shift;
  }
  if (!command.memory_limit.empty()) {
    const Result<Bytes> limit = parse_limit(command.memory_limit);
    if (!limit) return limit.diagnostics();
    options.memory_limit = *limit;
  }
  if (command.compare_time && options.memory_limit) {
    return one_error("--compare-time", "a run under --memory-limit is not timed",
                     "leave one of the two out");
  }
  const bool has_times =
      command.output.format == OutputFormat::kTable || command.output.format == OutputFormat::kJson;
  if (command.compare_time && !has_times) {
    return one_error("--compare-time", "csv and md have no place for the times",
                     "leave --format out, or ask for json");
  }
  if (command.compare_time) options.timed_runs = command.time_runs;
  return options;
}

void say_what_to_know(const ReplayCommand& command, const std::vector<Scenario>& scenarios) {
  for (const std::string& idle : idle_settings(scenarios, command.compare_time)) {
    talk("note: {}\n", idle);
  }
  if (!command.compare_time || scenarios.empty()) return;
  for (const Setting& setting : scenarios.front().settings) {
    if (setting.key != "device" || setting.origin != "default") continue;
    talk("note: times are predicted for {}: calibrate this machine and give it as --device\n",
         setting.value);
  }
  for (const Scenario& scenario : scenarios) {
    const std::string note = format_note(scenario);
    if (!note.empty()) return talk("note: {}\n", note);
  }
}

// What an interrupt has left.
std::string interrupted_line(const ReplayOutcome& outcome, size_t asked_for, bool timed) {
  std::string line = "interrupted";
  const size_t done = outcome.reports.size();
  if (done > 0 && done < asked_for) line += fmt::format(" after {} of {} replays", done, asked_for);
  if (done > 0 && timed) {
    const bool has_times = std::ranges::any_of(
        outcome.reports, [](const ReplayReport& report) { return report.time.has_value(); });
    line += has_times ? "; times are of the timed runs that were finished"
                      : "; no timed run was finished";
  }
  return line + "; the scratch files are gone\n";
}

int show_outcome(const ReplayCommand& command, const ReplayOutcome& outcome) {
  const bool all_passed = std::ranges::all_of(outcome.reports, &passed);
  const int answer = outcome.interrupted ? kInterrupted : all_passed ? kYes : kNo;
  if (outcome.reports.empty()) return answer;
  const std::string text = render(outcome.reports, command.output,
                                  [&](TextStyle style) { return to_text(outcome.reports, style); });
  const int code = emit(command.output, text, answer);
  if (command.svg_file.empty() || code == kBadInput) return code;
  return write_extra(command.output, command.svg_file, to_svg(outcome.reports), code);
}

}  // namespace

// What the run is given beside the scenario, and what it leaves.
void add_replay_flags(CLI::App& verb, ReplayCommand& command) {
  CLI::Option* compare_time = verb.add_flag(
      "--compare-time", command.compare_time,
      "Time further runs without measuring memory, against the time --device predicts");
  verb.add_option("--time-runs", command.time_runs, "How many; the median counts [3]")
      ->option_text("N")
      ->needs(compare_time)
      ->check(CLI::Range(1, 1000));
  verb.add_option("--shift-offset", command.shift,
                  "Break the plan on purpose to see the check work: moves one tensor in the arena")
      ->option_text("TENSOR=BYTES")
      ->check(stated());
  verb.add_option("--memory-limit", command.memory_limit,
                  "Run under this limit, enforced by the system; what goes over it is killed")
      ->option_text("SIZE")
      ->check(stated());
  verb.add_option(
          "--weights", command.weights,
          "The model's own .gguf or .safetensors, stored as --quant says [made up from --seed]")
      ->option_text("FILE")
      ->check(stated());
  verb.add_option("--scratch", command.scratch, "Folder for the scratch files [TMPDIR]")
      ->option_text("FOLDER")
      ->check(stated());
  verb.add_option("--svg", command.svg_file, "Both curves, step by step, as a picture")
      ->option_text("FILE")
      ->check(stated());
}

int run_replay(const ReplayCommand& command) {
  ScenarioOptions scenario = command.scenario;
  scenario.defaults = {{"quant", {.text = "int8", .origin = "replay default"}},
                       {"activation_type", {.text = "int8", .origin = "replay default"}}};
  const std::vector<NamedFile> outputs{{"-o", command.output.file}, {"--svg", command.svg_file}};
  if (auto refused = overwrites(outputs, {{"--weights", command.weights}})) return fail(*refused);
  if (auto refused = same_file_twice(outputs)) return fail(*refused);
  const Result<std::vector<Scenario>> scenarios = resolve(scenario, outputs);
  if (!scenarios) return fail(scenarios.diagnostics());

  Result<ReplayOptions> made = replay_options(command);
  if (!made) return fail(made.diagnostics());
  if (auto refused = unwritable(outputs)) return fail(*refused);
  ReplayOptions options = std::move(made).value();
  if (!command.output.quiet) say_what_to_know(command, *scenarios);
  ProgressLine line(command.output.quiet);
  options.progress = [&line](std::string_view stage, int64_t done, int64_t total) {
    line.show(stage, done, total);
  };
  catch_interrupts();
  const Result<ReplayOutcome> outcome = replay(*scenarios, options);
  line.clear();
  if (!outcome) return fail(outcome.diagnostics());
  if (outcome->interrupted && !command.output.quiet) {
    talk("{}", interrupted_line(*outcome, scenarios->size(), command.compare_time));
  }
  return show_outcome(command, *outcome);
}

}  // namespace tidemark::cli
