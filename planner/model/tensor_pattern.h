// Picks tensors by name, as llama-quantize's --tensor-type does: a regular expression that may
// match anywhere in the name, in lower case.
//
//   attn_v            every value projection (and attn_v_b, and blk.0.attn_v.bias)
//   blk\.([0-3])\.ffn_down    the down projections of the first four layers
// Understood: letters, digits, . [set] [^set] \d \. (a|b) * + ? ^ $. Repetitions in braces are
// refused. Matching takes time proportional to pattern x name, whatever the pattern.
// Source: llama.cpp tools/quantize/quantize.cpp and src/llama-quant.cpp (ECMAScript search).
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/result.h"

namespace tidemark {

class TensorPattern {
 public:
  TensorPattern() = default;  // found in every name

  // Refuses what is longer than 200 characters, nests deeper than 20 or is not understood.
  static Result<TensorPattern> parse(std::string_view text);

  bool found_in(std::string_view name) const;
  const std::string& text() const { return text_; }
  bool operator==(const TensorPattern& other) const { return text_ == other.text_; }

  // A step of the compiled pattern; jumps are relative to the step.
  enum class Op { kSet, kBoth, kJump, kBegin, kEnd };
  struct Step {
    Op op = Op::kJump;
    std::bitset<128> set{};  // kSet: the characters it takes
    int64_t jump = 1;        // kJump; kBoth: the other way besides the next step
  };

 private:
  std::string text_{};
  std::vector<Step> steps_{};
};

}  // namespace tidemark
