#include "planner/config/offload_settings.h"

#include <fmt/core.h>

#include <array>

namespace tidemark {
namespace {

constexpr int64_t kMostBatches = 10'000;
constexpr size_t kNumbers = 6;
constexpr const char* kHint =
    "six percentages: weights, KV cache and hidden states, each on the accelerator and in main "
    "memory; the rest of a pair lies in storage: 20,80,0,100,0,100";

// The six numbers; nullopt when they are not six whole percentages.
std::optional<std::array<int64_t, kNumbers>> parse_percentages(std::string_view text) {
  const auto parts = split_list(text);
  if (!parts || parts->size() != kNumbers) return std::nullopt;
  std::array<int64_t, kNumbers> numbers{};
  for (size_t i = 0; i < kNumbers; ++i) {
    const Parsed<int64_t> parsed = parse_integer((*parts)[i]);
    const auto* number = std::get_if<int64_t>(&parsed);
    if (number == nullptr || *number < 0 || *number > 100) return std::nullopt;
    numbers[i] = *number;
  }
  return numbers;
}

}  // namespace

void read_offload(SettingReader& read, Scenario& scenario) {
  const SettingText* stated = read.stated("offload");
  if (stated == nullptr) {
    if (read.stated("batches") != nullptr) {
      read.problem("batches", "only an offload run takes batches in turn", "add offload");
    }
    return;
  }
  read.record("offload", stated->text, stated->origin);
  OffloadChoices& offload = scenario.offload.emplace();
  offload.batches = read.number("batches", {.least = 1, .most = kMostBatches, .fallback = 1});
  const auto numbers = parse_percentages(stated->text);
  if (!numbers) {
    return read.problem("offload", fmt::format("{} is no policy", in_quotes(stated->text)), kHint);
  }
  OffloadShare* const shares[] = {&offload.weights, &offload.kv_cache, &offload.hidden};
  for (size_t i = 0; i < std::size(shares); ++i) {
    *shares[i] = {.on_device = (*numbers)[2 * i], .in_memory = (*numbers)[2 * i + 1]};
    if (shares[i]->in_storage() >= 0) continue;
    read.problem("offload", "two shares of a pair come to more than 100 %", kHint);
  }
  if (scenario.device.accelerator) return;
  read.problem("offload", fmt::format("{} states no accelerator", scenario.device.name),
               "name a device whose file has the part accelerator, such as flexgen-t4");
}

}  // namespace tidemark
