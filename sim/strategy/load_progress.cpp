#include "sim/strategy/load_progress.h"

#include <fmt/format.h>

#include "planner/report/residency_text.h"

namespace tidemark {
namespace {

constexpr int64_t kQuarters = 4;

}  // namespace

LoadProgress::LoadProgress(const Simulation& simulation, std::vector<Bytes> bytes,
                           bool is_initialised)
    : simulation_(simulation), bytes_(std::move(bytes)) {
  for (const Bytes each : bytes_) whole_ += each;
  const std::vector<bool> none(bytes_.size(), false);
  read_ = {.word = is_initialised ? " read" : nullptr, .came = none};
  ready_ = {.word = is_initialised ? " initialised" : "", .came = none};
}

void LoadProgress::note(Stage& stage, UnitId unit) {
  if (stage.word == nullptr || stage.came.at(unit.index())) return;
  stage.came[unit.index()] = true;
  stage.bytes += bytes_[unit.index()];
  for (; stage.quarters < kQuarters && stage.bytes >= quarter(stage.quarters + 1);
       ++stage.quarters) {
    const int64_t percent = 25 * (stage.quarters + 1);
    const std::string what =
        percent == 100 ? "all weights" : fmt::format("{} % of the weights", percent);
    events_.push_back(
        {.time = simulation_.now(), .what = std::string(kProgress), .detail = what + stage.word});
  }
}

// ceil(whole x count / 4) without leaving the range of a whole that fits it.
Bytes LoadProgress::quarter(int64_t count) const {
  const int64_t bytes = whole_.count();
  return Bytes::of(bytes / kQuarters * count + ceil_div(bytes % kQuarters * count, kQuarters));
}

}  // namespace tidemark
