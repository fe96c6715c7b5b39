#include "planner/alloc/exact_part.h"

#include <algorithm>

namespace tidemark::exact {
namespace {

constexpr size_t kChunk = size_t{1} << 18;
constexpr size_t kGrain = alignof(std::max_align_t);

}  // namespace

void* Stack::take_bytes(size_t count) {
  count = (count + kGrain - 1) / kGrain * kGrain;
  if (chunk_ < chunks_.size() && chunks_[chunk_].size - used_ < count) {
    ++chunk_;
    used_ = 0;
    // A later chunk that is too small for this is of no use below it either.
    if (chunk_ < chunks_.size() && chunks_[chunk_].size < count) chunks_.resize(chunk_);
  }
  if (chunk_ == chunks_.size()) {
    const size_t size = std::max(count, kChunk);
    chunks_.push_back({std::make_unique_for_overwrite<std::byte[]>(size), size});
    used_ = 0;
  }
  void* place = chunks_[chunk_].bytes.get() + used_;
  used_ += count;
  return place;
}

}  // namespace tidemark::exact
