#include "gui/models/command_line.h"

#include <algorithm>

namespace tidemark {
namespace {

bool is_plain(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return letter || std::string_view("-_./,=:+@%").find(c) != std::string_view::npos;
}

std::string quoted(const std::string& argument) {
  if (!argument.empty() && std::all_of(argument.begin(), argument.end(), is_plain)) return argument;
  std::string out = "'";
  for (const char c : argument) {
    // A quote ends the quoted text, stands by itself, and begins it again.
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out + "'";
}

}  // namespace

std::vector<std::string> command_arguments(std::string_view verb, const SettingLayers& layers) {
  std::vector<std::string> arguments{std::string(verb)};
  const auto model = layers.edits.find("model");
  if (model != layers.edits.end()) arguments.push_back(model->second.text);
  if (!layers.scenario_file.empty()) {
    arguments.insert(arguments.end(), {"--scenario", layers.scenario_file});
  }
  for (const SettingInfo& info : settings_table()) {
    const std::string key(info.key);
    const auto edit = layers.edits.find(key);
    if (edit == layers.edits.end() || key == "model") continue;
    const std::string origin = flag_origin(key);
    const std::string flag = origin.substr(origin.find(' ') + 1);
    if (info.flags.empty()) {
      arguments.insert(arguments.end(), {"--set", key + "=" + edit->second.text});
    } else if (info.value.empty()) {
      arguments.push_back(flag + "=" + edit->second.text);
    } else {
      arguments.insert(arguments.end(), {flag, edit->second.text});
    }
  }
  return arguments;
}

std::string command_line(std::string_view verb, const SettingLayers& layers) {
  std::string line = "tidemark";
  for (const std::string& argument : command_arguments(verb, layers)) {
    line += " " + quoted(argument);
  }
  return line;
}

}  // namespace tidemark
