#include "planner/import/sparse_file.h"

#include <unistd.h>

#include <string>
#include <system_error>

#include "planner/base/files.h"

namespace tidemark {

Result<Bytes> write_sparse_file(const std::filesystem::path& path, std::string_view head,
                                Bytes size) {
  check(size >= Bytes::of(static_cast<int64_t>(head.size())), "a sparse file holds its head");
  std::error_code error;
  // A link is followed and stays a link.
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  if (error || (std::filesystem::exists(target, error) &&
                !std::filesystem::is_regular_file(target, error))) {
    return Diagnostics{
        {.where = {.file = path.string()}, .message = "cannot write: not a regular file"}};
  }
  // The name is this process's own, so that two of them do not write into one file.
  std::filesystem::path partial = target;
  partial += "." + std::to_string(::getpid()) + ".part";
  const Result<Bytes> written = write_file(partial, head);
  if (!written) return written;
  std::filesystem::resize_file(partial, static_cast<uintmax_t>(size.count()), error);
  if (!error) std::filesystem::rename(partial, target, error);
  if (!error) return size;
  const std::string reason = error.message();
  std::filesystem::remove(partial, error);
  return Diagnostics{{.where = {.file = path.string()},
                      .message = "cannot write: " + reason,
                      .hint = "the file system must allow files of this size"}};
}

}  // namespace tidemark
