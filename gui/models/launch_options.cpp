#include "gui/models/launch_options.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "planner/config/did_you_mean.h"

namespace tidemark {
namespace {

constexpr int kLeastSide = 320;
constexpr int kMostSide = 8192;

const std::vector<std::string> kOwnFlags = {"--export", "--size",    "--theme",   "--set",
                                            "--help",   "--version", "--scenario"};

// Is `flag` one of "-c,--ctx-size"?
bool names_setting(const SettingInfo& info, std::string_view flag) {
  std::string_view flags = info.flags;
  while (!flags.empty()) {
    const size_t comma = std::min(flags.find(','), flags.size());
    if (flags.substr(0, comma) == flag) return true;
    flags.remove_prefix(std::min(comma + 1, flags.size()));
  }
  return false;
}

// "--ctx-size" of "-c,--ctx-size".
std::string long_flag(const SettingInfo& info) {
  return std::string(info.flags.substr(info.flags.find(',') + 1));
}

const SettingInfo* setting_of_flag(std::string_view flag) {
  for (const SettingInfo& info : settings_table()) {
    if (names_setting(info, flag)) return &info;
  }
  return nullptr;
}

bool parse_side(std::string_view text, int& side) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), side);
  return error == std::errc() && end == text.data() + text.size() && side >= kLeastSide &&
         side <= kMostSide;
}

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  Result<LaunchOptions> parse() {
    while (next_ < arguments_.size()) {
      const std::string argument = arguments_[next_++];
      if (argument.size() > 1 && argument.front() == '-') {
        flag(argument);
      } else {
        options_.files.push_back(argument);
      }
    }
    if (has_errors(problems_)) return problems_;
    return options_;
  }

 private:
  // "--size=1280x800" is "--size 1280x800".
  void flag(const std::string& argument) {
    const size_t equals = argument.starts_with("--") ? argument.find('=') : std::string::npos;
    const std::string name = argument.substr(0, equals);
    if (std::find(kOwnFlags.begin(), kOwnFlags.end(), name) == kOwnFlags.end() &&
        setting_of_flag(name) == nullptr) {
      std::vector<std::string> known = kOwnFlags;
      for (const SettingInfo& info : settings_table()) {
        if (!info.flags.empty()) known.push_back(long_flag(info));
      }
      add(name, "is not a flag of tidemark-gui", suggestion(name, "flags are", known));
      return;
    }
    const SettingInfo* setting = setting_of_flag(name);
    if (equals != std::string::npos) {
      value(name, argument.substr(equals + 1));
    } else if (setting != nullptr && setting->value.empty()) {
      value(name, "on");
    } else if (next_ < arguments_.size()) {
      value(name, arguments_[next_++]);
    } else {
      add(name, "needs a value");
    }
  }

  void value(const std::string& name, const std::string& text) {
    if (const SettingInfo* info = setting_of_flag(name)) {
      options_.settings.emplace_back(info->key, text);
    } else if (name == "--set") {
      assignment(text);
    } else if (name == "--size") {
      size(text);
    } else if (name == "--theme") {
      if (text != "system" && text != "light" && text != "dark") {
        add(name, in_quotes(text) + " is not known", "there are: system, light, dark");
      }
      options_.theme = text;
    } else if (name == "--export") {
      options_.export_file = text;
    } else if (name == "--scenario") {
      options_.files.push_back(text);
    }
  }

  void assignment(const std::string& text) {
    const Result<SettingMap> setting = setting_from_assignment(text);
    if (!setting) {
      problems_.insert(problems_.end(), setting.diagnostics().begin(), setting.diagnostics().end());
      return;
    }
    for (const auto& [key, stated] : *setting) options_.settings.emplace_back(key, stated.text);
  }

  void size(const std::string& text) {
    const size_t cross = text.find('x');
    const bool good = cross != std::string::npos &&
                      parse_side(std::string_view(text).substr(0, cross), options_.width) &&
                      parse_side(std::string_view(text).substr(cross + 1), options_.height);
    if (good) return;
    add("--size", in_quotes(text) + " is not WIDTHxHEIGHT",
        "write --size 1280x800; each side from 320 to 8192");
  }

  void add(std::string path, std::string message, std::string hint = "") {
    problems_.push_back(
        {.path = std::move(path), .message = std::move(message), .hint = std::move(hint)});
  }

  const std::vector<std::string>& arguments_;
  size_t next_ = 0;
  LaunchOptions options_{};
  Diagnostics problems_{};
};

}  // namespace

Result<LaunchOptions> parse_launch_options(const std::vector<std::string>& arguments) {
  return Parser(arguments).parse();
}

std::string launch_help() {
  std::string help =
      "Plan and simulate the memory of on-device LLM inference, in a window\n"
      "Usage: tidemark-gui [OPTIONS] [FILE|MODEL...]\n\n"
      "FILE: a scenario, model, device or engine YAML, or the JSON of a replay\n"
      "  --export FILE       Write what the window shows as .png, .svg or .pdf, without a display\n"
      "  --size WxH          Size of the window [1280x800]\n"
      "  --theme NAME        system (default), light or dark\n"
      "  --set KEY=VALUE     Any setting by key\n"
      "  --version, --help\n"
      "Settings, as of `tidemark plan`:\n";
  for (const SettingInfo& info : settings_table()) {
    if (info.flags.empty()) continue;
    std::string left = "  " + std::string(info.flags) + " " + std::string(info.value);
    left.resize(std::max<size_t>(left.size() + 1, 34), ' ');
    help += left + std::string(info.help) + "\n";
  }
  return help +
         "Examples:\n"
         "  tidemark-gui minicpm-2b --quant int4 --device galaxy-s23\n"
         "  tidemark-gui minicpm-2b --quant int4 --strategy layerwise --export curve.png\n"
         "Exit codes: 0 done, 2 bad input, 3 internal error\n";
}

}  // namespace tidemark
