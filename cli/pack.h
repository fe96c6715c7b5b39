// tidemark pack: offset assignment alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "options.h"

namespace CLI {
class App;
}

namespace tidemark::cli {

struct PackCommand {
  std::string file{};
  std::string planner = "portfolio";
  std::optional<std::string> capacity{};  // bytes as a bare number or with a unit
  std::vector<std::string> pools{};       // NAME or NAME=SIZE, in order
  std::optional<std::string> bank{};      // as capacity; a power of two
  bool minimize = false;                  // go on below the capacity
  double time_limit = 0;                  // seconds; 0 = none, nodes alone limit the search
  int64_t nodes = 1'000'000;
  std::string seed = "0";
  int threads = 0;  // 0: all
  std::string svg_file{};
  bool map = false;
  OutputOptions output{};
};

int run_pack(const PackCommand& command);

// Everything but the flags all verbs share.
void add_pack_flags(CLI::App& verb, PackCommand& command);

}  // namespace tidemark::cli
