// The settings of where weights lie and who shares them: split, processes, expert_cache, hot_rows,
// cold_rows, bundle. What is not stated is not recorded. Whether a choice suits the model and the
// strategy is checked where the run is made (sim/strategy/run_input.h).
#pragma once

#include "planner/capacity/residency_choices.h"
#include "planner/config/setting_reader.h"

namespace tidemark {

ResidencyChoices read_residency(SettingReader& read);

}  // namespace tidemark
