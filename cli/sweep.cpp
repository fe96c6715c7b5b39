// tidemark sweep: a grid of scenarios into a store; tidemark sweep show: the rows of a store.
#include "sweep.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "interrupt.h"
#include "planner/base/files.h"
#include "planner/report/layout.h"
#include "sim/sweep/export.h"
#include "sim/sweep/run.h"
#include "sim/sweep/sweep_file.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

ExportFormat export_format(const std::string& name) {
  if (name == "csv") return ExportFormat::kCsv;
  if (name == "jsonl") return ExportFormat::kJsonLines;
  if (name == "md") return ExportFormat::kMarkdown;
  return ExportFormat::kTable;
}

// On a terminal one line that is written over; elsewhere a line for every tenth of a run that takes
// a while.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

  void show(const SweepProgress& progress) {
    if (quiet_) return;
    if (terminal_) {
      const Clock::time_point now = Clock::now();
      if (now - shown_ < std::chrono::milliseconds(100)) return;
      shown_ = now;
      talk("\r\x1b[K{}", text(progress));
      std::fflush(stderr);
      return;
    }
    const int64_t tenth = 10 * progress.done / progress.total;
    if (tenth == tenth_ || progress.seconds < 2.0) return;
    tenth_ = tenth;
    talk("{}\n", text(progress));
  }

  void clear() const {
    if (!quiet_ && terminal_) talk("\r\x1b[K");
  }

 private:
  static std::string text(const SweepProgress& progress) {
    return fmt::format("{} of {} scenarios, {} %, {:.0f} a second, {:.0f} s left", progress.done,
                       progress.total, 100 * progress.done / progress.total, progress.rate(),
                       progress.seconds_left());
  }

  bool quiet_;
  bool terminal_;
  Clock::time_point shown_{};
  int64_t tenth_ = 0;
};

void append(Diagnostics& all, const Diagnostics& more) {
  all.insert(all.end(), more.begin(), more.end());
}

bool contains(const GridTexts& texts, const std::string& key) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const auto& entry) { return entry.first == key; });
}

// Flags > --set > environment > sweep file > scenario file.
Result<GridTexts> texts_of(const SweepCommand& command) {
  Diagnostics problems;
  GridTexts texts;
  if (!command.file.empty()) {
    Result<GridTexts> file = load_sweep(command.file);
    append(problems, file.diagnostics());
    if (file) texts = std::move(file).value();
  }
  if (!command.scenario.scenario_file.empty()) {
    const Result<SettingMap> weakest = load_scenario_file(command.scenario.scenario_file);
    append(problems, weakest.diagnostics());
    for (const auto& entry : weakest ? *weakest : SettingMap{}) {
      if (!contains(texts, entry.first)) texts.push_back(entry);
    }
  }
  texts = overlay(std::move(texts), settings_from_environment());
  for (const std::string& assignment : command.scenario.assignments) {
    const Result<SettingMap> setting = setting_from_assignment(assignment);
    append(problems, setting.diagnostics());
    if (setting) texts = overlay(std::move(texts), *setting);
  }
  texts = overlay(std::move(texts), command.scenario.flags);
  if (problems.empty() && !contains(texts, "model")) {
    append(problems, one_error("sweep", "no model is given", "name some: --model minicpm-2b"));
  }
  if (!problems.empty()) return problems;
  return texts;
}

Result<Store> open_store(const std::string& file) {
  return file.empty() ? Store::temporary() : Store::open(file, StoreAccess::kWrite);
}

void print_summary(const SweepSummary& summary, double seconds) {
  talk("{}: {} computed, {} already there, {} failed, {:.1f} s\n",
       counted(summary.total, "scenario"), summary.computed, summary.present, summary.failed,
       seconds);
  if (!summary.stopped) return;
  const int64_t left = summary.total - summary.computed - summary.present;
  talk("interrupted with {} to go; run it again to compute the rest\n", left);
}

using Sink = std::function<bool(std::string_view)>;

Result<int64_t> print_rows(const Store& store, const std::string& format,
                           const OutputOptions& output, const Sink& sink) {
  return export_rows(store, export_format(format), sink, {.color = use_color(output)});
}

int rows_to_stdout(const Store& store, const std::string& format, const OutputOptions& output) {
  bool written = true;
  const Result<int64_t> rows = print_rows(store, format, output, [&](std::string_view text) {
    written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    return written;
  });
  if (!rows) return fail(rows.diagnostics());
  if (!written || std::fflush(stdout) != 0)
    return fail(one_error("standard output", "cannot write"));
  return kYes;
}

int rows_to_file(const Store& store, const std::string& format, const OutputOptions& output) {
  Result<FileReplacement> opened = FileReplacement::open(output.file);
  if (!opened) return fail(opened.diagnostics());
  FileReplacement file = std::move(opened).value();
  const Result<int64_t> rows =
      print_rows(store, format, output, [&](std::string_view text) { return file.write(text); });
  if (!rows) return fail(rows.diagnostics());
  const Result<Bytes> written = file.commit();
  if (!written) return fail(written.diagnostics());
  if (!output.quiet) talk("wrote {}\n", output.file);
  return kYes;
}

}  // namespace

int run_sweep_verb(const SweepCommand& command) {
  const Result<GridTexts> texts = texts_of(command);
  if (!texts) return fail(texts.diagnostics());
  if (command.store == "-") {
    return fail(one_error("--output", "\"-\" is standard output, which cannot be a database",
                          "leave -o out to print the rows, or name a file: -o rows.db"));
  }
  const Result<Grid> grid = make_grid(*texts);
  if (!grid) return fail(grid.diagnostics());
  Result<Store> opened = open_store(command.store);
  if (!opened) return fail(opened.diagnostics());
  Store store = std::move(opened).value();

  catch_interrupts();
  const Clock::time_point start = Clock::now();
  ProgressLine line(command.output.quiet);
  const Result<SweepSummary> summary =
      run_sweep(*grid, store,
                {.threads = command.threads,
                 .progress = [&](const SweepProgress& progress) { line.show(progress); },
                 .stop = &stop_asked});
  line.clear();
  if (!summary) return fail(summary.diagnostics());
  if (!command.output.quiet) {
    print_summary(*summary, std::chrono::duration<double>(Clock::now() - start).count());
  }
  if (summary->stopped) return kInterrupted;
  if (!summary->collisions.empty()) return fail(summary->collisions);
  if (!command.store.empty() && command.format.empty()) return kYes;
  return rows_to_stdout(store, command.format, command.output);
}

int run_sweep_show(const SweepShowCommand& command) {
  const Result<Store> store = Store::open(command.store, StoreAccess::kRead);
  if (!store) return fail(store.diagnostics());
  const std::string& file = command.output.file;
  if (file.empty() || file == "-") return rows_to_stdout(*store, command.format, command.output);
  std::error_code error;
  if (fs::equivalent(command.store, file, error)) {
    return fail(one_error(file, "is the store itself", "write the rows to another file"));
  }
  return rows_to_file(*store, command.format, command.output);
}

}  // namespace tidemark::cli
