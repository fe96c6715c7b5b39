// Bugs, and only bugs. A CHECK states what must hold whatever the user wrote; no input file can
// reach one.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tidemark {

// Thrown by CHECK. Caught once in main (exit code 3) and once in the window's run controller.
class InternalError : public std::logic_error {
 public:
  InternalError(std::string_view what, std::source_location where);
};

// Throws InternalError naming `where` unless `holds`.
void check(bool holds, std::string_view what,
           std::source_location where = std::source_location::current());

}  // namespace tidemark
