// In a file of its own: where the compiler sees both operators through, it takes malloc and free in
// them for a mismatch.
#include "allocation_count.h"

#include <cstdlib>
#include <new>

namespace {
int64_t allocations = 0;
}  // namespace

void* operator new(size_t bytes) {
  ++allocations;
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// Sorting asks for its scratch memory in this way.
void* operator new(size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  ++allocations;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t /*bytes*/) noexcept { std::free(memory); }

namespace tidemark {

int64_t allocations_so_far() { return allocations; }

}  // namespace tidemark
