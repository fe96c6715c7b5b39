#include "planner/engine/llama_cpp/llama_override.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace tidemark {
namespace {

constexpr std::array kDeviceNames{std::string_view("CANN"),   std::string_view("CUDA"),
                                  std::string_view("GPU"),    std::string_view("MTL"),
                                  std::string_view("MUSA"),   std::string_view("Metal"),
                                  std::string_view("OpenCL"), std::string_view("ROCm"),
                                  std::string_view("SYCL"),   std::string_view("Vulkan")};

constexpr const char* kExample = R"(write PATTERN=BUFFER, such as \.ffn_.*_exps\.=CPU)";

// "CUDA12" -> 12; a name alone is the first device.
std::optional<size_t> device_number(std::string_view buffer) {
  const size_t digits = std::min(buffer.find_first_of("0123456789"), buffer.size());
  if (std::ranges::find(kDeviceNames, buffer.substr(0, digits)) == kDeviceNames.end()) {
    return std::nullopt;
  }
  const std::string_view text = buffer.substr(digits);
  if (text.empty()) return 0;
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// What is kept of a group does not matter here, so (?:a) is (a).
std::string without_marks(std::string_view pattern) {
  std::string plain;
  for (size_t i = 0; i < pattern.size(); ++i) {
    plain += pattern[i];
    const bool is_escaped = pattern[i] == '\\' && i + 1 < pattern.size();
    if (is_escaped) plain += pattern[++i];
    if (!is_escaped && pattern[i] == '(' && pattern.substr(i + 1, 2) == "?:") i += 2;
  }
  return plain;
}

Result<LlamaOverride> parse_entry(std::string_view entry, size_t n_devices) {
  const size_t equals = entry.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == entry.size()) {
    return one_error("", fmt::format("{} is not PATTERN=BUFFER", in_quotes(entry)), kExample);
  }
  Result<TensorPattern> pattern = TensorPattern::parse(without_marks(entry.substr(0, equals)));
  if (!pattern) return pattern.diagnostics();
  LlamaOverride made{.pattern = std::move(pattern).value()};
  const std::string_view buffer = entry.substr(equals + 1);
  if (buffer == "CPU") return made;
  made.device = device_number(buffer);
  if (!made.device) {
    return one_error("", fmt::format("{} is no buffer", in_quotes(buffer)),
                     "there are CPU and devices by number: GPU0, CUDA0, Vulkan0, Metal");
  }
  if (*made.device >= n_devices) {
    return one_error("", fmt::format("{} is none of the {} devices", in_quotes(buffer), n_devices),
                     "state a share of each device in tensor_split, they are counted from 0");
  }
  return made;
}

}  // namespace

Result<std::vector<LlamaOverride>> parse_buffer_overrides(std::string_view text, size_t n_devices) {
  std::vector<LlamaOverride> overrides;
  Diagnostics problems;
  for (bool more = true; more;) {
    const size_t end = std::min(text.find(','), text.size());
    Result<LlamaOverride> entry = parse_entry(text.substr(0, end), n_devices);
    if (entry) {
      overrides.push_back(std::move(entry).value());
    } else {
      problems.insert(problems.end(), entry.diagnostics().begin(), entry.diagnostics().end());
    }
    if (overrides.size() + problems.size() > kMostLlamaOverrides) {
      return one_error("", fmt::format("more than {} patterns", kMostLlamaOverrides),
                       "join patterns of one buffer: (a|b)=CPU");
    }
    more = end < text.size();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!problems.empty()) return problems;
  return overrides;
}

bool is_of_experts(std::string_view name) {
  for (const std::string_view part : {"up", "down", "gate_up", "gate"}) {
    for (const std::string_view kind : {"_exps", "_chexps"}) {
      if (name.find(fmt::format(".ffn_{}{}", part, kind)) != std::string_view::npos) return true;
    }
  }
  return false;
}

}  // namespace tidemark
