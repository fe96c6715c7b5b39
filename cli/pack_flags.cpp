#include <CLI/CLI.hpp>

#include "pack.h"
#include "stated.h"

namespace tidemark::cli {

void add_pack_flags(CLI::App& verb, PackCommand& command) {
  verb.add_option(
          "PROBLEM", command.file,
          "A .csv with id, lower and upper (or start and end), size; also alignment, gaps, "
          "offset, hint, group, group_offset, pool, not_in, apart, cost. Or a dump of a ggml "
          "graph (.tsv). Either may be packed with gzip")
      ->required();
  verb.add_option("--planner", command.planner, "What `tidemark list planners` shows [portfolio]")
      ->option_text("NAME");
  verb.add_option("--capacity", command.capacity,
                  "Is there a plan within SIZE? A bare number is bytes")
      ->option_text("SIZE");
  verb.add_option(
          "--pool", command.pools,
          "A memory of its own, to be filled before those named after it; no SIZE: no limit")
      ->option_text("NAME[=SIZE]")
      ->allow_extra_args(false);
  verb.add_option("--bank", command.bank,
                  "Buffers to be kept apart share no bank of SIZE, a power of two [1]")
      ->option_text("SIZE");
  verb.add_flag("--minimize", command.minimize, "Search on for the lowest peak");
  verb.add_option("--nodes", command.nodes, "Limit of the exact search [1000000]")
      ->option_text("N")
      ->check(CLI::Range(int64_t{0}, int64_t{1'000'000'000'000}));
  verb.add_option("--time-limit", command.time_limit,
                  "Seconds; the result then depends on the machine")
      ->option_text("S")
      ->check(CLI::Range(0.0, 1e6));
  verb.add_option("--threads", command.threads,
                  "Of the exact search; the result does not depend on them [all]")
      ->option_text("N")
      ->check(CLI::Range(1, 1024));
  verb.add_option("--seed", command.seed, "Seed of the disturbed orders [0]")->option_text("N");
  verb.add_option("--svg", command.svg_file, "Write the plan as a picture")
      ->option_text("FILE")
      ->check(stated());
  verb.add_flag("--map", command.map, "Draw the plan with letters");
  verb.footer(
      "Examples:\n"
      "  tidemark plan minicpm-2b --show problem | cut -d, -f1-5 > minicpm.csv && tidemark pack "
      "minicpm.csv --map\n"
      "  tidemark pack minicpm.csv --pool sram=16MiB --pool dram --svg minicpm.svg\n"
      "  tidemark pack A.1048576.csv --capacity 1048576 --json\n"
      "`--show problem` writes the plan's offsets too, which would fix every buffer: cut leaves "
      "them out.\n"
      "--format csv writes the problem back with a column of offsets.\n"
      "Exit code 1 when it is proved infeasible or nothing was found, 130 when interrupted.");
}

}  // namespace tidemark::cli
