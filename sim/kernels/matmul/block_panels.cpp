#include "sim/kernels/matmul/block_panels.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "planner/base/check.h"
#include "planner/base/checked.h"
#include "sim/kernels/matmul/block_loops.h"
#include "sim/kernels/parallel.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

constexpr int64_t kTokensForPanels = 16;
constexpr int kOffset = 128;

// The tokens of a product, with what a panel's offset adds to each block.
class Tokens {
 public:
  Tokens(const MatMulShape& shape, std::span<const int8_t> x)
      : x_(x),
        columns_(shape.columns),
        whole_(shape.columns / kBlockValues),
        blocks_(ceil_div(shape.columns, kBlockValues)),
        excess_(static_cast<size_t>(shape.tokens * blocks_)) {
    if (blocks_ > whole_) tails_.resize(static_cast<size_t>(shape.tokens * kBlockValues));
    for (int64_t t = 0; t < shape.tokens; ++t) {
      const auto values = row_of(x, t, columns_);
      for (int64_t b = 0; b < blocks_; ++b) {
        const auto first = static_cast<size_t>(b * kBlockValues);
        const auto block =
            values.subspan(first, std::min<size_t>(values.size() - first, kBlockValues));
        excess_.at(static_cast<size_t>(t * blocks_ + b)) =
            kOffset * std::accumulate(block.begin(), block.end(), int32_t{0});
        if (b < whole_) continue;
        std::ranges::copy(block, row_of(std::span(tails_), t, kBlockValues).begin());
      }
    }
  }

  int64_t blocks() const { return blocks_; }
  int64_t whole() const { return whole_; }
  const int8_t* values(int64_t t) const { return row_of(x_, t, columns_).data(); }
  // The started block, padded with zeros.
  const int8_t* tail(int64_t t) const {
    return row_of(std::span<const int8_t>(tails_), t, kBlockValues).data();
  }
  const int32_t* excess(int64_t t) const {
    return row_of(std::span<const int32_t>(excess_), t, blocks_).data();
  }

 private:
  std::span<const int8_t> x_{};
  int64_t columns_;
  int64_t whole_;
  int64_t blocks_;
  std::vector<int32_t> excess_{};
  std::vector<int8_t> tails_{};
};

// Sixteen rows, or the last ones and rows of zeros.
class Panel {
 public:
  explicit Panel(int64_t blocks) : blocks_(static_cast<size_t>(blocks)) {}

  void fill(RowFormat format, std::span<const std::byte> rows, int64_t row_bytes) {
    const int64_t count = std::ssize(rows) / row_bytes;
    const int64_t bytes = row_bytes / std::ssize(blocks_);
    if (count < kPanelRows) std::ranges::fill(blocks_, PanelBlock{});
    for (int64_t n = 0; n < count; ++n) {
      const auto row = row_of(rows, n, row_bytes);
      for (size_t b = 0; b < blocks_.size(); ++b) {
        set_row(format, row_of(row, static_cast<int64_t>(b), bytes), n, blocks_[b]);
      }
    }
  }

  // Of one token with every row.
  std::array<float, kPanelRows> sums(const Tokens& tokens, int64_t t) const {
    alignas(64) std::array<float, kBlockLanes * kPanelRows> lanes{};
    const auto add = block_loops().panel;
    const int64_t whole = tokens.whole();
    add(blocks_.data(), tokens.values(t), tokens.excess(t), whole, lanes.data());
    if (whole < std::ssize(blocks_)) {
      add(&blocks_.back(), tokens.tail(t), tokens.excess(t) + whole, 1,
          lanes.data() + whole % kBlockLanes * kPanelRows);
    }
    std::array<float, kPanelRows> sums{};
    for (size_t i = 0; i < lanes.size(); ++i) sums.at(i % kPanelRows) += lanes.at(i);
    return sums;
  }

 private:
  static void set_row(RowFormat format, std::span<const std::byte> block, int64_t n,
                      PanelBlock& place) {
    std::array<int8_t, kBlockValues> values{};
    unpack_row(format, block, values);
    for (size_t quad = 0; quad < values.size(); quad += 4) {
      uint32_t four = 0;
      std::memcpy(&four, &values[quad], sizeof four);
      four ^= 0x80808080U;  // plus 128, each
      std::memcpy(place.values + quad * kPanelRows + 4 * n, &four, sizeof four);
    }
    place.d[n] = row_scale(format, block, 0);
  }

  std::vector<PanelBlock> blocks_{};
};

}  // namespace

bool wants_panels(int64_t tokens) {
  return tokens >= kTokensForPanels && block_loops().panel != nullptr;
}

void multiply_panels(RowFormat format, const MatMulShape& shape, std::span<const int8_t> x,
                     std::span<const std::byte> weights, const TakeSums& take,
                     const GemmOptions& options) {
  check(wants_panels(shape.tokens), "panels need vector units");
  constexpr int64_t kRowsAtATime = 4 * kPanelRows;
  const int64_t row_bytes = row_format_bytes(format, shape.columns);
  const Tokens tokens(shape, x);
  for_each_part(shape.rows, kRowsAtATime, options.threads, [&](int64_t first, int64_t count) {
    Panel panel(tokens.blocks());
    for (int64_t n = first; n < first + count; n += kPanelRows) {
      const int64_t rows = std::min(kPanelRows, first + count - n);
      panel.fill(format,
                 weights.subspan(static_cast<size_t>(n * row_bytes),
                                 static_cast<size_t>(rows * row_bytes)),
                 row_bytes);
      for (int64_t t = 0; t < shape.tokens; ++t) {
        const std::array<float, kPanelRows> sums = panel.sums(tokens, t);
        take(t, n, std::span(sums).first(static_cast<size_t>(rows)));
      }
    }
  });
}

}  // namespace tidemark
