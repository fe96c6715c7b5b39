// What a run in a process of its own (child_run.h) tells, and what is made of it: the same report
// that a run in this process would have filled.
#pragma once

#include <functional>
#include <string>

#include "planner/report/replay_report.h"
#include "sim/replay/child_run.h"
#include "sim/replay/observers.h"

namespace tidemark {

// In the child. `run` fills the report and returns false when it was interrupted; memory that the
// system refuses, and files that fail, end it and are told as such.
void tell_run(const Tell& tell, ReplayReport& report,
              const std::function<bool(const RunListener& listener)>& run);

// In the parent: takes the records of one run.
class RunRecords {
 public:
  RunRecords(ReplayReport& report, const RunListener& listener)
      : report_(report), listener_(listener) {}

  void take(Record record);
  // When no more come. False when the run was interrupted; throws std::system_error when a file
  // failed.
  bool finish(const ChildEnd& end, const std::optional<Bytes>& limit);

 private:
  void take_step(Record& record);
  void take_end(Record& record);

  ReplayReport& report_;
  const RunListener& listener_;
  std::string place_ = "starting";  // what it last said it was about to do
  bool ended_ = false;
  bool interrupted_ = false;
  int error_ = 0;
  std::string trouble_{};
};

}  // namespace tidemark
