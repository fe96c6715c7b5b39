// How long things take on a described device.
//   read:    latency + bytes / bandwidth                       one request per weight unit
//   op:      max(operations / compute rate, bytes / memory bandwidth)     roofline
// Sources: docs/explanation/time-model.md. Checked by DeviceModelTest.ReadByHand and RooflineByHand.
#pragma once

#include "planner/capacity/device_spec.h"
#include "planner/graph/graph.h"

namespace tidemark {

Duration read_time(const DeviceSpec& device, Bytes bytes);

// `cells`: KV cells attended per token. Bytes moved = weights read + inputs + outputs in the arena + KV read.
Duration op_time(const DeviceSpec& device, const Graph& graph, const Op& op, int64_t cells);

}  // namespace tidemark
