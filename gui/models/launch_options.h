// The command line of tidemark-gui.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "planner/config/settings.h"

namespace tidemark {

struct LaunchOptions {
  std::vector<std::string> files{};  // to open, in order; a name that is no file is a model's
  std::vector<std::pair<std::string, std::string>> settings{};  // key, text
  std::string export_file{};                                    // empty = show the window
  int width = 1280;
  int height = 800;
  std::string theme = "system";  // system | light | dark
};

// Without the program's name. Every setting has the flags of the command line (--quant int4), and
// --set key=value.
Result<LaunchOptions> parse_launch_options(const std::vector<std::string>& arguments);

std::string launch_help();

}  // namespace tidemark
