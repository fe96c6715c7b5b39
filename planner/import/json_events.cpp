#include "planner/import/json_events.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "planner/import/foreign_begin.h"

namespace tidemark {
namespace {

// Counts what the parser has taken, for positions.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, int64_t* count) : at_(at), count_(count) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*count_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  int64_t* count_;
};

// The events of nlohmann's parser, whose names and types are given by it.
class Adapter : public nlohmann::json_sax<nlohmann::json> {
 public:
  Adapter(std::string_view text, int64_t first_byte, JsonHandler& handler, Problems& problems)
      : text_(text),
        first_(first_byte),
        next_(first_byte),
        handler_(handler),
        problems_(problems) {}

  int64_t* position() { return &next_; }

  bool null() override { return value({}); }
  bool boolean(bool) override { return value({}); }
  bool number_integer(int64_t number) override {
    return value({.kind = JsonKind::kInteger, .integer = number});
  }
  bool number_unsigned(uint64_t number) override {
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return value({.kind = JsonKind::kReal, .real = static_cast<double>(number)});
    }
    return number_integer(static_cast<int64_t>(number));
  }
  bool number_float(double number, const std::string& written) override {
    return value({.kind = JsonKind::kReal, .text = written, .real = number});
  }
  bool string(std::string& text) override { return value({.kind = JsonKind::kText, .text = text}); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(size_t) override { return open(JsonKind::kBeginObject); }
  bool start_array(size_t) override { return open(JsonKind::kBeginArray); }
  bool end_object() override { return close(JsonKind::kEndObject); }
  bool end_array() override { return close(JsonKind::kEndArray); }

  bool key(std::string& name) override {
    if (!seen_.back().insert(name).second) {
      problems_.add(name, byte(), "the key appears twice in one object");
    }
    path_.back() = name;
    return true;
  }

  bool parse_error(size_t, const std::string& token, const nlohmann::detail::exception&) override {
    // Only the end of what was read last: a token can be as long as the file.
    const size_t from = token.size() > 20 ? token.size() - 20 : 0;
    problems_.add("", byte(),
                  fmt::format("this is no JSON, after {}",
                              token.empty() ? "its begin" : printable(token.substr(from))),
                  hint_of_foreign(text_));
    return false;
  }

 private:
  int64_t byte() const { return std::max(first_, next_ - 1); }
  bool value(JsonEvent event) {
    event.byte = byte();
    handler_.on(event, path_);
    return true;
  }
  bool open(JsonKind kind) {
    if (static_cast<int64_t>(path_.size()) >= kDeepestJson) {
      problems_.add("", byte(), fmt::format("nested more than {} deep", kDeepestJson));
      return false;
    }
    value({.kind = kind});
    path_.emplace_back();
    seen_.emplace_back();
    return true;
  }
  bool close(JsonKind kind) {
    path_.pop_back();
    seen_.pop_back();
    return value({.kind = kind});
  }

  std::string_view text_;
  int64_t first_;
  int64_t next_;  // the first byte that the parser has not looked at
  JsonHandler& handler_;
  Problems& problems_;
  JsonPath path_{};
  std::vector<std::set<std::string>> seen_{};  // the keys of each open object
};

}  // namespace

bool parse_json(std::string_view text, int64_t first_byte, JsonHandler& handler,
                Problems& problems) {
  Adapter adapter(text, first_byte, handler, problems);
  int64_t ignored = 0;
  const CountingIterator begin(text.data(), adapter.position());
  const CountingIterator end(text.data() + text.size(), &ignored);
  return nlohmann::json::sax_parse(begin, end, &adapter);
}

}  // namespace tidemark
