#include "planner/import/byte_reader.h"

#include <algorithm>
#include <cstring>

namespace tidemark {
namespace {

constexpr int64_t kBlock = 64 * 1024;

}  // namespace

ByteReader::ByteReader(ByteSource& source, int64_t limit)
    : source_(source), end_(std::min(source.size(), limit)), limited_(source.size() > limit) {}

bool ByteReader::fail_at_end() {
  state_ = limited_ ? State::kLimit : State::kEnd;
  return false;
}

bool ByteReader::refill() {
  block_.resize(static_cast<size_t>(std::min(kBlock, end_ - offset_)));
  block_begin_ = offset_;
  if (source_.read(offset_, block_)) return true;
  block_.clear();
  state_ = State::kUnreadable;
  return false;
}

bool ByteReader::bytes(std::span<std::byte> into) {
  if (static_cast<int64_t>(into.size()) > remaining()) return fail_at_end();
  const int64_t begin = offset_;
  while (!into.empty()) {
    const int64_t block_end = block_begin_ + static_cast<int64_t>(block_.size());
    if ((offset_ < block_begin_ || offset_ >= block_end) && !refill()) {
      offset_ = begin;
      return false;
    }
    const auto at = static_cast<size_t>(offset_ - block_begin_);
    const size_t count = std::min(into.size(), block_.size() - at);
    std::memcpy(into.data(), block_.data() + at, count);
    into = into.subspan(count);
    offset_ += static_cast<int64_t>(count);
  }
  return true;
}

bool ByteReader::skip(int64_t count) {
  if (count > remaining()) return fail_at_end();
  offset_ += count;
  return true;
}

}  // namespace tidemark
