// A config.json read, with what only the comparison to the files beside it needs.
#pragma once

#include "planner/import/hf/config_reader.h"
#include "planner/import/imported_model.h"

namespace tidemark {

struct HfImport {
  ImportedModel imported{};
  ConfigNotes notes{};
};

// As parse_hf_config; notes.text is a view of `text`.
Result<HfImport> import_hf_config(const std::string& file, std::string_view text,
                                  const ImportOptions& options);

}  // namespace tidemark
