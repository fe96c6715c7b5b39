// Predictions for the terms of a run, by engine. Each function fills `predicted`, `judged` and,
// where nothing can be said, `reason` of the terms, which come with kind, device and logged figure.
#pragma once

#include "planner/compare/compare_log.h"

namespace tidemark {

struct PredictInput {
  const LoggedRun& run;  // with the settings given by flags
  const ModelSpec& model;
  const LoggedWeights& weights;
  Comparison& out;  // settings, missing, notes
};

// What to predict otherwise, to see whether it explains a difference.
struct LlamaVariant {
  std::string why{};
  std::optional<bool> flash{};
  std::optional<int64_t> n_outputs{};
  std::optional<bool> swa_full{};
  std::optional<bool> indexed_rows{};
  std::optional<bool> unused_embeddings{};
  std::optional<bool> embeddings{};
  std::optional<int64_t> n_seq_factor{};
  std::optional<int64_t> copies{};
};

void predict_llama(const PredictInput& input, const LlamaVariant& variant,
                   std::vector<ComparedTerm>& terms);
void predict_ollama(const PredictInput& input, std::vector<ComparedTerm>& terms);
void predict_vllm(const PredictInput& input, std::vector<ComparedTerm>& terms);
void predict_whisper(const PredictInput& input, std::vector<ComparedTerm>& terms);
void predict_meminfo(const PredictInput& input, std::vector<ComparedTerm>& terms);

// A number of the settings; else `fallback`, and the report says so. 0 as fallback: it is missing.
int64_t setting_or(const PredictInput& input, std::string_view key, int64_t fallback,
                   std::string_view why);
// A cache type of the settings, f16 where nothing is said.
std::optional<DType> cache_type(const PredictInput& input, std::string_view key);

}  // namespace tidemark
