// The settings `threads` and `cores`: how much of the device a run computes with.
#pragma once

#include "planner/capacity/device_spec.h"
#include "planner/config/setting_reader.h"

namespace tidemark {

// Leaves of the device what is in use (planner/capacity/cores.h). A device without `cores` stays as
// it is, and reports say so.
void read_cores(SettingReader& read, DeviceSpec& device);

}  // namespace tidemark
