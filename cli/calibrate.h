// tidemark calibrate: this machine as a device file.
#pragma once

#include <string>

#include "options.h"

namespace CLI {
class App;
}

namespace tidemark::cli {

struct CalibrateCommand {
  std::string scratch{};  // empty = TMPDIR, or /tmp
  std::string size{};     // empty = the default
  int repeats = 0;        // 0 = the default
  std::string threads{};  // "1,4"; empty = 1 and all cores
  bool quick = false;
  std::string format = "yaml";  // yaml, json or table
  OutputOptions output{};
};

void add_calibrate_flags(CLI::App& verb, CalibrateCommand& command);
int run_calibrate(const CalibrateCommand& command);

}  // namespace tidemark::cli
