#include "sim/memory/kv_growth.h"

#include <algorithm>

#include "planner/base/check.h"

namespace tidemark {

KvBuffer::KvBuffer(KvBufferOptions options) : options_(options) {
  check(options.step.count() >= 1 && options.longest.count() >= 1, "a buffer holds a token");
  if (options.growth == KvGrowth::kLongest) reserved_ = options.longest.count();
}

KvGrown KvBuffer::append(Tokens tokens) {
  check(tokens.count() >= 0, "a number of tokens");
  KvGrown grown{.reserved = reserved_, .peak = reserved_};
  if (tokens.count() > options_.longest.count() - length_) return grown;
  grown.done = true;
  if (length_ + tokens.count() > reserved_) {
    grown.copied = length_;
    grown.reserved = piece_for(length_ + tokens.count());
    grown.peak = reserved_ + grown.reserved;
    reserved_ = grown.reserved;
  }
  length_ += tokens.count();
  return grown;
}

int64_t KvBuffer::piece_for(int64_t length) const {
  const int64_t step = options_.step.count();
  const int64_t longest = options_.longest.count();
  if (options_.growth == KvGrowth::kSteps) {
    const int64_t steps = (length - 1) / step + 1;
    return steps > longest / step ? longest : steps * step;
  }
  int64_t piece = std::min(std::max(reserved_, step), longest);
  while (piece < length) piece = piece > longest / 2 ? longest : 2 * piece;
  return piece;
}

}  // namespace tidemark
