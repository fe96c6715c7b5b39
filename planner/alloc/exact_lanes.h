// Several runs of the exact search side by side, with the same outcome however many threads there
// are.
//
//   four runs, of which the third solves and, on another thread, the fourth as well:
//     one thread    run 0 gives up, run 1 gives up, run 2 solves; run 3 is not begun
//     four threads  run 3 solves first; run 2, which does not know, goes on and solves
//   both: run 2 has won; the nodes of runs 0 to 2 are counted and what they saw fail is kept; of
//   run 3 nothing is. Checked by ExactLanesTest.ThreadsChangeNothing.
//
// A run is called off only when one with a lower number has decided. While runs are under way the
// common table of failed states is only read; each lane writes to a table of its own.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "planner/alloc/exact_search.h"

namespace tidemark {

// Runs every task once, on any threads and in any order, and returns when all have ended.
using Executor = std::function<void(std::span<const std::function<void()>> tasks)>;

namespace exact {

inline constexpr size_t kLanes = 4;

struct Run {
  Order order{};
  Patience patience{};
};

struct RunResult {
  Outcome outcome = Outcome::kLimit;
  int64_t least_left = 0;  // see Searcher
};

class Lanes {
 public:
  // What the arguments point to must outlive the lanes. `stop` may be asked by any thread.
  Lanes(const Instance& instance, const Rules& rules, size_t table_bytes,
        const std::function<bool()>& stop, const Executor& run_all);

  // Before the first run; later only to lower it. See make_searcher.
  void set_capacity(Bytes capacity);

  // One run, no lane in parallel.
  Outcome run_alone(const std::vector<int32_t>& part, const Run& run);

  // Up to kLanes runs. The result holds one entry for each up to the first that decided.
  std::vector<RunResult> run(const std::vector<int32_t>& part, std::span<const Run> runs);

  int64_t nodes() const { return nodes_; }
  // Of the last run that solved.
  const std::vector<int64_t>& offsets() const { return *offsets_; }

 private:
  struct Lane {
    FailedStates failed;
    std::unique_ptr<Searcher> searcher{};
    std::function<bool()> stop{};
    RunResult result{};
    int64_t nodes = 0;  // of the last run
  };
  std::unique_ptr<Searcher> searcher(FailedStates& failed, const std::function<bool()>& stop) const;
  void prepare(size_t lanes);
  void run_lane(size_t lane, const std::vector<int32_t>& part, const Run& run);

  const Instance& instance_;
  Rules rules_{};
  size_t table_bytes_ = 0;
  const std::function<bool()>& stop_;
  const Executor& run_all_;
  Bytes capacity_{};
  FailedStates failed_;
  std::unique_ptr<Searcher> alone_{};
  std::array<std::unique_ptr<Lane>, kLanes> lanes_{};
  std::atomic<size_t> decided_{kLanes};  // the lowest lane that has
  int64_t nodes_ = 0;
  const std::vector<int64_t>* offsets_ = nullptr;
};

}  // namespace exact
}  // namespace tidemark
