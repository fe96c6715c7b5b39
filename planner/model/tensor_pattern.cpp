#include "planner/model/tensor_pattern.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace tidemark {
namespace {

using Op = TensorPattern::Op;
using Step = TensorPattern::Step;
using Program = std::vector<Step>;

constexpr size_t kLongest = 200;
constexpr int kDeepest = 20;

int64_t length(const Program& program) { return static_cast<int64_t>(program.size()); }

Step both(int64_t jump) { return {.op = Op::kBoth, .jump = jump}; }
Step jump_by(int64_t jump) { return {.op = Op::kJump, .jump = jump}; }

Program joined(Program first, const Program& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Step any_of(char from, char to) {
  Step step{.op = Op::kSet};
  for (int c = from; c <= to; ++c) step.set.set(static_cast<size_t>(c));
  return step;
}

// Recursive descent; every function reads its part and returns the program of it. Programs hold
// relative jumps only, so they can be strung together.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<Program> parse() {
    Program program = alternatives(0);
    if (!at_end()) fail("an unmatched )");
    return problem_.empty() ? std::optional(std::move(program)) : std::nullopt;
  }

  const std::string& problem() const { return problem_; }

 private:
  bool at_end() const { return place_ >= text_.size(); }
  char peek() const { return text_[place_]; }
  bool take(char wanted) {
    if (at_end() || peek() != wanted) return false;
    ++place_;
    return true;
  }

  void fail(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
    place_ = text_.size();
  }

  Program alternatives(int depth) {
    Program program = sequence(depth);
    while (take('|')) {
      const Program other = sequence(depth);
      Program choice = {both(length(program) + 2)};
      choice = joined(std::move(choice), program);
      choice.push_back(jump_by(length(other) + 1));
      program = joined(std::move(choice), other);
    }
    return program;
  }

  Program sequence(int depth) {
    Program program;
    while (!at_end() && peek() != '|' && peek() != ')') {
      program = joined(std::move(program), repeated(depth));
    }
    return program;
  }

  Program repeated(int depth) {
    Program program = atom(depth);
    while (!at_end() && (peek() == '*' || peek() == '+' || peek() == '?')) {
      const char sign = text_[place_++];
      const int64_t size = length(program);
      if (sign == '+') {
        program.push_back(both(-size));
        continue;
      }
      Program optional = {both(size + (sign == '*' ? 2 : 1))};
      program = joined(std::move(optional), program);
      if (sign == '*') program.push_back(jump_by(-(size + 1)));
    }
    return program;
  }

  Program atom(int depth) {
    const char c = text_[place_++];
    switch (c) {
      case '^':
        return {Step{.op = Op::kBegin}};
      case '$':
        return {Step{.op = Op::kEnd}};
      case '.':
        return {any_of(0, 127)};
      case '[':
        return {set()};
      case '\\':
        return {escape()};
      case '(':
        return group(depth + 1);
      case '{':
      case '}':
      case '*':
      case '+':
      case '?':
        fail(std::string("no meaning for ") + c + " there");
        return {};
      default:
        return {any_of(c, c)};
    }
  }

  Program group(int depth) {
    if (depth > kDeepest) {
      fail("too many parentheses inside each other");
      return {};
    }
    Program program = alternatives(depth);
    if (!take(')')) fail("an unmatched (");
    return program;
  }

  Step escape() {
    if (at_end()) {
      fail("nothing after \\");
      return {};
    }
    const char c = text_[place_++];
    if (c == 'd') return any_of('0', '9');
    if (std::isalnum(static_cast<unsigned char>(c))) fail(std::string("no meaning for \\") + c);
    return any_of(c, c);
  }

  Step set() {
    Step step{.op = Op::kSet};
    const bool inverted = take('^');
    while (!at_end() && peek() != ']') {
      const char from = text_[place_++];
      if (from == '\\') {
        step.set |= escape().set;
        continue;
      }
      char to = from;
      if (place_ + 1 < text_.size() && peek() == '-' && text_[place_ + 1] != ']') {
        to = text_[place_ + 1];
        place_ += 2;
      }
      if (to < from) fail("a range that runs backwards");
      step.set |= any_of(from, to).set;
    }
    if (!take(']')) fail("an unmatched [");
    if (inverted) step.set.flip();
    return step;
  }

  std::string_view text_{};
  size_t place_ = 0;
  std::string problem_{};
};

// The steps reachable without taking a character, as a set; every step is entered at most once.
class Threads {
 public:
  explicit Threads(const Program& program) : program_(&program), is_in_(program.size() + 1) {}

  void enter(size_t step, bool at_begin, bool at_end) {
    std::vector<size_t> open = {step};
    while (!open.empty()) {
      const size_t current = open.back();
      open.pop_back();
      if (is_in_[current]) continue;
      is_in_[current] = true;
      if (current == program_->size()) continue;
      const Step& next = (*program_)[current];
      const auto target = static_cast<size_t>(static_cast<int64_t>(current) + next.jump);
      if (next.op == Op::kJump || next.op == Op::kBoth) open.push_back(target);
      const bool holds = (next.op == Op::kBegin && at_begin) || (next.op == Op::kEnd && at_end);
      if (next.op == Op::kBoth || holds) open.push_back(current + 1);
    }
  }

  bool is_in(size_t step) const { return is_in_[step]; }
  bool finished() const { return is_in_[program_->size()]; }

 private:
  const Program* program_;
  std::vector<bool> is_in_;
};

bool takes(const Step& step, char c) {
  const auto code = static_cast<unsigned char>(c);
  return step.op == Op::kSet && code < 128 && step.set[code];
}

}  // namespace

Result<TensorPattern> TensorPattern::parse(std::string_view text) {
  const auto refused = [&](std::string what) {
    return one_error(in_quotes(text), "not a pattern of tensor names: " + what,
                     "write a part of the name (attn_v) or a regular expression without braces");
  };
  if (text.empty()) return refused("it is empty");
  if (text.size() > kLongest) return refused("longer than 200 characters");
  TensorPattern pattern;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 32 || code > 126) return refused("a character that no tensor name has");
    pattern.text_.push_back(static_cast<char>(std::tolower(code)));
  }
  Parser parser(pattern.text_);
  std::optional<Program> program = parser.parse();
  if (!program) return refused(parser.problem());
  pattern.steps_ = std::move(*program);
  return pattern;
}

bool TensorPattern::found_in(std::string_view name) const {
  Threads threads(steps_);
  for (size_t i = 0;; ++i) {
    threads.enter(0, i == 0, i == name.size());  // a match may begin anywhere
    if (threads.finished()) return true;
    if (i == name.size()) return false;
    Threads after(steps_);
    for (size_t step = 0; step < steps_.size(); ++step) {
      if (threads.is_in(step) && takes(steps_[step], name[i])) {
        after.enter(step + 1, false, i + 1 == name.size());
      }
    }
    std::swap(threads, after);
  }
}

}  // namespace tidemark
