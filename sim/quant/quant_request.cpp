// The texts of the flags of `tidemark quant`.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "planner/base/units.h"
#include "sim/quant/quantize_file.h"

namespace tidemark {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else if (c != ' ') {
      parts.back() += c;
    }
  }
  return parts;
}

struct Scales {
  Granularity granularity = Granularity::kChannel;
  int64_t group = 0;
};

std::optional<Scales> read_granularity(std::string_view text) {
  if (text == "tensor") return Scales{.granularity = Granularity::kTensor};
  if (text == "channel") return Scales{.granularity = Granularity::kChannel};
  constexpr std::string_view kGroup = "group=";
  if (!text.starts_with(kGroup)) return std::nullopt;
  const Parsed<int64_t> group = parse_integer(text.substr(kGroup.size()));
  const int64_t* columns = std::get_if<int64_t>(&group);
  if (columns == nullptr) return std::nullopt;
  return Scales{.granularity = Granularity::kGroup, .group = *columns};
}

std::optional<RangeRule> read_range(std::string_view text) {
  if (text == "minmax") return RangeRule{};
  if (text == "mse") return RangeRule{.kind = RangeKind::kMse};
  constexpr std::string_view kPercentile = "percentile=";
  if (!text.starts_with(kPercentile)) return std::nullopt;
  const Parsed<double> read = parse_ratio(text.substr(kPercentile.size()));
  const double* percentile = std::get_if<double>(&read);
  const bool written_as_ratio = text.find('%') != std::string_view::npos;
  if (percentile == nullptr || written_as_ratio || *percentile <= 50 || *percentile > 100) {
    return std::nullopt;
  }
  return RangeRule{.kind = RangeKind::kPercentile, .percentile = *percentile};
}

class RequestReader {
 public:
  explicit RequestReader(const QuantRequest& request) : request_(request) {}

  Result<QuantPlan> read() {
    scales_ = read_granularity(request_.granularity);
    if (!scales_) {
      refuse("--granularity", fmt::format("{} is none", in_quotes(request_.granularity)),
             "write tensor, channel or group=64");
    }
    if (const std::optional<RangeRule> rule = read_range(request_.range)) {
      plan_.rule = *rule;
    } else {
      refuse("--range", fmt::format("{} is none", in_quotes(request_.range)),
             "write minmax, mse or percentile=99.9, above 50 and at most 100");
    }
    if (!request_.tensors.empty()) read_pattern();
    for (const std::string& name : split(request_.to)) add_format(name);
    if (!problems_.empty()) return problems_;
    describe();
    return std::move(plan_);
  }

 private:
  void refuse(std::string flag, std::string message, std::string hint) {
    problems_.push_back(
        {.path = std::move(flag), .message = std::move(message), .hint = std::move(hint)});
  }

  void read_pattern() {
    const Result<TensorPattern> pattern = TensorPattern::parse(request_.tensors);
    if (pattern) {
      plan_.pattern = *pattern;
      return;
    }
    for (const Diagnostic& problem : pattern.diagnostics()) {
      refuse("--tensors", problem.path + ": " + problem.message, problem.hint);
    }
  }

  void add_format(const std::string& name) {
    const std::optional<DType> named = parse_dtype(name);
    if (!named || !quant_scheme(*named)) {
      return refuse(
          "--to",
          named ? fmt::format("the error of {} cannot be measured here", name_of(*named))
                : fmt::format("{} is no format", in_quotes(name)),
          "these can: f16, bf16, Q8_0, Q4_0, int8 and int4, also with their scales in the "
          "name: int8_tensor, int4_g64, int4_g128_zp");
    }
    const bool is_bare = *named == DType::kInt8 || *named == DType::kInt4;
    bare_ = bare_ || is_bare;
    named_ = named_ || (!is_bare && quant_scheme(*named)->method == QuantScheme::Method::kInteger);
    const std::optional<DType> dtype = is_bare ? with_scales(*named) : named;
    if (!dtype) return;
    if (std::ranges::find(plan_.schemes, *dtype, &QuantScheme::dtype) != plan_.schemes.end()) {
      return refuse("--to", fmt::format("{} is asked for twice", name_of(*dtype)), "");
    }
    plan_.schemes.push_back(*quant_scheme(*dtype));
  }

  // int8 -> int8_g64_zp. None, with a problem: the planner has no such format.
  std::optional<DType> with_scales(DType bare) {
    if (!scales_) return std::nullopt;
    const IntegerFormat format{.bits = bare == DType::kInt8 ? 8 : 4,
                               .asymmetric = request_.asymmetric};
    const auto dtype = integer_dtype(format, scales_->granularity, scales_->group);
    if (!dtype && !group_refused_) {
      group_refused_ = true;
      refuse("--granularity", fmt::format("no format has groups of {}", scales_->group),
             "there are groups of 32, 64 and 128");
    }
    return dtype;
  }

  void describe() {
    const bool integers = std::ranges::any_of(plan_.schemes, [](const QuantScheme& scheme) {
      return scheme.method == QuantScheme::Method::kInteger;
    });
    if (bare_ && !named_) plan_.granularity = request_.granularity;
    if (integers) plan_.range = request_.range;
    plan_.asymmetric = bare_ && request_.asymmetric;
    const QuantRequest usual;
    const bool scales_asked = request_.granularity != usual.granularity || request_.asymmetric;
    if (!bare_ && scales_asked) {
      plan_.notes.emplace_back(
          "Neither int8 nor int4 is asked for: --granularity and --asymmetric do nothing.");
    }
    if (!integers && request_.range != usual.range) {
      plan_.notes.emplace_back("No integer format is asked for: --range does nothing.");
    }
  }

  const QuantRequest& request_;
  QuantPlan plan_{};
  Diagnostics problems_{};
  std::optional<Scales> scales_{};
  bool bare_ = false;   // int8 or int4 is among the formats
  bool named_ = false;  // an integer format whose name says its scales is
  bool group_refused_ = false;
};

}  // namespace

Result<QuantPlan> read_quant_request(const QuantRequest& request) {
  return RequestReader(request).read();
}

}  // namespace tidemark
