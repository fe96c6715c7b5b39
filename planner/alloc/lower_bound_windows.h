// The searching part of lower_bound.h: parts of a problem that do not fit at the best bound so far.
#pragma once

#include "planner/alloc/lower_bound.h"

namespace tidemark {

// Raises `bound`, of a plain problem whose fixed offsets do not clash, as lower_bound.h says.
void raise_by_windows(const Problem& problem, const LowerBoundOptions& options, LowerBound& bound);

}  // namespace tidemark
