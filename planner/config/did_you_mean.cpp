#include "planner/config/did_you_mean.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "planner/base/diagnostic.h"

namespace tidemark {
namespace {

constexpr size_t kMostCompared = 64;
constexpr size_t kMostListed = 20;

}  // namespace

// Row by row of the dynamic programme: distance[i][j] = cost of turning the first i bytes of a into
// the first j of b. Two rows back is enough for the swap.
size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kMostCompared);
  b = b.substr(0, kMostCompared);
  std::vector<size_t> before_last;
  std::vector<size_t> last(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::vector<size_t> row(b.size() + 1, i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::exchange(last, std::move(row));
  }
  return last[b.size()];
}

std::optional<std::string> did_you_mean(std::string_view word,
                                        const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  size_t best_distance = 3;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance >= best_distance || distance * 2 >= word.size()) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::vector<std::string> nearest_first(std::string_view word, std::vector<std::string> candidates) {
  std::vector<std::pair<size_t, std::string>> ranked;
  ranked.reserve(candidates.size());
  for (std::string& candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    ranked.emplace_back(distance, std::move(candidate));
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> names;
  names.reserve(ranked.size());
  for (auto& [distance, name] : ranked) names.push_back(std::move(name));
  return names;
}

std::string nearest_listed(std::string_view word, const std::vector<std::string>& candidates) {
  if (candidates.empty()) return "none";
  const std::vector<std::string> names = nearest_first(word, candidates);
  const size_t shown = std::min(names.size(), kMostListed);
  std::string list = names[0];
  for (size_t i = 1; i < shown; ++i) list += ", " + names[i];
  if (names.size() > shown) list += fmt::format(" and {} more", names.size() - shown);
  return list;
}

std::string suggestion(std::string_view word, std::string_view known,
                       const std::vector<std::string>& candidates) {
  const auto near = did_you_mean(word, candidates);
  if (near) return fmt::format("did you mean {}?", in_quotes(*near));
  // A short list is read in its own order; of a long one the near names matter.
  if (candidates.size() > kMostListed || candidates.empty()) {
    return fmt::format("{}: {}", known, nearest_listed(word, candidates));
  }
  return fmt::format("{}: {}", known, fmt::join(candidates, ", "));
}

}  // namespace tidemark
