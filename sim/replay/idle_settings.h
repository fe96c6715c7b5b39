// Settings that were given and change nothing in a replay, so that nobody takes it for an answer
// about them. One sentence a reason:
//
//   --n-gpu-layers, --mlock: no effect on this replay, heeded by engines of llama.cpp alone
// And those that change predicted times while the replay does what it always does:
//
//   --read-size: heeded by the predicted times alone; here a unit is read in one piece
//
// What the replay cannot do at all is refused instead (replay_input.h).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "planner/capacity/scenario.h"

namespace tidemark {

// Of scenarios that are replayed together: what has an effect on one of them is left out. `timed`:
// times are compared as well, which more settings change.
std::vector<std::string> idle_settings(std::span<const Scenario> scenarios, bool timed);

}  // namespace tidemark
