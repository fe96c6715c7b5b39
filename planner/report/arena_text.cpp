#include "planner/report/arena_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "planner/base/units.h"
#include "planner/report/escape.h"
#include "planner/report/layout.h"

namespace tidemark {
namespace {

std::string words_of(std::string status) {
  std::replace(status.begin(), status.end(), '_', ' ');
  return status;
}

// "0 B, 0.0 %" over the lower bound; half a tenth is rounded up.
std::string gap_text(const ArenaFacts& arena) {
  const Bytes gap = arena.peak - arena.lower_bound;
  if (arena.lower_bound <= Bytes{}) return format_bytes(gap);
  return fmt::format(
      "{} ({:.1f} %)", format_bytes(gap),
      100.0 * static_cast<double>(gap.count()) / static_cast<double>(arena.lower_bound.count()));
}

std::string reuse_text(const ArenaFacts& arena) {
  if (arena.peak <= Bytes{}) return format_bytes(arena.no_reuse);
  return fmt::format(
      "{} without reuse, {:.1f} times as much", format_bytes(arena.no_reuse),
      static_cast<double>(arena.no_reuse.count()) / static_cast<double>(arena.peak.count()));
}

std::string order_text(const OrderFacts& order) {
  const std::string least = order.is_optimal
                                ? "no order needs less"
                                : "none needs less than " + format_bytes(order.lower_bound);
  if (order.load == order.program_load) {
    return fmt::format("ops in program order, load {}: {}", format_bytes(order.load), least);
  }
  return fmt::format("ops ordered for memory: load {}, in program order {}; {}",
                     format_bytes(order.load), format_bytes(order.program_load), least);
}

// "blk.0.scores, 288 MiB: 4,096 cells x 512 tokens x 36 heads of f32".
std::string largest_text(const TensorFacts& largest) {
  std::string text =
      fmt::format("largest there: {}, {}", one_line(largest.name), format_bytes(largest.bytes));
  return largest.shape.empty() ? text : text + ": " + one_line(largest.shape);
}

// Empty where there is one phase, or all are alike.
std::string phases_text(const std::vector<PhaseFacts>& phases) {
  const bool differ = std::ranges::any_of(
      phases, [&](const PhaseFacts& phase) { return phase.peak != phases.front().peak; });
  if (!differ) return "";
  std::string text;
  for (const PhaseFacts& phase : phases) {
    text += fmt::format("{}{} {}", text.empty() ? "phases in turn: " : ", ", one_line(phase.name),
                        format_bytes(phase.peak));
    if (!phase.input.empty()) text += fmt::format(" ({})", one_line(phase.input));
  }
  return text;
}

// "ubatch_size x 2: compute 43.6 MiB (+21.8 MiB); the same with ctx_size x 2".
std::string scaling_text(const PlanReport& report) {
  std::string text;
  std::string same;
  for (const ArenaScaling& scaling : report.arena.scalings) {
    std::string terms;
    const auto add = [&](std::string_view term, Bytes now, Bytes then) {
      if (now == then) return;
      terms += fmt::format("{}{} {} ({})", terms.empty() ? "" : ", ", term, format_bytes(then),
                           format_signed_bytes(then - now));
    };
    add("compute", report.memory.compute, scaling.compute);
    add("output", report.memory.output, scaling.output);
    if (terms.empty()) {
      same +=
          fmt::format("{}{}", same.empty() ? "the same with " : " or ", one_line(scaling.change));
    } else {
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", one_line(scaling.change), terms);
    }
  }
  if (same.empty()) return text;
  return text.empty() ? same : text + "; " + same;
}

}  // namespace

std::string arena_section(const PlanReport& report) {
  const ArenaFacts& arena = report.arena;
  if (arena.buffers == 0) return paragraph("Arena", "no activations to place");
  std::string out = paragraph(
      "Arena", fmt::format("{} placed by {}: {} in {} buffers over {} steps", one_line(arena.phase),
                           one_line(arena.planner), format_bytes(arena.peak),
                           format_count(arena.buffers), format_count(arena.steps)));
  out += paragraph("", fmt::format("lower bound {}, gap {}: {}", format_bytes(arena.lower_bound),
                                   gap_text(arena), words_of(one_line(arena.status))));
  out +=
      paragraph("", fmt::format("fullest at step {}{}; {}", format_count(arena.peak_step),
                                arena.peak_op.empty() ? "" : " (" + one_line(arena.peak_op) + ")",
                                reuse_text(arena)));
  if (arena.largest) out += paragraph("", largest_text(*arena.largest));
  if (arena.order) out += paragraph("", order_text(*arena.order));
  for (const std::string& text : {phases_text(arena.phases), scaling_text(report)}) {
    if (!text.empty()) out += paragraph("", text);
  }
  return out;
}

}  // namespace tidemark
