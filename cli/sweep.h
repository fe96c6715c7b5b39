// tidemark sweep: what its command line says.
#pragma once

#include <string>

#include "options.h"

namespace tidemark::cli {

struct SweepCommand {
  std::string file{};          // a sweep file by name or path; empty = flags alone
  ScenarioOptions scenario{};  // flags of several values are axes
  int threads = 0;             // 0 = all cores
  std::string store{};         // -o; empty = a temporary one, whose rows are printed
  std::string format{};        // empty = table, and only without a store
  OutputOptions output{};      // quiet and color
};

struct SweepShowCommand {
  std::string store{};
  std::string format = "table";
  OutputOptions output{};
};

int run_sweep_verb(const SweepCommand& command);
int run_sweep_show(const SweepShowCommand& command);

}  // namespace tidemark::cli
