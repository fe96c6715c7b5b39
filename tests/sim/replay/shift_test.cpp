// Breaking a plan on purpose: a shift is found exactly when it makes two tensors share a byte that
// one of them still needs. The judge below knows the planner's live ranges and nothing of the
// watch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "sim/replay/integrity.h"
#include "tiny.h"

namespace tidemark {
namespace {

using testing::Bench;
using testing::tiny_scenario;

class WatchOnly : public RunObserver {
 public:
  WatchOnly(const TensorMemory& memory, std::optional<Corruption>& found)
      : memory_(memory), found_(found) {}
  bool on_pass(const PassMemory& memory) override {
    watch_.emplace(memory, memory_.guard());
    return true;
  }
  bool before_op(const Op& op) override { return keep(watch_->before(op)); }
  bool after_op(const Op& op, StepIndex step, Duration /*wall*/) override {
    return keep(watch_->after(op, step));
  }

 private:
  bool keep(std::optional<Corruption> found) {
    found_ = std::move(found);
    return !found_;
  }
  const TensorMemory& memory_;
  std::optional<Corruption>& found_;
  std::optional<IntegrityWatch> watch_{};
};

std::optional<Corruption> corruption_of(const Bench& bench, const ArenaLayout& layout) {
  std::optional<Corruption> found;
  bench.run(layout,
            [&](const TensorMemory& memory) { return std::make_unique<WatchOnly>(memory, found); });
  return found;
}

// Does `op` compute `output` in place of `input`?
bool follows_in_place(const PhasePlan& phase, TensorId input, TensorId output) {
  return std::any_of(phase.buffers.begin(), phase.buffers.end(), [&](const ArenaBuffer& buffer) {
    const auto first = std::find(buffer.members.begin(), buffer.members.end(), input);
    return first != buffer.members.end() && first + 1 != buffer.members.end() &&
           *(first + 1) == output;
  });
}

bool is_wrong(const PhasePlan& phase, const ArenaLayout& layout) {
  const TensorOffsets& offsets = layout.of(phase.phase);
  const auto place = [&](const LiveRange& range) {
    const Bytes offset = offsets[range.tensor.index()].value();
    return Interval<Bytes>{offset, offset + phase.graph.tensor(range.tensor).bytes};
  };
  for (const LiveRange& a : phase.ranges) {
    if (layout.size < place(a).upper) return true;
    for (const LiveRange& b : phase.ranges) {
      if (b.tensor <= a.tensor || !overlaps(a.steps, b.steps) || !overlaps(place(a), place(b)))
        continue;
      const bool same = place(a) == place(b);
      if (!same || !follows_in_place(phase, a.tensor, b.tensor)) return true;
    }
  }
  return false;
}

std::vector<std::string> arena_tensors(const MemoryPlan& plan) {
  std::vector<std::string> names;
  for (const LiveRange& range : plan.prefill.ranges) {
    names.push_back(plan.prefill.graph.tensor(range.tensor).name);
  }
  return names;
}

// The shifts that keep the tensor in both arenas, or behind them by no more than their size.
Interval<int64_t> legal_shifts(const MemoryPlan& plan, const std::string& tensor) {
  const ArenaLayout layout = planned_layout(plan);
  Interval<int64_t> legal{INT64_MIN, INT64_MAX};
  for (const PhasePlan* phase : {&plan.prefill, &plan.decode}) {
    for (const LiveRange& range : phase->ranges) {
      if (phase->graph.tensor(range.tensor).name != tensor) continue;
      const Bytes offset = layout.of(phase->phase)[range.tensor.index()].value();
      const Bytes end = offset + phase->graph.tensor(range.tensor).bytes;
      legal.lower = std::max(legal.lower, -offset.count());
      legal.upper = std::min(legal.upper, (2 * layout.size - end).count() + 1);
    }
  }
  return legal;
}

bool is_wrong(const MemoryPlan& plan, const ArenaLayout& layout) {
  return is_wrong(plan.prefill, layout) || is_wrong(plan.decode, layout);
}

TEST(ShiftTest, EveryTensorShiftedIntoALiveOneIsFoundAndNoOther) {
  std::vector<std::unique_ptr<Bench>> benches;
  for (const bool flash : {true, false}) {
    for (const PlannerKind planner : {PlannerKind::kBestOf, PlannerKind::kNoReuse}) {
      Scenario scenario = tiny_scenario();
      scenario.flash_attention = flash;
      scenario.planner = planner;
      benches.push_back(std::make_unique<Bench>(scenario));
    }
  }
  int wrong = 0;
  int right = 0;
  const bool held = rc::check("shifts", [&] {
    const Bench& bench = *benches[*rc::gen::inRange<size_t>(0, benches.size())];
    const std::vector<std::string> names = arena_tensors(bench.plan);
    const std::string tensor = names[*rc::gen::inRange<size_t>(0, names.size())];
    const Interval<int64_t> legal = legal_shifts(bench.plan, tensor);
    // Generators prefer small numbers; far places are as good as near ones here.
    const auto random = static_cast<int64_t>(*rc::gen::resize(100, rc::gen::arbitrary<uint32_t>()));
    const int64_t bytes = (legal.lower + random % (legal.upper - legal.lower)) / 4 * 4;
    const auto layout = shifted(planned_layout(bench.plan), bench.plan, {tensor, bytes});
    RC_ASSERT(layout.ok());
    const bool expected = is_wrong(bench.plan, *layout);
    RC_ASSERT(corruption_of(bench, *layout).has_value() == expected);
    ++(expected ? wrong : right);
  });
  EXPECT_TRUE(held);
  EXPECT_GT(wrong, 20);
  EXPECT_GT(right, 2);
}

TEST(ShiftTest, TheReplayNamesTheTensorAndFails) {
  const MemoryPlan plan = testing::plan_of(tiny_scenario());
  int tried = 0;
  for (const std::string& tensor : arena_tensors(plan)) {
    const OffsetShift shift{tensor, 64};
    const auto layout = shifted(planned_layout(plan), plan, shift);
    if (tried == 4 || !layout.ok() || !is_wrong(plan, *layout)) continue;
    ++tried;
    const std::vector<ReplayReport> reports =
        testing::replay_all(testing::under_all_strategies(tiny_scenario()), {.shift = shift});
    ASSERT_EQ(reports.size(), strategies().size());
    for (const ReplayReport& report : reports) {
      ASSERT_TRUE(report.corruption.has_value()) << tensor;
      EXPECT_FALSE(report.corruption->tensor.empty());
      EXPECT_FALSE(report.corruption->writer.empty());
      EXPECT_EQ(*report.corruption, *reports[0].corruption);
      EXPECT_FALSE(report.outputs_match);
      EXPECT_FALSE(passed(report));
      EXPECT_THAT(to_text(reports), ::testing::HasSubstr(report.corruption->tensor));
    }
  }
  EXPECT_EQ(tried, 4);
}

TEST(ShiftTest, RefusesWhatItCannotMove) {
  const MemoryPlan plan = testing::plan_of(tiny_scenario());
  const auto text = [&](const std::string& tensor, int64_t bytes) {
    return to_string(shifted(planned_layout(plan), plan, {tensor, bytes}).diagnostics());
  };
  EXPECT_EQ(text("blk.9.q", 64),
            "error: --shift-offset: there is no tensor \"blk.9.q\"\n"
            "  hint: names are those of `tidemark plan MODEL --show ranges`, as blk.0.q\n");
  EXPECT_EQ(text("logits", 64),
            "error: --shift-offset: \"logits\" is not in the arena\n"
            "  hint: states and outputs have memory of their own\n");
  EXPECT_EQ(text("token_ids", 2),
            "error: --shift-offset: \"token_ids\" holds 4-byte numbers\n"
            "  hint: shift it by a multiple of 4\n");
  EXPECT_TRUE(text("blk.0.q", -1'000'000).find("out of the prefill arena") != std::string::npos);
  EXPECT_TRUE(text("blk.0.q", INT64_MIN).find("out of the prefill arena") != std::string::npos);
  EXPECT_TRUE(text("blk.0.q", INT64_MAX).find("out of the prefill arena") != std::string::npos);
  EXPECT_EQ(text("blk.0.q", 0), "");
}

// Both ends of the range that is named are valid in both arenas, and one byte further is not.
TEST(ShiftTest, TheRangeItNamesIsValidInBothArenas) {
  const MemoryPlan plan = testing::plan_of(tiny_scenario());
  for (const std::string& tensor : arena_tensors(plan)) {
    const Interval<int64_t> legal = legal_shifts(plan, tensor);
    const auto moves = [&](int64_t bytes) {
      return shifted(planned_layout(plan), plan, {tensor, bytes}).ok();
    };
    const std::string range = "  hint: from " + std::to_string(legal.lower) + " to " +
                              std::to_string(legal.upper - 1) + "\n";
    for (const int64_t outside : {legal.lower - 4, legal.upper + 3}) {
      const auto layout = shifted(planned_layout(plan), plan, {tensor, outside / 4 * 4});
      ASSERT_FALSE(layout.ok()) << tensor;
      EXPECT_THAT(to_string(layout.diagnostics()), ::testing::EndsWith(range));
    }
    EXPECT_TRUE(moves(legal.lower / 4 * 4)) << tensor;
    EXPECT_TRUE(moves((legal.upper - 1) / 4 * 4)) << tensor;
  }
}

}  // namespace
}  // namespace tidemark
