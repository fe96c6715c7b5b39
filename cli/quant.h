// tidemark quant: size against error of real weights in other formats.
#pragma once

#include <string>

#include "options.h"
#include "sim/quant/quantize_file.h"

namespace tidemark::cli {

struct QuantCommand {
  std::string file{};
  QuantRequest request{};
  int64_t top = 0;  // 0: all, in file order
  int threads = 0;  // 0: all
  OutputOptions output{};
};

int run_quant(const QuantCommand& command);

// Everything but the flags all verbs share.
void add_quant_flags(CLI::App& verb, QuantCommand& command);

}  // namespace tidemark::cli
