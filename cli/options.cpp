#include "options.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "planner/base/files.h"

namespace tidemark::cli {
namespace {

std::optional<Diagnostics> add_layer(SettingMap& settings, const Result<SettingMap>& layer) {
  if (!layer) return layer.diagnostics();
  settings = merge(std::move(settings), *layer);
  return std::nullopt;
}

void append(Diagnostics& all, const Diagnostics& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// "-ub,--ubatch-size" -> the short form when it has several letters.
std::optional<std::string_view> long_short_flag(std::string_view flags) {
  const size_t comma = flags.find(',');
  if (comma == std::string_view::npos || comma < 3 || flags[1] == '-') return std::nullopt;
  return flags.substr(0, comma);
}

bool names_a_switch(const std::string& text) {
  return text == "on" || text == "off" || text == "auto";
}

}  // namespace

Result<std::vector<Scenario>> resolve(const ScenarioOptions& options) {
  Diagnostics problems;
  SettingMap settings = options.defaults;
  if (!options.scenario_file.empty()) {
    if (auto failed = add_layer(settings, load_scenario_file(options.scenario_file)))
      append(problems, *failed);
  }
  settings = merge(std::move(settings), settings_from_environment());
  for (const std::string& assignment : options.assignments) {
    if (auto failed = add_layer(settings, setting_from_assignment(assignment)))
      append(problems, *failed);
  }
  settings = merge(std::move(settings), options.flags);
  const Result<std::vector<SettingMap>> maps = expand_lists(settings);
  if (!maps) append(problems, maps.diagnostics());
  if (!maps || has_errors(problems)) return problems;

  std::vector<Scenario> scenarios;
  for (const SettingMap& map : *maps) {
    Result<Scenario> scenario = resolve_scenario(map);
    if (!scenario) return scenario.diagnostics();
    scenarios.push_back(std::move(scenario).value());
  }
  return scenarios;
}

int fail(const Diagnostics& diagnostics) {
  std::fputs(to_string(diagnostics).c_str(), stderr);
  return kBadInput;
}

int emit(const OutputOptions& output, const std::string& text, int code) {
  if (!output.file.empty() && output.file != "-")
    return write_extra(output, output.file, text, code);
  if (std::fputs(text.c_str(), stdout) == EOF || std::fflush(stdout) != 0) {
    return fail(one_error("standard output", "cannot write"));
  }
  return code;
}

int write_extra(const OutputOptions& output, const std::string& file, const std::string& text,
                int code) {
  const Result<Bytes> written = write_file(file, text);
  if (!written) return fail(written.diagnostics());
  if (!output.quiet) talk("wrote {}\n", file);
  return code;
}

bool use_color(const OutputOptions& output) {
  if (output.color == "always") return true;
  if (output.color == "never") return false;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  return (no_color == nullptr || *no_color == '\0') && !dumb && output.file.empty() &&
         ::isatty(STDOUT_FILENO) == 1;
}

std::vector<std::string> expand_short_flags(const std::vector<std::string>& arguments) {
  std::vector<std::string> expanded;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string argument = arguments[i];
    for (const SettingInfo& setting : settings_table()) {
      const auto flag = long_short_flag(setting.flags);
      if (flag && argument == *flag) argument = setting.flags.substr(flag->size() + 1);
    }
    expanded.push_back(argument);
    // Older llama.cpp builds take -fa without a value.
    const bool bare = i + 1 >= arguments.size() || !names_a_switch(arguments[i + 1]);
    if (arguments[i] == "-fa" && bare) expanded.emplace_back("on");
  }
  return expanded;
}

}  // namespace tidemark::cli
