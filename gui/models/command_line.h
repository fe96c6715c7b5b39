// The command that prints the numbers the window shows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gui/models/scenario_settings.h"

namespace tidemark {

// The arguments behind the program's name: verb, MODEL, --scenario, then the flag of every edit.
//   plan minicpm-2b --quant int4 --budget "2 GiB"   ->  {"plan", "minicpm-2b", "--quant", ...}
std::vector<std::string> command_arguments(std::string_view verb, const SettingLayers& layers);

// The same as one line for a shell, each argument quoted where it must be:
//   tidemark plan minicpm-2b --quant int4 --budget '2 GiB'
std::string command_line(std::string_view verb, const SettingLayers& layers);

}  // namespace tidemark
