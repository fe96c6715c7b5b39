// The settings of an offload run: offload and batches.
#pragma once

#include "planner/capacity/scenario.h"
#include "planner/config/setting_reader.h"

namespace tidemark {

// `scenario`: its device is resolved. Nothing is recorded when offload is not stated.
void read_offload(SettingReader& read, Scenario& scenario);

}  // namespace tidemark
