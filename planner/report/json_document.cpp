#include "planner/report/json_document.h"

#include <algorithm>
#include <string_view>

namespace tidemark {
namespace {

// Printable ASCII that needs no escape.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

void add_text(std::string_view text, std::string& out) {
  if (is_plain(text)) {
    out += '"';
    out += text;
    out += '"';
    return;
  }
  // Names may hold anything; invalid UTF-8 becomes U+FFFD instead of an exception.
  out += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void add_scalar(const Json& value, std::string& out) {
  if (value.is_string()) return add_text(value.get_ref<const std::string&>(), out);
  if (value.is_number_integer() && !value.is_number_unsigned()) {
    out += std::to_string(value.get<int64_t>());
    return;
  }
  out += value.dump();
}

bool holds_only_scalars(const Json& value) {
  for (const Json& member : value) {
    if (member.is_structured()) return false;
  }
  return true;
}

class Printer {
 public:
  explicit Printer(std::span<const JsonRows> rows) : rows_(rows) {}

  std::string take(const Json& document) && {
    print(document, 0, false);
    return std::move(out_) + "\n";
  }

 private:
  void print(const Json& value, int indent, bool as_row) {
    if (!value.is_structured()) {
      add_scalar(value, out_);
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
    out_ += value.is_array() ? '[' : '{';
    const size_t begin = out_.size();
    if (value.is_array()) {
      for (const Json& member : value) {
        next(begin, indent);
        print(member, indent + 2, members_are_rows);
      }
    } else {
      for (const auto& [key, member] : value.get_ref<const Json::object_t&>()) {
        next(begin, indent);
        add_text(key, out_);
        out_ += ": ";
        print_value(key, member, indent + 2, members_are_rows);
      }
    }
    if (indent >= 0) new_line(indent);
    out_ += value.is_array() ? ']' : '}';
  }

  void print_value(std::string_view key, const Json& value, int indent, bool as_row) {
    const auto rows = std::ranges::find(rows_, key, &JsonRows::key);
    if (key == "settings") {
      print_members(value, indent, true);
    } else if (rows != rows_.end() && rows->count > 0 && indent == 2) {
      print_rows(*rows, indent);
    } else {
      print(value, indent, as_row);
    }
  }

  void print_rows(const JsonRows& rows, int indent) {
    out_ += '[';
    const size_t begin = out_.size();
    for (size_t i = 0; i < rows.count; ++i) {
      next(begin, indent);
      print(rows.row(i), indent + 2, true);
    }
    new_line(indent);
    out_ += ']';
  }

  // To where a member of what began at `begin` stands.
  void next(size_t begin, int indent) {
    const bool is_first = out_.size() == begin;
    if (indent < 0) {
      out_ += is_first ? "" : ", ";
      return;
    }
    if (!is_first) out_ += ',';
    new_line(indent + 2);
  }

  void new_line(int indent) {
    out_ += '\n';
    out_.append(static_cast<size_t>(indent), ' ');
  }

  std::span<const JsonRows> rows_;  // of the document itself
  std::string out_{};
};

}  // namespace

std::string printed(const Json& document) { return Printer({}).take(document); }

std::string printed(const Json& document, std::span<const JsonRows> rows) {
  return Printer(rows).take(document);
}

}  // namespace tidemark
