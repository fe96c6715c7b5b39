#include "sim/replay/mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace tidemark {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

Bytes page_size() {
  static const Bytes size = Bytes::of(::sysconf(_SC_PAGESIZE));
  return size;
}

Bytes whole_pages(Bytes size) { return align_up(size, Alignment::of(page_size().count())); }

void touch_pages(std::span<std::byte> bytes) {
  const auto page = static_cast<size_t>(page_size().count());
  const auto touch = [](std::byte& byte) {
    volatile std::byte* place = &byte;
    *place = *place;
  };
  for (size_t at = 0; at < bytes.size(); at += page) touch(bytes[at]);
  if (!bytes.empty()) touch(bytes.back());
}

Mapping::Mapping(Bytes size, Fault fault) {
  if (size == Bytes{}) return;
  const auto page = static_cast<size_t>(page_size().count());
  const auto inner = static_cast<size_t>(whole_pages(size).count());
  const size_t outer = inner + 2 * page;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* start = ::mmap(nullptr, outer, PROT_NONE, flags, -1, 0);
  if (start == MAP_FAILED) fail("cannot reserve memory");
  bytes_ = {static_cast<std::byte*>(start) + page, inner};
  const bool opened = ::mprotect(bytes_.data(), inner, PROT_READ | PROT_WRITE) == 0;
  if (!opened) {
    const int error = errno;
    *this = Mapping();
    errno = error;
    fail("cannot open reserved memory");
  }
  if (fault == Fault::kByPage) ::madvise(bytes_.data(), inner, MADV_NOHUGEPAGE);
  if (fault == Fault::kNow) populate();
}

void Mapping::populate() const {
  if (bytes_.empty()) return;
  // Fewer, larger pages where the system has them: quicker to make and to count, and no byte more.
  ::madvise(bytes_.data(), bytes_.size(), MADV_HUGEPAGE);
  if (::madvise(bytes_.data(), bytes_.size(), MADV_POPULATE_WRITE) != 0) {
    touch_pages(bytes_);  // the kernel cannot do it in one call
  }
}

Mapping::~Mapping() {
  if (bytes_.empty()) return;
  const auto page = static_cast<size_t>(page_size().count());
  ::munmap(bytes_.data() - page, bytes_.size() + 2 * page);
}

Mapping::Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  if (this != &other) Mapping released(std::move(other));
  return *this;
}

AddressRange Mapping::range() const {
  const auto lower = reinterpret_cast<uintptr_t>(bytes_.data());
  return {lower, lower + bytes_.size()};
}

}  // namespace tidemark
