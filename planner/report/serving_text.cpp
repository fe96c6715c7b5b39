#include <fmt/core.h>

#include "planner/base/units.h"
#include "planner/report/sections.h"

namespace tidemark {
namespace {

std::string percentiles(const std::optional<IntervalFacts>& times) {
  if (!times) return "-";
  return fmt::format("{} / {} / {}", format_duration(times->p50), format_duration(times->p90),
                     format_duration(times->p99));
}

}  // namespace

std::string serving_section(const ServingFacts& serving) {
  std::string out = paragraph(
      "Requests",
      fmt::format("{} of {} served, {} at most together; {} tokens made ({} requests/s), {} of "
                  "prompts computed in {} passes",
                  format_count(serving.completed), format_count(serving.requests),
                  format_count(serving.most_running), format_count(serving.generated_tokens),
                  format_rate(serving.requests_per_second), format_count(serving.prefilled_tokens),
                  format_count(serving.prefill_passes)));
  out += paragraph(
      "Latency", fmt::format("p50 / p90 / p99: first token {}, between tokens {}, "
                             "whole request {}",
                             percentiles(serving.first_token), percentiles(serving.between_tokens),
                             percentiles(serving.end_to_end)));
  std::string pool = fmt::format(
      "{} of {} blocks of {} tokens ({}) held at most; {} held on average, {} of it "
      "unused",
      format_count(serving.peak_blocks), format_count(serving.pool_blocks),
      format_count(serving.block_tokens), format_bytes(serving.block),
      format_bytes(serving.mean_held), percent(serving.waste_per_mille));
  if (serving.prefix_tokens > 0) {
    pool += fmt::format("; {} tokens shared", format_count(serving.prefix_tokens));
  }
  if (serving.preemptions > 0) {
    pool += fmt::format("; {} preemptions, {} tokens to compute again",
                        format_count(serving.preemptions), format_count(serving.lost_tokens));
  }
  return out + paragraph("KV pool", pool);
}

}  // namespace tidemark
