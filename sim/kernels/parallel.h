// A loop divided among threads. The parts write different outputs, so their order is of no matter.
#pragma once

#include <cstdint>
#include <functional>

namespace tidemark {

// Calls body(first, count) for parts of [0, length) of `block` each (the last one may be shorter),
// on up to `threads` threads; with one, in order on the caller's.
void for_each_part(int64_t length, int64_t block, int threads,
                   const std::function<void(int64_t, int64_t)>& body);

}  // namespace tidemark
