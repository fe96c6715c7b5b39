// Widths for which that engine has no graph: it would stop at an assertion.
//
//   48 values of a recurrence shared out among 5 heads: "layer 3: 5 heads do not divide d_inner 48"
//   Checked by GraphFaultsTest.WorkedInTheHeader.
#pragma once

#include <string>

#include "planner/model/model_spec.h"

namespace tidemark {

// Empty when there is none.
std::string graph_fault(const TransformerSpec& spec);

}  // namespace tidemark
