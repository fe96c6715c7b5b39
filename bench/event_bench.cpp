// The event core, as tables:
//
//   event_bench [--repeat N] [--jobs N] [hold | pipeline | memory]...
//
// hold      events a second while so many are pending: each event schedules one (the hold model),
//           after a time that is exponentially distributed, always equal, or short but for one in
//           ten.
// pipeline  jobs through a disk and a processor, against SimGrid where it is installed.
// memory    bytes held after few and after many events.
//
// All times are CPU time of one thread: the median of the repetitions, with the least and the most.
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/server.h"
#include "sim/core/simulation.h"
#include "simgrid_pipeline.h"
#include "spread.h"

namespace tidemark {
namespace {

struct Options {
  int repeat = 7;
  int64_t jobs = 100'000;
  std::vector<std::string> parts{};
};

enum class Increments { kExponential, kEqual, kMixed };

constexpr std::pair<Increments, const char*> kIncrements[] = {{Increments::kExponential, "random"},
                                                              {Increments::kEqual, "equal"},
                                                              {Increments::kMixed, "mixed"}};

// The hold model: with every event that runs, one is scheduled. The increments are drawn
// beforehand: it is not their making that is timed.
class Hold {
 public:
  Hold(QueueKind queue, Increments increments, int64_t pending) : simulation_(queue) {
    constexpr double kMean = 1e6;  // ns
    std::mt19937_64 random(1);
    std::exponential_distribution<double> exponential(1 / kMean);
    for (Duration& increment : increments_) {
      double value = increments == Increments::kEqual ? kMean : std::ceil(exponential(random));
      // Nine in ten are a hundred thousand times shorter than the tenth.
      if (increments == Increments::kMixed) value *= random() % 10 == 0 ? 100 : 0.001;
      increment = Duration::ns(static_cast<int64_t>(value));
    }
    for (int64_t i = 0; i < pending; ++i) {
      const double begin = increments == Increments::kEqual
                               ? kMean * static_cast<double>(i) / static_cast<double>(pending)
                               : exponential(random);
      simulation_.after(Duration::ns(static_cast<int64_t>(begin)), [this] { next(); });
    }
  }

  static constexpr int64_t kIncrementsDrawn = int64_t{1} << 16;
  static constexpr int64_t kBytesOfIncrements = kIncrementsDrawn * int64_t{sizeof(Duration)};

  void run(int64_t events) {
    for (int64_t i = 0; i < events; ++i) simulation_.step();
  }

 private:
  void next() {
    const Duration increment = increments_[drawn_++ % increments_.size()];
    simulation_.after(increment, [this] { next(); });
  }

