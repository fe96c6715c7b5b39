#include "sim/replay/weight_file.h"

#include "planner/base/check.h"
#include "sim/replay/weight_format.h"

namespace tidemark {
namespace {

// A progress that stops ends the run at the next piece, so this is also how fast Ctrl-C is heard.
constexpr size_t kPiece = size_t{1} << 20;

int64_t whole_file_bytes(const WeightsInventory& weights) {
  Bytes total;
  for (const WeightTensor& tensor : weights.tensors) total += tensor.bytes;
  return whole_pages(total).count();
}

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

Interval<Bytes> page_extent(Interval<Bytes> piece) {
  const Bytes page = page_size();
  return {page * (piece.lower / page), whole_pages(piece.upper)};
}

}  // namespace

int64_t weight_file_bytes(const MemoryPlan& plan) { return whole_file_bytes(plan.weights); }

WeightFile::WeightFile(const WeightsInventory& weights, WeightSource& source,
                       const std::filesystem::path& folder, const Progress& progress)
    : file_(folder) {
  const int64_t total = whole_file_bytes(weights);
  Writer writer(file_, progress, total);
  for (size_t i = 0; i < weights.tensors.size(); ++i) {
    const WeightTensor& tensor = weights.tensors[i];
    source.begin(tensor, WeightId::of(i));
    const size_t row_size = weight_row_bytes(tensor);
    const int64_t rows = checked_mul(tensor.rows, tensor.count);
    for (int64_t row = 0; row < rows; ++row) {
      source.next_row(writer.next(row_size));
      if (writer.stopped()) return;
    }
  }
  source.end();
  writer.pad_to_page();
  writer.flush();
  check(file_.size() == total, "the file is as long as its tensors");
  file_.settle();
}

LoadedPiece pages_for(Interval<Bytes> piece) {
  const Interval<Bytes> extent = page_extent(piece);
  LoadedPiece made{.pages = Mapping(extent.upper - extent.lower, Fault::kOnTouch)};
  made.bytes = made.pages.bytes().subspan(static_cast<size_t>((piece.lower - extent.lower).count()),
                                          static_cast<size_t>((piece.upper - piece.lower).count()));
  return made;
}

void read_piece(const WeightFile& weights, Interval<Bytes> piece, std::span<std::byte> pages,
                ReadWay way) {
  const Interval<Bytes> extent = page_extent(piece);
  check(std::ssize(pages) == (extent.upper - extent.lower).count(), "a piece is read whole");
  const int64_t offset = extent.lower.count();
  if (way == ReadWay::kDirect) return weights.file().read_direct(offset, pages);
  weights.file().read(offset, pages);
}

}  // namespace tidemark
