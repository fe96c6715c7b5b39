#include "xml_check.h"

#include <fmt/core.h>

#include <cctype>
#include <set>
#include <vector>

namespace tidemark::testing {
namespace {

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == ':';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::string problem() {
    int roots = 0;
    while (at_ < text_.size() && problem_.empty()) {
      if (text_[at_] != '<') {
        characters(open_.empty() ? "outside" : "inside", '<');
      } else if (text_.substr(at_, 2) == "</") {
        end_tag();
      } else {
        if (open_.empty() && ++roots > 1) fail("a second root element");
        start_tag();
      }
    }
    if (problem_.empty() && !open_.empty()) fail("<" + open_.back() + "> is not closed");
    if (problem_.empty() && roots != 1) fail("no root element");
    return problem_;
  }

 private:
  void fail(const std::string& what) {
    if (problem_.empty()) problem_ = fmt::format("at byte {}: {}", at_, what);
  }

  bool take(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }

  std::string name() {
    const size_t first = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    if (at_ == first) fail("a name is missing");
    return std::string(text_.substr(first, at_ - first));
  }

  void skip_spaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  // Text or an attribute's value up to `end`.
  void characters(std::string_view where, char end) {
    while (at_ < text_.size() && text_[at_] != end && problem_.empty()) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '&') {
        entity();
        continue;
      }
      if (c == '<') fail("'<' in a value");
      if (c < 0x20 && c != '\n') fail("a control character");
      if (where == "outside" && c != '\n') fail("text outside the root element");
      ++at_;
    }
  }

  void entity() {
    const std::set<std::string, std::less<>> known{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    const size_t end = text_.find(';', at_);
    if (end == std::string_view::npos || !known.contains(text_.substr(at_, end + 1 - at_))) {
      return fail("an unknown entity");
    }
    at_ = end + 1;
  }

  void start_tag() {
    ++at_;
    const std::string element = name();
    std::set<std::string> attributes;
    for (skip_spaces(); problem_.empty() && at_ < text_.size(); skip_spaces()) {
      if (take("/>")) return;
      if (take(">")) return open_.push_back(element);
      if (!attributes.insert(name()).second) fail("an attribute is repeated");
      if (!take("=\"")) fail("=\" is missing");
      characters("value", '"');
      if (!take("\"")) fail("a value is not closed");
    }
    fail("<" + element + " is not ended");
  }

  void end_tag() {
    at_ += 2;
    const std::string element = name();
    if (open_.empty() || open_.back() != element) return fail("</" + element + "> closes nothing");
    open_.pop_back();
    if (!take(">")) fail("'>' is missing");
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<std::string> open_;
  std::string problem_;
};

}  // namespace

std::string xml_problem(std::string_view text) { return Reader(text).problem(); }

}  // namespace tidemark::testing
