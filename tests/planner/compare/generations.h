// Start-up logs as builds of different ages word them, written for these tests. The figures are
// those that public logs print (the case of each is named); everything else is what such a build
// would say around them.
#pragma once

#include <string>
#include <vector>

#include "planner/compare/logged_run.h"

namespace tidemark {

struct ExpectedTerm {
  TermKind kind = TermKind::kModel;
  std::string device{};
  double mib = 0;      // as the log prints it
  bool within = true;  // is our prediction within 2 % of it?
};

struct Generation {
  std::string id{};
  std::string version{};  // of llama.cpp or the fork, as its case states it
  LlamaWording wording = LlamaWording::kUnknown;
  std::string text{};
  std::vector<ExpectedTerm> terms{};
};

std::vector<Generation> generations();
std::vector<Generation> logs_of_2024();  // of which the first

}  // namespace tidemark
