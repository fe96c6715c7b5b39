// What ollama's planner set aside for the graph, as its log prints it (memory.graph.full and
// .partial): formulas of the model's widths alone, until the planner was given up in November 2025.
//
//   llama, Llama-3-8B, context 8,192, batch 512: full = 4 B x 512 x (1 + 4 x 4,096 + 8,192 x 33) =
//   587,204,608 B = 560.0 MiB; partial = 4 x 512 x 4,096 + 4 x 512 x (4,096 + 128,256) +
//   4,096 x 128,256 x 105 / 128 = 677.5 MiB
//   Checked by OllamaGraphTest.WorkedInTheHeader.
//
// Source: ollama/ollama, GraphSize in llm/ggml.go and fs/ggml/ggml.go, and the choice between both
// in llm/memory.go, at releases from 2024 to f560bd077.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "planner/model/model_spec.h"

namespace tidemark {

struct OllamaPlanned {
  int64_t n_ctx = 0;  // of all sequences together
  int64_t n_batch = 512;
  std::optional<int64_t> kv{};     // bytes of its own figure for the cache
  std::optional<int64_t> month{};  // year x 12 + month - 1
  int64_t cards = 1;
  bool metal = false;
};

struct OllamaGraph {
  std::optional<int64_t> full{};  // every layer on a card
  std::optional<int64_t> partial{};
  std::string reason{};  // why one of them is not there
};

// Nothing, and a reason, for mixtures and for what it reads of tensors that a log does not show.
OllamaGraph ollama_graph(const ModelSpec& model, const OllamaPlanned& planned);

}  // namespace tidemark
