// The settings of how weights come from storage: chunk, read_size, read_depth, read_order,
// initialise, load_overlap, prefetch, page_cache. What is not stated is not recorded, so that
// reports name only what was asked for.
#pragma once

#include "planner/capacity/scenario.h"
#include "planner/config/setting_reader.h"

namespace tidemark {

void read_load_choices(SettingReader& read, bool is_layer_list, LoadChoices& load);

// kv_growth and kv_block: how the cache of a run comes to be. `scenario`: its engine is resolved.
void read_kv_growth(SettingReader& read, Scenario& scenario);

}  // namespace tidemark
