#include "planner/compare/compare_log.h"

#include <fmt/core.h>

#include <algorithm>

#include "planner/compare/predict.h"

namespace tidemark {
namespace {

bool is_llama(LogEngine engine) {
  return engine == LogEngine::kLlamaCpp || engine == LogEngine::kIkLlamaCpp;
}

std::string age_of(const LoggedRun& run) {
  if (!is_llama(run.engine)) return {};
  if (run.build) return fmt::format("build {}", *run.build);
  if (run.wording == LlamaWording::kUnknown) return "age unknown, taken as today's";
  return fmt::format("wording of {}", name_of(run.wording));
}

std::vector<ComparedTerm> terms_of(const LoggedRun& run) {
  std::vector<ComparedTerm> terms;
  for (const LoggedTerm& term : run.terms) {
    terms.push_back(
        {.kind = term.kind, .device = term.device, .logged = term.figure, .line = term.line});
  }
  return terms;
}

void predict_all(const PredictInput& input, std::vector<ComparedTerm>& terms) {
  switch (input.run.engine) {
    case LogEngine::kLlamaCpp:
    case LogEngine::kIkLlamaCpp:
      return predict_llama(input, {}, terms);
    case LogEngine::kOllama:
      return predict_ollama(input, terms);
    case LogEngine::kVllm:
      return predict_vllm(input, terms);
    case LogEngine::kWhisperCpp:
      return predict_whisper(input, terms);
    case LogEngine::kMeminfo:
      return predict_meminfo(input, terms);
  }
}

// Flags win over the log.
LoggedRun with_settings(LoggedRun run, const LoggedFacts& settings) {
  for (const auto& [key, value] : settings.words) run.settings.words[key] = value;
  for (const auto& [key, value] : settings.numbers) run.settings.numbers[key] = value;
  return run;
}

void name_origins(const LoggedFacts& settings, Comparison& made) {
  for (ComparedSetting& setting : made.settings) {
    if (settings.words.contains(setting.key) || settings.numbers.contains(setting.key)) {
      setting.origin = "flag";
    }
  }
}

const std::vector<LlamaVariant>& variants() {
  static const std::vector<LlamaVariant> kVariants{
      {.why = "logits of one row for each sequence only, not of the whole batch", .n_outputs = 1},
      {.why = "flash attention was off", .flash = false},
      {.why = "flash attention was on", .flash = true},
      {.why = "window layers kept the whole context (full-size window cache)", .swa_full = true},
      {.why = "window layers kept only what they see", .swa_full = false},
      {.why = "a build before August 2025: new values are stored without an input of indices",
       .indexed_rows = false},
      {.why = "a build from August 2025 on: new values are stored by an input of indices",
       .indexed_rows = true},
      {.why = "a build from 2026 on: an input of embeddings that token runs never read",
       .unused_embeddings = true},
      {.why = "a build before 2026: without an input of embeddings that token runs never read",
       .unused_embeddings = false},
      {.why = "no input of embeddings and none of indices: a build before August 2025",
       .indexed_rows = false,
       .unused_embeddings = false},
      {.why = "embeddings are kept beside the logits", .embeddings = true},
      {.why = "two sequences", .n_seq_factor = 2},
      {.why = "two sequences, embeddings beside the logits", .embeddings = true, .n_seq_factor = 2},
      {.why = "four sequences", .n_seq_factor = 4},
      {.why = "inputs are kept four times, for devices that work at once", .copies = 4}};
  return kVariants;
}

// Bytes of parts that are sometimes counted twice, or elsewhere.
std::string reason_by_part(const PredictInput& input, const ComparedTerm& term) {
  if (!input.weights.inventory || !term.predicted) return {};
  for (const WeightTensor& tensor : input.weights.inventory->tensors) {
    const bool table = tensor.role == WeightRole::kTokenEmbedding;
    if ((!table && tensor.role != WeightRole::kOutput) || tensor.is_bias) continue;
    const std::string_view name = table ? "the embedding table" : "the output matrix";
    if (within(term.logged, *term.predicted + tensor.bytes.count(), 2)) {
      return fmt::format("{} is counted here as well", name);
    }
    if (within(term.logged, *term.predicted - tensor.bytes.count(), 2)) {
      return fmt::format("{} is counted elsewhere", name);
    }
  }
  return {};
}

void explain(const PredictInput& input, Comparison& made) {
  const auto needs_reason = [](const ComparedTerm& term) {
    return term.over && term.reason.empty();
  };
  for (ComparedTerm& term : made.terms) {
    if (needs_reason(term) && term.kind == TermKind::kModel) {
      term.reason = reason_by_part(input, term);
    }
  }
  if (!is_llama(input.run.engine)) return;
  for (const LlamaVariant& variant : variants()) {
    if (std::ranges::none_of(made.terms, needs_reason)) return;
    Comparison ignored;
    std::vector<ComparedTerm> otherwise = terms_of(input.run);
    predict_llama({input.run, input.model, input.weights, ignored}, variant, otherwise);
    for (size_t i = 0; i < made.terms.size(); ++i) {
      ComparedTerm& term = made.terms[i];
      const std::optional<int64_t> predicted = otherwise[i].predicted;
      if (!needs_reason(term) || !predicted || predicted == term.predicted) continue;
      if (within(term.logged, *predicted, 2)) term.reason = variant.why;
    }
  }
}

Result<LoggedModel> model_for(const LoggedRun& run, const CompareOptions& options) {
  if (!options.model) return model_of_log(run, options.known);
  LoggedModel made{.spec = *options.model, .how = "given"};
  adjust_to_log(run, made.spec, made.notes);
  return made;
}

}  // namespace

bool Comparison::any_over() const { return std::ranges::any_of(terms, &ComparedTerm::over); }

int64_t Comparison::compared() const {
  return std::ranges::count_if(
      terms, [](const ComparedTerm& term) { return term.judged && term.predicted.has_value(); });
}

bool within(const LoggedFigure& logged, int64_t predicted, int64_t tolerance_per_mille) {
  const int64_t off =
      logged.value > predicted ? logged.value - predicted : predicted - logged.value;
  return off <= logged.rounding + logged.value / 1000 * tolerance_per_mille +
                    logged.value % 1000 * tolerance_per_mille / 1000;
}

Result<Comparison> compare_run(const LoggedRun& logged, const CompareOptions& options) {
  const LoggedRun run = with_settings(logged, options.settings);
  const Result<LoggedModel> model = model_for(run, options);
  const bool needs_model = run.engine != LogEngine::kWhisperCpp;
  if (!model && needs_model) return model.diagnostics();
  const ModelSpec spec = model ? model->spec : ModelSpec{.dims = TransformerSpec{}};
  if (spec.transformer() == nullptr) {
    return one_error("--model", "a list of sizes says nothing of a cache or of a graph");
  }
  LoggedWeights weights;
  if (options.weights) {
    weights = {.inventory = options.weights, .how = "given"};
  } else if (needs_model) {
    weights = weights_of_log(run, spec);
  }
  Comparison made{.engine = run.engine, .age = age_of(run), .terms = terms_of(run)};
  made.model = model ? spec.name : std::string(run.model.word("type"));
  made.model_origin = model ? model->how : "the log's dimensions";
  made.weights_origin = weights.how;
  if (model) made.notes = model->notes;
  const PredictInput input{run, spec, weights, made};
  predict_all(input, made.terms);
  for (ComparedTerm& term : made.terms) {
    term.over = term.judged && term.predicted &&
                !within(term.logged, *term.predicted, options.tolerance_per_mille);
  }
  explain(input, made);
  name_origins(options.settings, made);
  return made;
}

}  // namespace tidemark
