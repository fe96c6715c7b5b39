// A file of this run alone. It is made in a folder of its own below `parent`, and both lose their
// names as soon as the file is open: whatever ends the program, even kill -9, nothing is left
// behind, and the space is free again when the file is closed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>

namespace tidemark {

class ScratchFile {
 public:
  // All throw std::system_error.
  explicit ScratchFile(const std::filesystem::path& parent);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  void append(std::span<const std::byte> bytes);
  int64_t size() const { return size_; }
  // To storage, and out of the page cache.
  void settle() const;
  // All of it into the page cache.
  void read_through() const;

  // For mmap; open as long as this is.
  int descriptor() const { return file_; }
  // Pages that nobody maps, out of the page cache.
  void forget(int64_t offset, int64_t bytes) const;
  // As long as somebody else, a child process for one, has made it.
  void take_size();

  void read(int64_t offset, std::span<std::byte> into) const;
  // Past the page cache where the file system can. Offset, address and size are whole pages.
  void read_direct(int64_t offset, std::span<std::byte> into) const;

 private:
  int file_ = -1;
  int direct_ = -1;  // -1 = the file system has no such reads
  int64_t size_ = 0;
};

// $TMPDIR, or /tmp.
std::filesystem::path scratch_parent();
// What an ordinary user may still write there. Throws std::system_error when there is no such
// folder.
int64_t free_space(const std::filesystem::path& folder);

// What to do about a failure of this or of memory, for people.
std::string hint_of(const std::system_error& failed);

}  // namespace tidemark
