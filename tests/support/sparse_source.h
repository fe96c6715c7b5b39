// Bytes of a whole file in memory: its head, and zeros that nobody stores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "planner/import/byte_source.h"

namespace tidemark {

class SparseSource : public ByteSource {
 public:
  SparseSource(std::string head, int64_t size) : head_(std::move(head)), size_(size) {}
  int64_t size() const override { return size_; }
  bool read(int64_t offset, std::span<std::byte> into) override {
    std::fill(into.begin(), into.end(), std::byte{0});
    const auto have = std::as_bytes(std::span(head_));
    if (offset >= static_cast<int64_t>(have.size())) return true;
    const auto from = have.subspan(static_cast<size_t>(offset));
    std::copy_n(from.begin(), std::min(from.size(), into.size()), into.begin());
    return true;
  }

 private:
  std::string head_;
  int64_t size_;
};

}  // namespace tidemark
