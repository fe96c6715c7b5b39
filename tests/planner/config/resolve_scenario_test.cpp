#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "planner/base/files.h"
#include "planner/config/settings.h"
#include "support/golden.h"

namespace tidemark {
namespace {

using namespace literals;

using Texts = std::vector<std::pair<std::string, std::string>>;

// As if every text had come from its flag.
SettingMap flags(const Texts& texts) {
  SettingMap settings;
  for (const auto& [key, text] : texts) {
    std::string name = key == "model" ? "MODEL" : "--" + key;
    for (char& c : name) c = c == '_' ? '-' : c;
    settings[key] = {.text = text, .origin = "flag " + name};
  }
  return settings;
}

Scenario resolved(const Texts& texts) {
  Result<Scenario> scenario = resolve_scenario(flags(texts));
  EXPECT_TRUE(scenario.ok()) << to_string(scenario.diagnostics());
  return scenario.ok() ? std::move(scenario).value() : Scenario{};
}

std::string problems(const Texts& texts) {
  return to_string(resolve_scenario(flags(texts)).diagnostics());
}

Setting setting(const Scenario& scenario, std::string_view key) {
  for (const Setting& one : scenario.settings) {
    if (one.key == key) return one;
  }
  return {};
}

TEST(ResolveScenario, DefaultsAreFilledInAndSaySo) {
  const Scenario scenario = resolved({{"model", "minicpm-2b"}});
  EXPECT_EQ(scenario.device.name, "galaxy-s23");
  EXPECT_EQ(scenario.engine.name, "tidemark");
  EXPECT_EQ(scenario.quant.kind, QuantKind::kAsStored);
  EXPECT_EQ(scenario.n_ctx, Tokens(4096));
  EXPECT_EQ(scenario.n_batch, Tokens(2048));
  EXPECT_EQ(scenario.n_ubatch, Tokens(512));
  EXPECT_EQ(scenario.n_seq, 1);
  EXPECT_EQ(scenario.n_outputs, 1);
  EXPECT_EQ(scenario.type_k, DType::kF16);
  EXPECT_EQ(scenario.type_act, DType::kF32);
  EXPECT_TRUE(scenario.flash_attention);
  EXPECT_EQ(scenario.planner, PlannerKind::kBestOf);
  EXPECT_EQ(scenario.strategy, StrategyKind::kResident);
  EXPECT_EQ(scenario.margin_ratio, 0.1);
  EXPECT_EQ(scenario.budget, std::nullopt);
  EXPECT_EQ(scenario.prompt, Tokens(128));
  EXPECT_EQ(scenario.generate, Tokens(32));
  EXPECT_EQ(setting(scenario, "model"), (Setting{"model", "minicpm-2b", "flag MODEL"}));
  EXPECT_EQ(setting(scenario, "quant"), (Setting{"quant", "as-stored", "model minicpm-2b"}));
  EXPECT_EQ(setting(scenario, "ctx_size"), (Setting{"ctx_size", "4096", "default"}));
  EXPECT_EQ(setting(scenario, "cache_type_k"),
            (Setting{"cache_type_k", "f16", "engine profile tidemark"}));
  EXPECT_EQ(setting(scenario, "flash_attn"),
            (Setting{"flash_attn", "on", "engine profile tidemark"}));
}

TEST(ResolveScenario, StatedValuesWin) {
  const Scenario scenario = resolved({{"model", "llama-3.1-8b"},
                                      {"device", "mac-m1-8"},
                                      {"engine", "formula"},
                                      {"quant", "Q4_0"},
                                      {"n_outputs", "4"},
                                      {"ctx_size", "8192"},
                                      {"batch_size", "1024"},
                                      {"ubatch_size", "256"},
                                      {"parallel", "4"},
                                      {"cache_type_k", "Q8_0"},
                                      {"cache_type_v", "q4_0"},
                                      {"flash_attn", "off"},
                                      {"activation_type", "f16"},
                                      {"strategy", "block-cache"},
                                      {"planner", "no-reuse"},
                                      {"op_order", "memory"},
                                      {"budget", "2000 MB"},
                                      {"margin", "0.2"},
                                      {"model_scale", "0.5"},
                                      {"prompt", "1000"},
                                      {"generate", "100"},
                                      {"seed", "9223372036854775807"},
                                      {"cache_size", "1536 MB"},
                                      {"cache_policy", "pinned"},
                                      {"pinned", "token_embd, blk.0"},
                                      {"trace", "blk.0,blk.1"}});
  EXPECT_EQ(scenario.device.name, "mac-m1-8");
  EXPECT_EQ(scenario.engine.name, "formula");
  EXPECT_EQ(scenario.quant.file_type, FileType::kQ4_0);
  EXPECT_EQ(scenario.n_ctx, Tokens(8192));
  EXPECT_EQ(scenario.n_batch, Tokens(1024));
  EXPECT_EQ(scenario.n_ubatch, Tokens(256));
  EXPECT_EQ(scenario.n_seq, 4);
  EXPECT_EQ(scenario.n_outputs, 4);
  EXPECT_EQ(scenario.type_k, DType::kQ8_0);
  EXPECT_EQ(scenario.type_v, DType::kQ4_0);
  EXPECT_FALSE(scenario.flash_attention);
  EXPECT_EQ(scenario.type_act, DType::kF16);
  EXPECT_EQ(scenario.strategy, StrategyKind::kBlockCache);
  EXPECT_EQ(scenario.planner, PlannerKind::kNoReuse);
  EXPECT_EQ(scenario.op_order, OpOrder::kMemory);
  EXPECT_EQ(scenario.budget, 2000_MB);
  EXPECT_EQ(scenario.margin_ratio, 0.2);
  EXPECT_EQ(scenario.prompt, Tokens(1000));
  EXPECT_EQ(scenario.generate, Tokens(100));
  EXPECT_EQ(scenario.seed, 9223372036854775807U);
  EXPECT_EQ(scenario.cache.capacity, 1536_MB);
  EXPECT_EQ(scenario.cache.policy, CachePolicy::kPinned);
  EXPECT_EQ(scenario.cache.pinned, (std::vector<std::string>{"token_embd", "blk.0"}));
  EXPECT_EQ(scenario.trace, (std::vector<std::string>{"blk.0", "blk.1"}));
  for (const Setting& one : scenario.settings) {
    EXPECT_EQ(one.origin.substr(0, 5), "flag ") << one.key << " from " << one.origin;
  }
}

TEST(ResolveScenario, AModelTrainedOnLessThan4096TokensLowersTheContext) {
  EXPECT_EQ(resolved({{"model", "tinyllama-1.1b"}}).n_ctx, Tokens(2048));
  EXPECT_EQ(resolved({{"model", "llama-3.1-8b"}}).n_ctx, Tokens(4096));
  EXPECT_EQ(resolved({{"model", "demo-layers"}}).n_ctx, Tokens(4096));
}

TEST(ResolveScenario, DefaultsFollowASmallContext) {
  const Scenario scenario = resolved({{"model", "minicpm-2b"}, {"ctx_size", "128"}});
  EXPECT_EQ(scenario.n_batch, Tokens(128));
  EXPECT_EQ(scenario.n_ubatch, Tokens(128));
  EXPECT_EQ(scenario.prompt, Tokens(96));
  EXPECT_EQ(scenario.generate, Tokens(32));
  EXPECT_EQ(setting(scenario, "batch_size").origin, "default");
}

TEST(ResolveScenario, DefaultsLeaveRoomForWhatIsStated) {
  const Scenario long_prompt = resolved({{"model", "minicpm-2b"}, {"prompt", "4090"}});
  EXPECT_EQ(long_prompt.generate, Tokens(6));
  const Scenario long_answer = resolved({{"model", "minicpm-2b"}, {"generate", "4090"}});
  EXPECT_EQ(long_answer.prompt, Tokens(6));
  const Scenario one_cell = resolved({{"model", "minicpm-2b"}, {"ctx_size", "1"}});
  EXPECT_EQ(one_cell.prompt, Tokens(1));
  EXPECT_EQ(one_cell.generate, Tokens(0));
}

TEST(ResolveScenario, BatchesAreHeldToWhatContainsThem) {
  const Scenario scenario = resolved({{"model", "minicpm-2b"},
                                      {"ctx_size", "1000"},
                                      {"batch_size", "2048"},
                                      {"ubatch_size", "4096"}});
  EXPECT_EQ(setting(scenario, "batch_size"),
            (Setting{"batch_size", "1000", "flag --batch-size, held to ctx_size"}));
  EXPECT_EQ(setting(scenario, "ubatch_size"),
            (Setting{"ubatch_size", "1000", "flag --ubatch-size, held to batch_size"}));
}

TEST(ResolveScenario, ZeroOutputsMeansOneForEveryToken) {
  EXPECT_EQ(resolved({{"model", "minicpm-2b"}, {"n_outputs", "0"}}).n_outputs, 512);
  EXPECT_EQ(resolved({{"model", "minicpm-2b"}, {"n_outputs", "7"}}).n_outputs, 7);
  EXPECT_EQ(resolved({{"model", "minicpm-2b"}, {"n_outputs", "1000"}}).n_outputs, 512);
}

TEST(ResolveScenario, AutoFlashAttentionAsksTheEngine) {
  EXPECT_FALSE(resolved({{"model", "minicpm-2b"}, {"engine", "formula"}}).flash_attention);
  EXPECT_FALSE(resolved({{"model", "minicpm-2b"}, {"engine", "formula"}, {"flash_attn", "auto"}})
                   .flash_attention);
  EXPECT_TRUE(resolved({{"model", "minicpm-2b"}, {"engine", "formula"}, {"flash_attn", "on"}})
                  .flash_attention);
}

TEST(ResolveScenario, FlagsWinOverTheEnvironmentAndThatOverAScenarioFile) {
  const SettingMap file =
      parse_scenario("x.yaml",
                     "schema: scenario/1\nmodel: minicpm-2b\nctx_size: 1\nseed: 1\nprompt: 1\n")
          .value();
  SettingMap environment;
  for (const std::string key : {"ctx_size", "seed"}) {
    environment[key] = {.text = "2", .origin = "environment TIDEMARK_" + key};
  }
  const SettingMap all =
      merge(merge(file, environment), flags({{"ctx_size", "3"}, {"generate", "0"}}));
  const Scenario scenario = resolve_scenario(all).value();
  EXPECT_EQ(setting(scenario, "ctx_size"), (Setting{"ctx_size", "3", "flag --ctx-size"}));
  EXPECT_EQ(setting(scenario, "seed"), (Setting{"seed", "2", "environment TIDEMARK_seed"}));
  EXPECT_EQ(setting(scenario, "prompt"), (Setting{"prompt", "1", "scenario x.yaml:5"}));
  EXPECT_EQ(setting(scenario, "parallel"), (Setting{"parallel", "1", "default"}));
}

TEST(ResolveScenario, ARelativePathInAScenarioFileCountsFromThatFile) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "run.yaml";
  const std::filesystem::path model = folder.path() / "mine.yaml";
  const std::filesystem::path shipped =
      std::filesystem::path(TIDEMARK_SOURCE_DIR) / "configs" / "models";
  ASSERT_TRUE(write_file(model, testing::slurp(shipped / "llama-2-7b.yaml")).ok());
  ASSERT_TRUE(write_file(file, "schema: scenario/1\nmodel: mine.yaml\n").ok());
  const Scenario scenario = resolve_scenario(load_scenario_file(file.string()).value()).value();
  EXPECT_EQ(scenario.model.name, "llama-2-7b");
  EXPECT_EQ(setting(scenario, "model").value, model.string());
}

TEST(ResolveScenario, EveryProblemOfEveryFileAndFlagComesAtOnce) {
  const testing::TemporaryFolder folder;
  const std::string model = (folder.path() / "model.yaml").string();
  const std::string device = (folder.path() / "device.yaml").string();
  ASSERT_TRUE(
      write_file(
          model,
          "schema: model/1\nname: x\narchitecture: llama\nsource: x\nn_layer: 2\nn_layer: 3\n"
          "n_embd: 64\nn_head: 32\nn_head_kv: 7\nn_f: 128\nn_vocab: 10\ntied_embeddings: true\n"
          "dtype: f16\n")
          .ok());
  ASSERT_TRUE(write_file(device,
                         "schema: device/1\nname: x\ndescription: x\nsource: x\nram_total: 8 G\n"
                         "app_available: 1 GB\nmemory_bandwidth: 1 GB/s\nflash_read: 1 GB/s\n"
                         "flash_latency: 1 us\ncompute: 1 GOPS\npage_size: 4 KiB\n")
                  .ok());
  const std::string expected =
      model + ":1:1: error: n_ff: is missing\n  hint: expected a whole number\n" + model +
      ":6:1: error: n_layer: is given twice, first in line 5\n  hint: keep one of the two\n" +
      model +
      ":9:12: error: n_head_kv: 7 does not divide n_head 32\n"
      "  hint: grouped-query attention needs n_head to be a multiple of n_head_kv\n" +
      model + ":10:1: error: n_f: unknown key\n  hint: did you mean \"n_ff\"?\n" + device +
      ":5:12: error: ram_total: \"8 G\" has the ambiguous unit \"G\"\n"
      "  hint: write 8 GiB (1024^3) or 8 GB (1000^3); they are 7.4 % apart\n"
      "error: --engine: there is no engine called \"tidemrak\"\n"
      "  hint: there are: tidemark, tensorrt, bare, formula, mlc, mnn, paged, static, llama.cpp\n"
      "error: --quant: \"int5\" is not a weight format\n  hint: did you mean \"int8\"?\n";
  EXPECT_EQ(
      problems({{"model", model}, {"device", device}, {"engine", "tidemrak"}, {"quant", "int5"}}),
      expected);
}

TEST(ResolveScenario, FlagsAreNamedInTheirProblems) {
  EXPECT_THAT(problems({{"model", "minicpm-2d"}}),
              ::testing::StartsWith("error: MODEL: there is no model called \"minicpm-2d\"\n"
                                    "  hint: there are: minicpm-2b, "));
  EXPECT_EQ(problems({}),
            "error: model: is not given\n  hint: name a built-in model or a model file\n");
  EXPECT_EQ(
      problems({{"model", "minicpm-2b"}, {"strategy", "layer-wise"}}),
      "error: --strategy: \"layer-wise\" is not known\n  hint: did you mean \"layerwise\"?\n");
  EXPECT_THAT(
      problems({{"model", "minicpm-2b"}, {"width", "3"}}),
      ::testing::StartsWith(
          "error: --width: unknown setting\n  hint: `tidemark list settings` shows them all"));
}

TEST(ResolveScenario, TheEnvironmentIsNamedInItsProblems) {
  SettingMap settings = flags({{"model", "minicpm-2b"}});
  settings["seed"] = {.text = "x", .origin = "environment TIDEMARK_SEED"};
  EXPECT_EQ(to_string(resolve_scenario(settings).diagnostics()),
            "error: TIDEMARK_SEED: \"x\" is not a whole number\n  hint: write decimal digits "
            "alone: 4096\n");
}

TEST(ResolveScenario, NumbersAreBounded) {
  const std::vector<std::tuple<std::string, std::string, std::string>> table{
      {"ctx_size", "0", "from 1 to 1073741824"},
      {"ctx_size", "1073741825", "from 1 to 1073741824"},
      {"batch_size", "0", "from 1 to 16777216"},
      {"ubatch_size", "-1", "from 1 to 16777216"},
      {"parallel", "4097", "from 1 to 4096"},
      {"n_outputs", "-1", "from 1 to 16777216"},
      {"prompt", "16777217", "from 0 to 16777216"},
      {"generate", "-1", "from 0 to 16777216"},
      {"seed", "-1", "from 0 to 9223372036854775807"},
  };
  for (const auto& [key, text, hint] : table) {
    std::string flag = key;
    for (char& c : flag) c = c == '_' ? '-' : c;
    EXPECT_EQ(problems({{"model", "minicpm-2b"}, {key, text}}),
              "error: --" + flag + ": " + text + " is out of range\n  hint: " + hint + "\n");
  }
}

TEST(ResolveScenario, TokensMustFitTheContextOfOneSequence) {
  EXPECT_EQ(problems({{"model", "minicpm-2b"}, {"prompt", "4000"}, {"generate", "97"}}),
            "error: --prompt: prompt and generate need 4097 cells, a sequence has 4096\n"
            "  hint: raise ctx_size to 4097\n");
  EXPECT_EQ(problems({{"model", "minicpm-2b"}, {"generate", "2049"}, {"parallel", "2"}}),
            "error: --generate: prompt and generate need 2049 cells, a sequence has 2048\n"
            "  hint: raise ctx_size to 4098\n");
  // A list of layers has no context.
  EXPECT_EQ(resolved({{"model", "demo-layers"}, {"prompt", "5000"}}).prompt, Tokens(5000));
}

TEST(ResolveScenario, AModelScaleShrinksTheWidths) {
  const Scenario scenario = resolved({{"model", "minicpm-2b"}, {"model_scale", "0.25"}});
  EXPECT_EQ(scenario.model.transformer()->n_embd, 576);
  EXPECT_EQ(scenario.model.transformer()->layers.size(), 40U);
  EXPECT_EQ(setting(scenario, "model_scale"),
            (Setting{"model_scale", "0.25", "flag --model-scale"}));
  EXPECT_EQ(resolved({{"model", "minicpm-2b"}, {"model_scale", "25 %"}}).model, scenario.model);
  EXPECT_EQ(resolved({{"model", "minicpm-2b"}, {"model_scale", "1"}}).model,
            resolved({{"model", "minicpm-2b"}}).model);
}

TEST(ResolveScenario, AModelScaleIsBoundedAndNeedsWidths) {
  const std::string bounds = "  hint: from 0.001 to 1\n";
  EXPECT_EQ(problems({{"model", "minicpm-2b"}, {"model_scale", "0"}}),
            "error: --model-scale: \"0\" is out of range\n" + bounds);
  EXPECT_EQ(problems({{"model", "minicpm-2b"}, {"model_scale", "2"}}),
            "error: --model-scale: \"2\" is out of range\n" + bounds);
  EXPECT_EQ(problems({{"model", "demo-layers"}, {"model_scale", "0.5"}}),
            "error: --model-scale: demo-layers states sizes, which have no widths\n"
            "  hint: leave model_scale out for a model that is a list of layers\n");
}

TEST(ResolveScenario, SizesAndSharesAreBounded) {
  EXPECT_EQ(problems({{"model", "minicpm-2b"}, {"budget", "0 B"}}),
            "error: --budget: 0 B is out of range\n  hint: from 1 B to 1048576 TiB\n");
  EXPECT_EQ(problems({{"model", "minicpm-2b"}, {"cache_size", "1048577 TiB"}}),
            "error: --cache-size: 1048577 TiB is out of range\n  hint: from 1 B to 1048576 TiB\n");
  EXPECT_EQ(problems({{"model", "minicpm-2b"}, {"budget", "2000"}}),
            "error: --budget: \"2000\" has no unit\n  hint: write a number and a unit: 512 MiB, "
            "3.5 GB\n");
  EXPECT_EQ(problems({{"model", "minicpm-2b"}, {"margin", "100 %"}}),
            "error: --margin: 100 % leaves nothing\n  hint: stay below 100 %\n");
  EXPECT_EQ(problems({{"model", "minicpm-2b"}, {"margin", "10 percent"}}),
            "error: --margin: \"10 percent\" is not a ratio\n"
            "  hint: write a percentage or a fraction: 10 %, 0.1\n");
}

TEST(ResolveScenario, ChoicesMustMakeSense) {
  EXPECT_EQ(problems({{"model", "demo-layers"}, {"quant", "int4"}}),
            "error: --quant: demo-layers states sizes, which no format changes\n"
            "  hint: leave quant out for a model that is a list of layers\n");
  EXPECT_EQ(problems({{"model", "minicpm-2b"}, {"quant", "Q7_0"}}),
            "error: --quant: \"Q7_0\" is not a weight format\n  hint: did you mean \"Q4_0\"?\n");
  EXPECT_EQ(
      problems({{"model", "minicpm-2b"}, {"cache_type_k", "Q4_K"}}),
      "error: --cache-type-k: \"Q4_K\" is not a KV cache type\n  hint: did you mean \"Q4_0\"?\n");
  EXPECT_EQ(problems({{"model", "minicpm-2b"}, {"activation_type", "Q8_0"}}),
            "error: --activation-type: \"Q8_0\" is not an activation type\n  hint: there are: f32, "
            "f16, bf16, int8\n");
  EXPECT_EQ(problems({{"model", "minicpm-2b"}, {"flash_attn", "yes"}}),
            "error: --flash-attn: \"yes\" is not known\n  hint: there are: on, off, auto\n");
  EXPECT_EQ(problems({{"model", "minicpm-2b"}, {"pinned", "a,,b"}}),
            "error: --pinned: \"a,,b\" has an empty entry\n  hint: separate the names by single "
            "commas\n");
  EXPECT_EQ(
      problems({{"model", "minicpm-2b"}, {"strategy", "block-cache"}, {"cache_policy", "pinned"}}),
      "error: --cache-policy: pinned needs the names of the weight units to keep\n"
      "  hint: add them: pinned=token_embd\n");
}

TEST(ResolveScenario, ABlockFormatMustFitTheHeads) {
  const testing::TemporaryFolder folder;
  const std::string model = (folder.path() / "model.yaml").string();
  ASSERT_TRUE(
      write_file(
          model,
          "schema: model/1\nname: odd\narchitecture: llama\nsource: x\nn_layer: 2\nn_embd: 80\n"
          "n_head: 1\nn_ff: 128\nn_vocab: 10\ntied_embeddings: true\ndtype: f16\n")
          .ok());
  EXPECT_EQ(problems({{"model", model}, {"cache_type_v", "Q8_0"}}),
            "error: --cache-type-v: Q8_0 needs a head_dim that 32 divides, odd has 80\n");
}

TEST(ResolveScenario, ResolvedSettingsResolveToTheSameScenario) {
  EXPECT_TRUE(rc::check([] {
    Texts texts{
        {"model", *rc::gen::element<std::string>("minicpm-2b", "tinyllama-1.1b", "llama-3.1-8b")}};
    const auto maybe = [&](const std::string& key, auto generator) {
      if (*rc::gen::arbitrary<bool>()) texts.emplace_back(key, std::to_string(*generator));
    };
    maybe("ctx_size", rc::gen::inRange(1, 100000));
    maybe("batch_size", rc::gen::inRange(1, 10000));
    maybe("ubatch_size", rc::gen::inRange(1, 10000));
    maybe("parallel", rc::gen::inRange(1, 100));
    maybe("n_outputs", rc::gen::inRange(0, 1000));
    maybe("seed", rc::gen::arbitrary<uint32_t>());
    maybe("prompt", rc::gen::inRange(0, 200));
    if (*rc::gen::arbitrary<bool>())
      texts.emplace_back("flash_attn", *rc::gen::element<std::string>("on", "off", "auto"));
    const Result<Scenario> first = resolve_scenario(flags(texts));
    RC_PRE(first.ok());
    Texts again;
    for (const Setting& one : first->settings) again.emplace_back(one.key, one.value);
    const Result<Scenario> second = resolve_scenario(flags(again));
    RC_ASSERT(second.ok());
    Texts values;
    for (const Setting& one : second->settings) values.emplace_back(one.key, one.value);
    RC_ASSERT(values == again);
    RC_ASSERT(second->n_ctx == first->n_ctx && second->n_batch == first->n_batch);
    RC_ASSERT(second->n_ubatch == first->n_ubatch && second->n_outputs == first->n_outputs);
    RC_ASSERT(second->prompt == first->prompt && second->generate == first->generate);
    RC_ASSERT(second->flash_attention == first->flash_attention);
    RC_ASSERT(first->prompt.count() + first->generate.count() <= first->cells_per_sequence());
    RC_ASSERT(first->n_ubatch <= first->n_batch && first->n_batch <= first->n_ctx);
  }));
}

TEST(ResolveScenario, NoTextOfASettingMakesItThrow) {
  EXPECT_TRUE(rc::check([] {
    Texts texts{{"model", "tinyllama-1.1b"}};
    for (const std::string& key : setting_keys()) {
      if (key == "model" || *rc::gen::inRange(0, 4) != 0) continue;
      texts.emplace_back(
          key, *rc::gen::container<std::string>(rc::gen::element(
                   '0', '1', '9', '-', '.', ' ', 'G', 'B', '%', ',', 'Q', '8', '_', 'x', '/')));
    }
    const Result<Scenario> scenario = resolve_scenario(flags(texts));
    RC_ASSERT(scenario.ok() == scenario.diagnostics().empty());
  }));
}

}  // namespace
}  // namespace tidemark
