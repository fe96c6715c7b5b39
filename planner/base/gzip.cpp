#include "planner/base/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "planner/base/check.h"
#include "planner/base/files.h"
#include "planner/base/units.h"

namespace tidemark {
namespace {

constexpr size_t kChunk = size_t{1} << 16;  // of output
constexpr int kGzipWindow = 15 + 16;        // largest window, gzip header and trailer

Diagnostics gzip_error(std::string_view file, std::string message, std::string hint = "") {
  return {Diagnostic{.where = {.file = std::string(file)},
                     .message = std::move(message),
                     .hint = std::move(hint)}};
}

class Inflater {
 public:
  Inflater(std::string_view bytes, Bytes limit) : rest_(bytes), limit_(limit) {
    check(inflateInit2(&stream_, kGzipWindow) == Z_OK, "zlib starts");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  // Appends one member to `content`; what is wrong, if anything.
  std::optional<std::string> member(std::string& content) {
    inflateReset(&stream_);
    std::string chunk(kChunk, '\0');
    while (true) {
      const int state = step(chunk);
      const size_t made = chunk.size() - stream_.avail_out;
      if (static_cast<uint64_t>(content.size() + made) > static_cast<uint64_t>(limit_.count())) {
        return "unpacks to more than the " + format_bytes(limit_) + " this reader accepts";
      }
      content.append(chunk, 0, made);
      if (state == Z_STREAM_END) return std::nullopt;
      if (state == Z_BUF_ERROR || (state == Z_OK && rest_.empty() && stream_.avail_out > 0)) {
        return "the gzip data is cut off";
      }
      if (state != Z_OK) return "the gzip data is damaged";
    }
  }

  std::string_view rest() const { return rest_; }

 private:
  // Fills `chunk` as far as the input goes.
  int step(std::string& chunk) {
    const size_t given = std::min<size_t>(rest_.size(), std::numeric_limits<uInt>::max());
    // zlib's interface is older than const; it does not write to its input.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(rest_.data()));
    stream_.avail_in = static_cast<uInt>(given);
    stream_.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream_.avail_out = static_cast<uInt>(chunk.size());
    const int state = inflate(&stream_, Z_NO_FLUSH);
    rest_.remove_prefix(given - stream_.avail_in);
    return state;
  }

  std::string_view rest_;
  Bytes limit_;
  z_stream stream_{};
};

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.substr(0, 2) == "\x1f\x8b"; }

Result<std::string> gunzip(std::string_view bytes, Bytes limit, std::string_view file) {
  if (!is_gzip(bytes)) return gzip_error(file, "no gzip data");
  Inflater inflater(bytes, limit);
  std::string content;
  while (is_gzip(inflater.rest())) {
    if (auto problem = inflater.member(content)) return gzip_error(file, *std::move(problem));
  }
  if (!inflater.rest().empty()) {
    return gzip_error(file, std::to_string(inflater.rest().size()) + " bytes after the gzip data");
  }
  return content;
}

Result<std::string> read_file_or_gzip(const std::filesystem::path& path, Bytes limit) {
  Result<std::string> read = read_file(path, limit);
  if (!read || !is_gzip(*read)) return read;
  return gunzip(*read, limit, path.string());
}

}  // namespace tidemark
