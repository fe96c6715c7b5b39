// Where a header is read from: a file, or bytes in memory (tests, fuzzing). Readers ask for pieces
// at offsets, so a file of hundreds of gigabytes costs only its header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "planner/base/result.h"

namespace tidemark {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual int64_t size() const = 0;
  // Fills `into` with the bytes from `offset` on. Requires 0 <= offset and
  // offset + into.size() <= size(). False when the bytes cannot be had: a failing disk, a file that
  // was shortened since it was opened.
  virtual bool read(int64_t offset, std::span<std::byte> into) = 0;

 protected:
  ByteSource() = default;
  ByteSource(const ByteSource&) = default;
  ByteSource& operator=(const ByteSource&) = default;
};

// Bytes that outlive the source.
class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  bool read(int64_t offset, std::span<std::byte> into) override;

 private:
  std::span<const std::byte> bytes_;
};

// A regular file, open for reading until the end of the scope.
class FileSource : public ByteSource {
 public:
  static Result<FileSource> open(const std::filesystem::path& path);
  FileSource(FileSource&& other) noexcept;
  FileSource& operator=(FileSource&&) = delete;
  ~FileSource() override;
  int64_t size() const override { return size_; }
  bool read(int64_t offset, std::span<std::byte> into) override;

 private:
  FileSource(int descriptor, int64_t size) : descriptor_(descriptor), size_(size) {}
  int descriptor_ = -1;
  int64_t size_ = 0;
};

}  // namespace tidemark
