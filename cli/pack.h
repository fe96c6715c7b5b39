// tidemark pack: offset assignment alone.
#pragma once

#include <optional>
#include <string>

#include "options.h"

namespace tidemark::cli {

struct PackCommand {
  std::string file{};
  std::string planner = "portfolio";
  std::optional<std::string> capacity{};  // bytes as a bare number or with a unit
  bool minimize = false;                  // go on below the capacity
  double time_limit = 0;                  // seconds; 0 = none, nodes alone limit the search
  int64_t nodes = 1'000'000;
  uint64_t seed = 0;
  std::string svg_file{};
  bool map = false;
  OutputOptions output{};
};

int run_pack(const PackCommand& command);

}  // namespace tidemark::cli
