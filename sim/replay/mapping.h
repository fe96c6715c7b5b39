// Memory whose residency can be told apart from everything else the process holds: an anonymous
// mapping between two pages that nobody may touch, so that the kernel never joins it with a
// neighbour and reports it alone.
//
//   | no access | size, rounded up to pages | no access |
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "planner/base/bytes.h"

namespace tidemark {

// Addresses [lower, upper).
struct AddressRange {
  uintptr_t lower = 0;
  uintptr_t upper = 0;
  bool operator==(const AddressRange&) const = default;
};

enum class Fault {
  kNow,      // every page is resident before the mapping is handed out: populate()
  kOnTouch,  // a page becomes resident when it is first used
  kByPage,   // the same, and never more than a page at once
};

// Makes every page that `bytes` touch resident; what they hold stays.
void touch_pages(std::span<std::byte> bytes);

class Mapping {
 public:
  Mapping() = default;
  // Zeroed. Throws std::system_error when the system has no room.
  Mapping(Bytes size, Fault fault);
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  // Makes every page resident, in large pages where the system has them.
  void populate() const;
  // Whole pages: at least the size asked for. Empty for a size of 0.
  std::span<std::byte> bytes() const { return bytes_; }
  AddressRange range() const;

 private:
  std::span<std::byte> bytes_{};
};

Bytes page_size();
Bytes whole_pages(Bytes size);

}  // namespace tidemark
