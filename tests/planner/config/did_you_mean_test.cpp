#include "planner/config/did_you_mean.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace tidemark {
namespace {

const std::vector<std::string> kKeys{"n_layer", "n_embd",  "n_head", "n_head_kv",
                                     "n_ff",    "n_vocab", "dtype"};

TEST(DidYouMean, FindsSlips) {
  EXPECT_EQ(did_you_mean("n_haed", kKeys), "n_head");     // swapped
  EXPECT_EQ(did_you_mean("n_layers", kKeys), "n_layer");  // one too many
  EXPECT_EQ(did_you_mean("n_hed", kKeys), "n_head");      // one missing
  EXPECT_EQ(did_you_mean("dtipe", kKeys), "dtype");       // one wrong
  EXPECT_EQ(did_you_mean("n-head-kv", kKeys), "n_head_kv");
}

TEST(DidYouMean, DoesNotGuess) {
  EXPECT_EQ(did_you_mean("width", kKeys), std::nullopt);
  EXPECT_EQ(did_you_mean("n_heaaad", kKeys), "n_head");       // 2 of 8
  EXPECT_EQ(did_you_mean("n_heaaaad", kKeys), std::nullopt);  // 3
  EXPECT_EQ(did_you_mean("ff", kKeys), std::nullopt);         // 2 of 2
  EXPECT_EQ(did_you_mean("", kKeys), std::nullopt);
  EXPECT_EQ(did_you_mean("n_head", {}), std::nullopt);
}

TEST(DidYouMean, TheFirstOfSeveralEquallyCloseWins) {
  EXPECT_EQ(did_you_mean("layerX", {"layer1", "layer2"}), "layer1");
}

TEST(DidYouMean, SuggestsTheNearOneOrListsAll) {
  EXPECT_EQ(suggestion("n_haed", "known keys", kKeys), "did you mean \"n_head\"?");
  EXPECT_EQ(suggestion("zzz", "known keys", {"bb", "aa", "a"}), "known keys: bb, aa, a");
  EXPECT_EQ(suggestion("zzz", "known keys", {}), "known keys: none");
}

TEST(DidYouMean, ListsTwentyAndCountsTheRest) {
  std::vector<std::string> names;
  for (int i = 10; i < 35; ++i) names.push_back("m" + std::to_string(i));
  EXPECT_TRUE(suggestion("zzzzz", "there are", names).ends_with(" and 5 more"));
  const std::string list = nearest_listed("m34", names);
  EXPECT_TRUE(list.starts_with("m34, m14, m24, m30, ")) << list;
  EXPECT_TRUE(list.ends_with(" and 5 more")) << list;
}

TEST(EditDistance, ByHand) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("qunat", "quant"), 1U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);  // no place is edited twice
}

// The definition, by recursion over the last character.
size_t naive_distance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const std::string_view shorter_a = a.substr(0, a.size() - 1);
  const std::string_view shorter_b = b.substr(0, b.size() - 1);
  size_t best = naive_distance(shorter_a, shorter_b) + (a.back() == b.back() ? 0 : 1);
  best = std::min({best, naive_distance(shorter_a, b) + 1, naive_distance(a, shorter_b) + 1});
  const bool swapped =
      a.size() > 1 && b.size() > 1 && a.back() == b[b.size() - 2] && b.back() == a[a.size() - 2];
  if (swapped)
    best = std::min(best, naive_distance(a.substr(0, a.size() - 2), b.substr(0, b.size() - 2)) + 1);
  return best;
}

TEST(EditDistance, AgreesWithItsDefinition) {
  EXPECT_TRUE(rc::check([] {
    const auto word = [] {
      return (*rc::gen::container<std::string>(rc::gen::element('a', 'b', 'c'))).substr(0, 6);
    };
    const std::string a = word();
    const std::string b = word();
    RC_ASSERT(edit_distance(a, b) == naive_distance(a, b));
    RC_ASSERT(edit_distance(a, b) == edit_distance(b, a));
  }));
}

}  // namespace
}  // namespace tidemark
