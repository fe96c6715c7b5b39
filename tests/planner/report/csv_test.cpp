#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>

#include "planner/report/parts.h"
#include "planner/report/writers.h"
#include "sample.h"

namespace tidemark {
namespace {

using testing::hostile_name;

// A reader of RFC 4180 by the grammar: records of fields, quotes doubled inside quotes.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> records{{""}};
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string& field = records.back().back();
    if (quoted && text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      field += text[++i];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[i] == ',') {
      records.back().emplace_back();
    } else if (!quoted && text[i] == '\n') {
      records.push_back({""});
    } else {
      field += text[i];
    }
  }
  EXPECT_EQ(records.back(), std::vector<std::string>{""}) << "the last line must end";
  records.pop_back();
  return records;
}

// Head -> value for the row `row`.
std::map<std::string, std::string> record_of(const std::string& text, size_t row) {
  const auto records = read_csv(text);
  std::map<std::string, std::string> record;
  EXPECT_EQ(records.at(row).size(), records.front().size());
  for (size_t i = 0; i < records.front().size(); ++i)
    record[records.front()[i]] = records.at(row).at(i);
  EXPECT_EQ(record.size(), records.front().size()) << "a head is repeated";
  return record;
}

int64_t sum_of_parts(const std::map<std::string, std::string>& record) {
  int64_t sum = 0;
  for (const MemoryPart& part : memory_parts())
    sum += std::stoll(record.at(std::string(part.bytes_key)));
  return sum;
}

TEST(CsvTest, ARowAReportWithTheContractsNames) {
  const std::vector<PlanReport> plans{testing::sample_plan(), testing::sample_plan_over()};
  EXPECT_EQ(read_csv(to_csv(plans)).size(), 3U);
  const auto record = record_of(to_csv(plans), 2);
  EXPECT_EQ(record.at("model"), "sample-1b");
  EXPECT_EQ(record.at("ctx_size"), "8192");
  EXPECT_EQ(record.at("fits"), "false");
  EXPECT_EQ(record.at("slack_bytes"), "-536870912");
  EXPECT_EQ(record.at("total_bytes"), "2684354560");
  EXPECT_EQ(sum_of_parts(record), 2684354560);
}

TEST(CsvTest, UndefinedValuesAreEmpty) {
  const std::vector<SimReport> runs{testing::sample_run(), testing::sample_run_over()};
  EXPECT_EQ(record_of(to_csv(runs), 1).at("hit_rate"), "");
  EXPECT_EQ(record_of(to_csv(runs), 1).at("tpot_ns"), "500000000");
  EXPECT_EQ(record_of(to_csv(runs), 2).at("hit_rate"), "0");
  EXPECT_EQ(record_of(to_csv(runs), 2).at("tpot_ns"), "");
  EXPECT_EQ(record_of(to_csv(runs), 2).at("peak_at"), "prefill 0, blk.1");
}

// What only some runs have stands behind what all have, under the document's names.
TEST(CsvTest, WhatOnlySomeRunsHaveIsAddedAtTheEnd) {
  SimReport run = testing::sample_run();
  run.minor_faults = 3;
  run.energy = EnergyFacts{.compute_microjoules = 5,
                           .memory_microjoules = 7,
                           .storage_microjoules = 11,
                           .idle_microjoules = 13};
  run.experts = ExpertFacts{.layers = 2, .experts = 8, .used = 2, .hits = 30, .misses = 10};
  run.processes = {{.own = Bytes::of(10), .pss = Bytes::of(100)},
                   {.ttft = Duration::ns(9), .own = Bytes::of(20), .pss = Bytes::of(200)}};
  const std::vector<SimReport> runs{run, testing::sample_run()};
  const std::string text = to_csv(runs);
  const auto filled = record_of(text, 1);
  EXPECT_EQ(filled.at("minor_faults"), "3");
  EXPECT_EQ(filled.at("energy_total_uj"), "36");
  EXPECT_EQ(filled.at("energy_storage_uj"), "11");
  EXPECT_EQ(filled.at("experts_decode_hits"), "30");
  EXPECT_EQ(filled.at("experts_slots"), "") << "one cache for all layers";
  EXPECT_EQ(filled.at("experts_read_per_token_bytes"), "");
  EXPECT_EQ(filled.at("rows_kept"), "");
  EXPECT_EQ(filled.at("prefetch_late"), "");
  EXPECT_EQ(filled.at("processes"), "2");
  EXPECT_EQ(filled.at("processes_own_bytes"), "30");
  EXPECT_EQ(filled.at("processes_pss_bytes"), "300");
  EXPECT_EQ(filled.at("processes_last_ttft_ns"), "9");
  const auto plain = record_of(text, 2);
  for (const char* head : {"energy_total_uj", "experts_layers", "rows_neurons", "processes"}) {
    EXPECT_EQ(plain.at(head), "") << head;
  }
  const auto heads = read_csv(text).front();
  const auto limit = std::ranges::find(heads, "limit_bytes");
  EXPECT_EQ(*(limit + 1), "minor_faults");
}

TEST(CsvTest, NoReportsLeaveTheHead) {
  EXPECT_EQ(read_csv(to_csv(std::span<const PlanReport>{})).size(), 1U);
  EXPECT_EQ(read_csv(to_csv(std::span<const SimReport>{})).size(), 1U);
}

TEST(CsvTest, EveryPointOfACurveAddsUp) {
  const SimReport run = testing::sample_run_layerwise();
  const std::string text = curve_to_csv(run);
  ASSERT_EQ(read_csv(text).size(), run.curve.size() + 1);
  for (size_t i = 0; i < run.curve.size(); ++i) {
    const auto record = record_of(text, i + 1);
    EXPECT_EQ(std::stoll(record.at("t_ns")), run.curve[i].time.count());
    EXPECT_EQ(std::stoll(record.at("total_bytes")), sum_of_parts(record));
  }
}

TEST(CsvTest, AnyNameComesBackAsItWas) {
  EXPECT_TRUE(rc::check([] {
    SimReport run = testing::sample_run();
    run.model.name =
        *rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab \",\n\r;'|")));
    run.reason = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab \",\n\r;'|")));
    const auto record = record_of(to_csv(std::span<const SimReport>(&run, 1)), 1);
    RC_ASSERT(record.at("model") == run.model.name);
    RC_ASSERT(record.at("reason") == run.reason);
  }));
}

TEST(CsvTest, AHostileNameStaysOneField) {
  PlanReport plan = testing::sample_plan();
  plan.device.name = hostile_name();
  std::string expected = hostile_name();
  expected.replace(expected.find('\xFF'), 1, "\xEF\xBF\xBD");
  EXPECT_EQ(record_of(to_csv(std::span<const PlanReport>(&plan, 1)), 1).at("device"), expected);
}

}  // namespace
}  // namespace tidemark
