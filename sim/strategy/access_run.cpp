#include "sim/strategy/access_run.h"

namespace tidemark {

AccessRun::AccessRun(Simulation& simulation, const Itinerary& accesses, WeightLoader& loader,
                     MemoryLedger& ledger)
    : simulation_(simulation), accesses_(accesses), loader_(loader), ledger_(ledger) {}

void AccessRun::start() {
  ledger_.at({.kind = Place::Kind::kLoading});
  loader_.prepare([this] { on_prepared(); });
}

void AccessRun::on_prepared() {
  stall_ += simulation_.now();
  start_access();
}

void AccessRun::start_access() {
  if (access_ == accesses_.visits()) return;
  ledger_.at({.kind = Place::Kind::kAccess,
              .index = access_,
              .unit = accesses_.unit_at(access_),
              .step = access_});
  waiting_since_ = simulation_.now();
  loader_.need(access_, [this] { on_unit_resident(); });
}

void AccessRun::on_unit_resident() {
  stall_ += simulation_.now() - waiting_since_;
  loader_.done(access_++);
  // Through the event queue: a long run of hits must not become a deep recursion.
  simulation_.after(Duration{}, [this] { start_access(); });
}

}  // namespace tidemark
