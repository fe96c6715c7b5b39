#include "sim/strategy/weight_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/base/units.h"

namespace tidemark {
namespace {

// Puts one tensor after the other, and begins a file where the choices say so.
class FileWriter {
 public:
  FileWriter(const ResidencyChoices& choices, Bytes whole) : choices_(choices), whole_(whole) {}

  FilePiece append(Bytes bytes) {
    if (is_due(bytes)) sizes_.emplace_back();
    const Bytes begin = sizes_.back();
    sizes_.back() += bytes;
    written_ += bytes;
    return {.file = sizes_.size() - 1, .range = {begin, sizes_.back()}};
  }

  std::vector<Bytes> take_sizes() { return std::move(sizes_); }

 private:
  bool is_due(Bytes bytes) const {
    if (sizes_.empty()) return true;
    if (bytes == Bytes{} || sizes_.back() == Bytes{}) return false;
    if (choices_.split_files > 0) {
      return written_ * choices_.split_files >= whole_ * static_cast<int64_t>(sizes_.size());
    }
    return choices_.split_size > Bytes{} && bytes > choices_.split_size - sizes_.back();
  }

  const ResidencyChoices& choices_;
  Bytes whole_;
  Bytes written_{};
  std::vector<Bytes> sizes_{};
};

void append(std::vector<FilePiece>& pieces, const FilePiece& next) {
  if (!pieces.empty() && pieces.back().file == next.file) {
    pieces.back().range.upper = next.range.upper;
  } else {
    pieces.push_back(next);
  }
}

// Of a unit's tensors as it holds them: of an embedding in flash a unit holds some rows.
std::vector<Bytes> tensor_bytes(const WeightUnit& unit, const WeightsInventory& weights) {
  std::vector<Bytes> sizes;
  Bytes left = unit.bytes;
  for (const WeightId id : unit.tensors) {
    sizes.push_back(std::min(weights.tensors.at(id.index()).bytes, left));
    left -= sizes.back();
  }
  if (left > Bytes{}) sizes.push_back(left);
  return sizes;
}

}  // namespace

int64_t WeightFiles::units_in_several() const {
  return std::count_if(pieces.begin(), pieces.end(),
                       [](const std::vector<FilePiece>& unit) { return unit.size() > 1; });
}

WeightFiles weight_files(const std::vector<WeightUnit>& units, const WeightsInventory& weights,
                         const ResidencyChoices& choices) {
  Bytes whole;
  for (const WeightUnit& unit : units) whole += unit.bytes;
  FileWriter writer(choices, whole);
  WeightFiles files;
  for (const WeightUnit& unit : units) {
    std::vector<FilePiece>& pieces = files.pieces.emplace_back();
    for (const Bytes bytes : tensor_bytes(unit, weights)) append(pieces, writer.append(bytes));
  }
  files.sizes = writer.take_sizes();
  return files;
}

std::string split_note(const WeightFiles& files, Duration open) {
  const auto count = static_cast<int64_t>(files.sizes.size());
  const int64_t several = files.units_in_several();
  const std::string spanning =
      several == 0 ? "no weight unit lies in several"
      : several == 1
          ? "one weight unit lies in several and takes a request of each"
          : format_count(several) + " weight units lie in several and take a request of each";
  return fmt::format("The weights lie in {} file{}: {} to open them, {} each; {}.",
                     format_count(count), count == 1 ? "" : "s", format_duration(open * count),
                     format_duration(open), spanning);
}

}  // namespace tidemark
