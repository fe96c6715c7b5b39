// A whole file of weights: every matrix into every format and back, and what it costs.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "planner/base/result.h"
#include "planner/model/tensor_pattern.h"
#include "planner/report/quant_report.h"
#include "sim/quant/quant_scheme.h"
#include "sim/quant/range_rule.h"
#include "sim/quant/tensor_file.h"

namespace tidemark {

// What is asked for, before it is read: the texts of the flags.
struct QuantRequest {
  std::string to = "int8,int4,q8_0,q4_0";
  std::string granularity = "channel";  // tensor, channel, group=N
  std::string range = "minmax";         // minmax, percentile=P, mse
  bool asymmetric = false;
  std::string tensors{};  // a pattern of names; empty: all
};

struct QuantPlan {
  std::vector<QuantScheme> schemes{};  // in the order asked for, none twice
  RangeRule rule{};
  TensorPattern pattern{};
  std::string granularity{};  // the four as the report shows them
  std::string range{};
  bool asymmetric = false;
  std::vector<std::string> notes{};
};

// Granularity and zero point turn bare int8 and int4 into the planner's format of that kind; other
// names say theirs. Errors, all at once, each by its flag: an unknown or unmeasurable format, one
// named twice, a granularity the planner has no format for, a percentile that is none, a bad
// pattern.
Result<QuantPlan> read_quant_request(const QuantRequest& request);

struct QuantizeOptions {
  // Runs independent tasks; absent: one after the other. The result is the same.
  std::function<void(std::span<const std::function<void()>>)> run_all{};
  std::function<bool()> stop{};  // called from any thread
  // Bytes read, of all that will be: each matrix once, or, where a format has one scale for all of
  // it, twice. Called from one thread at a time.
  std::function<void(int64_t done, int64_t total)> progress{};
};

struct QuantizeOutcome {
  QuantReport report{};
  bool interrupted = false;  // the report is empty
};

// `name` is what the report calls the file. Errors: a pattern that finds no name; values that
// cannot be read.
Result<QuantizeOutcome> quantize_file(const std::string& name, const TensorFile& file,
                                      const QuantPlan& plan, const QuantizeOptions& options);

}  // namespace tidemark
