// The cases of public_logs/cases.yaml as logged runs: figures, settings and dimensions as stated,
// the wording of an age from what the case says of its build.
#pragma once

#include <string>
#include <vector>

#include "planner/compare/logged_run.h"

namespace tidemark {

struct PublicCase {
  std::string id{};
  std::string engine{};
  std::string version{};
  std::string model{};
  bool is_llama_family = false;  // prints buffers as llama.cpp does
  std::string incomplete{};      // what a prediction would need and the case does not state
  LoggedRun run{};
};

// All cases of the file; none if it cannot be read.
std::vector<PublicCase> public_cases(const std::string& file);

}  // namespace tidemark
