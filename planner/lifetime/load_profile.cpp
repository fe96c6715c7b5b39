#include "planner/lifetime/load_profile.h"

#include <Eigen/Core>

#include "planner/base/check.h"

namespace tidemark {
namespace {

using Counts = Eigen::Matrix<int64_t, Eigen::Dynamic, 1>;

// By step, and one more for what ends with the last step: by how much the load changes when the
// step begins.
Counts load_changes(const std::vector<ArenaBuffer>& buffers, int64_t step_count) {
  Counts changes = Counts::Zero(step_count + 1);
  for (const ArenaBuffer& buffer : buffers) {
    const int64_t lower = buffer.lifetime.lower.value();
    const int64_t upper = buffer.lifetime.upper.value();
    check(0 <= lower && lower <= upper && upper <= step_count,
          "a lifetime lies within the schedule");
    changes[lower] = checked_add(changes[lower], buffer.size.count());
    changes[upper] = checked_sub(changes[upper], buffer.size.count());
  }
  return changes;
}

}  // namespace

LoadProfile load_profile(const std::vector<ArenaBuffer>& buffers, int64_t step_count) {
  check(0 <= step_count, "a schedule has no negative length");
  const Counts changes = load_changes(buffers, step_count);
  LoadProfile profile;
  profile.load.reserve(static_cast<size_t>(step_count));
  Bytes load;
  for (int64_t step = 0; step < step_count; ++step) {
    load += Bytes::of(changes[step]);
    profile.load.push_back(load);
    if (profile.peak < load) {
      profile.peak = load;
      profile.peak_step = StepIndex(step);
    }
  }
  return profile;
}

}  // namespace tidemark
