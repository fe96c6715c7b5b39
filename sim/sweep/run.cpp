#include "sim/sweep/run.h"

#include <fmt/core.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <unordered_map>

#include "planner/base/check.h"

namespace tidemark {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kBatchRows = 256;
constexpr std::chrono::seconds kBatchTime{1};
constexpr int kLiveRowsPerThread = 4;
constexpr size_t kMostCollisions = 100;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// What a worker hands to the writer.
struct Finished {
  SweepRow row{};  // without cells when the store has the id already
  bool computed = false;
  std::string written_id{};  // of the settings as written: under it an earlier run may have failed
                             // to resolve them
};

// Takes finished rows one by one, in grid order.
class Writer {
 public:
  // `known`: the ids in the store at the start of the run.
  Writer(Store& store, const std::unordered_set<std::string>& known, SweepSummary& summary)
      : store_(store), known_(known), summary_(summary) {}

  // Empty when all is well.
  Diagnostics take(Finished finished) {
    if (finished.row.id != finished.written_id && known_.contains(finished.written_id)) {
      stale_.push_back(std::move(finished.written_id));
    }
    const Result<std::optional<StoredRow>> stored = find(finished.row.id);
    if (!stored) return stored.diagnostics();
    if (*stored && !outdated(**stored, finished)) {
      compare(finished, **stored);
    } else if (finished.computed) {
      add(std::move(finished.row));
    }  // else someone removed the row while we ran: the next run computes it
    const size_t waiting = batch_.size() + stale_.size();
    const bool due = waiting >= kBatchRows || Clock::now() - last_flush_ >= kBatchTime;
    return due ? flush() : Diagnostics();
  }

  Diagnostics flush() {
    last_flush_ = Clock::now();
    if (batch_.empty() && stale_.empty()) return {};
    const Result<int64_t> written = store_.write(batch_, stale_);
    batch_.clear();
    pending_.clear();
    stale_.clear();
    return written ? Diagnostics() : written.diagnostics();
  }

 private:
  // Settings that did not resolve and now fail in another way.
  static bool outdated(const StoredRow& stored, const Finished& finished) {
    if (!finished.computed || stored.canonical != finished.row.canonical) return false;
    return stored.failed && finished.row.failed() && stored.diagnostic != finished.row.diagnostic();
  }

  // Among the rows not yet written, then in the store.
  Result<std::optional<StoredRow>> find(const std::string& id) const {
    const auto pending = pending_.find(id);
    if (pending == pending_.end()) return store_.find(id);
    const SweepRow& row = batch_[pending->second];
    return std::optional(StoredRow{
        .canonical = row.canonical, .diagnostic = row.diagnostic(), .failed = row.failed()});
  }

  void compare(const Finished& finished, const StoredRow& stored) {
    if (stored.canonical == finished.row.canonical) {
      ++summary_.present;
      summary_.failed += stored.failed ? 1 : 0;
      return;
    }
    if (summary_.collisions.size() >= kMostCollisions) return;
    summary_.collisions.push_back(
        {.path = "sweep",
         .message = fmt::format("two scenarios have the id {}; one is left out", finished.row.id),
         .hint = "run it with other settings, or into another file"});
  }

  void add(SweepRow row) {
    ++summary_.computed;
    summary_.failed += row.failed() ? 1 : 0;
    pending_.emplace(row.id, batch_.size());
    batch_.push_back(std::move(row));
  }

  Store& store_;
  const std::unordered_set<std::string>& known_;
  SweepSummary& summary_;
  std::vector<SweepRow> batch_{};
  std::unordered_map<std::string, size_t> pending_{};  // id -> position in batch_
  std::vector<std::string> stale_{};
  Clock::time_point last_flush_ = Clock::now();
};

class Runner {
 public:
  Runner(const Grid& grid, const SweepOptions& options, Writer& writer,
         const std::unordered_set<std::string>& known)
      : grid_(grid), options_(options), writer_(writer), known_(known), total_(grid.count()) {}

