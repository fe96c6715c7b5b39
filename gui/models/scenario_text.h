// The settings of the window as a scenario file.
#pragma once

#include <string>
#include <string_view>

#include "planner/config/settings.h"

namespace tidemark {

// The text of a setting; where that is a relative path, the whole path, so that it may stand in
// another file or in none.
//   in /a/s.yaml   model: m/x.yaml    ->  /a/m/x.yaml         model: minicpm-2b  ->  minicpm-2b
std::string text_with_whole_path(std::string_view key, const SettingText& setting);

// In the order of the settings table, one a line.
//   model minicpm-2b, budget "2 GiB"  ->  schema: scenario/1
//                                         model: minicpm-2b
//                                         budget: "2 GiB"
// Law: parse_scenario() of it has the same texts, paths made whole (control characters, which no
// setting may hold, are refused as anywhere). Checked by
// ScenarioText.ReadsBackAsItWas.
std::string scenario_text(const SettingMap& settings);

// Writes it; empty when done.
Diagnostics save_scenario(const std::string& file, const SettingMap& settings);

}  // namespace tidemark
