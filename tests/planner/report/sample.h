// Small reports with round numbers that a reader can add up in the head.
#pragma once

#include "planner/report/replay_report.h"
#include "planner/report/report.h"

namespace tidemark::testing {

// A name that breaks a writer which forgets to escape: quote, comma, markup, pipe, line break, wide
// characters, an escape code for terminals and a byte that is no UTF-8.
std::string hostile_name();

// Weights 1 GiB, KV 512 MiB (4,096 tokens x 128 KiB), compute 256 MiB (192 + 64), output 64 MiB,
// runtime 192 MiB: 2 GiB in total on a 4 GiB device whose limit is 2.25 GiB: it fits with 256 MiB
// to spare. The arena is the five buffers of planner/alloc/problem.h.
PlanReport sample_plan();
// The same at twice the context and a budget of 2 GiB: 2.5 GiB in total, 512 MiB too much.
PlanReport sample_plan_over();
// With two textbook rows and a note.
PlanReport sample_plan_formula();

// Of an engine with a table of its own: weights 512 MiB mapped and 512 MiB repacked, and a runtime
// known only to within 64 MiB.
PlanReport sample_plan_llama();

// Loads 1 GiB in four steps of a second, computes, decodes two tokens and ends after 6 s.
SimReport sample_run();
// Holds 256 MiB of weights at a time, slower; reads everything for each pass.
SimReport sample_run_layerwise();
// A block cache that never hits and goes over the limit.
SimReport sample_run_over();

// Two steps with 100 and 300 MiB predicted, 300 MiB of weights come in the second; the arguments
// are what was measured.
ReplayReport sample_replay(Bytes first, Bytes second);

}  // namespace tidemark::testing
