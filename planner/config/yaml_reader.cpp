// Text -> YamlNode. yaml-cpp delivers events; everything this project does not accept is refused as
// it comes by, so no alias is ever expanded and no tree grows past its bounds.
#include "planner/config/yaml_reader.h"

#include <fmt/core.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>

#include "planner/base/units.h"
#include "planner/config/yaml_node.h"

namespace tidemark {
namespace {

constexpr size_t kMostNesting = 50;
constexpr int64_t kMostValues = 1000000;  // keys count too
constexpr size_t kMostProblems = 100;

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

// Thrown by the event handler to leave the parser once a bound is passed; the problem is already
// recorded.
struct BoundPassed {};

class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(YamlDocument::Impl& document) : document_(document) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    add(node(YamlNode::Kind::kNull, mark));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "aliases are not read", "write the value out where it is needed");
    add(node(YamlNode::Kind::kRefused, mark));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    YamlNode scalar = node(YamlNode::Kind::kText, mark);
    scalar.is_quoted = tag == "!";
    scalar.text = value;
    if (std::any_of(value.begin(), value.end(), is_control)) {
      refuse(mark, fmt::format("{} contains control characters", in_quotes(value)),
             "write it on one line; fold long text with >-");
      scalar.kind = YamlNode::Kind::kRefused;
    }
    add(std::move(scalar));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::kList, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  // A list or mapping being filled.
  struct Frame {
    YamlNode node{};
    bool has_key = false;                      // a mapping's key has come, its value not yet
    bool keep = true;                          // false: the key was refused, drop its value
    YamlEntry entry{};                         // the key waiting for its value
    std::map<std::string, int> first_lines{};  // of keys, to name the first of two
  };

  YamlNode node(YamlNode::Kind kind, const YAML::Mark& mark) const {
    return {.kind = kind, .line = mark.line + 1, .column = mark.column + 1};
  }

  void refuse(const YAML::Mark& mark, std::string message, std::string hint) {
    document_.add(document_.at(mark.line + 1, mark.column + 1), path(), std::move(message),
                  std::move(hint));
  }

  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor == 0) return;
    refuse(mark, "anchors are not read", "write the value out where it is needed");
  }

  // "?" marks an untagged plain scalar or collection, "!" a quoted one.
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    refuse(mark, fmt::format("the tag {} is not read", in_quotes(tag)), "remove it");
  }

  std::string path() const {
    std::string path;
    for (const Frame& frame : frames_) {
      if (frame.node.kind == YamlNode::Kind::kList) {
        path += fmt::format("[{}]", frame.node.items.size());
      } else if (frame.has_key) {
        path = yaml_path(path, frame.entry.key);
      }
    }
    return path;
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (frames_.size() >= kMostNesting) {
      document_.add(document_.at(mark.line + 1, mark.column + 1), "",
                    fmt::format("nested deeper than {} levels", kMostNesting),
                    "no key of a configuration lies that deep: is a bracket not closed?");
      throw BoundPassed{};
    }
    frames_.push_back({.node = node(kind, mark)});
  }

  void close() {
    YamlNode done = std::move(frames_.back().node);
    frames_.pop_back();
    add(std::move(done));
  }

  void add(YamlNode value) {
    if (++values_ > kMostValues) {
      document_.add(document_.at(value.line, value.column), "",
                    fmt::format("more than {} values", format_count(kMostValues)));
      throw BoundPassed{};
    }
    if (frames_.empty()) {
      document_.root = std::move(value);
      document_.has_root = true;
      return;
    }
    Frame& frame = frames_.back();
    if (frame.node.kind == YamlNode::Kind::kList) {
      frame.node.items.push_back(std::move(value));
    } else if (!frame.has_key) {
      add_key(frame, value);
    } else {
      add_value(frame, std::move(value));
    }
  }

  void add_key(Frame& frame, const YamlNode& key) {
    frame.keep = accept_key(frame, key);
    frame.entry = {.key = key.text, .line = key.line, .column = key.column};
    frame.has_key = true;
  }

  bool accept_key(Frame& frame, const YamlNode& key) {
    const SourcePos where = document_.at(key.line, key.column);
    if (key.kind == YamlNode::Kind::kRefused) return false;
    if (key.kind != YamlNode::Kind::kText || key.text.empty()) {
      document_.add(where, path(), "a key must be plain text");
      return false;
    }
    if (key.text == "<<") {
      document_.add(where, path(), "merge keys are not read",
                    "write the keys out where they are needed");
      return false;
    }
    const auto [first, is_new] = frame.first_lines.emplace(key.text, key.line);
    if (!is_new) {
      document_.add(where, yaml_path(path(), key.text),
                    fmt::format("is given twice, first in line {}", first->second),
                    "keep one of the two");
    }
    return is_new;
  }

  static void add_value(Frame& frame, YamlNode value) {
    // A missing value is found at its key, not wherever the next text begins.
    if (value.kind == YamlNode::Kind::kNull) {
      value.line = frame.entry.line;
      value.column = frame.entry.column;
    }
    frame.entry.value = std::move(value);
    if (frame.keep) frame.node.entries.push_back(std::move(frame.entry));
    frame.has_key = false;
  }

  YamlDocument::Impl& document_;
  std::vector<Frame> frames_{};
  int64_t values_ = 0;
};

