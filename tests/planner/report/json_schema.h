// A document against one of the published schemas.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tidemark::testing {

// "" when `document` obeys docs/reference/schemas/NAME.schema.json.
std::string schema_problem(const std::string& name, const nlohmann::json& document);

}  // namespace tidemark::testing
