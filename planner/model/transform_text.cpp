// The spelling of transforms: "drop-layers=8", "keep-heads=0.5", "tie".
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "planner/base/check.h"
#include "planner/model/transform.h"

namespace tidemark {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"keep-layers", "drop-layers", "keep-heads",
                                                    "keep-ffn",    "vocab",       "tie"};
constexpr std::string_view kHint =
    "there are: keep-layers=N, drop-layers=N, drop-layers=20-27, keep-heads=0.5, keep-ffn=0.75, "
    "vocab=N, tie";

Diagnostics refuse(std::string_view text, std::string_view what, std::string hint) {
  return one_error("", fmt::format("{} {}", in_quotes(text), what), std::move(hint));
}

// Digits alone, and no more than fit 63 bits.
std::optional<int64_t> number(std::string_view text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

// "0.75" exactly, with at most six decimals; more than 0 and at most 1.
std::optional<int64_t> part(std::string_view text) {
  constexpr size_t kDecimals = 6;
  const size_t point = text.find('.');
  const std::optional<int64_t> whole = number(text.substr(0, point));
  if (!whole || *whole > 1) return std::nullopt;
  int64_t millionths = *whole * kWholePart;
  if (point != std::string_view::npos) {
    std::string decimals(text.substr(point + 1));
    if (decimals.size() > kDecimals) return std::nullopt;
    const std::optional<int64_t> rest = number(decimals.append(kDecimals - decimals.size(), '0'));
    if (point + 1 == text.size() || !rest) return std::nullopt;
    millionths += *rest;
  }
  if (millionths < 1 || millionths > kWholePart) return std::nullopt;
  return millionths;
}

// Calls take(piece) for each piece between separators; false stops.
template <class Take>
bool each_piece(std::string_view text, char separator, const Take& take) {
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(separator, start), text.size());
    if (!take(text.substr(start, end - start))) return false;
    start = end + 1;
  }
  return true;
}

std::optional<std::vector<LayerRange>> ranges(std::string_view text) {
  std::vector<LayerRange> made;
  const bool legal = each_piece(text, '+', [&made](std::string_view piece) {
    const size_t dash = piece.find('-');
    if (dash == std::string_view::npos) return false;
    const std::optional<int64_t> first = number(piece.substr(0, dash));
    const std::optional<int64_t> last = number(piece.substr(dash + 1));
    if (!first || !last || *last < *first) return false;
    made.push_back({*first, *last});
    return true;
  });
  if (!legal) return std::nullopt;
  return made;
}

std::optional<TransformKind> kind_named(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames.at(i) == name) return static_cast<TransformKind>(i);
  }
  return std::nullopt;
}

Result<Transform> with_layers(Transform transform, std::string_view text, std::string_view value) {
  if (const std::optional<int64_t> count = number(value)) {
    transform.count = *count;
    return transform;
  }
  std::optional<std::vector<LayerRange>> layers = ranges(value);
  if (!layers) {
    return refuse(text, "names no layers",
                  "give a number of layers (8), or ranges counted from 0 (3-3+20-27)");
  }
  transform.layers = std::move(*layers);
  return transform;
}

}  // namespace

std::string_view name_of(TransformKind kind) { return kNames.at(static_cast<size_t>(kind)); }

Result<Transform> parse_transform(std::string_view text) {
  const size_t equals = text.find('=');
  const std::optional<TransformKind> kind = kind_named(text.substr(0, equals));
  if (!kind) return refuse(text, "is no transform", std::string(kHint));
  const bool has_value = equals != std::string_view::npos;
  const std::string_view value = has_value ? text.substr(equals + 1) : std::string_view();
  Transform transform{.kind = *kind};
  switch (*kind) {
    case TransformKind::kKeepLayers:
    case TransformKind::kDropLayers:
      return with_layers(std::move(transform), text, value);
    case TransformKind::kKeepHeads:
    case TransformKind::kKeepFeedForward: {
      const std::optional<int64_t> kept = part(value);
      if (!kept) return refuse(text, "names no part", "more than 0 and at most 1: 0.75");
      transform.part = *kept;
      return transform;
    }
    case TransformKind::kTrimVocabulary: {
      const std::optional<int64_t> words = number(value);
      if (!words) return refuse(text, "names no number of words", "vocab=32000");
      transform.count = *words;
      return transform;
    }
    case TransformKind::kTieEmbeddings:
      if (has_value) return refuse(text, "takes no value", "write tie alone");
      return transform;
  }
  check(false, "every transform is read");
  return transform;
}

Result<std::vector<Transform>> parse_transforms(std::string_view text) {
  std::vector<Transform> transforms;
  Diagnostics problems;
  if (text.empty()) return transforms;
  each_piece(text, ',', [&](std::string_view piece) {
    const Result<Transform> one = parse_transform(piece);
    if (one) {
      transforms.push_back(*one);
    } else {
      problems.insert(problems.end(), one.diagnostics().begin(), one.diagnostics().end());
    }
    return true;
  });
  if (!problems.empty()) return problems;
  return transforms;
}

std::string to_string(const Transform& transform) {
  const std::string_view name = name_of(transform.kind);
  switch (transform.kind) {
    case TransformKind::kKeepLayers:
    case TransformKind::kDropLayers: {
      if (transform.layers.empty()) return fmt::format("{}={}", name, transform.count);
      std::string ranges;
      for (const LayerRange& range : transform.layers) {
        ranges += fmt::format("{}{}-{}", ranges.empty() ? "" : "+", range.first, range.last);
      }
      return fmt::format("{}={}", name, ranges);
    }
    case TransformKind::kKeepHeads:
    case TransformKind::kKeepFeedForward: {
      if (transform.part == kWholePart) return fmt::format("{}=1", name);
      std::string decimals = fmt::format("{:06}", transform.part);
      decimals.erase(decimals.find_last_not_of('0') + 1);
      return fmt::format("{}=0.{}", name, decimals);
    }
    case TransformKind::kTrimVocabulary:
      return fmt::format("{}={}", name, transform.count);
    case TransformKind::kTieEmbeddings:
      break;
  }
  return std::string(name);
}

}  // namespace tidemark
