#include "calibrate.h"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <variant>

#include "interrupt.h"
#include "planner/base/units.h"
#include "planner/config/load.h"
#include "planner/report/report.h"
#include "sim/calibrate/calibrate.h"
#include "sim/calibrate/device_yaml.h"
#include "sim/replay/scratch_file.h"

namespace tidemark::cli {
namespace {

constexpr int64_t kLeastSize = int64_t{16} << 20;
constexpr int64_t kMostSize = int64_t{64} << 30;

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

// On a terminal only, written over itself.
void show(std::string_view stage, int64_t done, int64_t total) {
  talk("\r\x1b[K[{}/{}] {}", done, total, stage);
  std::fflush(stderr);
}

// The device file must say what was measured, or the next verb would find out.
Diagnostics faults_of(const std::string& yaml) {
  const Result<DeviceSpec> read = parse_device("calibrated", yaml);
  return read ? Diagnostics{} : read.diagnostics();
}

std::string rendered(const CalibrateCommand& command, const Calibration& calibration,
                     const std::string& yaml) {
  if (command.format == "table") return to_text(listing_of(calibration));
  if (command.format == "json") return to_json(listing_of(calibration), "calibration");
  return yaml;
}

void say_what_to_know(const Calibration& calibration) {
  for (const std::string& line : wide_figures(calibration)) talk("warning: {}\n", line);
  for (const std::string& note : calibration.notes) talk("note: {}\n", note);
  talk("measured in {}\n", format_duration(calibration.took));
}

}  // namespace

void add_calibrate_flags(CLI::App& verb, CalibrateCommand& command) {
  verb.add_option("-o,--output", command.output.file, "Write to FILE instead of standard output")
      ->option_text("FILE.yaml");
  verb.add_option("--scratch", command.scratch,
                  "Folder of the scratch file: on the storage to measure [TMPDIR, or /tmp]")
      ->option_text("DIR");
  verb.add_option("--size", command.size, "Size of the scratch file [1 GiB; 128 MiB with --quick]")
      ->option_text("SIZE");
  verb.add_option("--repeat", command.repeats,
                  "How often each number is measured; the median is taken [15; 7 with --quick]")
      ->option_text("N")
      ->check(CLI::Range(1, 1000));
  verb.add_option("--threads", command.threads,
                  "Numbers of threads to measure memory and products with [1 and all cores]")
      ->option_text("LIST")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  verb.add_flag("--quick", command.quick, "Fewer points, in less than 20 s instead of 2 minutes");
  verb.add_option("--format", command.format,
                  "yaml (default): a device file; table, json: every number with its spread")
      ->check(CLI::IsMember({"yaml", "json", "table"}));
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
  const bool shows = !command.output.quiet && ::isatty(STDERR_FILENO) == 1;
  CalibrateOptions options{.scratch = command.scratch.empty()
                                          ? scratch_parent()
                                          : std::filesystem::path(command.scratch),
                           .size = *size,
                           .repeats = command.repeats,
                           .threads = command.threads,
                           .quick = command.quick,
                           .stop = &stop_asked};
  if (shows) options.progress = show;
  catch_interrupts();
  Result<CalibrateOutcome> outcome = calibrate(options);
  if (shows) talk("\r\x1b[K");
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
