// Lines of llama.cpp that describe the model: read into a run. Shared by its reader and its tests.
#pragma once

#include <string_view>

#include "planner/compare/logged_run.h"

namespace tidemark {

// "n_head_kv        = 8": what print_info and llm_load_print_meta say.
void read_model_line(std::string_view body, int64_t line, LoggedRun& run);

// "- type q4_K:  193 tensors", "- kv  4: llama.block_count u32 = 32",
// "- tensor 0: token_embd.weight q4_K [ 4096, 32000, 1, 1 ]".
void read_loader_line(std::string_view body, LoggedRun& run);

}  // namespace tidemark
