#include "planner/engine/llama_cpp/llama_resident.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "../../import/test_data.h"
#include "support/llamacpp_models.h"

namespace tidemark {
namespace {

using namespace literals;
using testing::at;
using testing::CsvRow;
using testing::MeasuredModel;
using testing::restated_model;

// The larger of 3 MiB and 2 %.
bool is_near(Bytes predicted, Bytes seen) {
  const Bytes allowed = std::max(3_MiB, seen / 50);
  return seen - allowed <= predicted && predicted <= seen + allowed;
}

struct Seen {
  int64_t base = 0;  // all in KiB
  int64_t loaded = 0;
  int64_t context = 0;
  int64_t prompt = 0;
  int64_t generation = 0;
};

void expect_near(const LlamaResident& made, const Seen& seen) {
  const auto stage = [](const char* name, Bytes predicted, int64_t kib) {
    EXPECT_TRUE(is_near(predicted, 1_KiB * kib))
        << name << ": " << predicted.count() / 1024 << " KiB predicted, " << kib << " seen";
  };
  stage("base", made.base, seen.base);
  stage("loaded", made.loaded, seen.loaded);
  stage("context", made.context, seen.context);
  stage("prompt", made.prompt, seen.prompt);
  stage("generation", made.generation, seen.generation);
}

const LlamaSettings kSmall{.n_ctx = 2048, .n_ubatch = 128, .flash = LlamaFlash::kOn};
const LlamaProcess kRun{
    .tokenizer = LlamaTokenizer::kNone, .prompt = 256, .generate = 4, .n_threads = 2};

// One of the runs that were measured.
TEST(LlamaResidentTest, WorkedInTheHeader) {
  const MeasuredModel small = restated_model("smollm2-135m", "Q4_K_M");
  const LlamaResident made = llama_resident(small.model, small.weights, kSmall, kRun).value();
  expect_near(made, {6816, 111136, 160404, 164712, 164712});
  EXPECT_EQ(made.file_pages, 103668480_B);
  // loaded - base: 1,100 KiB + 40 x 49,152 + 103,668,480
  EXPECT_EQ(made.loaded - made.base, 1100_KiB + 1966080_B + 103668480_B);
}

// 512 tokens at once, logits of all reserved, of one asked for: 107,493,376 B reserved, and
// 175,616 - 160,248 = 15,368 KiB more resident.
TEST(LlamaResidentTest, WhatIsReservedIsNotAllTouched) {
  const MeasuredModel small = restated_model("smollm2-135m", "Q4_K_M");
  LlamaSettings settings = kSmall;
  settings.n_ubatch = 512;
  LlamaProcess process = kRun;
  process.prompt = 512;
  const LlamaResident made = llama_resident(small.model, small.weights, settings, process).value();
  expect_near(made, {6744, 110972, 160248, 175616, 175620});
  EXPECT_LT(made.touched, 20_MiB);
  EXPECT_GT(made.touched, 12_MiB);
}

TEST(LlamaResidentTest, RejectedSettingsAreRefused) {
  const MeasuredModel small = restated_model("smollm2-135m", "Q4_K_M");
  LlamaSettings settings = kSmall;
  settings.flash = LlamaFlash::kOff;
  settings.type_v = DType::kQ8_0;
  const Result<LlamaResident> made = llama_resident(small.model, small.weights, settings, kRun);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.diagnostics().front().message,
            "quantized V cache requires flash_attn to be enabled");
}

TEST(LlamaResidentTest, EveryMeasuredRun) {
  TIDEMARK_NEED_TEST_DATA(file, "llamacpp/rss.csv");
  int checked = 0;
  for (const CsvRow& row : testing::read_csv(file)) {
    std::string text;
    for (const char* column : {"model", "ftype", "load", "repack", "vocab", "n_ctx", "n_ubatch",
                               "flash_attn", "n_outputs_max_arg", "n_prompt"}) {
      text += row.at(column) + " ";
    }
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, text);
    const MeasuredModel measured = restated_model(row.at("model"), row.at("ftype"));
    const Result<LlamaResident> made =
        llama_resident(measured.model, measured.weights, testing::resident_settings_of(row),
                       testing::process_of(row));
    ASSERT_TRUE(made.ok()) << to_string(made.diagnostics());
    expect_near(*made, {at(row, "base_rss_kib"), at(row, "loaded_rss_kib"), at(row, "ctx_rss_kib"),
                        at(row, "prompt_rss_kib"), at(row, "gen_rss_kib")});
    if (row.at("load") == "mmap") {
      EXPECT_EQ(made->file_pages.count(), at(row, "model_buffer_bytes"));
    }
    ++checked;
  }
  EXPECT_EQ(checked, 57);
}

}  // namespace
}  // namespace tidemark
