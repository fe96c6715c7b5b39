#include "planner/alloc/exact_lanes.h"

#include <algorithm>

#include "planner/base/check.h"

namespace tidemark::exact {
namespace {

// Of the memory for failed states, the part that is common to all lanes.
constexpr size_t common_share(size_t bytes) { return bytes / 4 * 3; }

}  // namespace

Lanes::Lanes(const Instance& instance, const Rules& rules, size_t table_bytes,
             const std::function<bool()>& stop, const Executor& run_all)
    : instance_(instance),
      rules_(rules),
      table_bytes_(table_bytes),
      stop_(stop),
      run_all_(run_all),
      failed_(common_share(table_bytes)) {}

std::unique_ptr<Searcher> Lanes::searcher(FailedStates& failed,
                                          const std::function<bool()>& stop) const {
  return make_searcher({.instance = &instance_,
                        .capacity = capacity_,
                        .rules = rules_,
                        .failed = &failed,
                        .stop = &stop});
}

void Lanes::set_capacity(Bytes capacity) {
  check(alone_ == nullptr || capacity < capacity_, "what failed fails only at lower capacities");
  capacity_ = capacity;
  alone_ = searcher(failed_, stop_);
  for (auto& lane : lanes_) {
    if (lane) lane->searcher = nullptr;
  }
}

Outcome Lanes::run_alone(const std::vector<int32_t>& part, const Run& run) {
  const int64_t before = alone_->nodes();
  const Outcome outcome = alone_->run(part, run.order, run.patience);
  nodes_ += alone_->nodes() - before;
  offsets_ = &alone_->offsets();
  return outcome;
}

void Lanes::prepare(size_t lanes) {
  const size_t each = (table_bytes_ - common_share(table_bytes_)) / kLanes;
  for (size_t i = 0; i < lanes; ++i) {
    if (lanes_[i] == nullptr) {
      lanes_[i] = std::make_unique<Lane>(Lane{.failed = FailedStates(each, &failed_)});
      lanes_[i]->stop = [this, i] { return decided_ < i || (stop_ && stop_()); };
    }
    if (lanes_[i]->searcher == nullptr) {
      lanes_[i]->searcher = searcher(lanes_[i]->failed, lanes_[i]->stop);
    }
  }
}

void Lanes::run_lane(size_t lane, const std::vector<int32_t>& part, const Run& run) {
  if (decided_ < lane) return;
  Lane& mine = *lanes_[lane];
  const int64_t before = mine.searcher->nodes();
  mine.result.outcome = mine.searcher->run(part, run.order, run.patience);
  mine.result.least_left = mine.searcher->least_left();
  mine.nodes = mine.searcher->nodes() - before;
  if (mine.result.outcome == Outcome::kLimit) return;
  for (size_t lowest = decided_; lane < lowest;) {
    if (decided_.compare_exchange_weak(lowest, lane)) break;
  }
}

std::vector<RunResult> Lanes::run(const std::vector<int32_t>& part, std::span<const Run> runs) {
  check(runs.size() <= kLanes, "a lane for each run");
  prepare(runs.size());
  decided_ = kLanes;
  std::vector<std::function<void()>> tasks;
  for (size_t i = 0; i < runs.size(); ++i) {
    tasks.emplace_back([this, i, &part, &runs] { run_lane(i, part, runs[i]); });
  }
  if (run_all_) {
    run_all_(tasks);
  } else {
    for (const auto& task : tasks) task();
  }
  std::vector<RunResult> results;
  for (size_t i = 0; i < runs.size(); ++i) {
    Lane& lane = *lanes_[i];
    if (decided_ < i) {
      lane.failed.clear();
      continue;
    }
    failed_.absorb(lane.failed);
    nodes_ += lane.nodes;
    results.push_back(lane.result);
    if (lane.result.outcome == Outcome::kSolved) offsets_ = &lane.searcher->offsets();
  }
  return results;
}

}  // namespace tidemark::exact
