// The command line: flags in, one verb called, exit code out. This
// file and the ones that add flags alone see CLI11.
#include <fmt/core.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <functional>
#include <map>
#include <new>

#include "calibrate.h"
#include "compare.h"
#include "import.h"
#include "options.h"
#include "pack.h"
#include "planner/base/check.h"
#include "planner/config/yaml_reader.h"
#include "planner/report/report.h"
#include "planner/report/stages.h"
#include "quant.h"
#include "stated.h"
#include "sweep.h"

namespace tidemark::cli {
namespace {

constexpr const char* kModelHelp =
    "A built-in name (see `tidemark list models`), a YAML or GGUF file, a config.json, its folder";

// The raw text of every flag, kept alive while CLI11 fills it.
struct Flags {
  std::map<std::string, std::string> settings{};
  std::vector<std::string> assignments{};
  std::string scenario_file{};
  std::string format = "table";
  bool json = false;
  OutputOptions output{};
};

void add_output_flags(CLI::App& verb, Flags& flags) {
  verb.add_option("--format", flags.format, "table (default), json, csv or md")
      ->check(CLI::IsMember({"table", "json", "csv", "md"}));
  verb.add_flag("--json", flags.json, "Short for --format json");
  verb.add_option("-o,--output", flags.output.file, "Write to FILE instead of standard output")
      ->option_text("FILE")
      ->check(stated());
  verb.add_flag("--quiet", flags.output.quiet, "No talk on standard error");
  verb.add_option("--color", flags.output.color,
                  "auto (default), always or never; NO_COLOR is honoured")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

std::string setting_help(const SettingInfo& setting) {
  std::string help(setting.help);
  if (!setting.fallback.empty()) help += fmt::format(" [{}]", setting.fallback);
  return help;
}

// CLI11 knows no short flags of several letters; expand_short_flags() has turned those into long
// ones.
std::string cli11_flags(std::string_view flags) {
  const size_t comma = flags.find(',');
  const bool long_short = comma != std::string_view::npos && comma > 2;
  return std::string(long_short ? flags.substr(comma + 1) : flags);
}

// A sweep's own --threads are how many scenarios run at once, so those of a scenario are -t there.
std::string flags_of(const SettingInfo& setting, const CLI::App& verb) {
  return setting.key == "threads" && verb.get_name() == "sweep" ? "-t" : std::string(setting.flags);
}

// `model`: the argument MODEL, or a flag where a verb has no such argument.
void add_scenario_flags(CLI::App& verb, Flags& flags, const std::string& model = "MODEL") {
  verb.add_option(model, flags.settings["model"], kModelHelp);
  for (const SettingInfo& setting : settings_table()) {
    if (setting.flags.empty()) continue;
    const std::string own_flags = flags_of(setting, verb);
    std::string help = setting_help(setting);
    if (cli11_flags(setting.flags) != setting.flags) {
      help = fmt::format("{} (also {})", help, setting.flags.substr(0, setting.flags.find(',')));
    }
    std::string& text = flags.settings[std::string(setting.key)];
    if (setting.value.empty()) {
      verb.add_flag(cli11_flags(own_flags), text, help);
      continue;
    }
    verb.add_option(cli11_flags(own_flags), text, help)->option_text(std::string(setting.value));
  }
  verb.add_option("--scenario", flags.scenario_file,
                  "Settings from a scenario file; flags win over it")
      ->option_text("NAME|FILE");
  verb.add_option("--set", flags.assignments, "Any setting by key: --set ctx_size=8192")
      ->option_text("KEY=VALUE")
      ->type_size(1)
      ->allow_extra_args(false);
}

OutputOptions output_options(const Flags& flags) {
  static const std::map<std::string, OutputFormat> formats = {{"table", OutputFormat::kTable},
                                                              {"json", OutputFormat::kJson},
                                                              {"csv", OutputFormat::kCsv},
                                                              {"md", OutputFormat::kMarkdown}};
  OutputOptions output = flags.output;
  output.format = flags.json ? OutputFormat::kJson : formats.at(flags.format);
  return output;
}

ScenarioOptions scenario_options(const CLI::App& verb, const Flags& flags) {
  ScenarioOptions options{.scenario_file = flags.scenario_file, .assignments = flags.assignments};
  for (const SettingInfo& setting : settings_table()) {
    const std::string key(setting.key);
    if (setting.flags.empty() && key != "model") continue;
    const bool model_flag = verb.get_option_no_throw("--model") != nullptr;
    const std::string model = model_flag ? "--model" : "MODEL";
    const std::string flag = key == "model" ? model : flags_of(setting, verb);
    const std::string longest =
        flag.substr(flag.find(',') == std::string::npos ? 0 : flag.find(',') + 1);
    const CLI::Option* option = verb.get_option_no_throw(longest);
    if (option != nullptr && option->count() > 0) {
      options.flags[key] = {.text = flags.settings.at(key), .origin = "flag " + longest};
    }
  }
  return options;
}

std::string usage_hint(const CLI::App& app, const std::vector<std::string>& unknown) {
  std::vector<std::string> known;
  for (const CLI::App* verb : app.get_subcommands()) {
    for (const CLI::Option* option : verb->get_options()) {
      if (!option->get_lnames().empty()) known.push_back("--" + option->get_lnames().front());
    }
  }
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(verb->get_name());
  }
  for (const std::string& word : unknown) {
    if (const auto near = did_you_mean(word.substr(0, word.find('=')), known)) {
      return fmt::format("did you mean {}?", *near);
    }
  }
  return "see `tidemark --help` or `tidemark VERB --help`";
}

int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> rest = app.remaining(true);
  const bool no_verb = app.get_subcommands().empty() && !rest.empty();
  const std::string what =
      no_verb ? fmt::format("{} is not a verb of this program", in_quotes(rest.front()))
              : error.what();
  talk("error: {}\n  hint: {}\n", what, usage_hint(app, rest));
  return kBadInput;
}

// Everything the parser fills, and the verb to call. CLI11 keeps references into it, so it never
// moves.
struct CommandLine {
  CLI::App app{"Plan and simulate the memory of on-device LLM inference"};
  Flags flags{};
  PlanOptions plan{};
  SimulateOptions simulate{};
  ReplayCommand replay{};
  ListOptions list{};
  SweepCommand sweep{};
  CalibrateCommand calibrate{};
  SweepShowCommand sweep_show{};
  ImportCommand import{};
  ExportCommand exported{};
  PackCommand pack{};
  CompareCommand compare{};
  QuantCommand quant{};
  std::function<int()> action{};
};

void describe_program(CommandLine& line) {
  line.app.name("tidemark");
  line.app.set_version_flag("--version", std::string("tidemark ") + kToolVersion);
  line.app.require_subcommand(1);
  line.app.footer(
      "Examples:\n"
      "  tidemark plan minicpm-2b --quant int4 --device galaxy-s23\n"
      "  tidemark simulate minicpm-2b --quant int4 --strategy resident,layerwise --svg curve.svg\n"
      "Exit codes: 0 yes or done, 1 a negative answer, 2 bad input, 3 internal error, "
      "130 interrupted");
}

void add_plan(CommandLine& line) {
  CLI::App* verb = line.app.add_subcommand("plan", "Memory breakdown, arena plan and verdict");
  add_scenario_flags(*verb, line.flags);
  add_output_flags(*verb, line.flags);
  verb->add_option("--show", line.plan.show, "One stage instead of the report: " + stage_names())
      ->option_text("STAGE");
  verb->add_option("--relief", line.plan.relief,
                   "Name up to N tensors that, moved out or made again, would lower the peak load")
      ->option_text("N")
      ->check(CLI::Range(int64_t{0}, int64_t{1000}));
  verb->footer(
      "Examples:\n"
      "  tidemark plan minicpm-2b --quant int4 -c 4096 --device galaxy-s23\n"
      "  tidemark plan llama-3.1-8b --quant Q4_0 --device mac-m1-8 --json\n"
      "Exit code 1 exactly when it does not fit.");
  verb->callback([&line, verb] {
    line.action = [&line, verb] {
      line.plan.scenario = scenario_options(*verb, line.flags);
      line.plan.output = output_options(line.flags);
      return run_plan(line.plan);
    };
  });
}

void add_simulate(CommandLine& line) {
  CLI::App* verb = line.app.add_subcommand(
      "simulate", "Memory curve over time under a loading strategy; TTFT, tokens/s");
  SimulateOptions& options = line.simulate;
  add_scenario_flags(*verb, line.flags);
  add_output_flags(*verb, line.flags);
  add_simulate_flags(*verb, options);
  verb->callback([&line, verb] {
    line.action = [&line, verb] {
      line.simulate.scenario = scenario_options(*verb, line.flags);
      line.simulate.output = output_options(line.flags);
      if (line.simulate.allocators) return run_allocators(line.simulate);
      if (line.simulate.expert_slots != 0) return run_experts(line.simulate);
      return run_simulate(line.simulate);
    };
  });
}

void add_replay(CommandLine& line) {
  CLI::App* verb = line.app.add_subcommand(
      "replay", "Executes the plan here with INT8 kernels; measured memory against predicted");
  add_scenario_flags(*verb, line.flags);
  add_output_flags(*verb, line.flags);
  add_replay_flags(*verb, line.replay);
  verb->footer(
      "Examples:\n"
      "  tidemark replay minicpm-2b --model-scale 0.25 --prompt 8 --generate 2\n"
      "  tidemark replay minicpm-2b --model-scale 0.1 --strategy resident,layerwise,double-buffer\n"
      "  tidemark replay minicpm-2b --model-scale 0.1 --strategy mmap --prefetch 1 --svg "
      "curves.svg\n"
      "  tidemark replay minicpm-2b --model-scale 0.1 --memory-limit 100MiB\n"
      "Weights are made up from --seed and written to a scratch file below TMPDIR.\n"
      "Exit code 1 on a wrong output, an error over tolerance or a run that its limit has ended; "
      "130 when interrupted.");
  verb->callback([&line, verb] {
    line.action = [&line, verb] {
      line.replay.scenario = scenario_options(*verb, line.flags);
      line.replay.output = output_options(line.flags);
      return run_replay(line.replay);
    };
  });
}

void add_list(CommandLine& line) {
  CLI::App* verb = line.app.add_subcommand("list", "What there is: models, devices, engines, ...");
  verb->add_option(
          "WHAT", line.list.what,
          "models, devices, engines, scenarios, sweeps, strategies, quants, planners, settings")
      ->required();
  add_output_flags(*verb, line.flags);
  verb->footer("Examples:\n  tidemark list models\n  tidemark list quants --json");
  verb->callback([&line] {
    line.action = [&line] {
      line.list.output = output_options(line.flags);
      return run_list(line.list);
    };
  });
}

void add_sweep_show(CommandLine& line, CLI::App& sweep) {
  CLI::App* verb = sweep.add_subcommand("show", "The rows of a sweep's file");
  SweepShowCommand& show = line.sweep_show;
  verb->add_option("FILE", show.store, "A file written by `tidemark sweep -o`")->required();
  verb->add_option("--format", show.format, "table (default), csv, jsonl or md")
      ->check(CLI::IsMember({"table", "csv", "jsonl", "md"}));
  verb->add_option("-o,--output", show.output.file, "Write to FILE instead of standard output")
      ->option_text("FILE")
      ->check(stated());
  verb->add_flag("--quiet", show.output.quiet, "No talk on standard error");
  verb->add_option("--color", show.output.color, "auto (default), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  verb->footer(
      "Examples:\n  tidemark sweep show phones.db\n  tidemark sweep show phones.db --format csv");
  verb->callback([&line, &show] { line.action = [&show] { return run_sweep_show(show); }; });
}

void add_sweep(CommandLine& line) {
  CLI::App* verb = line.app.add_subcommand(
      "sweep",
      "A grid of scenarios in parallel; rows are kept, so a second run computes what is missing");
  SweepCommand& sweep = line.sweep;
  verb->add_option("FILE", sweep.file, "A sweep file by name or path; without one, flags alone");
  add_scenario_flags(*verb, line.flags, "--model");
  verb->add_option("--threads", sweep.threads, "Threads [all cores]")
      ->option_text("N")
      ->check(CLI::Range(1, 1024));
  verb->add_option("-o,--output", sweep.store, "Keep the rows in FILE, an SQLite database")
      ->option_text("FILE.db")
      ->check(stated());
  verb->add_option("--format", sweep.format,
                   "Print the rows: table (default without -o), csv, jsonl, md")
      ->check(CLI::IsMember({"table", "csv", "jsonl", "md"}));
  verb->add_flag("--quiet", sweep.output.quiet, "No talk on standard error");
  verb->add_option("--color", sweep.output.color, "auto (default), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  verb->footer(
      "Every setting takes several values: lists a,b and ranges 512-65536*2 or 1-8+1; sizes,\n"
      "--split and --expert-cache also \"1 GiB-4 GiB*2\".\n"
      "Examples:\n"
      "  tidemark sweep --model minicpm-2b --quant int4,int8 --ctx-size 512-8192*2\n"
      "  tidemark sweep minicpm-2b-phones -o phones.db\n"
      "Exit code 0 also when scenarios fail: their rows say why. 130 when interrupted.");
  add_sweep_show(line, *verb);
  verb->callback([&line, verb] {
    if (!verb->get_subcommands().empty()) return;  // `sweep show`
    line.action = [&line, verb] {
      line.sweep.scenario = scenario_options(*verb, line.flags);
      return run_sweep_verb(line.sweep);
    };
  });
}

void add_import(CommandLine& line) {
  CLI::App* verb = line.app.add_subcommand(
      "import", "The model YAML of a GGUF, safetensors or config.json file, or its totals");
  ImportCommand& command = line.import;
  add_import_flags(*verb, command);
  verb->callback([&line, &command] { line.action = [&command] { return run_import(command); }; });
}

void add_export(CommandLine& line) {
  CLI::App* verb = line.app.add_subcommand(
      "export", "A sparse GGUF or safetensors file: a real header, and no weights");
  ExportCommand& command = line.exported;
  add_export_flags(*verb, command, kModelHelp);
  verb->callback([&line, &command] { line.action = [&command] { return run_export(command); }; });
}

void add_pack(CommandLine& line) {
  CLI::App* verb = line.app.add_subcommand(
      "pack", "Offset assignment alone: a packing problem in the public CSV format");
  PackCommand& command = line.pack;
  add_pack_flags(*verb, command);
  add_output_flags(*verb, line.flags);
  verb->callback([&line, &command] {
    line.action = [&line, &command] {
      command.output = output_options(line.flags);
      return run_pack(command);
    };
  });
}

void add_compare(CommandLine& line) {
  CLI::App* verb = line.app.add_subcommand(
      "compare", "An engine's log or `dumpsys meminfo` against the prediction, term by term");
  CompareCommand& command = line.compare;
  verb->add_option("FILE", command.file,
                   "Start-up log of llama.cpp, ollama, vLLM or whisper.cpp; any excerpt will do")
      ->required();
  verb->add_option("--tolerance", command.tolerance,
                   "Share of a logged figure that it may be off, beside its rounding [2 %]")
      ->option_text("RATIO");
  add_scenario_flags(*verb, line.flags, "--model");
  add_output_flags(*verb, line.flags);
  verb->footer(
      "Model and settings are the log's; flags replace them. What the log leaves out is named.\n"
      "Examples:\n"
      "  tidemark compare server.log\n"
      "  tidemark compare server.log --model llama-3-8b --tolerance '1 %' --json\n"
      "Exit code 1 when a term is off by more than the tolerance.");
  verb->callback([&line, &command, verb] {
    line.action = [&line, &command, verb] {
      command.scenario = scenario_options(*verb, line.flags);
      command.output = output_options(line.flags);
      return run_compare(command);
    };
  });
}

void add_quant(CommandLine& line) {
  CLI::App* verb = line.app.add_subcommand(
      "quant", "Size against error of the weights of a file in other formats");
  QuantCommand& command = line.quant;
  add_quant_flags(*verb, command);
  add_output_flags(*verb, line.flags);
  verb->callback([&line, &command] {
    line.action = [&line, &command] {
      command.output = output_options(line.flags);
      return run_quant(command);
    };
  });
}

void add_calibrate(CommandLine& line) {
  CLI::App* verb = line.app.add_subcommand(
      "calibrate", "Measures this machine and writes a device file that simulate reads");
  add_calibrate_flags(*verb, line.calibrate);
  verb->callback([&line] { line.action = [&line] { return run_calibrate(line.calibrate); }; });
}

// Parses the arguments and calls the verb they name.
int run(std::vector<std::string> arguments) {
  CommandLine line;
  describe_program(line);
  add_plan(line);
  add_simulate(line);
  add_replay(line);
  add_list(line);
  add_sweep(line);
  add_import(line);
  add_export(line);
  add_pack(line);
  add_compare(line);
  add_calibrate(line);
  add_quant(line);
  try {
    arguments = expand_short_flags(arguments);
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them last first
    line.app.parse(arguments);
  } catch (const CLI::Success& help_or_version) {
    return line.app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    return usage_error(line.app, error);
  }
  return line.action();
}

}  // namespace
}  // namespace tidemark::cli

int main(int argc, char** argv) {
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of writing, and said
  try {
    return tidemark::cli::run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::bad_alloc&) {
    tidemark::cli::talk("error: out of memory\n");
    return tidemark::cli::kBadInput;
  } catch (const std::exception& bug) {
    tidemark::cli::talk("internal error at {}\n  hint: please report this with the command line\n",
                        bug.what());
    return tidemark::cli::kInternalError;
  }
}
