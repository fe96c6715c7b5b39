#include "sim/strategy/serving_input.h"

#include <fmt/core.h>

#include <algorithm>

#include "planner/base/units.h"
#include "planner/capacity/verdict.h"
#include "sim/strategy/serving_run.h"

namespace tidemark {
namespace {

void check_choices(const Scenario& scenario, const MemoryPlan& plan, Diagnostics& problems) {
  const auto refuse = [&](std::string path, std::string message, std::string hint) {
    problems.push_back(
        {.path = std::move(path), .message = std::move(message), .hint = std::move(hint)});
  };
  if (scenario.strategy != StrategyKind::kResident) {
    refuse("strategy",
           fmt::format("requests are served with all weights resident, not {}",
                       name_of(scenario.strategy)),
           "leave --strategy out, or simulate one prompt without --requests");
  }
  const TransformerSpec* transformer = scenario.model.transformer();
  if (transformer == nullptr || !plan.is_causal || !plan.encodes.empty()) {
    refuse("model", fmt::format("{} is no decoder that can be served", scenario.model.name),
           "name a model that reads text alone and decodes");
  }
  if (!scenario.adapt.empty()) {
    refuse("adapt", "is for a run of one prompt",
           "leave it out: with --requests, memory is bounded by --kv-pool");
  }
  if (scenario.kv_resident) {
    refuse("kv_resident", "is for a run of one prompt", "bound the cache by --kv-pool");
  }
  if (!scenario.trace.empty()) {
    refuse("trace", "replaces the model's passes, and requests need them", "leave one of them out");
  }
}

int64_t blocks_of(const Request& request, int64_t block) {
  return ceil_div(request.prompt + request.generate - 1, block);
}

// What the limit leaves, or as stated; never more than all sequences can fill.
int64_t pool_blocks(const Scenario& scenario, const MemoryPlan& plan, Bytes block,
                    int64_t block_tokens) {
  const int64_t most =
      checked_mul(scenario.n_seq, ceil_div(scenario.cells_per_sequence(), block_tokens));
  const Bytes limit = device_limit(scenario.device, scenario.margin_ratio, scenario.budget).limit;
  const Bytes rest = plan.breakdown.total() - plan.breakdown.kv_cache;
  const Bytes room = scenario.serving.kv_pool.value_or(std::max(limit - rest, Bytes{}));
  return std::min(most, room / block);
}

void check_pool(const Scenario& scenario, const MemoryPlan& plan, ServingInput& input,
                Diagnostics& problems) {
  const bool whole = !scenario.kv_in_blocks;
  const int64_t tokens = whole ? scenario.cells_per_sequence() : scenario.kv_block;
  KvBlockOptions& pool = input.limits.pool;
  pool.block_tokens = Tokens(tokens);
  pool.token_bytes = kv_bytes_per_token(scenario.model, scenario.type_k, scenario.type_v);
  if (pool.token_bytes == Bytes{}) {
    problems.push_back({.path = "model",
                        .message = fmt::format("{} keeps no KV cache that requests could share",
                                               scenario.model.name)});
    return;
  }
  const Bytes block = pool.token_bytes * tokens;
  pool.blocks = pool_blocks(scenario, plan, block, tokens);
  int64_t least = 0;
  for (const Request& request : input.requests) {
    least = std::max(least, blocks_of(request, tokens));
  }
  if (pool.blocks >= least) return;
  pool.blocks = least;
  if (!scenario.serving.kv_pool) return;
  problems.push_back({.path = "kv_pool",
                      .message = fmt::format("{} is too small: the longest request needs {}",
                                             format_bytes_exact(*scenario.serving.kv_pool),
                                             format_bytes_exact(block * least)),
                      .hint = whole ? "a whole context is kept for it; --kv-growth blocks keeps "
                                      "what it fills"
                                    : "raise --kv-pool"});
}

void check_work(const Scenario& scenario, const ServingInput& input, Diagnostics& problems) {
  int64_t tokens = 0;
  int64_t prompts = 0;
  for (const Request& request : input.requests) {
    tokens += request.generate;
    prompts += request.prompt;
  }
  const int64_t passes = std::max(tokens / scenario.n_seq, prompts / input.limits.ubatch);
  const auto refuse = [&](int64_t amount, std::string_view what, int64_t most) {
    problems.push_back(
        {.path = "requests",
         .message = fmt::format("the run would take {} {} at least, more than the {} simulated",
                                format_count(amount), what, format_count(most)),
         .hint = "give fewer or shorter requests"});
  };
  if (tokens > kMostServedTokens) refuse(tokens, "tokens", kMostServedTokens);
  if (passes > kMostServedPasses) refuse(passes, "passes", kMostServedPasses);
}

}  // namespace

Result<ServingInput> serving_input(const Scenario& scenario, const MemoryPlan& plan) {
  Diagnostics problems;
  check_choices(scenario, plan, problems);
  Result<std::vector<Request>> requests = requests_of(scenario);
  if (!requests) {
    problems.insert(problems.end(), requests.diagnostics().begin(), requests.diagnostics().end());
  }
  if (!problems.empty()) return problems;
  ServingInput input{.requests = std::move(requests).value()};
  input.limits = {.most_running = scenario.n_seq,
                  .ubatch = std::max<int64_t>(scenario.n_ubatch.count(), 1),
                  .whole_context = !scenario.kv_in_blocks};
  check_pool(scenario, plan, input, problems);
  check_work(scenario, input, problems);
  if (!problems.empty()) return problems;
  return input;
}

}  // namespace tidemark
