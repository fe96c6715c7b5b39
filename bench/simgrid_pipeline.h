// The pipeline of event_bench, simulated by SimGrid. Built only where SimGrid is found.
#pragma once

#include <cstdint>

namespace tidemark {

// Jobs that are read from a disk and then computed, each by one server in order of arrival; all are
// there from the start. Sizes and work differ a little from job to job.
struct PipelineJobs {
  int64_t count = 0;
  int64_t disk_rate = 2'000'000'000;  // bytes/s
  int64_t cpu_rate = 20'000'000'000;  // operations/s

  static int64_t bytes(int64_t job) { return 64'000'000 + 1'000'000 * (job % 7); }
  static int64_t operations(int64_t job) { return 700'000'000 + 20'000'000 * (job % 5); }
};

struct PipelineOutcome {
  double cpu_seconds = 0;  // of the processor that simulates, its platform already built
  double end_seconds = 0;  // of simulated time
};

// An actor for the disk and one for the processor, with a semaphore between them. (A graph of
// activities without actors would spare the switches between these, but version 3.32 crashes when a
// read of no actor ends.) There is one engine a process: call it once in a process.
PipelineOutcome simgrid_pipeline(const PipelineJobs& jobs);

}  // namespace tidemark
