// Which pass a visit belongs to, for loaders to which a pass is more than its visits.
#pragma once

#include "sim/strategy/passes.h"

namespace tidemark {

// Follows the visits as they are asked for, one after the other.
class PassWalk {
 public:
  PassWalk(const Passes& passes, const Itinerary& itinerary)
      : passes_(passes), itinerary_(itinerary) {}

  // The pass of the next visit.
  const Pass& next_visit() {
    if (left_ == 0) {
      pass_ = passes_.at(next_pass_++);
      left_ = pass_.phase == Phase::kPrefill ? itinerary_.prefill.size() : itinerary_.decode.size();
    }
    --left_;
    return pass_;
  }

 private:
  const Passes& passes_;
  const Itinerary& itinerary_;
  Pass pass_{};
  int64_t next_pass_ = 0;
  size_t left_ = 0;  // visits of the pass
};

}  // namespace tidemark
