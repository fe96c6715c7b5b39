#include "simgrid_pipeline.h"

#include <ctime>
#include <simgrid/s4u.hpp>

namespace tidemark {
namespace {

namespace s4u = simgrid::s4u;

struct Platform {
  int argument_count = 1;
  char name[5] = "sim";
  char* arguments[2] = {name, nullptr};
  s4u::Engine engine{&argument_count, arguments};
  s4u::NetZone* zone = s4u::create_full_zone("phone");
  s4u::Host* host = nullptr;
  s4u::Disk* disk = nullptr;

  explicit Platform(const PipelineJobs& jobs) {
    const auto rate = static_cast<double>(jobs.disk_rate);
    host = zone->create_host("cpu", static_cast<double>(jobs.cpu_rate));
    disk = host->create_disk("disk", rate, rate);
    disk->seal();
    host->seal();
    zone->seal();
  }

  PipelineOutcome run_since(std::clock_t start) {
    engine.run();
    return {.cpu_seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC,
            .end_seconds = s4u::Engine::get_clock()};
  }
};

sg_size_t bytes(int64_t job) { return static_cast<sg_size_t>(PipelineJobs::bytes(job)); }
double operations(int64_t job) { return static_cast<double>(PipelineJobs::operations(job)); }

}  // namespace

PipelineOutcome simgrid_pipeline(const PipelineJobs& jobs) {
  Platform platform(jobs);
  const std::clock_t start = std::clock();
  const s4u::SemaphorePtr read = s4u::Semaphore::create(0);
  s4u::Actor::create("reader", platform.host, [&] {
    for (int64_t job = 0; job < jobs.count; ++job) {
      platform.disk->read(bytes(job));
      read->release();
    }
  });
  s4u::Actor::create("worker", platform.host, [&] {
    for (int64_t job = 0; job < jobs.count; ++job) {
      read->acquire();
      s4u::this_actor::execute(operations(job));
    }
  });
  return platform.run_since(start);
}

}  // namespace tidemark
