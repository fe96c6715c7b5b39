#include "sim/core/action.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>

namespace tidemark {
namespace {

TEST(ActionTest, FiveWordsAndAFunctionStayInPlace) {
  const std::array<void*, 5> five{};
  const std::array<void*, 6> six{};
  const auto small = [five] { return five.size(); };
  const auto large = [six] { return six.size(); };
  EXPECT_TRUE(Action::kInPlace<decltype(small)>);
  EXPECT_FALSE(Action::kInPlace<decltype(large)>);
  EXPECT_TRUE(Action::kInPlace<std::function<void()>>);
}

TEST(ActionTest, NothingToDoIsEmpty) {
  const std::function<void()> no_function;
  void (*const no_pointer)() = nullptr;
  EXPECT_FALSE(Action{});
  EXPECT_FALSE(Action(nullptr));
  EXPECT_FALSE(Action(no_function));
  EXPECT_FALSE(Action(no_pointer));
  EXPECT_TRUE(Action([] {}));
}

TEST(ActionTest, MovesAndLeavesNothingBehind) {
  int runs = 0;
  Action first = [&runs] { ++runs; };
  Action second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): that is the point
  second();
  second();
  EXPECT_EQ(runs, 2);
  first = std::move(second);
  first();
  EXPECT_EQ(runs, 3);
}

// Three ways to keep a capture: as bytes, in place with a move of its own, on the heap. What is
// captured must live exactly as long as the action, wherever that moves.
template <size_t padding>
void lives_as_long_as_the_action() {
  const auto kept = std::make_shared<int>(7);
  {
    std::array<char, padding> more{};
    int seen = 0;
    Action action = [kept, more, &seen] { seen = *kept + static_cast<int>(more[0]); };
    EXPECT_EQ(kept.use_count(), 2);
    Action moved = std::move(action);
    EXPECT_EQ(kept.use_count(), 2);
    moved();
    EXPECT_EQ(seen, 7);
    action = std::move(moved);
    EXPECT_EQ(kept.use_count(), 2);
    action = Action([] {});
    EXPECT_EQ(kept.use_count(), 1);
    action = [kept, more] {};
    EXPECT_EQ(kept.use_count(), 2);
  }
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(ActionTest, ACaptureInPlaceLivesAsLongAsTheAction) { lives_as_long_as_the_action<1>(); }
TEST(ActionTest, ACaptureOnTheHeapLivesAsLongAsTheAction) { lives_as_long_as_the_action<200>(); }

TEST(ActionTest, TakesWhatCannotBeCopied) {
  auto text = std::make_unique<std::string>("once");
  std::string seen;
  Action action = [text = std::move(text), &seen] { seen = *text; };
  action();
  EXPECT_EQ(seen, "once");
}

}  // namespace
}  // namespace tidemark
