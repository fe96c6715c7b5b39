#include "planner/capacity/weight_units.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/base/check.h"

namespace tidemark {
namespace {

// What stands before the layers moves with the embedding, what stands behind them with the head.
std::string unit_outside(const WeightTensor& tensor) {
  const bool before =
      tensor.role == WeightRole::kTokenEmbedding || tensor.role == WeightRole::kPositionEmbedding ||
      tensor.role == WeightRole::kTokenTypes || tensor.role == WeightRole::kEmbeddingNorm;
  return before ? "token_embd" : "output";
}

std::string unit_name(const WeightTensor& tensor) {
  if (tensor.role == WeightRole::kPlain) return tensor.name;
  // A stack is one unit: it runs on its own, before or after the main layers.
  if (tensor.stack >= 0) return tensor.name.substr(0, tensor.name.find('.'));
  return tensor.layer >= 0 ? fmt::format("blk.{}", tensor.layer) : unit_outside(tensor);
}

// Do two neighbours of the inventory move together? Layers of a list do not, whatever they are
// called.
bool same_unit(const WeightTensor& a, const WeightTensor& b) {
  return a.role != WeightRole::kPlain && unit_name(a) == unit_name(b);
}

bool is_layer_unit(const WeightUnit& unit, const WeightsInventory& weights) {
  const WeightTensor& tensor = weights.tensors.at(unit.tensors.front().index());
  return tensor.role == WeightRole::kPlain || (tensor.layer >= 0 && tensor.stack < 0);
}

// "token_embd" and "blk.0" -> "token_embd-blk.0".
void append(WeightUnit& chunk, const std::string& first, const WeightUnit& unit) {
  chunk.name = first + "-" + unit.name;
  chunk.bytes += unit.bytes;
  chunk.tensors.insert(chunk.tensors.end(), unit.tensors.begin(), unit.tensors.end());
}

std::vector<UnitId> unit_of_each_weight(const std::vector<WeightUnit>& units) {
  std::vector<UnitId> unit_of;
  for (size_t i = 0; i < units.size(); ++i) {
    for (WeightId weight : units[i].tensors) {
      if (weight.index() >= unit_of.size()) unit_of.resize(weight.index() + 1);
      unit_of[weight.index()] = UnitId::of(i);
    }
  }
  return unit_of;
}

// Two slots that alternate: the visit at hand and the one after it, the first visit of the next
// pass following the last of this one. A unit that follows itself is not read again.
Bytes largest_pair(const std::vector<WeightUnit>& units, const std::vector<UnitUse>& uses) {
  Bytes largest;
  for (size_t i = 0; i < uses.size(); ++i) {
    const UnitId current = uses[i].unit;
    const UnitId next = uses[(i + 1) % uses.size()].unit;
    const Bytes second = current == next ? Bytes{} : units.at(next.index()).bytes;
    largest = std::max(largest, units.at(current.index()).bytes + second);
  }
  return largest;
}

// The bias of a matrix, the shift of a norm: what reads one reads the other.
bool belongs_to_the_last(WeightId id, const WeightsInventory& weights) {
  if (id.index() == 0 || !weights.tensors.at(id.index()).is_bias) return false;
  const WeightTensor& bias = weights.tensors.at(id.index());
  const WeightTensor& last = weights.tensors.at(id.index() - 1);
  return last.role == bias.role && last.layer == bias.layer && last.stack == bias.stack;
}

}  // namespace

std::vector<WeightUnit> weight_units(const WeightsInventory& weights, int64_t embedding_rows) {
  std::vector<WeightUnit> units;
  for (size_t i = 0; i < weights.tensors.size(); ++i) {
    const WeightTensor& tensor = weights.tensors[i];
    if (i == 0 || !same_unit(weights.tensors[i - 1], tensor)) {
      units.push_back({.name = unit_name(tensor)});
    }
    const bool by_row = tensor.role == WeightRole::kTokenEmbedding && embedding_rows > 0;
    units.back().bytes +=
        by_row ? row_bytes(tensor.dtype, tensor.columns) * std::min(embedding_rows, tensor.rows)
               : tensor.bytes;
    units.back().tensors.push_back(WeightId::of(i));
  }
  return units;
}

std::vector<WeightUnit> chunked_units(const std::vector<WeightUnit>& units,
                                      const WeightsInventory& weights, int64_t layers) {
  std::vector<WeightUnit> chunks;
  int64_t in_chunk = 0;  // layers of the last chunk
  std::string first;     // unit of it
  for (const WeightUnit& unit : units) {
    const bool is_layer = is_layer_unit(unit, weights);
    const bool joins_first = is_layer && chunks.size() == 1 && in_chunk == 0;
    const bool joins_last = is_layer && chunks.size() > 1 && in_chunk > 0 && in_chunk < layers;
    if (joins_first || joins_last) {
      append(chunks.back(), first, unit);
      ++in_chunk;
    } else {
      chunks.push_back(unit);
      first = unit.name;
      in_chunk = is_layer ? 1 : 0;
    }
  }
  return chunks;
}

std::vector<WeightUnit> parted_units(const std::vector<WeightUnit>& units,
                                     const WeightsInventory& weights, int64_t parts) {
  std::vector<WeightUnit> made;
  for (const WeightUnit& unit : units) {
    if (!is_layer_unit(unit, weights)) {
      made.push_back(unit);
      continue;
    }
    Bytes so_far;
    int64_t part = 0;  // begun, from 1
    for (const WeightId id : unit.tensors) {
      const Bytes bytes = weights.tensors.at(id.index()).bytes;
      const bool is_due =
          part == 0 || (so_far * parts >= unit.bytes * part && !belongs_to_the_last(id, weights));
      if (is_due) made.push_back({.name = fmt::format("{}/{}", unit.name, ++part)});
      made.back().bytes += bytes;
      made.back().tensors.push_back(id);
      so_far += bytes;
    }
  }
  return made;
}

std::vector<UnitUse> unit_uses(const std::vector<WeightUnit>& units, const Graph& graph,
                               const Schedule& schedule) {
  const std::vector<UnitId> unit_of = unit_of_each_weight(units);
  std::vector<UnitUse> uses;
  for (size_t step = 0; step < schedule.order.size(); ++step) {
    for (WeightId weight : graph.op(schedule.order[step]).weights) {
      const UnitId unit = unit_of.at(weight.index());
      if (!uses.empty() && uses.back().unit == unit) continue;
      // Steps before the first weight belong to the first visit.
      const StepIndex start = StepIndex::of(uses.empty() ? 0 : step);
      if (!uses.empty()) uses.back().steps.upper = start;
      uses.push_back({.unit = unit, .steps = {start, start}});
    }
  }
  if (!uses.empty()) uses.back().steps.upper = StepIndex::of(schedule.order.size());
  return uses;
}

Bytes resident_weight_bytes(StrategyKind strategy, const std::vector<WeightUnit>& units,
                            const std::vector<UnitUse>& uses, Bytes cache_capacity) {
  Bytes sum;
  Bytes largest;
  for (const WeightUnit& unit : units) {
    sum += unit.bytes;
    largest = std::max(largest, unit.bytes);
  }
  switch (strategy) {
    case StrategyKind::kResident:
      return sum;
    case StrategyKind::kLayerwise:
      return largest;
    case StrategyKind::kDoubleBuffer:
    case StrategyKind::kChunked:
      return largest_pair(units, uses);
    case StrategyKind::kMmap:
    case StrategyKind::kBlockCache:
      return std::min(cache_capacity, sum);
  }
  check(false, "every strategy has a formula");
  return {};
}

}  // namespace tidemark
