// Two ways to know the lowest peak of a small problem without the planners: painting every
// placement on a grid of instants and addresses, and asking the SAT solver MiniSat. Neither uses
// conflict(), occupied_intervals() or anything else of planner/alloc but the problem itself.
//
//   Both look at instants 0..kInstants-1 and addresses 0..kAddresses-1 one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "planner/alloc/problem.h"

namespace tidemark {

inline constexpr int64_t kInstants = 16;
inline constexpr int64_t kAddresses = 128;

// From the definition: within its life and in none of its gaps, with a size above 0.
bool needs_memory_at(const Buffer& buffer, int64_t instant);

// The largest sum of sizes of buffers that need memory at one instant.
int64_t load_instant_by_instant(const Problem& problem);

// The lowest peak of all plans; nothing when fixed offsets allow none. For up to 7 buffers, or some
// more that are crowded.
//
// Fixed buffers are painted first, then the others in every order of rising offset, each at the
// lowest address that is free. No plan is missed that matters: of the optimal plans take one with
// the least sum of offsets and place its free buffers anew in order of offset. Each finds its old
// place free, for those before it have not moved up, so each ends no higher than it stood; as the
// sum can not fall, each ends just there.
std::optional<int64_t> optimum_by_painting(const Problem& problem);

// The problem as clauses, DIMACS: variable (b, a) says that buffer b stands at address a. Each
// stands somewhere, and of two places that share a byte at a shared instant at most one is taken.
std::string clauses(const Problem& problem, int64_t capacity);

// Is MiniSat installed?
bool has_sat_solver();

// What MiniSat says of clauses(). Throws std::runtime_error when it says nothing.
bool fits_by_sat(const Problem& problem, int64_t capacity);

}  // namespace tidemark
