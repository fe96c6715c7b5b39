// The two onlookers of a replay: one keeps the judge's logits, the other measures and compares.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "planner/report/replay_report.h"
#include "sim/replay/integrity.h"
#include "sim/replay/resident.h"
#include "sim/replay/run_model.h"

namespace tidemark {

using StepProgress = std::function<void(int64_t steps_done)>;

class LogitsKeeper : public RunObserver {
 public:
  LogitsKeeper(ScratchFile& logits, StepProgress progress)
      : logits_(logits), progress_(std::move(progress)) {}
  bool after_op(const Op& op, StepIndex step, Duration wall) override;
  bool on_logits(std::span<const std::byte> logits) override;

 private:
  ScratchFile& logits_;
  StepProgress progress_;
  int64_t steps_ = 0;
};

struct Expected {
  const std::vector<CurvePoint>& steps;  // by the simulator
  const ScratchFile& logits;             // of the judge
};

// Fills steps, measured_peak, corruption and outputs_match of a report.
class Measurer : public RunObserver {
 public:
  Measurer(const Expected& expected, const TensorMemory& memory, const UnitLoader& loader,
           ReplayReport& report, StepProgress progress);
  bool on_pass(const PassMemory& memory) override;
  bool before_op(const Op& op) override;
  bool after_op(const Op& op, StepIndex step, Duration wall) override;
  bool on_logits(std::span<const std::byte> logits) override;

 private:
  bool go_on(const std::optional<Corruption>& found);

  const Expected& expected_;
  const TensorMemory& memory_;
  const UnitLoader& loader_;
  ReplayReport& report_;
  StepProgress progress_;
  ResidentReader resident_{};
  std::vector<AddressRange> ranges_{};
  std::optional<IntegrityWatch> watch_{};
  std::string pass_{};
  int64_t logits_read_ = 0;
  bool all_equal_ = true;
};

}  // namespace tidemark
