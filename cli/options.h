// What the command line says, before any of it is resolved. One struct a verb; the verbs' files
// turn it into text and an exit code.
#pragma once

#include <fmt/core.h>

#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planner/config/settings.h"

namespace CLI {
class App;
}

namespace tidemark::cli {

// 0 yes/done, 1 a negative answer, 2 usage, bad input or failed I/O, 3 internal error.
inline constexpr int kYes = 0;
inline constexpr int kNo = 1;
inline constexpr int kBadInput = 2;
inline constexpr int kInternalError = 3;

enum class OutputFormat { kTable, kJson, kCsv, kMarkdown };

struct OutputOptions {
  OutputFormat format = OutputFormat::kTable;
  std::string file{};  // empty = standard output
  bool quiet = false;
  std::string color = "auto";  // auto | always | never
};

// What every verb that takes a scenario shares.
struct ScenarioOptions {
  SettingMap defaults{};                   // of the verb; anything else wins over them
  std::string scenario_file{};             // --scenario
  SettingMap flags{};                      // one entry a setting flag that was given
  std::vector<std::string> assignments{};  // --set key=value
};

struct PlanOptions {
  ScenarioOptions scenario{};
  OutputOptions output{};
  std::string show{};  // one stage instead of the report: "map", "weights", ...
  int64_t relief = 0;  // suggestions of what would lower the peak; 0 = do not look
};

struct SimulateOptions {
  ScenarioOptions scenario{};
  OutputOptions output{};
  std::string svg_file{};
  std::string curve_file{};
  std::string trace_file{};
  bool allocators = false;
  int64_t expert_slots = 0;  // 0 = not asked for
};

struct ReplayCommand {
  ScenarioOptions scenario{};
  OutputOptions output{};
  std::string shift{};         // --shift-offset TENSOR=BYTES; empty = the plan as it is
  std::string memory_limit{};  // --memory-limit SIZE; empty = none
  std::string weights{};       // --weights FILE; empty = made up
  std::string scratch{};       // --scratch FOLDER; empty = TMPDIR
  std::string svg_file{};
  bool compare_time = false;
  int64_t time_runs = 3;
};

struct ListOptions {
  std::string what{};
  OutputOptions output{};
};

int run_plan(const PlanOptions& options);
void add_simulate_flags(CLI::App& verb, SimulateOptions& options);
int run_simulate(const SimulateOptions& options);
int run_allocators(const SimulateOptions& options);  // simulate --allocators
int run_experts(const SimulateOptions& options);     // simulate --experts
void add_replay_flags(CLI::App& verb, ReplayCommand& command);
int run_replay(const ReplayCommand& command);
int run_list(const ListOptions& options);

// A file by the flag that names it, to be read or written.
struct NamedFile {
  std::string flag{};
  std::string file{};  // empty: not given
};

// Why an output would take the place of an input of its command; nothing: it would not.
//
//   -o ./v.gguf and MODEL v.gguf                  the same file, whatever it is called
//   -o m/model.safetensors and the folder m       what a folder, a config.json or an index is
//   about:
//                                                 weights, config.json, *.index.json beside it
//   -o m-00002-of-00003.gguf and part 1           another part of a split set
std::optional<Diagnostics> overwrites(const std::vector<NamedFile>& outputs,
                                      const std::vector<NamedFile>& inputs);

// Two outputs with one name would leave only the last. "-" is standard output, where the report (of
// "-o") goes when it has no file of its own.
std::optional<Diagnostics> same_file_twice(const std::vector<NamedFile>& outputs);

// Outputs that cannot be written, known before the work that they are for begins: a folder that is
// not there or is closed, a folder in the file's place. Leaves nothing behind.
std::optional<Diagnostics> unwritable(const std::vector<NamedFile>& outputs);

// Flags > --set > environment > scenario file, lists expanded, each resolved. All problems at once,
// or that one of `outputs` is a file of the scenario.
Result<std::vector<Scenario>> resolve(const ScenarioOptions& options,
                                      const std::vector<NamedFile>& outputs);

// Writes to the file or, where there is none or it is "-", to standard output; prints diagnostics
// and returns kBadInput when that fails, else `code`.
int emit(const OutputOptions& output, const std::string& text, int code);
int write_extra(const OutputOptions& output, const std::string& file, const std::string& text,
                int code);

// Talk on standard error. Losing it (closed, full) never changes what a verb does.
template <typename... Values>
void talk(fmt::format_string<Values...> format, Values&&... values) {
  std::fputs(fmt::format(format, std::forward<Values>(values)...).c_str(), stderr);
}

// Prints diagnostics to standard error; returns kBadInput.
int fail(const Diagnostics& diagnostics);

bool use_color(const OutputOptions& output);

// llama.cpp's short flags of several letters ("-ub 512", "-ctk q8_0", "-fa") as their long forms,
// so that its command lines can be pasted; and "--output=" as the flag and an empty value, which
// would otherwise be the next argument. Everything else is passed through.
std::vector<std::string> expand_short_flags(const std::vector<std::string>& arguments);

}  // namespace tidemark::cli
