#include "sim/replay/scratch_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

#include "planner/base/checked.h"

namespace tidemark {
namespace {

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

// Bytes read; fewer than asked for only at the end of the file. -1 with errno on failure.
ssize_t read_all(int file, int64_t offset, std::span<std::byte> into) {
  size_t done = 0;
  while (done < into.size()) {
    const size_t piece = std::min(into.size() - done, size_t{1} << 26);
    const ssize_t got = ::pread(file, into.data() + done, piece, offset + static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return static_cast<ssize_t>(done);
}

}  // namespace

ScratchFile::ScratchFile(const std::filesystem::path& parent) {
  std::string folder = (parent / "tidemark-replay-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    fail(errno, "cannot make a scratch folder in " + parent.string());
  }
  const std::string name = folder + "/scratch";
  file_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const int error = errno;
  if (file_ >= 0) direct_ = ::open(name.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  ::unlink(name.c_str());
  ::rmdir(folder.c_str());
  if (file_ < 0) fail(error, "cannot make a scratch file in " + folder);
}

ScratchFile::~ScratchFile() {
  if (direct_ >= 0) ::close(direct_);
  if (file_ >= 0) ::close(file_);
}

void ScratchFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(file_, bytes.data(), bytes.size(), size_);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail(errno, "cannot write the scratch file");
    bytes = bytes.subspan(static_cast<size_t>(put));
    size_ += put;
  }
}

void ScratchFile::settle() const {
  if (::fsync(file_) != 0) fail(errno, "cannot write the scratch file");
  ::posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED);
}

void ScratchFile::read_through() const {
  std::vector<std::byte> piece(size_t{1} << 20);
  for (int64_t at = 0; at < size_; at += std::ssize(piece)) {
    const int64_t left = std::min(std::ssize(piece), size_ - at);
    read(at, std::span(piece).first(static_cast<size_t>(left)));
  }
}

void ScratchFile::forget(int64_t offset, int64_t bytes) const {
  ::posix_fadvise(file_, offset, bytes, POSIX_FADV_DONTNEED);
}

void ScratchFile::take_size() {
  struct stat answer = {};
  if (::fstat(file_, &answer) != 0) fail(errno, "cannot use the scratch file");
  size_ = answer.st_size;
}

void ScratchFile::read(int64_t offset, std::span<std::byte> into) const {
  const ssize_t got = read_all(file_, offset, into);
  if (got != std::ssize(into)) fail(got < 0 ? errno : EIO, "cannot read the scratch file");
}

void ScratchFile::read_direct(int64_t offset, std::span<std::byte> into) const {
  if (direct_ >= 0 && read_all(direct_, offset, into) == std::ssize(into)) return;
  read(offset, into);
  forget(offset, std::ssize(into));
}

std::filesystem::path scratch_parent() {
  const char* stated = std::getenv("TMPDIR");
  return stated != nullptr && *stated != '\0' ? stated : "/tmp";
}

int64_t free_space(const std::filesystem::path& folder) {
  struct statvfs answer = {};
  if (::statvfs(folder.c_str(), &answer) != 0) fail(errno, "cannot use " + folder.string());
  return checked_mul(static_cast<int64_t>(answer.f_bavail), static_cast<int64_t>(answer.f_frsize));
}

std::string hint_of(const std::system_error& failed) {
  if (failed.code() == std::errc::not_enough_memory) {
    return "memory is short here: is there a limit on this process?";
  }
  if (failed.code() == std::errc::resource_unavailable_try_again) {
    return "no thread is to be had: is there a limit on processes?";
  }
  return "the scratch folder is that of --scratch, or of TMPDIR";
}

}  // namespace tidemark
