#include "sim/sweep/scenario_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Scenario uniform_scenario() {
  Scenario scenario;
  LayerSpec layer{.mixer = AttentionSpec{.n_head = 8, .n_head_kv = 2, .head_dim = 16},
                  .feed_forward = {.n_ff = 64}};
  scenario.model = {
      .name = "small",
      .architecture = "llama",
      .dims = TransformerSpec{
          .n_embd = 128, .n_vocab = 1000, .layers = std::vector<LayerSpec>(3, layer)}};
  scenario.settings = {{"model", "small", "flag MODEL"}, {"ctx_size", "4096", "default"}};
  return scenario;
}

TransformerSpec& dims(Scenario& scenario) { return std::get<TransformerSpec>(scenario.model.dims); }

TEST(ScenarioIdTest, FnvVectors) {
  EXPECT_EQ(hex_id(fnv1a_64("")), "cbf29ce484222325");
  EXPECT_EQ(hex_id(fnv1a_64("a")), "af63dc4c8601ec8c");
  EXPECT_EQ(hex_id(fnv1a_64("foobar")), "85944171f73967e8");
}

TEST(ScenarioIdTest, AnIdIsSixteenDigitsAlsoForASmallHash) {
  EXPECT_EQ(hex_id(0x2a), "000000000000002a");
}

TEST(ScenarioIdTest, TheModelIsWhatItsFileWouldSay) {
  EXPECT_THAT(canonical_text(uniform_scenario()),
              HasSubstr("\nmodel=architecture: llama\nmodel=n_layer: 3\nmodel=n_embd: 128\n"
                        "model=n_head: 8\nmodel=n_head_kv: 2\nmodel=n_ff: 64\n"
                        "model=n_vocab: 1000\nmodel=tied_embeddings: false\nmodel=dtype: f16\n"
                        "model.stored_as=as-stored\n"));
}

TEST(ScenarioIdTest, StoredTensorsOfLikeLayersAreOneLine) {
  Scenario scenario = uniform_scenario();
  scenario.model.stored = {
      {.name = "token_embd.weight", .dtype = DType::kQ6K, .columns = 128, .rows = 1000}};
  for (const char* layer : {"0", "1", "2"}) {
    const std::string prefix = std::string("blk.") + layer;
    scenario.model.stored.push_back({.name = prefix + ".attn_norm.weight", .columns = 128});
    scenario.model.stored.push_back({.name = prefix + ".attn_v.weight",
                                     .dtype = *layer == '1' ? DType::kQ4K : DType::kQ6K,
                                     .columns = 128,
                                     .rows = 32});
  }
  EXPECT_THAT(canonical_text(scenario),
              HasSubstr("\nmodel.stored.tensors=Q6_K 128 1000 1 17 token_embd.weight;\n"
                        "model.stored.tensors=f32 128 1 1 22 blk.*.attn_norm.weight;"
                        "Q6_K 128 32 1 19 blk.*.attn_v.weight;\n"
                        "model.stored.tensors=f32 128 1 1 22 blk.*.attn_norm.weight;"
                        "Q4_K 128 32 1 19 blk.*.attn_v.weight;\n"
                        "model.stored.order= 0@-, 1@0, 2@1, 1@2\n"));
}

TEST(ScenarioIdTest, WhereAValueCameFromAndDescriptionsDoNotCount) {
  Scenario scenario = uniform_scenario();
  scenario.model.source = "another page";
  scenario.device.description = "the blue one";
  scenario.settings[1].origin = "flag --ctx-size";
  EXPECT_EQ(canonical_text(scenario), canonical_text(uniform_scenario()));
}

using Change = std::function<void(Scenario&)>;

