#include "sim/replay/weight_file.h"

#include <cstring>

#include "planner/base/check.h"
#include "sim/kernels/half.h"
#include "sim/kernels/rows.h"
#include "sim/replay/mapping.h"
#include "sim/replay/value_ranges.h"

namespace tidemark {
namespace {

constexpr size_t kPiece = size_t{1} << 20;
// A progress that stops ends the run at the next piece, so this is also how fast Ctrl-C is heard.

// Collects rows and hands them to the file a piece at a time.
class Writer {
 public:
  Writer(ScratchFile& file, const WeightFile::Progress& progress, int64_t total)
      : file_(file), progress_(progress), total_(total) {}

  // Room for the next `size` bytes; valid until the next call.
  std::span<std::byte> next(size_t size) {
    if (held_.size() + size > held_.capacity()) flush();
    if (size > held_.capacity()) held_.reserve(std::max(size, kPiece));
    const size_t start = held_.size();
    held_.resize(start + size);
    return std::span(held_).subspan(start);
  }

  void pad_to_page() {
    const int64_t at = file_.size() + std::ssize(held_);
    const int64_t padded = whole_pages(Bytes::of(at)).count();
    for (std::byte& byte : next(static_cast<size_t>(padded - at))) byte = std::byte{0};
  }

  void flush() {
    file_.append(held_);
    held_.clear();
    if (progress_ && !progress_(file_.size(), total_)) stopped_ = true;
  }

  bool stopped() const { return stopped_; }

 private:
  ScratchFile& file_;
  const WeightFile::Progress& progress_;
  int64_t total_;
  std::vector<std::byte> held_{};
  bool stopped_ = false;
};

void write_gains(const WeightTensor& tensor, Generator& generator, Writer& writer) {
  for (int64_t i = 0; i < tensor.columns * tensor.rows; ++i) {
    float gain = generator.between(0.75F, 1.25F);
    // Of either sign before the head: a tied one would otherwise always find the token it was
    // given.
    if (tensor.role == WeightRole::kOutputNorm && generator.below(2) == 0) gain = -gain;
    std::memcpy(writer.next(sizeof gain).data(), &gain, sizeof gain);
  }
}

void write_rows(const WeightTensor& tensor, int64_t layers, Generator& generator, Writer& writer) {
  const uint16_t scale = float_to_half(weight_scale(tensor, layers));
  const auto row_size = static_cast<size_t>(stored_row_bytes(tensor.columns));
  for (int64_t row = 0; row < tensor.rows && !writer.stopped(); ++row) {
    const std::span<std::byte> bytes = writer.next(row_size);
    generator.fill(bytes.first(bytes.size() - 2));
    store_u16(bytes.last(2), 0, scale);
  }
}

}  // namespace

int64_t weight_file_bytes(const MemoryPlan& plan) {
  Bytes total;
  for (const WeightUnit& unit : plan.units) total += whole_pages(unit.bytes);
  return total.count();
}

WeightFile::WeightFile(const MemoryPlan& plan, uint64_t seed, int64_t layers,
                       const std::filesystem::path& folder, const Progress& progress)
    : file_(folder) {
  places_.resize(plan.weights.tensors.size());
  Writer writer(file_, progress, weight_file_bytes(plan));
  int64_t offset = 0;
  for (size_t i = 0; i < plan.units.size(); ++i) {
    const WeightUnit& unit = plan.units[i];
    size_t within = 0;
    for (const WeightId id : unit.tensors) {
      const WeightTensor& tensor = plan.weights.tensors.at(id.index());
      const auto size = static_cast<size_t>(tensor.bytes.count());
      places_[id.index()] = {UnitId::of(i), within, size};
      within += size;
      Generator generator = Generator::of(seed, id.index());
      if (tensor.dtype == DType::kF32) {
        write_gains(tensor, generator, writer);
      } else {
        check(tensor.dtype == DType::kInt8, "a replay's matrices are int8");
        write_rows(tensor, layers, generator, writer);
      }
      if (writer.stopped()) return;
    }
    check(std::cmp_equal(within, unit.bytes.count()), "a unit is its tensors and nothing else");
    writer.pad_to_page();
    unit_offsets_.push_back(offset);
    unit_bytes_.push_back(unit.bytes);
    offset += whole_pages(unit.bytes).count();
  }
  writer.flush();
  check(file_.size() == offset, "the file is as long as its units");
  file_.settle();
}

Bytes WeightFile::unit_bytes(UnitId unit) const { return unit_bytes_.at(unit.index()); }

void WeightFile::read_unit(UnitId unit, std::span<std::byte> into) const {
  check(std::ssize(into) == whole_pages(unit_bytes(unit)).count(), "a unit is read whole");
  file_.read_direct(unit_offsets_.at(unit.index()), into);
}

}  // namespace tidemark
