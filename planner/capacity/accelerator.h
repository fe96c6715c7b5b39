// A processor with memory of its own beside the main memory, as far as moving layers to it goes: an
// offload run (sim/strategy/offload_run.h) reads these and nothing else.
//
// Rates are effective ones. Reads of a device's own cost model: FlexGen (arXiv 2303.06865,
// experimental/cost_model.py of its repository) has one rate for each way and kind of tensor,
// because cache rows are copied in small pieces and hidden states in one.
#pragma once

#include "planner/base/bytes.h"
#include "planner/base/quantity.h"

namespace tidemark {

struct Accelerator {
  Bytes memory{};
  OpsPerSecond prefill_products{};  // matrix products of a whole prompt
  OpsPerSecond prefill_attention{};
  OpsPerSecond decode_products{};  // of one token a sequence
  OpsPerSecond decode_attention{};
  OpsPerSecond host_attention{};  // what the main processor attends of a cache that it holds
  BytesPerSecond to_device{};
  BytesPerSecond cache_to_host{};
  BytesPerSecond hidden_to_host{};
  BytesPerSecond from_storage{};  // instead of flash_read
  BytesPerSecond cache_to_storage{};
  BytesPerSecond hidden_to_storage{};
  bool operator==(const Accelerator&) const = default;
};

}  // namespace tidemark
