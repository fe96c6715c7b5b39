// The KV cache during a run: what it holds as tokens come, and what of it must be read back.
//
// Growth. Whole: the cache is there from the start, as the plan reserves it. Blocks: cells come in
// blocks of `kv_block` tokens a sequence as they are filled.
//   block 16, prompt 20, then one token at a time:   32 cells, from token 33 on 48
// Checked by KvCellsTest.BlocksComeAsTheyAreFilled.
//
// Spill. Of the cells filled, `kv_resident` bytes stay in memory, the rest lies in storage, shared
// out over the layers as they fill it. A layer's part is read back each time the layer attends; the
// read begins when the visit before it begins to compute, so it is hidden when that takes longer.
//   28 layers, 1,024 B a token and layer, storage 1 GB/s, 3 ms of compute a layer:
//   3,000 tokens spilled   3,000 x 1,024 B = 3.07 MB: 3.07 ms a layer, 0.07 ms of them waited for
//   4,000 tokens           4.10 ms, 1.10 ms of them waited for
// Two parts of the largest layer are held beside what stays, for the read and the attention.
// Engines that only map the file (kv_spill mapped_file) read a part when the layer attends it.
// Checked by KvCellsTest.SpilledCellsAreReadBehindTheCompute. Source: MNN-LLM, arXiv 2506.10443,
// section on KV in flash. Writes of new cells are counted as bytes, not as time: one cell a token.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "planner/capacity/memory_plan.h"
#include "sim/strategy/memory_ledger.h"
#include "sim/strategy/passes.h"
#include "sim/strategy/weight_store.h"

namespace tidemark {

// What stays of the cache in memory; nothing is said when all of it does.
std::optional<Bytes> kv_kept(const Scenario& scenario);

// The most that a run of these passes holds of the cache at once.
Bytes most_kv_held(const Scenario& scenario, const MemoryPlan& plan, const Passes& passes);

class KvCells {
 public:
  using Action = std::function<void()>;

  KvCells(const Scenario& scenario, const MemoryPlan& plan, WeightStore& store,
          MemoryLedger& ledger);

  // The cells that this pass attends are there, and those it writes.
  void begin_pass(const Pass& pass);
  // `on_resident` runs when the cells that visit `use` of the pass attends are in memory.
  void need(size_t use, Action on_resident);
  // Visit `use` computes: the next one's cells are asked for.
  void computing(size_t use);

  // Between two passes: keeps so much less that what is held shrinks by `excess`, or to the least
  // there is. What stays of the cells, nothing if none could go.
  std::optional<Bytes> keep_less(Bytes excess);

  bool spills() const { return spilled_ > Bytes{}; }
  Bytes written() const { return written_; }

 private:
  // The slots for reading back, beside `kept` of `filled`.
  Bytes slots_beside(Bytes kept, Bytes filled) const;
  Bytes bytes_at(int64_t cells) const;
  Bytes spilled_of(size_t use) const;
  void read(size_t use);

  const Scenario& scenario_;
  const MemoryPlan& plan_;
  WeightStore& store_;
  MemoryLedger& ledger_;
  std::vector<int64_t> prefill_shares_{};  // by visit: bytes a cell that it attends
  std::vector<int64_t> decode_shares_{};

  const std::vector<int64_t>* shares_ = &prefill_shares_;
  int64_t all_shares_ = 0;
  std::optional<Bytes> kept_{};  // of the cells, when not all may stay
  int64_t cells_of_pass_ = 0;    // there for the last one
  int64_t cells_ = -1;           // of a sequence, that memory or storage has room for
  Bytes filled_{};
  Bytes spilled_{};
  Bytes written_{};
  int64_t asked_for_ = -1;  // the visit whose read is under way or done, within the pass
  bool arrived_ = false;
  Action on_resident_{};
};

}  // namespace tidemark
