// Plain tables: what `tidemark list` and the sweep print. First column left, numbers right-aligned.
#pragma once

#include <string>
#include <vector>

namespace tidemark {

struct Listing {
  std::vector<std::string> columns{};
  std::vector<std::vector<std::string>> rows{};  // each as long as `columns`
};

std::string to_text(const Listing& listing);
std::string to_csv(const Listing& listing);       // RFC 4180
std::string to_markdown(const Listing& listing);  // pipes escaped
// {"schema": "tidemark.list/1", "tool_version", "list": what, "rows": [{column: cell}]}; cells are
// strings.
std::string to_json(const Listing& listing, const std::string& what);

}  // namespace tidemark
