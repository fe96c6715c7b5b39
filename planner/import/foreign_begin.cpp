#include "planner/import/foreign_begin.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

namespace tidemark {
namespace {

struct Begin {
  size_t offset = 0;
  std::string_view bytes{};
  std::string_view hint{};
};

using namespace std::string_view_literals;

constexpr std::string_view kWebPage =
    "this is a web page, such as a server sends in place of a file: fetch it again";
constexpr std::string_view kTorch =
    "this is a PyTorch checkpoint: give its config.json, or convert it to safetensors";
constexpr std::string_view kOldGgml =
    "this is a file from before GGUF: convert the model again with a current converter";

constexpr std::array kBegins = {
    Begin{0, "version https://git-lfs"sv,
          "this is Git LFS's pointer to the file, not the file: fetch it with `git lfs pull`"},
    Begin{0, "<!doctype"sv, kWebPage},
    Begin{0, "<!DOCTYPE"sv, kWebPage},
    Begin{0, "<html"sv, kWebPage},
    Begin{0, "PK\x03\x04"sv, kTorch},
    Begin{0, "\x80\x02\x8a\x0a"sv, kTorch},  // before version 1.6
    // 0x67676d6c, ...66 and 0x67676a74, stored little-endian.
    Begin{0, "lmgg"sv, kOldGgml},
    Begin{0, "fmgg"sv, kOldGgml},
    Begin{0, "tjgg"sv, kOldGgml},
    Begin{0, "GGUF"sv, "this is a GGUF file: its name must end in .gguf"},
    Begin{4, "TFL3"sv, "this is a TFLite file, which is not read: give the model's config.json"},
    Begin{0, "\x89HDF\r\n"sv, "this is an HDF5 file, which is not read: give the config.json"},
    Begin{0, "\x1f\x8b"sv, "this is packed with gzip: unpack it first"},
};

}  // namespace

std::string_view hint_of_foreign(std::string_view begin) {
  const auto* found = std::find_if(kBegins.begin(), kBegins.end(), [begin](const Begin& known) {
    return begin.size() >= known.offset && begin.substr(known.offset).starts_with(known.bytes);
  });
  return found == kBegins.end() ? "" : found->hint;
}

std::string_view hint_of_foreign(ByteSource& source, std::string_view otherwise) {
  std::array<char, static_cast<size_t>(kForeignBeginBytes)> begin{};
  const auto size = static_cast<size_t>(std::min(source.size(), kForeignBeginBytes));
  if (!source.read(0, std::as_writable_bytes(std::span(begin).first(size)))) return otherwise;
  const std::string_view hint = hint_of_foreign(std::string_view(begin.data(), size));
  return hint.empty() ? otherwise : hint;
}

}  // namespace tidemark