const std::vector<Change> kSpecChanges = {
    [](Scenario& s) { s.model.architecture = "minicpm"; },
    [](Scenario& s) { s.model.dtype = DType::kF32; },
    [](Scenario& s) { dims(s).n_embd = 129; },
    [](Scenario& s) { dims(s).n_vocab = 1001; },
    [](Scenario& s) { dims(s).tied_embeddings = true; },
    [](Scenario& s) { dims(s).layers.pop_back(); },
    [](Scenario& s) {
      dims(s).layers[1].mixer = AttentionSpec{.n_head = 8, .n_head_kv = 4, .head_dim = 16};
    },
    [](Scenario& s) {
      dims(s).layers[2].mixer = AttentionSpec{.n_head = 8, .n_head_kv = 4, .head_dim = 16};
    },
    [](Scenario& s) { dims(s).layers[2].feed_forward.n_ff = 65; },
    [](Scenario& s) { dims(s).layers[1].mixer = MambaSpec{}; },
    [](Scenario& s) { dims(s).layers[1].moe.n_expert = 2; },
    [](Scenario& s) { dims(s).layers[1].norms.after_ffn = NormKind::kPlain; },
    [](Scenario& s) { dims(s).layers[1].is_parallel = true; },
    [](Scenario& s) { dims(s).layers[1].extras = {{.name = "a", .columns = 1}}; },
    [](Scenario& s) { dims(s).extras = {{.name = "a", .columns = 1}}; },
    [](Scenario& s) { dims(s).stacks = {StackSpec{}}; },
    [](Scenario& s) { dims(s).is_causal = false; },
    [](Scenario& s) { s.model.stored_as = parse_quantization("Q4_K_M").value(); },
    [](Scenario& s) {
      s.model.stored_as = parse_quantization("Q4_K_M").value();
      s.model.stored_as.pure = true;
    },
    [](Scenario& s) { s.model.stored_as.overrides = parse_overrides("attn_v=Q6_K").value(); },
    [](Scenario& s) { s.model.stored = {{.name = "blk.0.a", .columns = 1}}; },
    [](Scenario& s) { s.model.stored = {{.name = "blk.*.a", .columns = 1}}; },
    [](Scenario& s) { s.model.stored = {{.name = "blk.1.a", .columns = 1}}; },
    [](Scenario& s) {
      s.model.stored = {{.name = "a", .columns = 1}, {.name = "b"}};
    },
    [](Scenario& s) { s.model.dims = LayerListSpec{}; },
    [](Scenario& s) {
      s.model.dims = LayerListSpec{.layers = {{.name = "a"}, {.name = "b"}}};
    },
    [](Scenario& s) {
      s.model.dims = LayerListSpec{.layers = {{.name = "b"}, {.name = "a"}}};
    },
    [](Scenario& s) { s.device.ram_total = Bytes::of(1); },
    [](Scenario& s) { s.device.app_available = Bytes::of(1); },
    [](Scenario& s) { s.device.app_hard_limit = Bytes::of(0); },
    [](Scenario& s) { s.device.memory_bandwidth = BytesPerSecond::of(1); },
    [](Scenario& s) { s.device.flash_read = BytesPerSecond::of(1); },
    [](Scenario& s) { s.device.flash_latency = Duration::ns(1); },
    [](Scenario& s) { s.device.compute = OpsPerSecond::of(1); },
    [](Scenario& s) { s.device.page_size = Bytes::of(1); },
    [](Scenario& s) { s.device.accelerator = Accelerator{}; },
    [](Scenario& s) { s.engine.policy = EnginePolicy::kTextbook; },
    [](Scenario& s) { s.engine.activations = ActivationPolicy::kLive; },
    [](Scenario& s) { s.engine.runtime_fixed = Bytes::of(1); },
    [](Scenario& s) { s.engine.runtime_ratio = 0.1; },
    [](Scenario& s) { s.engine.alignment = Alignment::of(32); },
};

