#include "planner/config/residency_settings.h"

#include <algorithm>
#include <cmath>

namespace tidemark {
namespace {

using literals::operator""_B;
using literals::operator""_MiB;

constexpr int64_t kMostFiles = 10'000;
constexpr Bytes kLeastFile = 1_MiB;
constexpr int64_t kMostProcesses = 16;
constexpr int64_t kMostExperts = 100'000;
constexpr double kMillion = 1e6;

// "4" is a count, anything with a unit a size.
struct CountOrSize {
  int64_t count = 0;
  Bytes size{};
};

bool is_count(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

CountOrSize count_or_size(SettingReader& read, std::string_view key, int64_t most, Bytes least) {
  const SettingText* stated = read.stated(key);
  if (stated == nullptr) return {};
  if (is_count(stated->text)) {
    return {.count = read.number(key, {.least = 1, .most = most, .fallback = 1})};
  }
  return {.size = read.size(key, least).value_or(least)};
}

int64_t per_million(double ratio) { return std::llround(ratio * kMillion); }

std::optional<HotRows> read_rows(SettingReader& read) {
  for (const char* key : {"cold_rows", "bundle"}) {
    if (read.stated("hot_rows") != nullptr || read.stated(key) == nullptr) continue;
    read.problem(key, "says how rows that are not kept are read, and all are kept",
                 "add --hot-rows, or leave it out");
  }
  const std::optional<double> kept = read.ratio_up_to_one("hot_rows", 0.0);
  if (!kept) return std::nullopt;
  HotRows rows{.kept_ppm = per_million(*kept)};
  rows.read_ppm = per_million(read.ratio_up_to_one("cold_rows", 0.0).value_or(0.1));
  if (read.stated("bundle") != nullptr) rows.bundled = read.is_on("bundle");
  return rows;
}

}  // namespace

ResidencyChoices read_residency(SettingReader& read) {
  ResidencyChoices choices;
  const CountOrSize split = count_or_size(read, "split", kMostFiles, kLeastFile);
  choices.split_files = split.count;
  choices.split_size = split.size;
  if (read.stated("processes") != nullptr) {
    choices.processes =
        read.number("processes", {.least = 1, .most = kMostProcesses, .fallback = 1});
  }
  const CountOrSize experts = count_or_size(read, "expert_cache", kMostExperts, 1_B);
  choices.expert_slots = experts.count;
  choices.expert_bytes = experts.size;
  choices.rows = read_rows(read);
  return choices;
}

}  // namespace tidemark