  Simulation simulation_;
  std::vector<Duration> increments_ = std::vector<Duration>(kIncrementsDrawn);
  size_t drawn_ = 0;
};

// Millions of events a second.
Spread time_hold(QueueKind queue, Increments increments, int64_t pending, int repeat) {
  constexpr int64_t kEvents = 1'000'000;
  Hold hold(queue, increments, pending);
  hold.run(2 * pending + 100'000);
  std::vector<double> rates;
  for (int i = 0; i < repeat; ++i) {
    const double start = cpu_seconds();
    hold.run(kEvents);
    rates.push_back(static_cast<double>(kEvents) / 1e6 / (cpu_seconds() - start));
  }
  return spread_of(rates);
}

void print_hold(const Options& options) {
  fmt::print("Million events/s: median (least-most) of {} times 1,000,000\n\n", options.repeat);
  fmt::print("{:>8}", "pending");
  for (const auto& [increments, name] : kIncrements) {
    fmt::print("  {:<20}{:<20}", fmt::format("heap, {}", name), fmt::format("calendar, {}", name));
  }
  fmt::print("\n");
  for (const int64_t pending : {1, 10, 100, 1000, 10'000, 100'000}) {
    fmt::print("{:>8}", pending);
    for (const auto& [increments, name] : kIncrements) {
      for (const QueueKind queue : {QueueKind::kHeap, QueueKind::kCalendar}) {
        const Spread rate = time_hold(queue, increments, pending, options.repeat);
        const std::string text =
            fmt::format("{:.1f} ({:.1f}-{:.1f})", rate.median, rate.least, rate.most);
        fmt::print("  {:<18}", text);
      }
    }
    fmt::print("\n");
  }
  fmt::print("\n");
}

// The pipeline on this core: a read in service, and the next one asked for when it is done.
class Pipeline {
 public:
  explicit Pipeline(const PipelineJobs& jobs) : jobs_(jobs) {}

  PipelineOutcome run() {
    const double start = cpu_seconds();
    read_next();
    simulation_.run();
    return {.cpu_seconds = cpu_seconds() - start,
            .end_seconds = static_cast<double>(simulation_.now().count()) / 1e9};
  }

 private:
  void read_next() {
    if (next_ == jobs_.count) return;
    const int64_t job = next_++;
    disk_.request(time_at_rate(PipelineJobs::bytes(job), jobs_.disk_rate), nullptr,
                  [this, job] { on_read(job); });
  }

  void on_read(int64_t job) {
    cpu_.request(time_at_rate(PipelineJobs::operations(job), jobs_.cpu_rate), nullptr, nullptr);
    read_next();
  }

  PipelineJobs jobs_;
  Simulation simulation_{};
  Server disk_{simulation_, 1};
  Server cpu_{simulation_, 1};
  int64_t next_ = 0;
};

#if TIDEMARK_HAS_SIMGRID
// In a process of its own: there is one engine a process.
PipelineOutcome simgrid_in_child(const PipelineJobs& jobs) {
  int ends[2] = {};
  if (pipe(ends) != 0) std::abort();
  std::fflush(stdout);  // else the child prints it again
  const pid_t child = fork();
  if (child == 0) {
    const PipelineOutcome outcome = simgrid_pipeline(jobs);
    const bool told = write(ends[1], &outcome, sizeof(outcome)) == sizeof(outcome);
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  PipelineOutcome outcome;
  const bool heard = read(ends[0], &outcome, sizeof(outcome)) == sizeof(outcome);
  close(ends[0]);
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0 || !heard) std::abort();
  return outcome;
}
#endif

struct Contender {
  const char* name = "";
  std::vector<double> seconds{};
  double end = 0;

  void add(const PipelineOutcome& outcome) {
    seconds.push_back(outcome.cpu_seconds);
    end = outcome.end_seconds;
  }
};

void print_contender(const Contender& contender, const Contender& ours, int64_t jobs) {
  std::vector<double> ratios;
  for (size_t i = 0; i < ours.seconds.size(); ++i) {
    ratios.push_back(contender.seconds[i] / ours.seconds[i]);
  }
  const Spread ratio = spread_of(ratios);
  const Spread seconds = spread_of(contender.seconds);
  fmt::print("{:<12}{:>7.0f} ({:.0f}-{:.0f}) ns   {:>7.1f} ({:.1f}-{:.1f})   end {:.6f} s\n",
             contender.name, seconds.median * 1e9 / static_cast<double>(jobs),
             seconds.least * 1e9 / static_cast<double>(jobs),
             seconds.most * 1e9 / static_cast<double>(jobs), ratio.median, ratio.least, ratio.most,
             contender.end);
}

// One is over in a few milliseconds.
PipelineOutcome mean_of_ten(const PipelineJobs& jobs) {
  PipelineOutcome mean;
  for (int i = 0; i < 10; ++i) {
    const PipelineOutcome outcome = Pipeline(jobs).run();
    mean.cpu_seconds += outcome.cpu_seconds / 10;
    mean.end_seconds = outcome.end_seconds;
  }
  return mean;
}

void print_pipeline(const Options& options) {
  const PipelineJobs jobs{.count = options.jobs};
  Contender ours{.name = "tidemark"};
  Contender simgrid{.name = "SimGrid"};
  for (int i = 0; i < options.repeat; ++i) {
    ours.add(mean_of_ten(jobs));
#if TIDEMARK_HAS_SIMGRID
    simgrid.add(simgrid_in_child(jobs));
#endif
  }
  fmt::print("Disk and processor, {} jobs: time a job, and against tidemark in the same turn\n\n",
             jobs.count);
  print_contender(ours, ours, jobs.count);
  if (simgrid.seconds.empty()) {
    fmt::print("(SimGrid was not found when this was built: libsimgrid-dev)\n\n");
    return;
  }
  print_contender(simgrid, ours, jobs.count);
  fmt::print("\n");
}

void print_memory(const Options& /*options*/) {
  fmt::print("Bytes held by the core: 1,000 pending, after so many events\n\n");
  for (const QueueKind queue : {QueueKind::kHeap, QueueKind::kCalendar}) {
    fmt::print("{:<16}", queue == QueueKind::kHeap ? "heap" : "calendar");
    const int64_t before = bytes_held();
    Hold hold(queue, Increments::kExponential, 1000);
    for (const int64_t events : {10'000, 1'000'000, 10'000'000}) {
      hold.run(events);
      fmt::print("  {:>8}", bytes_held() - before - Hold::kBytesOfIncrements);
    }
    fmt::print("\n");
  }
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--repeat" && i + 1 < argc) {
      options.repeat = std::max(1, std::atoi(argv[++i]));
    } else if (flag == "--jobs" && i + 1 < argc) {
      options.jobs = std::max(1, std::atoi(argv[++i]));
    } else {
      options.parts.emplace_back(flag);
    }
  }
  if (options.parts.empty()) options.parts = {"hold", "pipeline", "memory"};
  return options;
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  for (const std::string& part : options.parts) {
    if (part == "hold") {
      print_hold(options);
    } else if (part == "pipeline") {
      print_pipeline(options);
    } else if (part == "memory") {
      print_memory(options);
    } else {
      fmt::print(stderr, "{} is no part of this benchmark\n", part);
      return 2;
    }
  }
  return 0;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) { return tidemark::run(argc, argv); }
