#include "sim/kernels/attention/kv_tiles.h"

#include <algorithm>
#include <array>

#include "planner/base/check.h"
#include "sim/kernels/attention/kv_loops.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

constexpr int64_t kLanes = kKvLanes;

std::span<const std::byte> row_at(const KvTile& tile, int64_t j) {
  return row_of(tile.cache, tile.first_cell + j, kv_row_bytes(tile.shape));
}

KvHead head_of(const KvTile& tile, int64_t first_element, int64_t length, int64_t cells) {
  const int64_t row_bytes = kv_row_bytes(tile.shape);
  const int64_t elements = tile.shape.n_head_kv * tile.shape.head_dim;
  check(tile.first_cell >= 0 && cells >= 0 &&
            tile.first_cell <= std::ssize(tile.cache) / row_bytes - cells,
        "attended cells are in the cache");
  check(first_element >= 0 && length >= 0 && first_element <= elements - length,
        "elements are of a row");
  const int64_t bytes = tile.shape.type == KvType::kInt8 ? 1 : 2;
  return {.first = tile.cache.data() + tile.first_cell * row_bytes + first_element * bytes,
          .stride = row_bytes,
          .scale = elements - first_element,
          .cells = cells,
          .length = length};
}

// weights x the cells' scales, as kv_accumulate takes them. A tile of attention has 32 cells.
constexpr size_t kFactorTile = 32;

void accumulate_by_cells(const KvTile& tile, int64_t first_element, std::span<const float> weights,
                         std::span<float> sums) {
  for (size_t j = 0; j < weights.size(); ++j) {
    kv_accumulate(tile.shape, row_at(tile, static_cast<int64_t>(j)), first_element, weights[j],
                  sums);
  }
}

void accumulate_tile(const KvTile& tile, int64_t first_element, std::span<const float> weights,
                     std::span<float> sums) {
  const KvLoops* loops = kv_loops();
  if (loops == nullptr) return accumulate_by_cells(tile, first_element, weights, sums);
  const auto whole = sums.size() / kLanes * kLanes;
  const KvHead head =
      head_of(tile, first_element, static_cast<int64_t>(whole), std::ssize(weights));
  if (tile.shape.type == KvType::kF16) {
    loops->f16_sums(head, weights.data(), sums.data());
  } else {
    std::array<float, kFactorTile> factors{};
    loops->factors(head, weights.data(), factors.data());
    for (size_t j = weights.size() / kLanes * kLanes; j < weights.size(); ++j) {
      factors[j] = weights[j] * stored_scale(row_at(tile, static_cast<int64_t>(j)));
    }
    loops->int8_sums(head, factors.data(), sums.data());
  }
  if (whole < sums.size()) {
    accumulate_by_cells(tile, first_element + static_cast<int64_t>(whole), weights,
                        sums.subspan(whole));
  }
}

}  // namespace

void kv_dots(const KvTile& tile, int64_t head_kv, std::span<const int8_t> q,
             std::span<float> dots) {
  check(std::ssize(q) == tile.shape.head_dim, "q is a head long");
  const KvHead head =
      head_of(tile, head_kv * tile.shape.head_dim, tile.shape.head_dim, std::ssize(dots));
  const KvLoops* loops = kv_loops();
  int64_t done = 0;
  if (loops != nullptr && tile.shape.type == KvType::kInt8) {
    loops->int8_dots(head, q.data(), dots.data());
    done = head.cells / kLanes * kLanes;
  } else if (loops != nullptr && head.length % kLanes == 0) {
    loops->f16_dots(head, q.data(), dots.data());
    done = head.cells;
  }
  for (int64_t j = done; j < head.cells; ++j) {
    dots[static_cast<size_t>(j)] = kv_dot(tile.shape, row_at(tile, j), head_kv, q);
  }
}

void kv_accumulate(const KvTile& tile, int64_t first_element, std::span<const float> weights,
                   std::span<float> sums) {
  (void)head_of(tile, first_element, std::ssize(sums), std::ssize(weights));  // checks
  constexpr auto kStep = static_cast<int64_t>(kFactorTile);
  KvTile part = tile;
  for (size_t j = 0; j < weights.size(); j += kFactorTile, part.first_cell += kStep) {
    const size_t count = std::min(kFactorTile, weights.size() - j);
    accumulate_tile(part, first_element, weights.subspan(j, count), sums);
  }
}

}  // namespace tidemark
