// The requests that a run serves: read from a trace or drawn by chance, in order of arrival.
//
//   arrival_ms,prompt,generate,prefix,prefix_tokens
//   0,900,20,chat,512          prompts of one prefix begin with the same tokens: 512 of "chat"
//   12.5,700,40,chat,512
//   13,80,10,,                 none
//
// The header names the columns, in any order; the last two may be missing. A line that begins with
// # is a comment. Checked by RequestsTest.WorkedInTheHeader.
//
// Drawn requests come apart by exponential times, and a length of mean m is one of 1 .. 2m - 1,
// each as likely. The exponential numbers are von Neumann's: uniform numbers are drawn as long as
// they fall; when an odd number of them did, the first is the fraction, else the whole part grows
// by one and all begins again. Comparisons only, so the same on every machine. Source: von Neumann,
// "Various techniques used in connection with random digits" (1951).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/ids.h"
#include "planner/base/quantity.h"
#include "planner/base/result.h"
#include "planner/capacity/scenario.h"

namespace tidemark {

inline constexpr int64_t kMostRequests = 1'000'000;
inline constexpr int64_t kMostRequestTokens = int64_t{1} << 24;  // of a prompt, of an answer

struct Request {
  SimTime arrival{};
  int64_t prompt = 1;         // tokens, one at least
  int64_t generate = 1;       // one at least
  int64_t prefix = -1;        // which of the prefixes, numbered as they first come; -1 = none
  int64_t prefix_tokens = 0;  // of the prompt; less than all of it
  bool operator==(const Request&) const = default;
};

// In order of arrival, equal ones as they stand. `file` is only used in positions.
Result<std::vector<Request>> parse_requests(const std::string& file, std::string_view text);

struct RequestDraw {
  int64_t count = 1;
  int64_t per_million_seconds = 1'000'000;  // on average
  Tokens prompt{1};                         // means
  Tokens generate{1};
  uint64_t seed = 0;
};
std::vector<Request> draw_requests(const RequestDraw& draw);

// Those of scenario.serving, each of which fits the context of a sequence.
Result<std::vector<Request>> requests_of(const Scenario& scenario);

}  // namespace tidemark
