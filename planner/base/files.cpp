#include "planner/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>

#include "planner/base/units.h"

namespace tidemark {
namespace {

Diagnostics file_error(const std::filesystem::path& path, std::string message,
                       std::string hint = "") {
  return {Diagnostic{
      .where = {.file = path.string()}, .message = std::move(message), .hint = std::move(hint)}};
}

std::string reason() { return std::system_category().message(errno); }

bool write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// mkstemp makes files private; give the result what an ordinary new file would have.
void apply_umask(int descriptor) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor, 0666 & ~mask);
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, Bytes limit) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return file_error(path, "cannot open: no such file");
  if (!std::filesystem::is_regular_file(status)) return file_error(path, "not a regular file");
  const auto size = std::filesystem::file_size(path, error);
  if (error) return file_error(path, "cannot read: " + error.message());
  if (size > static_cast<uintmax_t>(limit.count())) {
    return file_error(path,
                      "file is larger than the " + format_bytes(limit) + " this reader accepts");
  }
  std::ifstream stream(path, std::ios::binary);
  std::string content(static_cast<size_t>(size), '\0');
  stream.read(content.data(), static_cast<std::streamsize>(size));
  if (!stream && size > 0) return file_error(path, "cannot read: " + reason());
  return content;
}

Result<Bytes> write_file(const std::filesystem::path& path, std::string_view content) {
  std::string temporary = path.string() + ".XXXXXX";
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) return file_error(path, "cannot write: " + reason());
  apply_umask(descriptor);
  const bool written = write_all(descriptor, content) && ::fsync(descriptor) == 0;
  const int write_errno = errno;
  const bool closed = ::close(descriptor) == 0;
  if (!written || !closed) {
    ::unlink(temporary.c_str());
    errno = written ? errno : write_errno;
    return file_error(path, "cannot write: " + reason());
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string why = reason();
    ::unlink(temporary.c_str());
    return file_error(path, "cannot write: " + why);
  }
  return Bytes::of(static_cast<int64_t>(content.size()));
}

}  // namespace tidemark
