// The pieces of text that the single report and the comparison share. Each ends with a newline.
#pragma once

#include <span>
#include <string>

#include "planner/report/layout.h"
#include "planner/report/report.h"

namespace tidemark {

// "minicpm-2b on phone-8gb", each name on one line.
std::string subject(const ModelFacts& model, const DeviceFacts& device);

// The lines every text begins with: model, device, engine and every resolved setting under where it
// came from.
//   Settings   flags: model=minicpm-2b, quant=int4
//              defaults: batch_size=2048, ubatch_size=512
std::string model_line(const ModelFacts& model);
std::string settings_section(std::span<const Setting> settings);

// "sample-phone: total 3.00 GiB - system 512 MiB = available 2.50 GiB"
std::string device_line(const DeviceFacts& device);
// "2.25 GiB (available - margin), margin 256 MiB"
std::string limit_line(const DeviceLimit& limit);
// Which of the device's numbers are estimates; "" when none is.
std::string estimates_line(const DeviceFacts& device);
std::string notes_section(std::span<const std::string> notes);

// Each part in tenths of a per cent, rounded so that they add up to exactly 1000 (largest
// remainders get what is left); all zero when the total is. Parts 1, 1, 1 -> 334, 333, 333. Checked
// by TextTest.SharesAddUp.
std::vector<int64_t> shares_per_mille(const Breakdown& memory);

// "45.2 %"
std::string percent(int64_t per_mille);

// Rows for the six parts, a rule and the total: name, exact bytes, rounded size, share, note.
// `notes` has one entry a part, or none at all.
Table breakdown_table(const Breakdown& memory, const std::vector<std::string>& notes);

// Requests, their latency, the pool of the KV cache.
std::string serving_section(const ServingFacts& serving);

// "8.13", "2.00", "0.0421", "1234": three significant digits, no exponent for what people meet.
std::string format_rate(double per_second);
// "0.25", "n/a"
std::string format_hit_rate(const std::optional<double>& rate);

}  // namespace tidemark