const std::vector<Change> kChoiceChanges = {
    [](Scenario& s) { s.quant = {.kind = QuantKind::kFormat, .format = DType::kInt4}; },
    [](Scenario& s) { s.n_ctx = Tokens(1); },
    [](Scenario& s) { s.n_batch = Tokens(1); },
    [](Scenario& s) { s.n_ubatch = Tokens(1); },
    [](Scenario& s) { s.n_seq = 2; },
    [](Scenario& s) { s.n_outputs = 2; },
    [](Scenario& s) { s.type_k = DType::kQ8_0; },
    [](Scenario& s) { s.type_v = DType::kQ8_0; },
    [](Scenario& s) { s.type_act = DType::kF16; },
    [](Scenario& s) { s.flash_attention = false; },
    [](Scenario& s) { s.planner = PlannerKind::kNoReuse; },
    [](Scenario& s) { s.op_order = OpOrder::kMemory; },
    [](Scenario& s) { s.strategy = StrategyKind::kLayerwise; },
    [](Scenario& s) { s.offload = OffloadChoices{}; },
    [](Scenario& s) { s.offload = OffloadChoices{.batches = 2}; },
    [](Scenario& s) { s.cache.capacity = Bytes::of(1); },
    [](Scenario& s) { s.cache.policy = CachePolicy::kMru; },
    [](Scenario& s) { s.cache.pinned = {"a"}; },
    [](Scenario& s) { s.residency.split_files = 2; },
    [](Scenario& s) { s.residency.split_size = Bytes::of(2); },
    [](Scenario& s) { s.residency.processes = 2; },
    [](Scenario& s) { s.residency.expert_slots = 2; },
    [](Scenario& s) { s.residency.expert_bytes = Bytes::of(2); },
    [](Scenario& s) { s.residency.rows = HotRows{}; },
    [](Scenario& s) { s.residency.rows = HotRows{.kept_ppm = 1}; },
    [](Scenario& s) { s.residency.rows = HotRows{.read_ppm = 1}; },
    [](Scenario& s) { s.residency.rows = HotRows{.bundled = false}; },
    [](Scenario& s) { s.trace = {"a"}; },
    [](Scenario& s) { s.margin_ratio = 0.2; },
    [](Scenario& s) { s.budget = Bytes::of(0); },
    [](Scenario& s) { s.prompt = Tokens(1); },
    [](Scenario& s) { s.generate = Tokens(1); },
    [](Scenario& s) { s.seed = 1; },
    [](Scenario& s) { s.settings[1].value = "8192"; },
};

// Each change of what a result depends on, alone, must change the text.
TEST(ScenarioIdTest, EveryNumberCounts) {
  std::vector<Change> changes = {[](Scenario&) {}};
  changes.insert(changes.end(), kSpecChanges.begin(), kSpecChanges.end());
  changes.insert(changes.end(), kChoiceChanges.begin(), kChoiceChanges.end());
  std::set<std::string> texts;
  for (const Change& change : changes) {
    Scenario scenario = uniform_scenario();
    change(scenario);
    texts.insert(canonical_text(scenario));
  }
  EXPECT_EQ(texts.size(), changes.size());
}

TEST(ScenarioIdTest, ALineBreakInAValueMakesNoLine) {
  Scenario one = uniform_scenario();
  one.settings = {{"model", "a\nsettings.ctx_size=1", ""}};
  Scenario two = uniform_scenario();
  two.settings = {{"model", "a", ""}, {"ctx_size", "1", ""}};
  EXPECT_NE(canonical_text(one), canonical_text(two));
  EXPECT_THAT(canonical_text(one), HasSubstr("settings.model=a\\nsettings.ctx_size=1\n"));
}

TEST(ScenarioIdTest, SettingsThatDoNotResolveAreNamedByWhatWasWritten) {
  const std::string text = unresolved_text({{"model", {.text = "nosuch", .origin = "flag MODEL"}}});
  EXPECT_THAT(text, HasSubstr("unresolved=1\n"));
  EXPECT_THAT(text, HasSubstr("settings.model=nosuch\n"));
  EXPECT_THAT(text, Not(HasSubstr("flag")));
}
}  // namespace
}  // namespace tidemark
