// Is a text well-formed XML, as far as this project's pictures use it: elements, attributes in
// double quotes, text and the five named or numbered entities? Written from the grammar, sharing no
// code with the writers.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::testing {

// "" when well-formed, else what is wrong and where.
std::string xml_problem(std::string_view text);

}  // namespace tidemark::testing
