// What a report says of prefetch, processes, experts and rows: the words, the keys, and the schema.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "json_schema.h"
#include "planner/report/residency_text.h"
#include "planner/report/writers.h"
#include "sample.h"

namespace tidemark {
namespace {

using literals::operator""_MiB;
using ::testing::HasSubstr;

SimReport sample() {
  SimReport report = testing::sample_run();
  report.prefetch = PrefetchFacts{.begun = 1234, .late = 5, .lost = 1};
  report.experts = ExpertFacts{.layers = 2,
                               .experts = 8,
                               .used = 2,
                               .expert = 3_MiB,
                               .slots = 4,
                               .capacity = 24_MiB,
                               .hits = 30,
                               .misses = 10,
                               .read_per_token = 2_MiB};
  report.rows = ColdRowFacts{.neurons = 1000,
                             .kept = 250,
                             .cold = 12_MiB,
                             .request = Bytes::of(192),
                             .requests_per_token = 75,
                             .read_per_token = Bytes::of(14'400)};
  const ProcessFacts process{.ttft = Duration::ms(500),
                             .tpot = Duration::ms(50),
                             .own = 10_MiB,
                             .rss = 110_MiB,
                             .pss = 60_MiB,
                             .bytes_read = 100_MiB,
                             .page_faults = 800,
                             .minor_faults = 900,
                             .curve = {{Duration::ms(1), 20_MiB, 20_MiB}}};
  report.processes = {process, {.start = Duration::s(1), .rss = 110_MiB, .pss = 60_MiB}};
  report.events = {{Duration::ms(100), std::string(kProgress), "25 % of the weights"},
                   {Duration::ms(120), std::string(kProgress), "first layer"},
                   {Duration::ms(400), std::string(kProgress), "all weights"},
                   {Duration::ms(410), "memory state", "critical"}};
  return report;
}

TEST(ResidencyTextTest, EachInAParagraphOfItsOwn) {
  const std::string text = to_text(sample(), {});
  EXPECT_THAT(text, HasSubstr("Loading    25 % of the weights after 100 ms, all weights after 400 "
                              "ms\n"));
  EXPECT_THAT(text, HasSubstr("Experts    16 of 3.00 MiB in 2 layers, 2 used by a token; 4 kept of "
                              "each layer, 24.0 MiB; 2.00 MiB\n"
                              "           read per token, 30 hits and 10 misses while decoding\n"));
  EXPECT_THAT(text, HasSubstr("Rows       250 of 1,000 feed-forward neurons kept, 12.0 MiB of the "
                              "others in storage; 14.1 KiB\n"
                              "           read per token in 75 requests of up to 192 B\n"));
  EXPECT_THAT(text, HasSubstr("PSS shares it out: 120 MiB in all."));
  EXPECT_THAT(text, HasSubstr("\nEvents\n      410 ms  memory state: critical\n"));
}

TEST(ResidencyTextTest, PrefetchGoesWithTheCache) {
  EXPECT_EQ(prefetch_words(sample()), "; 1,234 prefetched, 5 of them late, 1 lost");
  EXPECT_EQ(prefetch_words({}), "");
  EXPECT_EQ(residency_section({}), "");
}

TEST(ResidencyJsonTest, TheKeysObeyTheSchema) {
  SimReport report = sample();
  for (int i = 0; i < 2; ++i) {
    const nlohmann::json json = nlohmann::json::parse(to_json(std::span(&report, 1)));
    EXPECT_EQ(testing::schema_problem("simulate", json), "");
    EXPECT_EQ(json["prefetch"]["late"], 5);
    EXPECT_EQ(json["rows"]["requests_per_token"], 75);
    EXPECT_EQ(json["processes"][0]["curve"][0]["pss_bytes"], (20_MiB).count());
    EXPECT_TRUE(json["processes"][1]["tpot_ns"].is_null());
    EXPECT_EQ(json["experts"]["slots"].is_null(), i == 1);
    report.experts->slots = 0;
    report.experts->read_per_token.reset();
  }
}

}  // namespace
}  // namespace tidemark
