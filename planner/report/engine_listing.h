// What `tidemark list engines` prints: the profiles, and what the runtimes they stand for can do,
// each cell with its source. In text the sources are numbered in the order of their first use:
//
//   vLLM        profile paged
//   weights     FP8, INT8, INT4 [1]
//   paging      blocks of 16 tokens [2]
//   ...
//   Sources     [1] docs.vllm.ai, features/quantization
//               [2] docs.vllm.ai, api/vllm/config/cache
//   Checked by EngineListingTest.WorkedInTheHeader.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "planner/engine/engine_profile.h"
#include "planner/report/tables.h"

namespace tidemark {

// One profile that could be read, or the first problem of one that could not.
struct ListedEngine {
  std::string name{};
  std::string version{};
  std::string summary{};
  std::vector<RuntimeFeatures> features{};
};

// Lines of at most kPageWidth columns, words that are longer excepted.
std::string engines_to_text(std::span<const ListedEngine> engines);

// A row for each runtime, one for a profile that stands for none; "weights" and "weights_source",
// and so on.
Listing engine_rows(std::span<const ListedEngine> engines);

// tidemark.list/1: a row for each profile, and "features": a list of {"engine", "runtime",
// "weights": {"value", "source"}, ...}.
std::string engines_to_json(std::span<const ListedEngine> engines);

}  // namespace tidemark
