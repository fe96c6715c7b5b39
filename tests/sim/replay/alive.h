// Whether a made-up model lives: no tensor is mostly zeros, none saturates, logits differ.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tiny.h"

namespace tidemark::testing {

struct Tally {
  int64_t values = 0;
  int64_t zeros = 0;
  int64_t saturated = 0;
};

// Counts what every op writes.
class Counter : public RunObserver {
 public:
  Counter(std::map<std::string, Tally>& tallies, std::set<float>& logits)
      : tallies_(tallies), logits_(logits) {}

  bool on_pass(const PassMemory& memory) override {
    memory_.emplace(memory);
    return true;
  }

  bool after_op(const Op& op, StepIndex /*step*/, Duration /*wall*/) override {
    for (const TensorId output : op.outputs) {
      if (memory_->phase().graph.tensor(output).dtype != DType::kInt8) continue;
      if (!memory_->in_arena(output) || op.kind == OpKind::kSoftmax || op.kind == OpKind::kScores)
        continue;
      for (const std::byte byte : memory_->used(output)) {
        const auto value = static_cast<int8_t>(byte);
        Tally& tally = tallies_[op.name];
        ++tally.values;
        tally.zeros += value == 0 ? 1 : 0;
        tally.saturated += value >= 127 || value <= -127 ? 1 : 0;
      }
    }
    return true;
  }

  bool on_logits(std::span<const std::byte> logits) override {
    std::vector<float> values(logits.size() / sizeof(float));
    std::memcpy(values.data(), logits.data(), logits.size());
    logits_.insert(values.begin(), values.end());
    return true;
  }

 private:
  std::map<std::string, Tally>& tallies_;
  std::set<float>& logits_;
  std::optional<PassMemory> memory_{};
};

inline void expect_alive(const Scenario& scenario) {
  const Bench bench(scenario);
  std::map<std::string, Tally> tallies;
  std::set<float> logits;
  bench.run(planned_layout(bench.plan),
            [&](const TensorMemory&) { return std::make_unique<Counter>(tallies, logits); });
  for (const auto& [op, tally] : tallies) {
    const auto share = [&](int64_t count) {
      return static_cast<double>(count) / static_cast<double>(tally.values);
    };
    EXPECT_LT(share(tally.zeros), 0.5) << op;
    EXPECT_LT(share(tally.saturated), 0.05) << op;
  }
  EXPECT_GT(std::ssize(logits), bench.passes.count() * scenario.model.transformer()->n_vocab / 2);
}

}  // namespace tidemark::testing
