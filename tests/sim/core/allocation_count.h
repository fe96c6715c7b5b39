// Replaces the global operator new of the program that links it by one that counts.
#pragma once

#include <cstdint>

namespace tidemark {

int64_t allocations_so_far();

}  // namespace tidemark
