// How fast bytes can be read by one thread: what a product of one token is measured by.
#pragma once

#include <cstddef>
#include <span>

namespace tidemark {

struct ReadPlan {
  int streams = 1;          // 1, 4 or 8 equal parts, read side by side
  long prefetch_bytes = 0;  // ahead in each; 0 leaves it to the hardware
};

// Reads everything but an odd end and keeps what it makes of it, so that nothing is left out.
void read_bytes(std::span<const std::byte> bytes, const ReadPlan& plan);

// The fastest of three numbers of streams with five distances, each tried four times.
ReadPlan best_read_plan(std::span<const std::byte> bytes);

}  // namespace tidemark
