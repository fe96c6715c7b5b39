// A calibration as a device file: every value with how its repeats spread in a comment behind it.
#pragma once

#include <string>

#include "planner/report/tables.h"
#include "sim/calibrate/calibrate.h"

namespace tidemark {

// Loads (planner/config/load_device.cpp) as exactly calibration.device.
std::string to_yaml(const Calibration& calibration);
// Each measured number as a row: what, median, least, most, spread, repeats.
Listing listing_of(const Calibration& calibration);

// Exact, so that what is read back is equal: "12.34 GB/s", "98.7 GOPS", "1.25 us", "3 GiB", "5 B".
std::string exact_text(Bytes value);
std::string exact_text(BytesPerSecond value);
std::string exact_text(OpsPerSecond value);
std::string exact_text(Duration value);

}  // namespace tidemark