  void run(int threads) {
    using Point = int64_t;
    using Row = std::shared_ptr<Finished>;
    const size_t live = static_cast<size_t>(threads) * kLiveRowsPerThread;
    const auto next = [this](tbb::flow_control& control) -> Point { return next_point(control); };
    const auto compute = [this](Point point) -> Row {
      return std::make_shared<Finished>(finish(point));
    };
    const auto write = [this](const Row& row) { take(std::move(*row)); };
    tbb::parallel_pipeline(
        live, tbb::make_filter<void, Point>(tbb::filter_mode::serial_in_order, next) &
                  tbb::make_filter<Point, Row>(tbb::filter_mode::parallel, compute) &
                  tbb::make_filter<Row, void>(tbb::filter_mode::serial_in_order, write));
  }

  const Diagnostics& problems() const { return problems_; }
  bool stopped() const { return stopped_; }

 private:
  int64_t next_point(tbb::flow_control& control) {
    const bool asked = options_.stop != nullptr && options_.stop->load();
    stopped_ = asked && next_ < total_;
    if (asked || broken_.load() || next_ == total_) {
      control.stop();
      return 0;
    }
    return next_++;
  }

  Finished finish(int64_t point) const {
    PreparedScenario prepared = options_.prepare(grid_.at(point));
    Finished finished{.written_id = hex_id(options_.hash(unresolved_text(prepared.written)))};
    const std::string id = hex_id(options_.hash(prepared.canonical));
    // What does not resolve is looked at again: the files it names may have changed.
    finished.computed = !prepared.scenario || !known_.contains(id);
    if (finished.computed) {
      finished.row = options_.compute(prepared);
    } else {
      finished.row.canonical = std::move(prepared.canonical);
    }
    finished.row.id = id;
    return finished;
  }

  void take(Finished finished) {
    if (broken_.load()) return;
    Diagnostics problems = writer_.take(std::move(finished));
    if (!problems.empty()) {
      problems_ = std::move(problems);
      broken_.store(true);
      return;
    }
    ++done_;
    if (!options_.progress) return;
    options_.progress({.done = done_, .total = total_, .seconds = seconds_since(start_)});
  }

  const Grid& grid_;
  const SweepOptions& options_;
  Writer& writer_;
  const std::unordered_set<std::string>& known_;
  const int64_t total_;
  const Clock::time_point start_ = Clock::now();
  int64_t next_ = 0;  // used by the first stage only
  bool stopped_ = false;
  int64_t done_ = 0;  // used by the last stage only
  Diagnostics problems_{};
  std::atomic<bool> broken_{false};
};

int thread_count(int wanted) {
  const int threads = wanted > 0 ? wanted : tbb::info::default_concurrency();
  return std::clamp(threads, 1, kMostThreads);
}

}  // namespace

double SweepProgress::rate() const {
  return seconds > 0.0 ? static_cast<double>(done) / seconds : 0.0;
}

double SweepProgress::seconds_left() const {
  return done > 0 ? static_cast<double>(total - done) * seconds / static_cast<double>(done) : 0.0;
}

Result<SweepSummary> run_sweep(const Grid& grid, Store& store, const SweepOptions& options) {
  const Result<std::unordered_set<std::string>> known = store.ids();
  if (!known) return known.diagnostics();
  SweepSummary summary{.total = grid.count()};
  Writer writer(store, *known, summary);
  Runner runner(grid, options, writer, *known);
  const int threads = thread_count(options.threads);
  tbb::global_control allow(tbb::global_control::max_allowed_parallelism,
                            static_cast<size_t>(threads));
  tbb::task_arena arena(threads);
  try {
    arena.execute([&] { runner.run(threads); });
  } catch (...) {
    // A bug in one scenario: what the others gave is kept.
    writer.flush();
    throw;
  }
  if (!runner.problems().empty()) return runner.problems();
  const Diagnostics problems = writer.flush();
  if (!problems.empty()) return problems;
  summary.stopped = runner.stopped();
  return summary;
}

}  // namespace tidemark
