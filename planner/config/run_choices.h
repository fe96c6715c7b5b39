// Settings of a simulated run: the requests it serves, what it gives up when memory runs short.
#pragma once

#include "planner/config/setting_reader.h"

namespace tidemark {

// requests, kv_pool. A trace is read here, so that the scenario is the whole of a run.
void read_serving(SettingReader& read, ServingChoices& serving);
// adapt, in the order stated.
std::vector<AdaptAction> read_adapt(SettingReader& read);

}  // namespace tidemark
