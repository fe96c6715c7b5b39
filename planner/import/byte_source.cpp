#include "planner/import/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace tidemark {
namespace {

Diagnostics cannot_open(const std::filesystem::path& path, std::string message,
                        std::string hint = "") {
  return {Diagnostic{
      .where = {.file = path.string()}, .message = std::move(message), .hint = std::move(hint)}};
}

}  // namespace

bool MemorySource::read(int64_t offset, std::span<std::byte> into) {
  const auto from = bytes_.subspan(static_cast<size_t>(offset), into.size());
  std::copy(from.begin(), from.end(), into.begin());
  return true;
}

Result<FileSource> FileSource::open(const std::filesystem::path& path) {
  // Without O_NONBLOCK, opening a pipe waits for its writer.
  FileSource source(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK), 0);
  struct stat status = {};
  if (source.descriptor_ < 0 || ::fstat(source.descriptor_, &status) != 0) {
    if (errno == ENOENT) return cannot_open(path, "cannot open: no such file");
    return cannot_open(path, "cannot open: " + std::system_category().message(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    return cannot_open(path, "not a regular file",
                       "a folder, a pipe or a device is not read: write it to a file first");
  }
  source.size_ = status.st_size;
  return source;
}

FileSource::FileSource(FileSource&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

FileSource::~FileSource() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool FileSource::read(int64_t offset, std::span<std::byte> into) {
  while (!into.empty()) {
    const ssize_t count = ::pread(descriptor_, into.data(), into.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    offset += count;
    into = into.subspan(static_cast<size_t>(count));
  }
  return true;
}

}  // namespace tidemark
