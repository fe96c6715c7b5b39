#include "planner/config/run_choices.h"

#include <fmt/core.h>

#include <algorithm>

#include "planner/base/files.h"

namespace tidemark {
namespace {

using literals::operator""_B;
using literals::operator""_MiB;

constexpr Bytes kMostTrace = 64_MiB;
constexpr int64_t kMostDrawn = 1'000'000;
constexpr int64_t kMillion = 1'000'000;

// "2.5" -> 2,500,000; nothing for what is no rate from a millionth to a million.
std::optional<int64_t> millionths(std::string_view text) {
  const size_t point = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, point));
  std::string fraction(point < text.size() ? text.substr(point + 1) : "");
  const auto is_number = [](const std::string& s) {
    return std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (!is_number(digits) || !is_number(fraction) || digits.empty()) return std::nullopt;
  if (digits.size() > 7 || fraction.size() > 6 || (point < text.size() && fraction.empty())) {
    return std::nullopt;
  }
  fraction.resize(6, '0');
  int64_t value = 0;
  for (const char c : digits + fraction) value = value * 10 + (c - '0');
  if (value < 1 || value > kMillion * kMillion) return std::nullopt;
  return value;
}

// A relative path in a scenario file counts from that file.
void read_trace(SettingReader& read, const SettingText& stated, ServingChoices& serving) {
  std::filesystem::path path(stated.text);
  if (!stated.where.file.empty() && path.is_relative()) {
    path = std::filesystem::path(stated.where.file).parent_path() / path;
  }
  read.record("requests", stated.text, stated.origin);
  Result<std::string> text = read_file(path, kMostTrace);
  if (!text) {
    for (const Diagnostic& found : text.diagnostics()) {
      read.problem("requests", fmt::format("{}: {}", in_quotes(path.string()), found.message),
                   "name a CSV file, or draw requests: 200:2.5 is 200, 2.5 a second");
    }
    return;
  }
  serving.file = path.string();
  serving.text = std::move(text).value();
}

// "200:2.5" -> 200 requests, 2.5 a second; false when the text is no such pair but a file.
bool read_draw(SettingReader& read, const SettingText& stated, ServingChoices& serving) {
  const std::string_view text = stated.text;
  const size_t colon = text.find(':');
  const std::string_view count = text.substr(0, std::min(colon, text.size()));
  const bool is_count = !count.empty() && std::all_of(count.begin(), count.end(),
                                                      [](char c) { return c >= '0' && c <= '9'; });
  if (colon == std::string_view::npos || !is_count) return false;
  const Parsed<int64_t> parsed = parse_integer(count);
  const auto* requests = std::get_if<int64_t>(&parsed);
  const std::optional<int64_t> rate = millionths(text.substr(colon + 1));
  if (requests == nullptr || *requests < 1 || *requests > kMostDrawn || !rate) {
    read.problem("requests",
                 fmt::format("{} is not a number of requests and a rate", in_quotes(text)),
                 "200:2.5 draws 200 requests (at most 1,000,000), 2.5 a second on average");
    return true;
  }
  serving.count = *requests;
  serving.per_million_seconds = *rate;
  return true;
}

}  // namespace

void read_serving(SettingReader& read, ServingChoices& serving) {
  const SettingText* stated = read.stated("requests");
  if (stated != nullptr && !stated->text.empty()) {
    if (read_draw(read, *stated, serving)) {
      read.record("requests", stated->text, stated->origin);
    } else {
      read_trace(read, *stated, serving);
    }
  }
  serving.kv_pool = read.size("kv_pool", 1_B);
  if (serving.kv_pool && stated == nullptr) {
    read.problem("kv_pool", "is shared by requests, and there are none",
                 "add --requests, or leave it out");
  }
}

std::vector<AdaptAction> read_adapt(SettingReader& read) {
  std::vector<AdaptAction> actions;
  std::vector<std::string> names;
  for (const auto& [action, name] : kAdaptActions) names.emplace_back(name);
  for (const std::string& name : read.list("adapt")) {
    const std::optional<AdaptAction> action = parse_adapt_action(name);
    if (!action) {
      read.problem("adapt", fmt::format("{} is not an action", in_quotes(name)),
                   suggestion(name, "there are", names));
    } else if (std::find(actions.begin(), actions.end(), *action) != actions.end()) {
      read.problem("adapt", fmt::format("{} stands there twice", name),
                   "an action is taken again by itself while memory stays short");
    } else {
      actions.push_back(*action);
    }
  }
  return actions;
}

}  // namespace tidemark
