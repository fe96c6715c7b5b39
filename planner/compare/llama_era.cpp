#include "planner/compare/llama_era.h"

namespace tidemark {
namespace {

// Sources, ggml-org/llama.cpp: pull requests 18898 (tokens and embeddings in one graph, January
// 2026), 14285 and 14959 (SET_ROWS, and by default, August 2025), 23764 (narrow mask, May 2026),
// 15662 (Q, K, V as
// views of their product, September 2025), 14158 (GLU, June 2025), 14363 (a cache for each
// sequence, July 2025), 13194 (cache of windows, May 2025), 18148 (head first, December 2025).
// Builds are those of the day, give or take some.
constexpr int64_t kBothInputs = 7780;
constexpr int64_t kIndexedRows = 6073;
constexpr int64_t kSeenParts = 6412;
constexpr int64_t kNarrowMask = 9400;
constexpr int64_t kGatedUnits = 5782;
constexpr int64_t kStreams = 5913;
constexpr int64_t kWindows = 5439;
constexpr int64_t kHeadFirst = 7550;
constexpr int64_t kBuffersByDevice = 1840;

LlamaEra by_build(int64_t build) {
  return {.unused_embeddings = build >= kBothInputs,
          .indexed_rows = build >= kIndexedRows,
          .wide_mask = build < kNarrowMask,
          .one_cache = build < kStreams,
          .window_cache = build >= kWindows,
          .head_first = build >= kHeadFirst,
          .copied_parts = build < kSeenParts,
          .gated_units = build >= kGatedUnits,
          .unknown_graph = build < kBuffersByDevice};
}

LlamaEra by_wording(LlamaWording wording) {
  const bool is_2026 = wording >= LlamaWording::k2026 || wording == LlamaWording::kUnknown;
  const bool summer = is_2026 || wording >= LlamaWording::kSummer2025;
  return {.unused_embeddings = is_2026,
          .indexed_rows = summer,
          .wide_mask = wording != LlamaWording::kUnknown,
          .one_cache = !summer,
          .window_cache = summer,
          .head_first = is_2026,
          .copied_parts = !is_2026 && wording <= LlamaWording::kSummer2025,
          .gated_units = summer,
          .unknown_graph = wording == LlamaWording::k2023};
}

}  // namespace

LlamaEra era_of(const LoggedRun& run) {
  LlamaEra era = run.build ? by_build(*run.build) : by_wording(run.wording);
  // The forks left at mid 2024.
  if (run.engine == LogEngine::kIkLlamaCpp) {
    era = by_wording(LlamaWording::k2024);
    era.fused_norms = true;
  }
  era.inputs_apart = run.find(TermKind::kInput) != nullptr;
  // Printed since June 2026, after the mask had become narrow.
  if (!run.build && run.settings.number("n_outputs_max")) era.wide_mask = false;
  if (run.settings.word("set_rows") == "off") era.indexed_rows = false;
  if (run.find(TermKind::kKvWindow) != nullptr || run.find(TermKind::kWindowCells) != nullptr) {
    era.window_cache = true;
  }
  return era;
}

}  // namespace tidemark
