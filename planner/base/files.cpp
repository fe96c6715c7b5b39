#include "planner/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <utility>

#include "planner/base/units.h"

namespace tidemark {
namespace {

Diagnostics file_error(const std::filesystem::path& path, std::string message,
                       std::string hint = "") {
  return {Diagnostic{
      .where = {.file = path.string()}, .message = std::move(message), .hint = std::move(hint)}};
}

std::string reason(int error) { return std::system_category().message(error); }

Diagnostics cannot_write(const std::filesystem::path& path, int error) {
  return file_error(path, "cannot write: " + reason(error),
                    "name a file in a folder that exists, is writable and has space");
}

// What an existing file had; else what an ordinary new file would have (mkstemp makes files
// private).
mode_t mode_for(const std::filesystem::path& target) {
  struct stat status = {};
  if (::stat(target.c_str(), &status) == 0) return status.st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, Bytes limit) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return file_error(path, "cannot open: no such file");
  if (!std::filesystem::is_regular_file(status)) {
    return file_error(path, "not a regular file",
                      "a folder, a pipe or a device is not read: write it to a file first");
  }
  const auto size = std::filesystem::file_size(path, error);
  if (error) return file_error(path, "cannot read: " + error.message());
  if (size > static_cast<uintmax_t>(limit.count())) {
    return file_error(path,
                      "file is larger than the " + format_bytes(limit) + " this reader accepts");
  }
  std::ifstream stream(path, std::ios::binary);
  std::string content(static_cast<size_t>(size), '\0');
  stream.read(content.data(), static_cast<std::streamsize>(size));
  if (!stream && size > 0) return file_error(path, "cannot read: " + reason(errno));
  return content;
}

FileReplacement::FileReplacement(std::filesystem::path path) : path_(std::move(path)) {
  using std::filesystem::file_type;
  std::error_code error;
  const file_type kind = std::filesystem::status(path_, error).type();
  const bool takes_its_place = kind == file_type::not_found || kind == file_type::regular;
  // What is written straight into goes by its own name: where /dev/stdout is a pipe, what its links
  // say is no path.
  target_ = path_;
  if (takes_its_place || kind == file_type::none) {
    target_ = std::filesystem::weakly_canonical(path_, error);
    if (error) {
      error_ = error.value();
      return;
    }
  }
  if (takes_its_place) {
    temporary_ = target_.string() + ".XXXXXX";
    descriptor_ = ::mkstemp(temporary_.data());
    if (descriptor_ < 0) temporary_.clear();
  } else {
    descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  }
  if (descriptor_ < 0) error_ = errno;
}

Result<FileReplacement> FileReplacement::open(const std::filesystem::path& path) {
  FileReplacement replacement(path);
  if (replacement.error_ != 0) return cannot_write(path, replacement.error_);
  return replacement;
}

FileReplacement::FileReplacement(FileReplacement&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      written_(other.written_),
      error_(other.error_) {}

FileReplacement::~FileReplacement() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

bool FileReplacement::write(std::string_view content) {
  while (error_ == 0 && !content.empty()) {
    const ssize_t count = ::write(descriptor_, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) error_ = count < 0 ? errno : EIO;
    if (count > 0) {
      written_ += count;
      content.remove_prefix(static_cast<size_t>(count));
    }
  }
  return error_ == 0;
}

Result<Bytes> FileReplacement::commit() {
  const auto note = [this](int result) {
    if (result != 0 && error_ == 0) error_ = errno;
  };
  if (error_ == 0 && !temporary_.empty()) {
    note(::fchmod(descriptor_, mode_for(target_)));
    note(::fsync(descriptor_));
  }
  note(::close(std::exchange(descriptor_, -1)));
  if (error_ == 0 && !temporary_.empty()) {
    note(::rename(temporary_.c_str(), target_.c_str()));
    if (error_ == 0) temporary_.clear();
  }
  if (error_ != 0) return cannot_write(path_, error_);
  return Bytes::of(written_);
}

Result<Bytes> write_file(const std::filesystem::path& path, std::string_view content) {
  Result<FileReplacement> opened = FileReplacement::open(path);
  if (!opened) return opened.diagnostics();
  FileReplacement file = std::move(opened).value();
  file.write(content);
  return file.commit();
}

}  // namespace tidemark
