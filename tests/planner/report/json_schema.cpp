#include "json_schema.h"

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "support/golden.h"

namespace tidemark::testing {

std::string schema_problem(const std::string& name, const nlohmann::json& document) {
  const nlohmann::json schema_text = nlohmann::json::parse(
      slurp(std::string(TIDEMARK_SOURCE_DIR) + "/docs/reference/schemas/" + name + ".schema.json"));
  valijson::Schema schema;
  valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_text),
                                          schema);
  valijson::ValidationResults results;
  valijson::Validator validator;
  if (validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), &results))
    return "";
  valijson::ValidationResults::Error error;
  std::string problem = "does not obey " + name;
  while (results.popError(error)) problem += "\n" + error.description;
  return problem;
}

}  // namespace tidemark::testing
