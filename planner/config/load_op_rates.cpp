#include "planner/config/load_op_rates.h"

#include <fmt/core.h>

#include <algorithm>

#include "planner/config/load_common.h"

namespace tidemark {
namespace {

constexpr int64_t kMostOpRates = 200;
constexpr int64_t kMostTokens = 1'000'000;

OpRate read_op_rate(YamlMap& entry) {
  OpRate rate;
  const std::string op = entry.text("op").value_or("matmul");
  if (const auto kind = parse_op_kind(op)) {
    rate.kind = *kind;
  } else {
    entry.error("op", fmt::format("{} is not a kind of op", in_quotes(op)),
                "as `tidemark plan --show graph` names them: matmul, flash_attention, rms_norm");
  }
  if (entry.has("tokens")) rate.tokens = entry.integer("tokens", 1, kMostTokens).value_or(1);
  rate.rate = entry.compute_rate("rate").value_or(OpsPerSecond::of(1));
  if (entry.has("output_rate")) {
    rate.output_rate = entry.compute_rate("output_rate").value_or(OpsPerSecond{});
  }
  if (entry.has("overhead")) rate.overhead = entry.duration("overhead").value_or(Duration{});
  entry.finish();
  return rate;
}

}  // namespace

std::vector<OpRate> read_op_rates(YamlMap& map) {
  std::vector<OpRate> rates;
  if (!map.has("op_rates")) return rates;
  for (YamlMap& entry : map.map_list("op_rates")) {
    const OpRate rate = read_op_rate(entry);
    const bool is_repeated = std::ranges::any_of(rates, [&](const OpRate& other) {
      return other.kind == rate.kind && other.tokens == rate.tokens;
    });
    if (is_repeated) entry.error("op", "is measured twice with as many tokens");
    rates.push_back(rate);
    if (std::ssize(rates) > kMostOpRates) {
      map.error("op_rates", fmt::format("has more than {} entries", kMostOpRates));
      break;
    }
  }
  return rates;
}

}  // namespace tidemark
