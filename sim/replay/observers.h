// The two onlookers of a replay: one keeps the judge's logits, the other measures and compares.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/report/replay_report.h"
#include "sim/replay/integrity.h"
#include "sim/replay/resident.h"
#include "sim/replay/run_model.h"

namespace tidemark {

// Each may be empty.
struct RunListener {
  std::function<void(const std::string& place)> on_place{};  // "prefill 0, reading blk.3"
  std::function<void(const ReplayStep& step)> on_step{};
};

class LogitsKeeper : public RunObserver {
 public:
  LogitsKeeper(ScratchFile& logits, std::function<void(int64_t steps)> progress)
      : logits_(logits), progress_(std::move(progress)) {}
  bool after_op(const Op& op, StepIndex step, Duration wall) override;
  bool on_logits(std::span<const std::byte> logits) override;

 private:
  ScratchFile& logits_;
  std::function<void(int64_t steps)> progress_;
  int64_t steps_ = 0;
};

struct Expected {
  const std::vector<CurvePoint>& steps;  // by the simulator
  const ScratchFile& logits;             // of the judge
  const std::vector<WeightUnit>& units;  // their names
};

// Fills steps, measured_peak, corruption and outputs_match of a report.
class Measurer : public RunObserver {
 public:
  Measurer(const Expected& expected, const TensorMemory& memory, const UnitLoader& loader,
           ReplayReport& report, const RunListener& listener);
  void on_prepare() override { at("loading weights"); }
  bool on_pass(const PassMemory& memory) override;
  void before_visit(UnitId unit) override;
  bool before_op(const Op& op) override;
  bool after_op(const Op& op, StepIndex step, Duration wall) override;
  bool on_logits(std::span<const std::byte> logits) override;

 private:
  void at(const std::string& place) const {
    if (listener_.on_place) listener_.on_place(place);
  }
  bool go_on(const std::optional<Corruption>& found);
  Bytes measured();

  const Expected& expected_;
  const TensorMemory& memory_;
  const UnitLoader& loader_;
  ReplayReport& report_;
  const RunListener& listener_;
  ResidentReader resident_{};
  std::vector<AddressRange> ranges_{};
  std::optional<IntegrityWatch> watch_{};
  std::string pass_{};
  int64_t logits_read_ = 0;
  bool all_equal_ = true;
};

}  // namespace tidemark
