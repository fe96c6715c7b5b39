#include "sim/memory/free_chunks.h"

#include <iterator>

#include "planner/base/check.h"

namespace tidemark {

FreeChunks::FreeChunks(int64_t heap) { add(0, heap); }

std::optional<int64_t> FreeChunks::take(int64_t size, int64_t alignment) {
  for (auto fit = by_size_.lower_bound({size, 0}); fit != by_size_.end(); ++fit) {
    const auto [chunk_size, chunk] = *fit;
    const int64_t offset = (chunk + alignment - 1) & ~(alignment - 1);
    const int64_t end = chunk + chunk_size;
    if (offset > end - size) continue;
    remove(by_offset_.find(chunk));
    add(chunk, offset - chunk);
    add(offset + size, end - offset - size);
    return offset;
  }
  return std::nullopt;
}

void FreeChunks::give(int64_t offset, int64_t size) {
  const auto next = by_offset_.lower_bound(offset);
  int64_t end = offset + size;
  check(next == by_offset_.end() || next->first >= end, "what is given back was not free");
  if (next != by_offset_.begin()) {
    const auto before = std::prev(next);
    check(before->first + before->second <= offset, "what is given back was not free");
    if (before->first + before->second == offset) {
      offset = before->first;
      remove(before);
    }
  }
  if (next != by_offset_.end() && next->first == end) {
    end += next->second;
    remove(next);
  }
  add(offset, end - offset);
}

void FreeChunks::add(int64_t offset, int64_t size) {
  if (size == 0) return;
  by_offset_.emplace(offset, size);
  by_size_.emplace(size, offset);
  free_ += size;
}

std::map<int64_t, int64_t>::iterator FreeChunks::remove(
    std::map<int64_t, int64_t>::iterator chunk) {
  by_size_.erase({chunk->second, chunk->first});
  free_ -= chunk->second;
  return by_offset_.erase(chunk);
}

}  // namespace tidemark
