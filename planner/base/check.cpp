#include "planner/base/check.h"

#include <fmt/core.h>

namespace tidemark {

InternalError::InternalError(std::string_view what, std::source_location where)
    : std::logic_error(fmt::format("{}:{}: {}", where.file_name(), where.line(), what)) {}

void check(bool holds, std::string_view what, std::source_location where) {
  if (!holds) throw InternalError(what, where);
}

}  // namespace tidemark
