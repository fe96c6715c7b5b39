#include "planner/report/json_document.h"

namespace tidemark {
namespace {

std::string scalar_text(const Json& value) {
  // Names may hold anything; invalid UTF-8 becomes U+FFFD instead of an exception.
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool holds_only_scalars(const Json& value) {
  for (const Json& member : value) {
    if (member.is_structured()) return false;
  }
  return true;
}

class Printer {
 public:
  std::string take(const Json& document) && {
    print(document, 0, false);
    return std::move(out_) + "\n";
  }

 private:
  void print(const Json& value, int indent, bool as_row) {
    if (!value.is_structured()) {
      out_ += scalar_text(value);
    } else if (value.empty()) {
      out_ += value.is_array() ? "[]" : "{}";
    } else if (value.is_array()) {
      print_members(value, indent, true);
    } else {
      print_members(value, as_row && holds_only_scalars(value) ? -1 : indent, false);
    }
  }

  // A negative indent means: all on this line.
  void print_members(const Json& value, int indent, bool members_are_rows) {
    const bool one_line = indent < 0;
    const std::string line = one_line ? "" : "\n" + std::string(static_cast<size_t>(indent), ' ');
    out_ += value.is_array() ? "[" : "{";
    bool first = true;
    for (const auto& [key, member] : value.items()) {
      if (!first) out_ += one_line ? ", " : ",";
      first = false;
      out_ += line + (one_line ? "" : "  ");
      if (value.is_object()) out_ += scalar_text(key) + ": ";
      if (key == "settings") {
        print_members(member, indent + 2, true);
      } else {
        print(member, indent + 2, members_are_rows);
      }
    }
    out_ += line + (value.is_array() ? "]" : "}");
  }

  std::string out_;
};

}  // namespace

std::string printed(const Json& document) { return Printer().take(document); }

}  // namespace tidemark
