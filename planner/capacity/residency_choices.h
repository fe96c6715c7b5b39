// Where the weights lie and who else uses them, beside the strategy: files, processes, experts,
// neurons. What a run makes of each stands in sim/strategy: weight_files.h, process_run.h,
// expert_loader.h, cold_rows_loader.h.
#pragma once

#include <cstdint>
#include <optional>

#include "planner/base/bytes.h"

namespace tidemark {

// Of the neurons of every feed-forward, a share is kept; of the others a token reads a share.
struct HotRows {
  int64_t kept_ppm = 0;  // parts per million
  int64_t read_ppm = 0;  // of those not kept, by one token
  bool bundled = true;   // a neuron's rows and column lie side by side: one request
  bool operator==(const HotRows&) const = default;
};

struct ResidencyChoices {
  int64_t split_files = 0;        // so many files of whole tensors, about alike; 0 = one file, or
  Bytes split_size{};             // files of at most so much each
  int64_t processes = 1;          // over one mapped file, one after the other
  int64_t expert_slots = 0;       // experts kept of each layer, or
  Bytes expert_bytes{};           // of all layers together; neither = all of them
  std::optional<HotRows> rows{};  // none = all rows are kept
  bool operator==(const ResidencyChoices&) const = default;

  bool is_split() const { return split_files > 0 || split_size > Bytes{}; }
  bool caches_experts() const { return expert_slots > 0 || expert_bytes > Bytes{}; }
};

}  // namespace tidemark
