// What an importer hands back: the spec, and everything it had to decide or could not use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/model/model_spec.h"

namespace tidemark {

// A key the file leaves out, and what its class takes then.
struct AppliedDefault {
  std::string key{};    // "tie_word_embeddings"
  std::string value{};  // "true"
  std::string why{};    // "GemmaConfig's default"
  bool operator==(const AppliedDefault&) const = default;
};

// A part of the file that the model's own parameters do not explain: a tied head stored again, a
// buffer, block scales. `elements` may be negative (a head the class has and the files lack).
struct StoredDifference {
  std::string what{};  // "lm_head.weight, tied and stored again"
  int64_t elements = 0;
  Bytes bytes{};  // of |elements| in their own type
  bool operator==(const StoredDifference&) const = default;
};

// What the files of a checkpoint hold, as far as it can be told.
struct StoredSize {
  int64_t elements = 0;  // by our count: parameters plus the differences
  Bytes bytes{};
  std::optional<Bytes> stated_bytes{};  // as the index or the files themselves say
  std::vector<StoredDifference> differences{};
  bool operator==(const StoredSize&) const = default;
};

struct ImportedModel {
  ModelSpec model{};
  std::string format{};  // "config.json", "GGUF v3", "safetensors"
  std::vector<AppliedDefault> defaults{};
  std::vector<std::string> warnings{};  // full sentences, each shown to the user
  std::optional<StoredSize> stored{};
  bool operator==(const ImportedModel&) const = default;
};

struct ImportOptions {
  // Take an architecture nobody here knows for a dense Llama-like decoder, with a warning, instead
  // of refusing it.
  bool assume_dense = false;
};

}  // namespace tidemark
