// Flags and examples of `tidemark simulate`, beside those of every scenario.
#include <CLI/CLI.hpp>

#include "options.h"
#include "stated.h"

namespace tidemark::cli {

void add_simulate_flags(CLI::App& verb, SimulateOptions& options) {
  verb.add_option("--svg", options.svg_file, "Write the memory curve as a picture")
      ->option_text("FILE")
      ->check(stated());
  verb.add_option("--curve", options.curve_file, "Write the curve of one run as CSV")
      ->option_text("FILE")
      ->check(stated());
  verb.add_option("--trace", options.trace_file, "Write the events of one run for ui.perfetto.dev")
      ->option_text("FILE")
      ->check(stated());
  verb.add_flag("--allocators", options.allocators,
                "Compare heap allocators on the tensors of a pass instead of simulating");
  verb.add_option("--experts", options.expert_slots,
                  "Compare caches of so many experts a layer instead of simulating")
      ->option_text("SLOTS");
  verb.footer(
      "Examples:\n"
      "  tidemark simulate minicpm-2b --quant int4 --strategy resident,layerwise,double-buffer\n"
      "  tidemark simulate llama-2-7b --quant int4 --device iphone-13-pro --enforce\n"
      "  tidemark simulate minicpm-2b --allocators\n"
      "  tidemark simulate qwen3-30b-a3b --quant int4 --experts 16\n"
      "  tidemark simulate --scenario demo-lru --json\n"
      "  tidemark simulate minicpm-2b --quant int4 --requests 200:0.5 -np 8 -c 8192 --kv-growth "
      "blocks\n"
      "Exit code 1 when no requested strategy completes within the limit.");
}

}  // namespace tidemark::cli
