#include "sim/strategy/requests.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>

#include "planner/base/units.h"
#include "sim/memory/draw.h"

namespace tidemark {
namespace {

constexpr size_t kMostProblems = 20;
constexpr size_t kMostFields = 16;
constexpr size_t kMostPrefixName = 200;
constexpr std::array<std::string_view, 5> kColumns = {"arrival_ms", "prompt", "generate", "prefix",
                                                      "prefix_tokens"};
enum Column : size_t { kArrival, kPrompt, kGenerate, kPrefix, kPrefixTokens };
constexpr const char* kShape =
    "a trace begins with arrival_ms,prompt,generate[,prefix,prefix_tokens]";

struct Field {
  std::string_view text{};
  int column = 1;  // of the file
};

std::vector<Field> fields_of(std::string_view line) {
  std::vector<Field> fields;
  size_t begin = 0;
  while (fields.size() <= kMostFields) {
    const size_t comma = std::min(line.find(',', begin), line.size());
    size_t first = begin;
    size_t last = comma;
    while (first < last && (line[first] == ' ' || line[first] == '\t')) ++first;
    while (last > first && (line[last - 1] == ' ' || line[last - 1] == '\t')) --last;
    fields.push_back({line.substr(first, last - first), static_cast<int>(first) + 1});
    if (comma == line.size()) break;
    begin = comma + 1;
  }
  return fields;
}

bool is_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Milliseconds with up to six decimals: whole nanoseconds, up to ten million seconds.
std::optional<Duration> milliseconds(std::string_view text) {
  const size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  const std::string_view decimals = point < text.size() ? text.substr(point + 1) : "0";
  if (!is_digits(whole) || !is_digits(decimals) || whole.size() > 10 || decimals.size() > 6) {
    return std::nullopt;
  }
  std::string digits = std::string(whole) + std::string(decimals);
  digits.append(6 - decimals.size(), '0');
  int64_t ns = 0;
  for (const char c : digits) ns = ns * 10 + (c - '0');
  return Duration::ns(ns);
}

class TraceReader {
 public:
  TraceReader(const std::string& file, std::string_view text) : file_(file), rest_(text) {}

  Result<std::vector<Request>> requests() {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
    while (!rest_.empty() && problems_.size() < kMostProblems) {
      const std::string_view line = next_line();
      if (line.empty() || line.front() == '#') continue;
      if (!places_) {
        read_header(line);
        if (!problems_.empty()) break;
      } else {
        read_request(line);
      }
    }
    if (problems_.empty() && requests_.empty()) {
      problem({}, "there are no requests", places_ ? "" : kShape);
    }
    if (!problems_.empty()) return problems_;
    std::stable_sort(requests_.begin(), requests_.end(),
                     [](const Request& a, const Request& b) { return a.arrival < b.arrival; });
    return std::move(requests_);
  }

