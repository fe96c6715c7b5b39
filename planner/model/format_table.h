// The table behind formats(); its users include dtype.h.
#pragma once

#include <span>

#include "planner/model/dtype.h"

namespace tidemark {

std::span<const Format> format_table();

}  // namespace tidemark
