// What `tidemark import` says of a file: the model, every total that needs no scenario, and what
// the importer had to decide.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "planner/base/result.h"
#include "planner/import/imported_model.h"
#include "planner/report/report.h"

namespace tidemark {

struct ImportReport {
  ModelFacts model{};
  std::string format{};        // "GGUF v3"
  std::string stored_as{};     // "bf16", "gptq4_g128", "as-stored"
  WeightParts weight_parts{};  // as stored
  Bytes kv_per_token{};        // at f16, layers without a window and with one alike
  Bytes kv_full_per_token{};   // of layers that see the whole context
  Bytes recurrent_per_sequence{};
  Bytes cross_per_sequence{};   // K and V of the encoder's states at f16
  int64_t context_trained = 0;  // 0 = unknown
  int64_t tensors = 0;
  int64_t elements = 0;               // parameters, and tables that nobody trains
  std::vector<std::string> towers{};  // "vision, 896 px: 256 tokens"
  std::vector<AppliedDefault> defaults{};
  std::vector<std::string> warnings{};
  std::optional<StoredSize> stored{};
};

// Everything that can be said without a device, a context or an engine. Refused when the stored
// format does not take the model's shapes. Throws std::overflow_error when a size leaves 63 bits.
Result<ImportReport> make_import_report(const ImportedModel& imported);

std::string to_text(const ImportReport& report);
std::string to_json(const ImportReport& report);

// The YAML of the model with what was decided above it, as comments.
std::string import_comments(const ImportedModel& imported);

}  // namespace tidemark
