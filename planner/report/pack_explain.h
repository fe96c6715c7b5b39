// Why the peak of a packing plan is where it is.
#pragma once

#include "planner/report/pack_report.h"

namespace tidemark {

// Fills in what the report says of the peak: explained, peak_instant, peak_buffers, largest, hole.
// With pools: of the first that anything lives in.
void explain_peak(const Problem& problem, PackReport& report);

// The buffers of one pool as a problem without pools, and their offsets (none when the plan has
// none; then all buffers are taken).
struct PoolExcerpt {
  Problem problem{};
  std::vector<Bytes> offsets{};
  std::vector<BufferId> members{};  // of the whole problem
};
PoolExcerpt excerpt_of(const Problem& problem, const Plan& plan, PoolId pool);

// The first instant of the highest load.
int64_t fullest_instant(const Problem& problem);

}  // namespace tidemark
