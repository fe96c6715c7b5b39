// Split sets: NAME-00001-of-0000N.gguf, each part a GGUF file of its own that carries split.no
// (from 0), split.count and split.tensors.count (of the whole set).
#include <fmt/core.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "planner/import/gguf_reader.h"
#include "planner/import/problems.h"

namespace tidemark {
namespace {

constexpr int64_t kMostParts = 65'535;  // split.count is an uint16

// "model-00002-of-00005.gguf" as {"model", 2, 5}.
struct PartName {
  std::string stem{};
  int64_t number = 0;
  int64_t count = 0;
};

bool is_digits(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<PartName> parse_part_name(std::string_view name) {
  constexpr std::string_view kShape = "-00000-of-00000.gguf";
  if (name.size() < kShape.size()) return std::nullopt;
  const std::string_view tail = name.substr(name.size() - kShape.size());
  const std::string_view number = tail.substr(1, 5);
  const std::string_view count = tail.substr(10, 5);
  if (tail[0] != '-' || tail.substr(6, 4) != "-of-" || tail.substr(15) != ".gguf") return {};
  if (!is_digits(number) || !is_digits(count)) return std::nullopt;
  return PartName{.stem = std::string(name.substr(0, name.size() - kShape.size())),
                  .number = std::stoll(std::string(number)),
                  .count = std::stoll(std::string(count))};
}

Result<GgufHeader> read_one(const std::filesystem::path& path) {
  Result<FileSource> opened = FileSource::open(path);
  if (!opened) return opened.diagnostics();
  FileSource source = std::move(opened).value();
  return parse_gguf_header(path.string(), source);
}

// split.count of one part; 1 when it is not split. Adds a problem when it is no sensible number.
int64_t split_count(const GgufHeader& header, Problems& problems) {
  constexpr std::string_view kKey = "split.count";
  const GgufValue* value = header.find(kKey);
  if (value == nullptr) return 1;
  const std::optional<int64_t> count = header.integer(kKey);
  if (count && *count >= 0 && *count <= kMostParts) return std::max<int64_t>(*count, 1);
  problems.add(kKey, value->file_offset,
               fmt::format("must be an integer from 0 to {}", kMostParts));
  return 1;
}

class SplitReader {
 public:
  SplitReader(const std::filesystem::path& path, int64_t count)
      : path_(path), count_(count), problems_(path.string()) {}

  Result<GgufHeader> read() {
    const std::optional<PartName> name = parse_part_name(path_.filename().string());
    if (!name || name->count != count_) {
      problems_.add(
          "split.count",
          fmt::format("the file is one of {} parts, but its name does not say so", count_),
          fmt::format("name the parts NAME-00001-of-{:05}.gguf and so on", count_));
      return problems_.take();
    }
    for (int64_t i = 0; i < count_; ++i) {
      read_part(i, fmt::format("{}-{:05}-of-{:05}.gguf", name->stem, i + 1, count_));
    }
    if (problems_.empty()) check_total();
    if (!problems_.empty()) return problems_.take();
    return std::move(whole_);
  }

 private:
  void read_part(int64_t index, const std::string& name);
  void check_part(const GgufHeader& part, int64_t index);
  void check_total();

  std::filesystem::path path_;
  int64_t count_;
  Problems problems_;
  GgufHeader whole_{};
  std::set<std::string> names_{};
};

void SplitReader::read_part(int64_t index, const std::string& name) {
  const std::filesystem::path path = path_.parent_path() / name;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    problems_.add("", fmt::format("part {} of {} is missing: {}", index + 1, count_, name),
                  "put all parts into one folder");
    return;
  }
  Result<GgufHeader> read = read_one(path);
  if (!read) {
    problems_.append(read.diagnostics());
    return;
  }
  GgufHeader part = std::move(read).value();
  check_part(part, index);
  for (GgufTensor& tensor : part.tensors) {
    tensor.part = index;
    if (!names_.insert(tensor.name).second) {
      problems_.add(tensor.name, fmt::format("the tensor of {} is in an earlier part, too", name));
    }
  }
  if (index == 0) {
    whole_ = std::move(part);
    return;
  }
  whole_.parts.push_back(std::move(part.parts.front()));
  whole_.tensors.insert(whole_.tensors.end(), std::make_move_iterator(part.tensors.begin()),
                        std::make_move_iterator(part.tensors.end()));
}

void SplitReader::check_part(const GgufHeader& part, int64_t index) {
  Problems own(part.parts.front().file);
  const auto expect = [&](std::string_view key, int64_t wanted) {
    const GgufValue* value = part.find(key);
    if (value == nullptr) {
      own.add(key, "the key is missing, which every part of a split set has");
    } else if (part.integer(key) != wanted) {
      own.add(key, value->file_offset, fmt::format("must be {} in this part", wanted),
              "the parts belong to different sets, or were renamed");
    }
  };
  expect("split.count", count_);
  expect("split.no", index);
  if (!own.empty()) problems_.append(own.take());
}

void SplitReader::check_total() {
  constexpr std::string_view kKey = "split.tensors.count";
  const GgufValue* value = whole_.find(kKey);
  const auto found = static_cast<int64_t>(whole_.tensors.size());
  if (value == nullptr || whole_.integer(kKey) == found) return;
  Problems own(whole_.parts.front().file);
  own.add(kKey, value->file_offset,
          fmt::format("the parts hold {} tensors together, which is not what this says", found));
  problems_.append(own.take());
}

}  // namespace

Result<GgufHeader> read_gguf(const std::filesystem::path& path) {
  Result<GgufHeader> one = read_one(path);
  if (!one) return one;
  Problems problems(path.string());
  const int64_t count = split_count(*one, problems);
  if (!problems.empty()) return problems.take();
  return count == 1 ? one : SplitReader(path, count).read();
}

}  // namespace tidemark
