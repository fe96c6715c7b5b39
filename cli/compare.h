// tidemark compare: a pasted log of an engine against the prediction.
#pragma once

#include <string>

#include "options.h"

namespace tidemark::cli {

struct CompareCommand {
  std::string file{};
  std::string tolerance = "2 %";  // of the logged figure
  ScenarioOptions scenario{};     // flags alone: model, quant and settings instead of the log's
  OutputOptions output{};
};

int run_compare(const CompareCommand& command);

}  // namespace tidemark::cli
