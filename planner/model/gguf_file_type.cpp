#include "planner/model/gguf_file_type.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "planner/base/check.h"

namespace tidemark {
namespace {

// In the order of FileType. Columns: name, general.file_type, base type, hundredths of a bit per
// weight for Llama-3.1-8B without an importance matrix (checked by the recipe's tests).
constexpr std::array<FileTypeInfo, 35> kFileTypes = {{
    {FileType::kF32, "F32", 0, DType::kF32, 3200},
    {FileType::kF16, "F16", 1, DType::kF16, 1600},
    {FileType::kBf16, "BF16", 32, DType::kBf16, 1600},
    {FileType::kQ4_0, "Q4_0", 2, DType::kQ4_0, 464},
    {FileType::kQ4_1, "Q4_1", 3, DType::kQ4_1, 510},
    {FileType::kQ5_0, "Q5_0", 8, DType::kQ5_0, 557},
    {FileType::kQ5_1, "Q5_1", 9, DType::kQ5_1, 604},
    {FileType::kQ8_0, "Q8_0", 7, DType::kQ8_0, 850},
    {FileType::kQ2K, "Q2_K", 10, DType::kQ2K, 316},
    {FileType::kQ2KS, "Q2_K_S", 21, DType::kQ2K, 297},
    {FileType::kQ3KS, "Q3_K_S", 11, DType::kQ3K, 364},
    {FileType::kQ3KM, "Q3_K_M", 12, DType::kQ3K, 400},
    {FileType::kQ3KL, "Q3_K_L", 13, DType::kQ3K, 430},
    {FileType::kQ4KS, "Q4_K_S", 14, DType::kQ4K, 467},
    {FileType::kQ4KM, "Q4_K_M", 15, DType::kQ4K, 489},
    {FileType::kQ5KS, "Q5_K_S", 16, DType::kQ5K, 557},
    {FileType::kQ5KM, "Q5_K_M", 17, DType::kQ5K, 570},
    {FileType::kQ6K, "Q6_K", 18, DType::kQ6K, 656},
    {FileType::kIq1S, "IQ1_S", 24, DType::kIq1S, 200},
    {FileType::kIq1M, "IQ1_M", 31, DType::kIq1M, 215},
    {FileType::kIq2Xxs, "IQ2_XXS", 19, DType::kIq2Xxs, 238},
    {FileType::kIq2Xs, "IQ2_XS", 20, DType::kIq2Xs, 259},
    {FileType::kIq2S, "IQ2_S", 28, DType::kIq2Xs, 274},
    {FileType::kIq2M, "IQ2_M", 29, DType::kIq2S, 293},
    {FileType::kIq3Xxs, "IQ3_XXS", 23, DType::kIq3Xxs, 337},
    {FileType::kIq3Xs, "IQ3_XS", 22, DType::kIq3S, 350},
    {FileType::kIq3S, "IQ3_S", 26, DType::kIq3S, 366},
    {FileType::kIq3M, "IQ3_M", 27, DType::kIq3S, 376},
    {FileType::kIq4Nl, "IQ4_NL", 25, DType::kIq4Nl, 468},
    {FileType::kIq4Xs, "IQ4_XS", 30, DType::kIq4Xs, 446},
    {FileType::kTq1_0, "TQ1_0", 36, DType::kTq1_0, 219},
    {FileType::kTq2_0, "TQ2_0", 37, DType::kTq2_0, 252},
    {FileType::kMxfp4Moe, "MXFP4_MOE", 38, DType::kMxfp4, 850},
    {FileType::kQ1_0, "Q1_0", 40, DType::kQ1_0, 148},
    {FileType::kQ2_0, "Q2_0", 41, DType::kQ2_0, 268},
}};

struct ShortName {
  std::string_view name{};
  FileType type = FileType::kF32;
};

constexpr std::array<ShortName, 3> kShortNames = {{
    {"Q3_K", FileType::kQ3KM},
    {"Q4_K", FileType::kQ4KM},
    {"Q5_K", FileType::kQ5KM},
}};

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

std::span<const FileTypeInfo> file_types() { return kFileTypes; }

const FileTypeInfo& file_type_of(FileType type) {
  const FileTypeInfo& info = kFileTypes.at(static_cast<size_t>(type));
  check(info.type == type, "the table of file types is in the order of FileType");
  return info;
}

std::optional<FileType> parse_file_type(std::string_view name) {
  for (const FileTypeInfo& info : kFileTypes) {
    if (same_ignoring_case(info.name, name)) return info.type;
  }
  for (const ShortName& entry : kShortNames) {
    if (same_ignoring_case(entry.name, name)) return entry.type;
  }
  return std::nullopt;
}

std::optional<FileType> file_type_of_id(int64_t id) {
  const auto found =
      std::ranges::find_if(kFileTypes, [&](const FileTypeInfo& info) { return info.id == id; });
  return found == kFileTypes.end() ? std::nullopt : std::optional(found->type);
}

}  // namespace tidemark
