#include "sample.h"

#include <algorithm>

namespace tidemark::testing {
namespace {

using namespace tidemark::literals;

std::vector<Setting> sample_settings(std::string strategy, std::string context) {
  return {{"model", "sample-1b", "flag --model"},
          {"device", "sample-phone", "flag --device"},
          {"engine", "planned", "default"},
          {"quant", "int8", "flag --quant"},
          {"ctx_size", std::move(context), "environment TIDEMARK_CTX_SIZE"},
          {"batch_size", "2048", "default"},
          {"ubatch_size", "512", "scenario sample.yaml:4"},
          {"parallel", "1", "default"},
          {"cache_type_k", "f16", "engine profile planned"},
          {"cache_type_v", "f16", "engine profile planned"},
          {"strategy", std::move(strategy), "flag --strategy"},
          {"prompt", "128", "default"},
          {"generate", "3", "scenario sample.yaml:7"}};
}

ModelFacts sample_model() {
  return {.name = "sample-1b",
          .architecture = "llama",
          .parameters = 1000000000,
          .active_parameters = 1000000000,
          .layers = 4,
          .tensor_bytes = 2_GiB};
}

// 4 GiB, of which the system takes 1.5 GiB; a tenth of the rest is the margin.
DeviceFacts sample_device() {
  return {.name = "sample-phone",
          .limit = {.total = 4_GiB,
                    .os = 1536_MiB,
                    .available = 2560_MiB,
                    .margin = 256_MiB,
                    .limit = 2304_MiB,
                    .rule = "available - margin"},
          .estimates = {"app_available", "flash_read"}};
}

ArenaRow row(std::string name, Bytes offset, Bytes size, int64_t lower, int64_t upper) {
  return {std::move(name), offset, size, {StepIndex(lower), StepIndex(upper)}};
}

// Beside 256 MiB of compute and 64 MiB of output.
std::vector<ArenaScaling> sample_scalings() {
  return {{.change = "ctx_size x 2", .compute = 256_MiB, .output = 64_MiB},
          {.change = "ubatch_size x 2", .compute = 512_MiB, .output = 64_MiB},
          {.change = "logits of every token", .compute = 256_MiB, .output = 128_MiB}};
}

ArenaFacts sample_arena() {
  return {.planner = "first-fit-by-size",
          .status = "proved_optimal",
          .phase = "prefill",
          .peak = 12_MiB,
          .lower_bound = 12_MiB,
          .no_reuse = 20_MiB,
          .buffers = 5,
          .steps = 21,
          .peak_step = 0,
          .peak_op = "token_embd",
          .largest = TensorFacts{"b3", 4_MiB, "2,048 values x 512 tokens of f32"},
          .rows = {row("b1", 8_MiB, 4_MiB, 0, 3), row("b2", 8_MiB, 4_MiB, 3, 9),
                   row("b3", 4_MiB, 4_MiB, 0, 9), row("b4", 4_MiB, 4_MiB, 9, 21),
                   row("b5", 0_MiB, 4_MiB, 0, 21)},
          .phases = {{.name = "encode vision",
                      .input = "one image of 336 x 336 pixels: 576 patches, 576 tokens",
                      .status = "proved_optimal",
                      .peak = 10_MiB,
                      .lower_bound = 10_MiB},
                     {.name = "prefill",
                      .status = "proved_optimal",
                      .peak = 12_MiB,
                      .lower_bound = 12_MiB},
                     {.name = "decode",
                      .status = "feasible",
                      .peak = 1_MiB,
                      .lower_bound = 1_MiB,
                      .scratch = 1_MiB}},
          .scalings = sample_scalings()};
}

CurvePoint point(Duration time, Bytes weights, Bytes compute) {
  return {.time = time,
          .weights = weights,
          .kv_cache = 512_MiB,
          .compute = compute,
          .output = 64_MiB,
          .runtime = 192_MiB};
}

}  // namespace

std::string hostile_name() { return "a\"b\",<c>&|d\n\x1b[31m\xE6\xA8\xA1\xE5\x9E\x8B\xFF'"; }

PlanReport sample_plan() {
  return {.settings = sample_settings("resident", "4096"),
          .model = sample_model(),
          .engine = "planned",
          .strategy = "resident",
          .memory = {.weights = 1_GiB,
                     .kv_cache = 512_MiB,
                     .compute = 256_MiB,
                     .output = 64_MiB,
                     .runtime = 192_MiB},
          .activations = 192_MiB,
          .scratch = 64_MiB,
          .kv_per_token = 128_KiB,
          .arena = sample_arena(),
          .device = sample_device(),
          .verdict = {.fits = true, .slack = 256_MiB, .binding_term = "weights"}};
}

PlanReport sample_plan_over() {
  PlanReport report = sample_plan();
  report.settings = sample_settings("resident", "8192");
  report.memory.kv_cache = 1_GiB;
  report.device.limit.limit = 2_GiB;
  report.device.limit.rule = "--budget";
  report.verdict = {
      .fits = false, .slack = 2_GiB - report.memory.total(), .binding_term = "weights"};
  return report;
}

PlanReport sample_plan_formula() {
  PlanReport report = sample_plan();
  report.engine = "formula";
  report.textbook = {{.term = "total demand",
                      .formula = "W + A + 0.1 (W + A)",
                      .textbook = 2816_MiB,
                      .planned = 2_GiB,
                      .why = "The textbook keeps the activations of every layer at once and has no "
                             "KV cache; the plan reuses the "
                             "memory of activations that are no longer read, and holds the KV "
                             "cache for the whole context."},
                     {.term = "slices",
                      .formula = "ceil(L / floor(B / w))",
                      .textbook_count = 20,
                      .why = "The plan moves whole weight units, so it counts none."}};
  report.notes = {
      "2 of 29 weight matrices are not held in Q4_K, because their rows do not fill its blocks."};
  return report;
}

PlanReport sample_plan_llama() {
  PlanReport report = sample_plan();
  report.engine = "llama.cpp";
  report.activations = 256_MiB;
  report.scratch = 0_MiB;
  report.llama = LlamaFacts{
      .columns = {{.where = "host", .model = 512_MiB, .context = 512_MiB, .compute = 256_MiB},
                  {.where = "CPU_REPACK", .model = 512_MiB}},
      .slack = 512_MiB,
      .peak = {.name = "kq-0", .op = "MUL_MAT", .bytes = 128_MiB},
      .nodes = 1030,
      .compute_generation = 16_MiB,
      .scalings = {{"ctx_size x 2", 384_MiB}, {"ubatch_size x 2", 512_MiB}},
      .compute = 256_MiB,
      .own_plan = Plan{.planner = "best-of", .peak = 240_MiB, .lower_bound = 240_MiB},
      .own_arena = 320_MiB,
      .is_exact = true};
  report.kinds = MemoryKinds{.terms = {{.term = "weights",
                                        .reserved = 1_GiB,
                                        .resident = 1_GiB,
                                        .file_backed = 512_MiB,
                                        .dirty = 512_MiB,
                                        .needed = 768_MiB,
                                        .how = "the mapped file, and repacked matrices"},
                                       {.term = "kv_cache",
                                        .reserved = 512_MiB,
                                        .resident = 512_MiB,
                                        .dirty = 512_MiB,
                                        .needed = 20_MiB,
                                        .how = "f16 and f16, 4,096 cells a sequence"},
                                       {.term = "recurrent_state"},
                                       {.term = "compute",
                                        .reserved = 256_MiB,
                                        .resident = 200_MiB,
                                        .dirty = 200_MiB,
                                        .needed = 192_MiB,
                                        .how = "its own graph"},
                                       {.term = "output",
                                        .reserved = 64_MiB,
                                        .resident = 64_MiB,
                                        .dirty = 64_MiB,
                                        .needed = 64_MiB},
                                       {.term = "runtime",
                                        .reserved = 192_MiB,
                                        .resident = 192_MiB,
                                        .file_backed = 128_MiB,
                                        .dirty = 64_MiB,
                                        .needed = 192_MiB}},
                             .default_total = 4_GiB,
                             .default_why = "a context as long as trained",
                             .loading = 1536_MiB,
                             .loading_why = "the whole file is mapped",
                             .load_peak = 2_GiB};
  report.interval = MemoryInterval{
      .least = 1984_MiB, .most = 2_GiB, .term = "runtime", .what = "what the driver holds"};
  return report;
}

SimReport sample_run() {
  return {
      .settings = sample_settings("resident", "4096"),
      .model = sample_model(),
      .device = sample_device(),
      .engine = "planned",
      .strategy = "resident",
      .peak = 2_GiB,
      .peak_time = Duration::ms(4000),
      .peak_step = 0,
      .peak_at = "prefill 0, token_embd",
      .ttft = Duration::ms(5000),
      .tpot = Duration::ms(500),
      .end = Duration::ms(6000),
      .tokens_per_second = 2.0,
      .bytes_read = 1_GiB,
      .stall = Duration::ms(4000),
      .curve = {point(Duration::ms(0), 0_B, 0_B), point(Duration::ms(1000), 256_MiB, 0_B),
                point(Duration::ms(2000), 512_MiB, 0_B), point(Duration::ms(3000), 768_MiB, 0_B),
                point(Duration::ms(4000), 1_GiB, 256_MiB),
                point(Duration::ms(5000), 1_GiB, 128_MiB)}};
}

SimReport sample_run_layerwise() {
  SimReport report = sample_run();
  report.settings = sample_settings("layerwise", "4096");
  report.strategy = "layerwise";
  report.peak = 1280_MiB;
  report.peak_time = Duration::ms(1000);
  report.peak_step = 7;
  report.peak_at = "prefill 0, blk.0";
  report.ttft = Duration::ms(6000);
  report.tpot = Duration::ms(4500);
  report.end = Duration::ms(15000);
  report.tokens_per_second = 0.2222222222222222;
  report.bytes_read = 3_GiB;
  report.stall = Duration::ms(12000);
  report.curve.clear();
  for (int64_t i = 0; i < 15; ++i) {
    report.curve.push_back(point(Duration::ms(1000 * i), i == 0 ? 0_B : 256_MiB, 256_MiB));
    report.curve.push_back(point(Duration::ms(1000 * i + 900), 0_B, 256_MiB));
  }
  return report;
}

SimReport sample_run_over() {
  SimReport report = sample_run();
  report.settings = sample_settings("block-cache", "4096");
  report.strategy = "block-cache";
  report.cache_policy = "lru";
  report.outcome = SimOutcome::kOverLimit;
  report.reason = "peak 2.50 GiB is 256 MiB over the limit at prefill 0, blk.1";
  report.peak = 2560_MiB;
  report.peak_time = Duration::ms(2500);
  report.peak_step = 30;
  report.peak_at = "prefill 0, blk.1";
  report.tpot.reset();
  report.tokens_per_second = 0.0;
  report.cache_misses = 11;
  report.cache_evictions = 9;
  report.hit_rate = 0.0;
  report.curve = {point(Duration::ms(0), 0_B, 0_B), point(Duration::ms(2500), 1536_MiB, 256_MiB),
                  point(Duration::ms(4000), 1_GiB, 256_MiB)};
  return report;
}

ReplayReport sample_replay(Bytes first, Bytes second) {
  ReplayReport report{.settings = {{"quant", "int8", "replay default"}},
                      .model = {.name = "sample", .architecture = "llama"},
                      .engine = "tidemark",
                      .strategy = "layerwise",
                      .excluded_runtime = 8_MiB,
                      .arena = 2_MiB,
                      .planned_steps = 2,
                      .predicted_peak = 300_MiB,
                      .measured_peak = std::max(first, second),
                      .outputs_match = true,
                      .tokens = {7, 8},
                      .bytes_read = 300_MiB,
                      .wall = Duration::ms(5)};
  report.steps = {{0, "prefill 0", "embed", 100_MiB, first, Duration::ms(2)},
                  {1, "prefill 0", "blk.0.q", 300_MiB, second, Duration::ms(3)}};
  return report;
}

}  // namespace tidemark::testing
