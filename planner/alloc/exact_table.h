// States of the search that are known to fail, whoever met them first and in whatever order.
//
// A state is what the rest of a search depends on: for each item still to be placed its shape, the
// lowest offset it can have, and whether it may stand right there. A hash finds an entry; the whole
// key decides, so a proof never rests on a hash.
//
// Searches that run side by side share one table that none of them writes to, and write to one of
// their own on top of it; when all have ended, their finds are brought together in a fixed order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tidemark::exact {

class FailedStates {
 public:
  // Keeps at most about `limit` bytes; what comes later is forgotten. What is in `below`, which
  // must outlive it, counts as being in it.
  explicit FailedStates(size_t limit, const FailedStates* below = nullptr);

  bool contains(uint64_t hash, std::span<const uint64_t> key) const;
  // Is there an entry of this hash? False is certain, true is a reason to build the key.
  bool may_contain(uint64_t hash) const;
  void insert(uint64_t hash, std::span<const uint64_t> key);
  // Takes over what `other` holds itself, and empties it.
  void absorb(FailedStates& other);
  void clear();

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    uint64_t hash = 0;
    size_t begin = 0;  // of the key in words_
    size_t end = 0;
    uint32_t next = 0;  // number of the next entry in the same slot, plus 1
  };
  size_t slot_of(uint64_t hash) const { return hash & (slots_.size() - 1); }
  void grow();

  size_t limit_ = 0;
  const FailedStates* below_ = nullptr;
  std::vector<uint32_t> slots_;  // number of the first entry, plus 1
  std::vector<Entry> entries_;
  std::vector<uint64_t> words_;
};

}  // namespace tidemark::exact
