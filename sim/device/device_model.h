// How long things take on a described device.
//   read:  latency + bytes / bandwidth                      one request per weight unit
//   op:    op_overhead + max(operations / compute rate, bytes moved / memory bandwidth)  (roofline)
// The compute rate is that of its kind and type, if the device has one: compute_rate.h.
//
//   10 GOPS and 20 GB/s: a product of 100,000 operations over 400,000 B takes max(10,000, 20,000) =
//   20,000 ns: it waits for memory. At 500,000 operations it takes 50,000 ns: it waits for
//   arithmetic.
//
// Where a device's kernels were measured (planner/capacity/op_rate.h), their times stand in place
// of the arithmetic; memory still bounds them. They attend causally: a token's own cells and those
// before it.
//
// Why these two and where they end: docs/explanation/time-model.md. Checked by
// DeviceModelTest.ReadByHand and RooflineByHand.
#pragma once

#include "planner/capacity/device_spec.h"
#include "planner/graph/graph.h"
#include "planner/model/weights.h"

namespace tidemark {

Duration read_time(const DeviceSpec& device, Bytes bytes);

// What an op costs, apart from the device: kept, so that a pass need not walk the graph again.
struct OpWork {
  int64_t operations = 0;
  int64_t operations_per_cell = 0;  // times the KV cells attended
  Bytes weights_read{};             // whatever the number of tokens
  Bytes tensors{};  // inputs and outputs in the arena, and embedding rows: grows with the tokens
  Bytes state_read_per_cell{};
  int64_t most_cells = 0;  // attended, whatever the context; 0 = all
  Bytes state_moved{};     // whatever the context and the tokens
  OpSize size{};           // without what depends on the cells
  // Which rate serves it (planner/capacity/compute_rate.h); a product of one row is a gemv.
  OpClass op = OpClass::kOther;
  std::optional<ValueType> type{};  // none = not known: `compute`
};

// Without `weights` the types of products are not known.
OpWork op_work(const Graph& graph, const Op& op, const WeightsInventory* weights = nullptr);

// The same op when only `tokens` of the `of` tokens its graph was built for are there (a last,
// partial ubatch): what grows with the tokens, in proportion and rounded up; weights and KV cells
// are read whole.
OpWork with_tokens(const OpWork& work, int64_t tokens, int64_t of);

// What ops took, by what they waited for, and what they did that takes energy.
struct OpCost {
  Duration arithmetic{};
  Duration memory{};
  Duration overhead{};
  int64_t operations_picojoules = 0;
  Bytes moved{};

  Duration time() const { return arithmetic + memory + overhead; }
  OpCost& operator+=(const OpCost& other);
  OpCost operator*(int64_t ops) const;  // of so many alike
  bool operator==(const OpCost&) const = default;
};

// `cells`: KV cells attended per token. Bytes moved = weights read + tensors + KV read +
// recurrent state. An op waits for the longer of the two, for arithmetic when they are equal.
OpCost op_cost(const DeviceSpec& device, const OpWork& work, int64_t cells);
Duration op_time(const DeviceSpec& device, const OpWork& work, int64_t cells);
Duration op_time(const DeviceSpec& device, const Graph& graph, const Op& op, int64_t cells);

}  // namespace tidemark
