// How much of a pool of KV cells holds tokens, by how a request's cells are reserved: a batch that
// is never short of requests, one token a step for each that runs.
//
//   longest       a place for the longest sequence there may be
//   power of two  a place for the prompt and the next power of two of the output
//   exact         a place for what it will need, known in advance
//   paged         blocks as they are filled
//
//   Places are cut from the pool by a buddy allocator, so they are rounded up to powers of two.
//   What of the pool holds no token:
//     reserved  will hold one, of a request that runs
//     internal  belongs to a request that will never fill it
//     external  is free but too small, or rounding
//
//   Pool 16, longest 8, requests of prompt 3 and output 2: two run, each 3 then 4 tokens long, in
//   two places of 8. Two steps of 16 cells: tokens 6 + 8 = 14, reserved 4 + 2 = 6 (each will reach
//   5), internal 2 x 2 x 3 = 12, external 0.
//   Checked by KvPagingTest.WorkedInTheHeader.
//
// Source: arXiv 2309.06180, section 3.1 and figure 2 (the three ways before paging, and buddy
// allocation); vLLM's block manager (watermark, preemption of the youngest).
#pragma once

#include <cstdint>
#include <span>

namespace tidemark {

struct KvRequest {
  int64_t prompt = 1;
  int64_t output = 1;
  int64_t total() const { return prompt + output; }
};

enum class KvReservation { kLongest, kPowerOfTwo, kExact, kPaged };

struct KvPool {
  int64_t cells = 16384;             // a power of two
  int64_t longest = 2048;            // no request is longer
  int64_t block = 16;                // paged: divides cells
  int64_t watermark_per_mille = 10;  // paged: of the blocks, kept free when a request is taken in
};

// Sums over all steps, in cells; together they are steps x pool cells.
struct KvUse {
  int64_t steps = 0;
  int64_t tokens = 0;
  int64_t reserved = 0;
  int64_t internal = 0;
  int64_t external = 0;
  int64_t preempted = 0;  // paged: requests put back for lack of blocks

  int64_t all() const { return tokens + reserved + internal + external; }
  double share_of_tokens() const {
    return all() == 0 ? 0.0 : static_cast<double>(tokens) / static_cast<double>(all());
  }
};

// Requests are taken in order, over and over (one that is put back starts again with the next
// round), for `steps` steps; those before `warm_up` are not counted. CHECKs that each request fits:
// 1 <= prompt, 1 <= output, total <= longest <= cells. O(steps x requests that run).
KvUse kv_use(std::span<const KvRequest> trace, KvReservation reservation, const KvPool& pool,
             int64_t steps, int64_t warm_up = 0);

}  // namespace tidemark