 private:
  std::string_view next_line() {
    ++line_;
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  void problem(const Field& at, std::string message, std::string hint = "") {
    problems_.push_back({.where = {.file = file_, .line = line_, .column = at.column},
                         .path = "requests",
                         .message = std::move(message),
                         .hint = std::move(hint)});
  }

  void read_header(std::string_view line) {
    places_.emplace();
    places_->fill(std::nullopt);
    const std::vector<Field> fields = fields_of(line);
    width_ = fields.size();
    for (size_t i = 0; i < fields.size(); ++i) {
      const auto* name = std::find(kColumns.begin(), kColumns.end(), fields[i].text);
      if (name == kColumns.end()) {
        return problem(fields[i], fmt::format("{} is not a column", in_quotes(fields[i].text)),
                       kShape);
      }
      std::optional<size_t>& place = (*places_)[static_cast<size_t>(name - kColumns.begin())];
      if (place) return problem(fields[i], fmt::format("{} stands there twice", *name));
      place = i;
    }
    for (const Column needed : {kArrival, kPrompt, kGenerate}) {
      if (!(*places_)[needed]) {
        return problem({}, fmt::format("the column {} is missing", kColumns[needed]), kShape);
      }
    }
    if ((*places_)[kPrefix].has_value() != (*places_)[kPrefixTokens].has_value()) {
      problem({}, "prefix and prefix_tokens go together", kShape);
    }
  }

  const Field* field(const std::vector<Field>& fields, Column column) const {
    const std::optional<size_t> place = (*places_)[column];
    return place ? &fields[*place] : nullptr;
  }

  int64_t tokens(const Field& field, std::string_view what) {
    const Parsed<int64_t> parsed = parse_integer(field.text);
    const auto* count = std::get_if<int64_t>(&parsed);
    if (count != nullptr && *count >= 1 && *count <= kMostRequestTokens) return *count;
    problem(field, fmt::format("{} is not a number of tokens for {}", in_quotes(field.text), what),
            fmt::format("from 1 to {}", format_count(kMostRequestTokens)));
    return 1;
  }

  void read_request(std::string_view line) {
    const std::vector<Field> fields = fields_of(line);
    if (fields.size() != width_) {
      return problem({}, fmt::format("has {} fields, the header {}", fields.size(), width_));
    }
    if (static_cast<int64_t>(requests_.size()) == kMostRequests) {
      return problem({}, fmt::format("more than {} requests", format_count(kMostRequests)));
    }
    Request request;
    const Field& arrival = *field(fields, kArrival);
    if (const std::optional<Duration> time = milliseconds(arrival.text)) {
      request.arrival = *time;
    } else {
      problem(arrival, fmt::format("{} is not a time in milliseconds", in_quotes(arrival.text)),
              "such as 1500 or 0.25, with six decimals at most");
    }
    request.prompt = tokens(*field(fields, kPrompt), "prompt");
    request.generate = tokens(*field(fields, kGenerate), "generate");
    read_prefix(fields, request);
    requests_.push_back(request);
  }

  void read_prefix(const std::vector<Field>& fields, Request& request) {
    const Field* name = field(fields, kPrefix);
    const Field* length = field(fields, kPrefixTokens);
    if (name == nullptr || (name->text.empty() && length->text.empty())) return;
    if (name->text.empty() || length->text.empty() || name->text.size() > kMostPrefixName) {
      return problem(*name, "prefix and prefix_tokens go together",
                     "give a short name and a number of tokens, or leave both empty");
    }
    request.prefix_tokens = tokens(*length, "prefix_tokens");
    if (request.prefix_tokens >= request.prompt) {
      problem(*length,
              fmt::format("a prefix of {} tokens is not shorter than the prompt of {}",
                          request.prefix_tokens, request.prompt),
              "the last token of a prompt is always computed");
    }
    const auto next = static_cast<int64_t>(prefixes_.size());
    request.prefix = prefixes_.emplace(name->text, next).first->second;
  }

  const std::string& file_;
  std::string_view rest_;
  int line_ = 0;
  size_t width_ = 0;
  std::optional<std::array<std::optional<size_t>, kColumns.size()>> places_{};
  std::map<std::string_view, int64_t> prefixes_{};
  std::vector<Request> requests_{};
  Diagnostics problems_{};
};

// An exponential number of mean 1, in parts of 2^32.
int64_t draw_exponential(std::mt19937_64& bits) {
  constexpr uint64_t kOne = uint64_t{1} << 32;
  for (uint64_t whole = 0;; ++whole) {
    const uint64_t first = draw_below(bits, kOne);
    uint64_t last = first;
    int64_t fallen = 1;
    for (uint64_t next = draw_below(bits, kOne); next < last; next = draw_below(bits, kOne)) {
      last = next;
      ++fallen;
    }
    if (fallen % 2 == 1) return static_cast<int64_t>(whole * kOne + first);
  }
}

int64_t draw_length(std::mt19937_64& bits, int64_t mean) {
  return 1 + static_cast<int64_t>(draw_below(bits, static_cast<uint64_t>(2 * mean - 1)));
}

}  // namespace

Result<std::vector<Request>> parse_requests(const std::string& file, std::string_view text) {
  return TraceReader(file, text).requests();
}

std::vector<Request> draw_requests(const RequestDraw& draw) {
  __extension__ using Wide = __int128;
  std::mt19937_64 bits(draw.seed);
  std::vector<Request> requests;
  requests.reserve(static_cast<size_t>(draw.count));
  // Nanoseconds times the rate, so that rounding does not add up.
  Wide time = 0;
  constexpr Wide kPerRequest = Wide{1'000'000'000} * 1'000'000;
  for (int64_t i = 0; i < draw.count; ++i) {
    const Wide arrival = ((time * kPerRequest) >> 32) / draw.per_million_seconds;
    if (arrival > std::numeric_limits<int64_t>::max()) {
      throw std::overflow_error("a request arrives after the end of time");
    }
    const int64_t prompt = draw_length(bits, std::max<int64_t>(draw.prompt.count(), 1));
    const int64_t generate = draw_length(bits, std::max<int64_t>(draw.generate.count(), 1));
    requests.push_back({.arrival = Duration::ns(static_cast<int64_t>(arrival)),
                        .prompt = prompt,
                        .generate = generate});
    time += draw_exponential(bits);
  }
  return requests;
}

Result<std::vector<Request>> requests_of(const Scenario& scenario) {
  const ServingChoices& serving = scenario.serving;
  Result<std::vector<Request>> requests =
      serving.count > 0 ? draw_requests({.count = serving.count,
                                         .per_million_seconds = serving.per_million_seconds,
                                         .prompt = scenario.prompt,
                                         .generate = scenario.generate,
                                         .seed = scenario.seed})
                        : parse_requests(serving.file, serving.text);
  if (!requests) return requests;
  const int64_t cells = scenario.cells_per_sequence();
  int64_t longest = 0;
  for (const Request& request : *requests) {
    longest = std::max(longest, request.prompt + request.generate - 1);
  }
  if (longest <= cells) return requests;
  return one_error("requests",
                   fmt::format("the longest needs {} cells, a sequence has {}",
                               format_count(longest), format_count(cells)),
                   fmt::format("raise ctx_size to {}", checked_mul(longest, scenario.n_stream())));
}

}  // namespace tidemark
