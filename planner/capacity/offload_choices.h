// Where an offload run keeps what: percentages on the accelerator and in main memory, the rest in
// storage. `offload: 20,80,0,100,0,100` is weights 20 % and 80 %, KV cache 0 % and 100 %, hidden
// states 0 % and 100 %, in the order in which FlexGen's tables state them.
#pragma once

#include <cstdint>

namespace tidemark {

struct OffloadShare {
  int64_t on_device = 0;  // percent
  int64_t in_memory = 100;

  int64_t in_storage() const { return 100 - on_device - in_memory; }
  int64_t off_device() const { return 100 - on_device; }
  bool operator==(const OffloadShare&) const = default;
};

struct OffloadChoices {
  OffloadShare weights{};
  OffloadShare kv_cache{};
  OffloadShare hidden{};
  int64_t batches = 1;  // of `parallel` sequences; a layer serves them all before the next is moved
  bool operator==(const OffloadChoices&) const = default;
};

}  // namespace tidemark
