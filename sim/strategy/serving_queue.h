// Who runs and who waits: continuous batching over a pool of KV blocks. No clock.
//
// A round is a prefill pass and a decode pass. Before it, requests are admitted in order of
// arrival, as long as fewer than `most_running` run and the pool has the blocks of the whole
// prompt. The prefill pass takes the tokens of prompts that are not yet computed, in order of
// admission, up to a ubatch; whose prompt is done makes a token. The decode pass makes one token
// for each that has made one before. A request ends with its last token and gives its blocks back.
//
// Short of a block, the request admitted last is preempted: its blocks are freed, it waits at the
// head of the queue, and when it comes back its prompt and what it has made are computed again
// (recomputation, as vLLM V1 does; nothing is spilled). The one admitted first is never preempted,
// so a run ends.
//
//   ubatch 8, blocks of 4 cells, pool of 4;   a: prompt 6, 4 tokens   b: prompt 5, 3 tokens
//   round   prefill    decode      blocks a b   cells
//   1       a 6, b 2   a           2 2          a 7, b 5     a's first two tokens
//   2       b 3        a, b        2 2          a 8, b 6     b's first two
//   3       -          a           3            a 9: a block more, so b is preempted with 2 tokens
//                                               made; a makes its 4th and ends
//   4       b 7        -           2            b 7: its prompt and 2 tokens again, and the 3rd
//   Checked by ServingQueueTest.WorkedInTheHeader.
//
// Whole contexts instead of blocks (`whole_context`): a request takes a block as large as a
// sequence's context. It is never preempted, and shares nothing.
//
// A request whose prefix is that of a running one begins with its cells: the blocks are shared and
// those tokens are not computed again. When the last of them ends, the prefix is gone.
//
// Source: Orca (OSDI 2022), iteration-level scheduling; arXiv 2309.06180, section 4.5.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "sim/memory/kv_blocks.h"
#include "sim/strategy/requests.h"

namespace tidemark {

struct ServingLimits {
  int64_t most_running = 1;
  int64_t ubatch = 1;
  KvBlockOptions pool{};
  bool whole_context = false;  // a block holds a whole sequence
};

// A request's part of a pass.
struct ServedTokens {
  size_t request = 0;
  int64_t tokens = 0;
  int64_t cells = 0;  // attended by each
  bool operator==(const ServedTokens&) const = default;
};

struct ServingCounts {
  int64_t completed = 0;
  int64_t most_running = 0;
  int64_t preemptions = 0;
  int64_t prefilled = 0;    // tokens computed in prefill passes
  int64_t lost = 0;         // tokens computed whose cells a preemption freed
  int64_t from_prefix = 0;  // tokens whose cells were there already
};

class ServingQueue {
 public:
  // Every request must fit the pool alone (CHECK, when it is admitted). `requests` must outlive it.
  ServingQueue(std::span<const Request> requests, const ServingLimits& limits);

  void arrive(size_t request);
  void admit();
  // The parts of the pass at hand; empty: there is nothing to do in it.
  const std::vector<ServedTokens>& begin_prefill();
  const std::vector<ServedTokens>& begin_decode();
  // The pass has been computed. Who has made a token by it, in order of admission.
  const std::vector<size_t>& finish_prefill();
  const std::vector<size_t>& finish_decode();

  bool runs() const { return !running_.empty(); }
  bool waits() const { return !waiting_.empty(); }
  int64_t made(size_t request) const { return made_.at(request); }
  std::vector<size_t> running() const;  // in order of admission
  const ServingCounts& counts() const { return counts_; }
  const KvBlockPool& pool() const { return pool_; }

 private:
  struct Sequence {
    size_t request = 0;
    SequenceId cells{};
    int64_t left = 0;      // tokens to prefill
    int64_t computed = 0;  // cells of its own making
  };

  bool start(size_t request);
  const Sequence* donor_of(const Request& request) const;
  bool grow(size_t index);
  void preempt_last();
  const std::vector<size_t>& made_a_token(const std::vector<size_t>& sequences);

  std::span<const Request> requests_;
  ServingLimits limits_;
  KvBlockPool pool_;
  std::deque<size_t> waiting_{};
  std::vector<Sequence> running_{};
  std::vector<int64_t> made_{};       // by request
  std::vector<ServedTokens> pass_{};  // at hand
  std::vector<size_t> in_pass_{};     // of running_
  std::vector<size_t> makers_{};
  ServingCounts counts_{};
};

}  // namespace tidemark
