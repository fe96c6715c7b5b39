// The settings that only llama.cpp heeds, read beside the scenario's others.
#pragma once

#include "planner/capacity/scenario.h"
#include "planner/config/setting_reader.h"

namespace tidemark {

// `scenario`: its device, engine, quantization and context are resolved. Problems go to the reader.
LlamaChoices read_llama_choices(SettingReader& read, const Scenario& scenario);

// The width that a cache type's blocks must divide: one head's, or the whole latent of MLA; 0 where
// nothing is cached.
int64_t cached_row(const LayerSpec& layer, bool is_key);

}  // namespace tidemark