void parse(YamlDocument::Impl& document, std::string_view text) {
  std::istringstream stream{std::string(text)};
  TreeBuilder builder(document);
  try {
    YAML::Parser parser(stream);
    const bool found = parser.HandleNextDocument(builder);
    if (found && parser) {
      document.has_root = false;
      document.add({.file = document.file}, "", "text follows the end of the document",
                   "look for an unmatched bracket or an unquoted comma");
    }
  } catch (const BoundPassed&) {
    document.has_root = false;
  } catch (const YAML::Exception& error) {
    document.has_root = false;
    const bool placed = !error.mark.is_null();
    document.add(document.at(placed ? error.mark.line + 1 : 0, placed ? error.mark.column + 1 : 0),
                 "", "not valid YAML: " + error.msg, std::string(hint_of_syntax(error.msg)));
  }
}

}  // namespace

void YamlDocument::Impl::add(const SourcePos& where, std::string path, std::string message,
                             std::string hint) {
  overflowed = overflowed || problems.size() >= kMostProblems;
  if (overflowed) return;
  problems.push_back({.where = where,
                      .path = std::move(path),
                      .message = std::move(message),
                      .hint = std::move(hint)});
}

std::string yaml_path(const std::string& prefix, std::string_view key) {
  // in_quotes() escapes and shortens; a key stands without its quotes.
  const std::string shown = in_quotes(key);
  return (prefix.empty() ? "" : prefix + ".") + shown.substr(1, shown.size() - 2);
}

YamlDocument::YamlDocument(std::string file, std::string_view text)
    : impl_(std::make_unique<Impl>()) {
  impl_->file = std::move(file);
  if (text.size() > static_cast<size_t>(kMostConfigBytes.count())) {
    impl_->add({.file = impl_->file}, "",
               fmt::format("the text is longer than {}", format_bytes(kMostConfigBytes)));
    return;
  }
  if (refuse_bytes(*impl_, text) || refuse_markers(*impl_, text)) return;
  parse(*impl_, text);
  if (!impl_->has_root && impl_->problems.empty()) {
    impl_->add({.file = impl_->file}, "", "the file is empty",
               "the first line names the schema: model/1");
  }
}

YamlDocument::~YamlDocument() = default;

const Diagnostics& YamlDocument::diagnostics() const {
  Diagnostics& problems = impl_->problems;
  const auto position = [](const Diagnostic& d) {
    return std::tuple(d.where.line, d.where.column);
  };
  const auto listed = static_cast<std::ptrdiff_t>(std::min(problems.size(), kMostProblems));
  std::stable_sort(
      problems.begin(), problems.begin() + listed,
      [&](const Diagnostic& a, const Diagnostic& b) { return position(a) < position(b); });
  if (impl_->overflowed && problems.size() == kMostProblems) {
    problems.push_back(
        {.where = {.file = impl_->file},
         .message = fmt::format("more than {} problems; the rest is not listed", kMostProblems)});
  }
  return problems;
}

}  // namespace tidemark
