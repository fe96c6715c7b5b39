#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <set>
#include <system_error>

#include "planner/base/files.h"
#include "planner/config/load.h"
#include "planner/config/yaml_reader.h"

namespace tidemark {
namespace {

// A name with control characters cannot be typed, and must not reach a terminal.
bool is_printable(std::string_view name) {
  return std::none_of(name.begin(), name.end(),
                      [](char c) { return c == 0x7f || (c >= 0 && c < 0x20); });
}

constexpr std::string_view kExtension = ".yaml";

// Where configurations are looked for, strongest first.
std::vector<std::filesystem::path> search_path() {
  std::vector<std::filesystem::path> folders;
  const char* stated = std::getenv("TIDEMARK_CONFIG_PATH");
  std::string_view rest = stated == nullptr ? "" : stated;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) folders.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  folders.emplace_back(TIDEMARK_SOURCE_CONFIGS);
  folders.emplace_back(TIDEMARK_INSTALLED_CONFIGS);
  return folders;
}

bool is_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

// As names are written here: "meta-llama/Llama_3.1-8B" -> "llama-3.1-8b".
std::string in_house_style(std::string_view name) {
  const size_t slash = name.rfind('/');
  std::string styled(slash == std::string_view::npos ? name : name.substr(slash + 1));
  for (char& c : styled) {
    c = c == '_' || c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return styled;
}

std::string without_hyphens(std::string name) {
  std::erase(name, '-');
  return name;
}

// The name that another spelling of it means, or the longest that a publisher's name begins with:
//   Llama3.1-8B, meta-llama/Llama-3.1-8B-Instruct -> llama-3.1-8b
std::optional<std::string> other_spelling(std::string_view name,
                                          const std::vector<std::string>& known) {
  const std::string styled = in_house_style(name);
  const std::string bare = without_hyphens(styled);
  std::optional<std::string> best;
  for (const std::string& candidate : known) {
    if (without_hyphens(candidate) == bare) return candidate;
    const bool begins = styled.starts_with(candidate + "-");
    if (begins && candidate.size() > (best ? best->size() : 0)) best = candidate;
  }
  return best;
}

// What to write instead of a name that nothing is called.
std::string hint_of_unknown(ConfigKind kind, std::string_view name) {
  const std::vector<std::string> known = list_configs(kind);
  if (is_file(name)) return fmt::format("a file is named by a path: ./{}", name);
  const std::optional<std::string> meant = other_spelling(name, known);
  if (meant) return fmt::format("did you mean {}?", in_quotes(*meant));
  return fmt::format("there are: {}", nearest_listed(name, known));
}

// The same for a path where there is no file.
std::string hint_of_missing(ConfigKind kind, std::string_view path) {
  const std::optional<std::string> meant = other_spelling(path, list_configs(kind));
  if (meant) return fmt::format("did you mean {}?", in_quotes(*meant));
  return kind == ConfigKind::kModel
             ? "write a built-in name, or the path of a model file or of its folder"
             : "write a built-in name or the path of a .yaml file";
}

}  // namespace

std::string_view name_of(ConfigKind kind) {
  switch (kind) {
    case ConfigKind::kModel:
      return "model";
    case ConfigKind::kDevice:
      return "device";
    case ConfigKind::kEngine:
      return "engine";
    case ConfigKind::kScenario:
      return "scenario";
    case ConfigKind::kSweep:
      return "sweep";
  }
  return "";
}

std::string_view folder_of(ConfigKind kind) {
  switch (kind) {
    case ConfigKind::kModel:
      return "models";
    case ConfigKind::kDevice:
      return "devices";
    case ConfigKind::kEngine:
      return "engines";
    case ConfigKind::kScenario:
      return "scenarios";
    case ConfigKind::kSweep:
      return "sweeps";
  }
  return "";
}

bool is_config_path(std::string_view name_or_path) {
  if (name_or_path.find('/') != std::string_view::npos) return true;
  for (const std::string_view extension :
       {kExtension, std::string_view(".gguf"), std::string_view(".safetensors"),
        std::string_view(".json")}) {
    if (name_or_path.ends_with(extension)) return true;
  }
  return false;
}

Result<std::filesystem::path> find_config(ConfigKind kind, std::string_view name_or_path) {
  if (is_config_path(name_or_path)) {
    const std::filesystem::path path(name_or_path);
    if (is_file(path)) return path;
    return one_error(std::string(name_of(kind)), fmt::format("no file {}", in_quotes(name_or_path)),
                     hint_of_missing(kind, name_or_path));
  }
  for (const std::filesystem::path& folder : search_path()) {
    const std::filesystem::path path =
        folder / folder_of(kind) / (std::string(name_or_path) + std::string(kExtension));
    if (is_file(path)) return path;
  }
  return one_error(std::string(name_of(kind)),
                   fmt::format("there is no {} called {}", name_of(kind), in_quotes(name_or_path)),
                   hint_of_unknown(kind, name_or_path));
}

Result<std::string> read_config(const std::filesystem::path& path) {
  return read_file(path, kMostConfigBytes);
}

std::vector<std::string> list_configs(ConfigKind kind) {
  std::set<std::string> names;
  for (const std::filesystem::path& folder : search_path()) {
    std::error_code ignored;
    for (std::filesystem::directory_iterator entry(folder / folder_of(kind), ignored), end;
         !ignored && entry != end; entry.increment(ignored)) {
      const std::filesystem::path& path = entry->path();
      const std::string name = path.stem().string();
      if (path.extension() == kExtension && is_printable(name) && is_file(path)) names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace tidemark
