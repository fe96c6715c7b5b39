#include "calibrate.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <variant>
#include <vector>

#include "interrupt.h"
#include "planner/base/units.h"
#include "planner/config/load.h"
#include "planner/config/load_common.h"
#include "planner/report/report.h"
#include "progress_line.h"
#include "sim/calibrate/calibrate.h"
#include "sim/calibrate/device_yaml.h"
#include "sim/replay/scratch_file.h"
#include "stated.h"

namespace tidemark::cli {
namespace {

constexpr int64_t kLeastSize = int64_t{16} << 20;
constexpr int64_t kMostSize = int64_t{64} << 30;
constexpr int64_t kMostThreads = 1024;
constexpr size_t kMostWarnings = 3;  // a line each

Result<Bytes> parse_size(const std::string& text) {
  if (text.empty()) return Bytes{};
  const Parsed<Bytes> parsed = parse_bytes(text);
  if (const auto* error = std::get_if<UnitError>(&parsed)) {
    return one_error("--size", error->message, error->hint);
  }
  const Bytes size = std::get<Bytes>(parsed);
  if (size.count() >= kLeastSize && size.count() <= kMostSize) return size;
  return one_error("--size",
                   fmt::format("{} is too {} for the scratch file", in_quotes(text),
                               size.count() < kLeastSize ? "small" : "large"),
                   "from 16 MiB to 64 GiB");
}

// "1,4".
Result<std::vector<int>> parse_threads(const std::string& text) {
  std::vector<int> threads;
  const auto refused = [](std::string message) {
    return one_error("--threads", std::move(message),
                     fmt::format("numbers from 1 to {}, each once, separated by single commas: 1,4",
                                 kMostThreads));
  };
  if (text.empty()) return threads;
  const auto entries = split_list(text);
  if (!entries) return refused(fmt::format("{} has an empty entry", in_quotes(text)));
  for (const std::string& entry : *entries) {
    const Parsed<int64_t> parsed = parse_integer(entry);
    const auto* number = std::get_if<int64_t>(&parsed);
    if (number == nullptr || *number < 1 || *number > kMostThreads) {
      return refused(fmt::format("{} is no number of threads", in_quotes(entry)));
    }
    const auto count = static_cast<int>(*number);
    if (std::ranges::find(threads, count) != threads.end()) {
      return refused(fmt::format("{} is named twice", count));
    }
    threads.push_back(count);
  }
  return threads;
}

// The device file must say what was measured, or the next verb would find out.
Diagnostics faults_of(const std::string& yaml) {
  const Result<DeviceSpec> read = parse_device("calibrated", yaml);
  return read ? Diagnostics{} : read.diagnostics();
}

std::string_view name_of(Unit unit) {
  switch (unit) {
    case Unit::kBytesPerSecond:
      return "bytes_per_second";
    case Unit::kOpsPerSecond:
      return "ops_per_second";
    case Unit::kNanoseconds:
      return "ns";
  }
  return "";
}

// Whole units, and the spread as a ratio. Names are this program's own and need no escapes.
std::string to_json(const Calibration& calibration) {
  std::string rows;
  for (const auto& [name, figure] : all_figures(calibration)) {
    const Spread& spread = figure.spread;
    rows += fmt::format(
        "{}    {{\"what\": \"{}\", \"unit\": \"{}\", \"mean\": {}, \"median\": {}, \"least\": {}, "
        "\"most\": {}, \"spread\": {:.4f}, \"repeats\": {}}}",
        rows.empty() ? "" : ",\n", name, name_of(figure.unit), std::llround(spread.mean),
        std::llround(spread.median), std::llround(spread.least), std::llround(spread.most),
        width(spread), spread.count);
  }
  return fmt::format(
      "{{\n  \"schema\": \"tidemark.calibration/1\",\n  \"tool_version\": \"{}\",\n"
      "  \"list\": \"calibration\",\n  \"rows\": [\n{}\n  ]\n}}\n",
      kToolVersion, rows);
}

std::string rendered(const CalibrateCommand& command, const Calibration& calibration,
                     const std::string& yaml) {
  if (command.format == "table") return to_text(listing_of(calibration));
  if (command.format == "json") return to_json(calibration);
  return yaml;
}

void say_what_to_know(const Calibration& calibration) {
  const std::vector<std::string> wide = wide_figures(calibration);
  if (wide.size() > kMostWarnings) {
    talk(
        "warning: {} of {} figures are unsteady, the middle half of each spans over {:.0f} % of "
        "its "
        "median: is the machine busy?\n",
        wide.size(), all_figures(calibration).size(), kWideSpread * 100.0);
  } else {
    for (const std::string& line : wide) talk("warning: {}\n", line);
  }
  for (const std::string& note : calibration.notes) talk("note: {}\n", note);
  talk("measured in {}\n", format_duration(calibration.took));
}

}  // namespace

void add_calibrate_flags(CLI::App& verb, CalibrateCommand& command) {
  verb.add_option("-o,--output", command.output.file, "Write to FILE instead of standard output")
      ->option_text("FILE.yaml")
      ->check(stated());
  verb.add_option("--scratch", command.scratch,
                  "Folder of the scratch file: on the storage to measure [TMPDIR, or /tmp]")
      ->option_text("DIR")
      ->check(stated());
  verb.add_option("--size", command.size, "Size of the scratch file [3 GiB; 128 MiB with --quick]")
      ->option_text("SIZE")
      ->check(stated());
  verb.add_option("--repeat", command.repeats,
                  "How often each number is measured; the mean is taken [15; 7 with --quick]")
      ->option_text("N")
      ->check(CLI::Range(1, 1000));
  verb.add_option("--threads", command.threads,
                  "Numbers of threads to measure memory and products with [1 and all cores]")
      ->option_text("LIST")
      ->check(stated());
  verb.add_flag("--quick", command.quick, "Fewer points, in less than 20 s instead of 2 minutes");
  verb.add_option("--format", command.format,
                  "yaml (default): a device file; table, json: every number with its spread")
      ->check(CLI::IsMember({"yaml", "json", "table"}));
  verb.add_flag_callback(
      "--json", [&command] { command.format = "json"; }, "Short for --format json");
  verb.add_flag("--quiet", command.output.quiet, "No talk on standard error");
  verb.footer(
      "Examples:\n"
      "  tidemark calibrate -o me.yaml\n"
      "  tidemark simulate minicpm-2b --quant int8 --device ./me.yaml\n"
      "Measure on a quiet machine: what else runs is measured too. A number whose repeats lie far\n"
      "apart is named on standard error. Exit code 130 when interrupted.");
}

int run_calibrate(const CalibrateCommand& command) {
  const Result<Bytes> size = parse_size(command.size);
  if (!size) return fail(size.diagnostics());
  const Result<std::vector<int>> threads = parse_threads(command.threads);
  if (!threads) return fail(threads.diagnostics());
  if (auto refused = unwritable({{"-o", command.output.file}})) return fail(*refused);
  ProgressLine line(command.output.quiet);
  CalibrateOptions options{.scratch = command.scratch.empty()
                                          ? scratch_parent()
                                          : std::filesystem::path(command.scratch),
                           .size = *size,
                           .repeats = command.repeats,
                           .threads = *threads,
                           .quick = command.quick,
                           .progress = [&line](std::string_view stage, int64_t round,
                                               int64_t rounds) { line.show(stage, round, rounds); },
                           .stop = &stop_asked};
  catch_interrupts();
  Result<CalibrateOutcome> outcome = calibrate(options);
  line.clear();
  if (!outcome) return fail(outcome.diagnostics());
  if (outcome->interrupted) {
    if (!command.output.quiet) talk("interrupted; the scratch file is gone\n");
    return kInterrupted;
  }
  Calibration calibration = std::move(outcome->calibration);
  calibration.device.source = fmt::format("measured by tidemark calibrate {}", kToolVersion);
  const std::string yaml = to_yaml(calibration);
  if (const Diagnostics faults = faults_of(yaml); !faults.empty()) return fail(faults);
  if (!command.output.quiet) say_what_to_know(calibration);
  return emit(command.output, rendered(command, calibration, yaml), kYes);
}

}  // namespace tidemark::cli
