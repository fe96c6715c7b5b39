#include "options.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

#include "planner/base/files.h"
#include "planner/config/load.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

bool same_file(const fs::path& one, const fs::path& other) {
  std::error_code missing;
  return fs::equivalent(one, other, missing);
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

// "m-00001-of-00003.gguf" -> "m"; empty when it is no part of a set.
std::string name_of_set(const fs::path& file) {
  const std::string name = file.filename().string();
  constexpr std::string_view kEnding = "-00001-of-00003.gguf";
  const size_t rest = name.size() - std::min(name.size(), kEnding.size());
  const bool is_part = rest > 0 && name.ends_with(".gguf") && name.substr(rest + 6, 4) == "-of-";
  return is_part ? name.substr(0, rest) : "";
}

// Weights, or what describes them.
bool is_of_a_checkpoint(const fs::path& file) {
  const std::string name = file.filename().string();
  return name == "config.json" || name.ends_with(".index.json") || name.ends_with(".safetensors");
}

bool would_overwrite(const fs::path& output, const fs::path& input) {
  std::error_code ignored;
  if (!fs::is_regular_file(output, ignored)) return false;
  if (same_file(output, input)) return true;
  if (fs::is_directory(input, ignored)) {
    return same_file(folder_of(output), input) && is_of_a_checkpoint(output);
  }
  if (!same_file(folder_of(output), folder_of(input))) return false;
  if (input.extension() == ".json") return is_of_a_checkpoint(output);
  if (input.extension() == ".safetensors") return output.filename() == "config.json";
  return !name_of_set(input).empty() && name_of_set(input) == name_of_set(output);
}

// A pipe, a terminal: whoever reads it would notice that it is tried.
bool is_device(const fs::path& file) {
  std::error_code missing;
  return fs::is_other(file, missing);
}

// The report goes to standard output unless it is told where to go.
bool is_standard_output(const NamedFile& output) {
  return output.file == "-" || (output.file.empty() && output.flag == "-o");
}

int print(const std::string& text, int code) {
  if (std::fputs(text.c_str(), stdout) == EOF || std::fflush(stdout) != 0) {
    return fail(one_error("standard output", "cannot write"));
  }
  return code;
}

struct FileSetting {
  const char* key = "";
  const char* flag = "";
  std::optional<ConfigKind> kind{};  // of a built-in name
};

constexpr FileSetting kFileSettings[] = {{"model", "MODEL", ConfigKind::kModel},
                                         {"model_draft", "--model-draft", ConfigKind::kModel},
                                         {"mmproj", "--mmproj"},
                                         {"requests", "--requests"},
                                         {"device", "--device", ConfigKind::kDevice}};

// A built-in name is the file it is found in.
NamedFile named_file(const FileSetting& row, const std::string& text) {
  if (row.kind) {
    const Result<fs::path> found = find_config(*row.kind, text);
    if (found) return {.flag = row.flag, .file = found->string()};
  }
  return {.flag = row.flag, .file = text};
}

std::vector<NamedFile> files_of(const ScenarioOptions& options,
                                const std::vector<SettingMap>& maps) {
  std::vector<NamedFile> files;
  if (!options.scenario_file.empty()) {
    files.push_back(
        named_file({"scenario", "--scenario", ConfigKind::kScenario}, options.scenario_file));
  }
  for (const SettingMap& map : maps) {
    for (const FileSetting& row : kFileSettings) {
      const auto setting = map.find(row.key);
      if (setting != map.end()) files.push_back(named_file(row, setting->second.text));
    }
  }
  return files;
}

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

std::optional<Diagnostics> overwrites(const std::vector<NamedFile>& outputs,
                                      const std::vector<NamedFile>& inputs) {
  for (const NamedFile& output : outputs) {
    if (output.file.empty() || output.file == "-") continue;
    for (const NamedFile& input : inputs) {
      if (input.file.empty() || !would_overwrite(output.file, input.file)) continue;
      return one_error(output.flag,
                       fmt::format("{} belongs to {} {}, which this command reads",
                                   in_quotes(output.file), input.flag, in_quotes(input.file)),
                       "name another file to write");
    }
  }
  return std::nullopt;
}

std::optional<Diagnostics> same_file_twice(const std::vector<NamedFile>& outputs) {
  std::map<fs::path, NamedFile> taken;
  for (const NamedFile& output : outputs) {
    const bool is_printed = is_standard_output(output);
    if (output.file.empty() && !is_printed) continue;
    std::error_code ignored;
    const fs::path absolute = fs::absolute(output.file, ignored);
    const auto [first, added] =
        taken.emplace(is_printed ? "-" : fs::weakly_canonical(absolute, ignored), output);
    if (added) continue;
    if (first->second.file.empty()) {
      return one_error(output.flag, "\"-\" is standard output, where the report goes",
                       "name a file, or give the report one: -o FILE");
    }
    return one_error(
        output.flag,
        fmt::format("{} is also the file of {}", in_quotes(output.file), first->second.flag),
        "give each output a file of its own");
  }
  return std::nullopt;
}

std::optional<Diagnostics> unwritable(const std::vector<NamedFile>& outputs) {
  Diagnostics problems;
  for (const NamedFile& output : outputs) {
    if (output.file.empty() || output.file == "-" || is_device(output.file)) continue;
    const Result<FileReplacement> opened = FileReplacement::open(output.file);
    if (!opened) append(problems, opened.diagnostics());
  }
  return problems.empty() ? std::nullopt : std::optional(std::move(problems));
}

Result<std::vector<Scenario>> resolve(const ScenarioOptions& options,
                                      const std::vector<NamedFile>& outputs) {
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
  if (auto refused = overwrites(outputs, files_of(options, *maps))) return std::move(*refused);

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
  return write_extra(output, output.file.empty() ? "-" : output.file, text, code);
}

int write_extra(const OutputOptions& output, const std::string& file, const std::string& text,
                int code) {
  if (file == "-") return print(text, code);
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
    const bool is_empty = argument.starts_with("--") && argument.find('=') == argument.size() - 1;
    if (is_empty) argument.pop_back();
    expanded.push_back(argument);
    if (is_empty) expanded.emplace_back();
    // Older llama.cpp builds take -fa without a value.
    const bool bare = i + 1 >= arguments.size() || !names_a_switch(arguments[i + 1]);
    if (arguments[i] == "-fa" && bare) expanded.emplace_back("on");
  }
  return expanded;
}

}  // namespace tidemark::cli
