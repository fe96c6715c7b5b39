#include "gui/models/scenario_text.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "planner/base/files.h"
#include "planner/config/load.h"

namespace tidemark {
namespace {

constexpr std::array<std::string_view, 5> kConfigs{"model", "device", "engine", "mmproj",
                                                   "model_draft"};

bool is_path(std::string_view key, const std::string& text) {
  if (key == "requests") return text.ends_with(".csv");
  const bool may_be = std::find(kConfigs.begin(), kConfigs.end(), key) != kConfigs.end();
  return may_be && is_config_path(text);
}

bool is_plain(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return letter || c == '_' || c == '-' || c == '.' || c == '/';
}

// Quoted wherever a bare word could mean something else.
std::string yaml_scalar(const std::string& text) {
  const bool begins_plain = !text.empty() && is_plain(text.front()) && text.front() != '-';
  if (begins_plain && std::all_of(text.begin(), text.end(), is_plain)) return text;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (code < 0x20 || code == 0x7f) {
      out += {'\\', 'x', kDigits[code >> 4U], kDigits[code & 15U]};
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

std::string text_with_whole_path(std::string_view key, const SettingText& setting) {
  if (!is_path(key, setting.text)) return setting.text;
  const std::filesystem::path folder =
      std::filesystem::path(setting.where.file).parent_path();  // empty: where the program runs
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(folder / setting.text, failed);
  return failed ? setting.text : whole.lexically_normal().string();
}

std::string scenario_text(const SettingMap& settings) {
  std::string out = "schema: scenario/1\n";
  for (const SettingInfo& info : settings_table()) {
    const auto found = settings.find(info.key);
    if (found == settings.end()) continue;
    out += std::string(info.key) + ": " +
           yaml_scalar(text_with_whole_path(info.key, found->second)) + "\n";
  }
  return out;
}

Diagnostics save_scenario(const std::string& file, const SettingMap& settings) {
  const Result<Bytes> written = write_file(file, scenario_text(settings));
  return written ? Diagnostics() : written.diagnostics();
}

}  // namespace tidemark
