// A naive machine that runs a schedule in an arena, to see whether any op would read what is no
// longer there. In place of data, every byte of a tensor holds the tensor's id.
//
//   arena of 8, s at 0, softmax writes p over s:   ssssssss -> p sssssss -> pp ssssss -> ... ->
//   pppppppp An op that reads s after that finds p: a fault.
//
// An op that may work in place goes element by element: it reads byte i of the inputs it streams
// (both of a sum or product, otherwise the first) and all of the others, then writes byte i of its
// output. Of any other op nothing is known about the order, so the worst is assumed: it writes all
// outputs before it reads anything.
#pragma once

#include <string>
#include <vector>

#include "planner/graph/schedule.h"
#include "planner/lifetime/live_ranges.h"

namespace tidemark {

// The first fault in words; empty when every op reads exactly what was written for it. offsets[i]
// is where buffers[i] stands.
std::string first_fault(const Graph& graph, const Schedule& schedule,
                        const std::vector<ArenaBuffer>& buffers, const std::vector<Bytes>& offsets);

}  // namespace tidemark
