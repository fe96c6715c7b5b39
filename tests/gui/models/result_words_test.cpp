#include "gui/models/result_words.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

RunResult demo(const std::string& budget) {
  return run_settings({{"model", {.text = "demo-layers", .origin = "flag MODEL"}},
                       {"device", {.text = "demo-3gb", .origin = "flag --device"}},
                       {"engine", {.text = "bare", .origin = "flag --engine"}},
                       {"strategy", {.text = "layerwise", .origin = "flag --strategy"}},
                       {"budget", {.text = budget, .origin = "flag --budget"}}});
}

// 800 MB of the largest layer and 256 MB of activations, two of the largest at once: 1007 MiB.
TEST(ResultWords, SaysThatItFits) {
  const Banner banner = banner_of(demo("1200 MB"));
  EXPECT_EQ(banner.mood, Mood::kGood);
  EXPECT_TRUE(banner.headline.startsWith("FITS: 1007 MiB needed, within the limit of 1.12 GiB"))
      << banner.headline.toStdString();
}

TEST(ResultWords, SaysThatItDoesNotFit) {
  const Banner banner = banner_of(demo("863 MB"));
  EXPECT_EQ(banner.mood, Mood::kBad);
  EXPECT_TRUE(
      banner.headline.startsWith("DOES NOT FIT: 1007 MiB needed, over the limit of 823 MiB"))
      << banner.headline.toStdString();
}

TEST(ResultWords, ShowsProblemsAsTheCommandLineDoes) {
  const RunResult result = demo("863");
  const Banner banner = banner_of(result);
  EXPECT_EQ(banner.mood, Mood::kProblem);
  EXPECT_EQ(banner.details + "\n", QString::fromStdString(to_string(result.problems)));
}

TEST(ResultWords, PutsAProblemBesideItsField) {
  const RunResult result = demo("863");
  EXPECT_FALSE(problem_of_setting(result.problems, "budget").isEmpty());
  EXPECT_TRUE(problem_of_setting(result.problems, "quant").isEmpty());
}

TEST(ResultWords, APlanThatCannotBeSimulatedIsAProblemWithItsVerdict) {
  RunResult result = demo("1200 MB");
  result.simulation.reset();
  result.problems = one_error("cache_size", "is too small");
  const Banner banner = banner_of(result);
  EXPECT_EQ(banner.mood, Mood::kProblem);
  EXPECT_TRUE(banner.headline.startsWith("FITS"));
  EXPECT_TRUE(banner.details.contains("is too small"));
}

}  // namespace
}  // namespace tidemark
