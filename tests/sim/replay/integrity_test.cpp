#include "sim/replay/integrity.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>

#include "planner/graph/schedule.h"

namespace tidemark {
namespace {

// token ids -> a, b, c: a is read by c_op, after b_op has written b.
//   step 0: a = embed(ids)   step 1: b = norm(a)   step 2: c = add(a, b)
struct Chain {
  Chain() {
    GraphBuilder builder;
    ids = builder.add_tensor("ids", TensorKind::kInput, DType::kI32, {1, 1, 1, 1});
    const auto tensor = [&](const char* name) {
      return builder.add_tensor(name, TensorKind::kActivation, DType::kInt8, {62, 1, 1, 1});
    };
    a = tensor("a");
    b = tensor("b");
    c = tensor("c");
    const auto op = [&](const char* name, OpKind kind, std::vector<TensorId> inputs,
                        TensorId output) {
      builder.add_op(
          {.name = name, .kind = kind, .inputs = std::move(inputs), .outputs = {output}});
    };
    op("write_a", OpKind::kEmbed, {ids}, a);
    op("write_b", OpKind::kRmsNorm, {a}, b);
    op("write_c", OpKind::kMatMul, {a, b}, c);
    for (PhasePlan* phase : {&plan.prefill, &plan.decode}) {
      phase->options = {.n_tokens = 1, .n_outputs = 1, .n_cells = 1};
    }
    plan.prefill.graph = std::move(builder).build();
    plan.prefill.schedule = schedule_in_program_order(plan.prefill.graph);
    plan.prefill.ranges = live_ranges(plan.prefill.graph, plan.prefill.schedule);
  }

  // Runs the three ops, each filling its tensor with its own number.
  std::optional<Corruption> watched(std::array<int64_t, 4> offsets) const {
    ArenaLayout layout{.size = Bytes::of(256), .guard = kLeastGuard};
    for (const int64_t offset : offsets) layout.prefill.emplace_back(Bytes::of(offset));
    const TensorMemory memory(plan, layout, Fault::kNow);
    const PassMemory pass(plan.prefill, memory, {.tokens = 1, .cells = 1});
    std::ranges::fill(pass.used(ids), std::byte{0});
    IntegrityWatch watch(pass, memory.guard());
    int64_t step = 0;
    for (const Op& op : plan.prefill.graph.ops()) {
      if (auto found = watch.before(op)) return found;
      std::ranges::fill(pass.used(op.outputs[0]), static_cast<std::byte>(step + 1));
      if (auto found = watch.after(op, StepIndex(step++))) return found;
    }
    return std::nullopt;
  }

  MemoryPlan plan{};
  TensorId ids{};
  TensorId a{};
  TensorId b{};
  TensorId c{};
};

TEST(IntegrityTest, FindsNothingInAPlanThatIsRight) {
  EXPECT_EQ(Chain().watched({0, 64, 128, 192}), std::nullopt);
  EXPECT_EQ(Chain().watched({0, 64, 128, 0}), std::nullopt) << "ids are read by then";
}

TEST(IntegrityTest, NamesAllThree) {
  // b at 64 + 32 overlaps a.
  EXPECT_EQ(Chain().watched({0, 96, 64, 192}),
            (Corruption{"prefill 0", "a", "write_b", "write_b"}));
  // c over b and a, both still read by the op that writes it.
  EXPECT_EQ(Chain().watched({0, 64, 128, 100}),
            (Corruption{"prefill 0", "a", "write_c", "write_c"}));
  // a over the ids it is looked up by.
  EXPECT_EQ(Chain().watched({64, 64, 128, 192}),
            (Corruption{"prefill 0", "ids", "write_a", "write_a"}));
}

TEST(IntegrityTest, SeesWhatIsWrittenPastTheArena) {
  EXPECT_EQ(Chain().watched({0, 64, 128, 224}),
            (Corruption{"prefill 0", "the guard bytes", "", "write_c"}));
}

TEST(IntegrityTest, SeesAnInputWrittenPastTheArena) {
  EXPECT_EQ(Chain().watched({256, 64, 128, 192}),
            (Corruption{"prefill 0", "the guard bytes", "", "an input of the pass"}));
}

TEST(HashTest, AnyChangedByteChangesIt) {
  const bool held = rc::check("hash", [] {
    const auto size = *rc::gen::inRange<size_t>(1, 200);
    auto bytes = *rc::gen::container<std::vector<uint8_t>>(size, rc::gen::arbitrary<uint8_t>());
    const auto hash = [&] { return hash_of(std::as_bytes(std::span(bytes))); };
    const uint64_t before = hash();
    const auto at = *rc::gen::inRange<size_t>(0, size);
    bytes[at] = static_cast<uint8_t>(bytes[at] ^ *rc::gen::inRange(1, 256));
    RC_ASSERT(hash() != before);
  });
  EXPECT_TRUE(held);
  const std::array<std::byte, 9> zeros{};
  EXPECT_NE(hash_of(std::span(zeros).first(8)), hash_of(zeros)) << "a length is part of it";
}

}  // namespace
}  // namespace tidemark
