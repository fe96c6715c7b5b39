// The JSON contract, key by key, and the published schemas against what is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "json_schema.h"
#include "planner/report/json_document.h"
#include "planner/report/parts.h"
#include "planner/report/replay_report.h"
#include "planner/report/writers.h"
#include "sample.h"
#include "support/golden.h"

namespace tidemark {
namespace {

using literals::operator""_MiB;
using nlohmann::json;
using testing::hostile_name;
using testing::sample_plan;
using testing::sample_plan_formula;
using testing::sample_replay;
using testing::sample_run;
using testing::sample_run_layerwise;
using testing::sample_run_over;
using testing::schema_problem;

template <typename Report>
json one(const Report& report) {
  return json::parse(to_json(std::span<const Report>(&report, 1)));
}

template <typename Report>
json several(const std::vector<Report>& reports) {
  return json::parse(to_json(std::span<const Report>(reports)));
}

TEST(JsonSchema, HoldsForEveryKindOfDocument) {
  EXPECT_EQ(schema_problem("plan", one(sample_plan())), "");
  EXPECT_EQ(schema_problem("plan", one(sample_plan_formula())), "");
  EXPECT_EQ(schema_problem("plan", one(testing::sample_plan_llama())), "");
  EXPECT_EQ(
      schema_problem("plan", several<PlanReport>({sample_plan(), testing::sample_plan_over()})),
      "");
  EXPECT_EQ(schema_problem("plan", several<PlanReport>({})), "");
  EXPECT_EQ(schema_problem("simulate", one(sample_run())), "");
  EXPECT_EQ(schema_problem("simulate", one(sample_run_over())), "");
  EXPECT_EQ(schema_problem("simulate", several<SimReport>({sample_run(), sample_run_layerwise()})),
            "");
  ReplayReport replay = sample_replay(101_MiB, 293_MiB);
  EXPECT_EQ(schema_problem("replay", one(replay)), "");
  EXPECT_EQ(schema_problem("replay", several<ReplayReport>({replay, ReplayReport{}})), "");
  replay.corruption = Corruption{"prefill 0", "x", "a", "b"};
  replay.process_peak = 310_MiB;
  EXPECT_EQ(schema_problem("replay", one(replay)), "");
}

TEST(JsonPlan, AnOrderAndReliefsStandInKeysOfTheirOwn) {
  PlanReport report = sample_plan();
  EXPECT_FALSE(one(report).contains("relief"));
  EXPECT_FALSE(one(report)["arena"].contains("op_order"));
  report.arena.order = OrderFacts{.program_load = 14_MiB,
                                  .load = 12_MiB,
                                  .lower_bound = 12_MiB,
                                  .is_optimal = true,
                                  .states = 7};
  report.relief = ReliefFacts{.peak = 12_MiB, .peak_op = hostile_name(), .in_use = 8_MiB};
  report.relief->reliefs.push_back({.tensor = hostile_name(),
                                    .bytes = 4_MiB,
                                    .absences = std::vector<Absence>(2),
                                    .new_peak = 9_MiB,
                                    .saves = 3_MiB,
                                    .moved = 16_MiB});
  EXPECT_EQ(schema_problem("plan", one(report)), "");
  EXPECT_EQ(one(report)["arena"]["load_program_order_bytes"], 14 * 1024 * 1024);
  EXPECT_EQ(one(report)["arena"]["order_status"], "proved_optimal");
  const json told = one(report)["relief"]["suggestions"][0];
  EXPECT_EQ(told["kind"], "spill");
  EXPECT_EQ(told["tensors"], 2);
  EXPECT_EQ(told["moved_bytes"], 16 * 1024 * 1024);
}

// Every key of the contract, as a path.
const std::vector<std::string>& plan_contract() {
  static const std::vector<std::string> keys{"/schema",
                                             "/tool_version",
                                             "/settings",
                                             "/model/name",
                                             "/model/architecture",
                                             "/model/parameters",
                                             "/model/active_parameters",
                                             "/model/layers",
                                             "/model/tensor_bytes",
                                             "/memory/weights_bytes",
                                             "/memory/kv_cache_bytes",
                                             "/memory/recurrent_state_bytes",
                                             "/memory/compute_bytes",
                                             "/memory/output_bytes",
                                             "/memory/runtime_bytes",
                                             "/memory/total_bytes",
                                             "/arena/planner",
                                             "/arena/status",
                                             "/arena/peak_bytes",
                                             "/arena/lower_bound_bytes",
                                             "/arena/no_reuse_bytes",
                                             "/arena/buffers",
                                             "/device/name",
                                             "/device/total_bytes",
                                             "/device/os_bytes",
                                             "/device/available_bytes",
                                             "/device/margin_bytes",
                                             "/device/limit_bytes",
                                             "/verdict/fits",
                                             "/verdict/slack_bytes",
                                             "/verdict/binding_term"};
  return keys;
}

const std::vector<std::string>& simulate_contract() {
  static const std::vector<std::string> keys{"/schema",
                                             "/tool_version",
                                             "/settings",
                                             "/strategy",
                                             "/outcome",
                                             "/peak_bytes",
                                             "/peak_time_ns",
                                             "/peak_step",
                                             "/ttft_ns",
                                             "/tpot_ns",
                                             "/tokens_per_second",
                                             "/bytes_read",
                                             "/page_faults",
                                             "/cache_hits",
                                             "/cache_misses",
                                             "/hit_rate",
                                             "/stall_ns",
                                             "/curve/0/t_ns",
                                             "/curve/0/weights_bytes",
                                             "/curve/0/kv_cache_bytes",
                                             "/curve/0/recurrent_state_bytes",
                                             "/curve/0/compute_bytes",
                                             "/curve/0/output_bytes",
                                             "/curve/0/runtime_bytes",
                                             "/curve/0/total_bytes"};
  return keys;
}

const std::vector<std::string>& replay_contract() {
  static const std::vector<std::string> keys{"/schema",
                                             "/tool_version",
                                             "/settings",
                                             "/strategy",
                                             "/predicted_peak_bytes",
                                             "/measured_peak_bytes",
                                             "/relative_error",
                                             "/max_step_error_bytes",
                                             "/outputs_match",
                                             "/steps/0/step",
                                             "/steps/0/predicted_bytes",
                                             "/steps/0/measured_bytes",
                                             "/steps/0/wall_ns"};
  return keys;
}

struct Contract {
  std::string schema{};
  json document{};
  const std::vector<std::string>& keys;
};

std::vector<Contract> contracts() {
  return {{"plan", one(sample_plan()), plan_contract()},
          {"simulate", one(sample_run()), simulate_contract()},
          {"replay", one(sample_replay(101_MiB, 293_MiB)), replay_contract()}};
}

void remove(json& document, const std::string& path) {
  const json::json_pointer pointer(path);
  document.at(pointer.parent_pointer()).erase(pointer.back());
}

// Were the schema to forget a key, a document without it would pass.
TEST(JsonSchema, RefusesADocumentWithoutAnyOneKeyOfTheContract) {
  for (const Contract& contract : contracts()) {
    for (const std::string& key : contract.keys) {
      json document = contract.document;
      ASSERT_TRUE(document.contains(json::json_pointer(key))) << key;
      remove(document, key);
      EXPECT_NE(schema_problem(contract.schema, document), "") << contract.schema << " " << key;
    }
  }
}

TEST(JsonSchema, RefusesAnyKeyOfTheWrongType) {
  for (const Contract& contract : contracts()) {
    for (const std::string& key : contract.keys) {
      json document = contract.document;
      document[json::json_pointer(key)] = json::array({1.5});
      EXPECT_NE(schema_problem(contract.schema, document), "") << contract.schema << " " << key;
    }
  }
}

TEST(JsonContract, ValuesAreExactIntegersAndRatesAreDoubles) {
  const json plan = one(sample_plan());
  EXPECT_EQ(plan["schema"], "tidemark.plan/1");
  EXPECT_EQ(plan["tool_version"], kToolVersion);
  EXPECT_EQ(plan["memory"]["total_bytes"], int64_t{2147483648});
  EXPECT_EQ(plan["compute"]["activation_bytes"].get<int64_t>() +
                plan["compute"]["scratch_bytes"].get<int64_t>(),
            plan["memory"]["compute_bytes"].get<int64_t>());
  EXPECT_EQ(plan["settings"]["quant"], (json{{"value", "int8"}, {"origin", "flag --quant"}}));
  EXPECT_TRUE(plan["verdict"]["fits"].is_boolean());
  EXPECT_EQ(one(testing::sample_plan_over())["verdict"]["slack_bytes"], int64_t{-536870912});
  const json run = one(sample_run());
  EXPECT_EQ(run["schema"], "tidemark.simulate/1");
  EXPECT_TRUE(run["tokens_per_second"].is_number_float());
  EXPECT_EQ(run["tpot_ns"], 500000000);
}

TEST(JsonContract, WhatIsUndefinedIsNull) {
  EXPECT_TRUE(one(sample_run())["hit_rate"].is_null());
  EXPECT_TRUE(one(sample_run_over())["tpot_ns"].is_null());
  EXPECT_EQ(one(sample_run_over())["hit_rate"], 0.0);
}

TEST(JsonContract, OptionalSectionsAppearOnlyWithContent) {
  EXPECT_FALSE(one(sample_plan()).contains("textbook"));
  EXPECT_FALSE(one(sample_plan()).contains("notes"));
  const json formula = one(sample_plan_formula());
  EXPECT_EQ(formula["textbook"].size(), 2U);
  EXPECT_TRUE(formula["textbook"][1]["textbook_bytes"].is_null());
  EXPECT_EQ(formula["textbook"][1]["textbook_count"], 20);
}

TEST(JsonContract, KeysComeInTheDocumentedOrder) {
  const std::string text =
      to_json(std::span<const PlanReport>(std::vector<PlanReport>{sample_plan()}));
  size_t last = 0;
  for (const char* key :
       {"schema", "tool_version", "settings", "model", "memory", "arena", "device", "verdict"}) {
    const size_t place = text.find("\n  \"" + std::string(key) + "\": ");
    ASSERT_NE(place, std::string::npos) << key;
    EXPECT_GT(place, last) << key;
    last = place;
  }
}

TEST(JsonContract, PartsAddUpToTheTotalInMemoryAndAtEveryPoint) {
  const auto expect_sum = [](const json& memory) {
    int64_t sum = 0;
    for (const MemoryPart& part : memory_parts())
      sum += memory.at(std::string(part.bytes_key)).get<int64_t>();
    EXPECT_EQ(memory.at("total_bytes"), sum);
  };
  expect_sum(one(sample_plan())["memory"]);
  const json run = one(sample_run_layerwise());
  for (const json& point : run["curve"]) expect_sum(point);
}

TEST(JsonContract, ResultsAreTheSameDocumentsAsOneByOne) {
  const json both = several<SimReport>({sample_run(), sample_run_over()});
  ASSERT_EQ(both["results"].size(), 2U);
  EXPECT_EQ(both["results"][0], one(sample_run()));
  EXPECT_EQ(both["results"][1], one(sample_run_over()));
}

TEST(JsonDocument, ALongListIsPrintedAsADocumentOfAllOfItIs) {
  const auto row = [](size_t i) {
    return Json{{"name", hostile_name()}, {"i", i}, {"list", Json::array()}, {"x", 0.5}};
  };
  Json document{{"schema", "s"}, {"list", Json::array()}, {"empty", Json::array()}, {"last", -1}};
  const std::vector<JsonRows> rows{{.key = "list", .count = 3, .row = row}, {.key = "empty"}};
  const std::string text = printed(document, rows);
  for (size_t i = 0; i < 3; ++i) document["list"].push_back(row(i));
  EXPECT_EQ(text, printed(document));
  EXPECT_EQ(Json::parse(text)["list"].size(), 3U);
}

TEST(JsonDocument, TextsAreEscapedAsTheLibraryDoes) {
  for (const std::string& text :
       {std::string("plain ~ /"), hostile_name(), std::string("a\"b\\c"), std::string("\x7f\x1b\n"),
        std::string("\xc3\xa9\xff", 3), std::string(1, '\0'), std::string()}) {
    const std::string quoted = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    EXPECT_EQ(printed(Json(text)), quoted + "\n");
    Json keyed = Json::object();
    keyed[text] = 1;
    EXPECT_EQ(printed(keyed), "{\n  " + quoted + ": 1\n}\n");
  }
}

TEST(JsonContract, HostileNamesSurvive) {
  PlanReport plan = sample_plan_formula();
  plan.model.name = plan.arena.peak_op = plan.textbook.front().why = hostile_name();
  plan.settings.front() = {hostile_name(), hostile_name(), hostile_name()};
  const json document = one(plan);
  // Only the byte that is no UTF-8 is replaced.
  std::string expected = hostile_name();
  expected.replace(expected.find('\xFF'), 1, "\xEF\xBF\xBD");
  EXPECT_EQ(document["model"]["name"], expected);
  EXPECT_EQ(document["settings"][expected]["origin"], expected);
  EXPECT_EQ(schema_problem("plan", document), "");
}

}  // namespace
}  // namespace tidemark
