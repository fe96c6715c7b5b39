// tidemark compare FILE: what an engine's log says of memory against what is predicted for it.
#include "compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "planner/base/files.h"
#include "planner/base/units.h"
#include "planner/compare/read_log.h"
#include "planner/config/load.h"
#include "planner/config/load_any_model.h"
#include "planner/report/compare_report.h"
#include "rendered.h"

namespace tidemark::cli {
namespace {

constexpr int64_t kLargestCompared = int64_t{1} << 31;

// Settings of this program by the names that logs give them.
struct LoggedSetting {
  std::string_view key{};
  std::string_view logged{};
  bool number = true;
};

constexpr std::array kSettings{LoggedSetting{"ctx_size", "n_ctx"},
                               LoggedSetting{"batch_size", "n_batch"},
                               LoggedSetting{"ubatch_size", "n_ubatch"},
                               LoggedSetting{"parallel", "n_seq_max"},
                               LoggedSetting{"n_outputs", "n_outputs_max"},
                               LoggedSetting{"n_gpu_layers", "offloaded"},
                               LoggedSetting{"cache_type_k", "type_k", false},
                               LoggedSetting{"cache_type_v", "type_v", false},
                               LoggedSetting{"flash_attn", "flash_attn", false},
                               LoggedSetting{"kv_unified", "kv_unified", false},
                               LoggedSetting{"swa_full", "swa_full", false}};

// Flags and --set, by key.
Result<SettingMap> given_settings(const ScenarioOptions& options) {
  SettingMap given;
  for (const std::string& assignment : options.assignments) {
    const Result<SettingMap> one = setting_from_assignment(assignment);
    if (!one) return one.diagnostics();
    given = merge(std::move(given), *one);
  }
  return merge(std::move(given), options.flags);
}

Diagnostics unused(std::string_view key, const SettingText& text) {
  Diagnostic problem =
      setting_problem(key, text, "says nothing of a log", "the log's own settings count");
  return {problem};
}

Result<LoggedFacts> facts_of(const SettingMap& given) {
  LoggedFacts facts;
  for (const auto& [key, setting] : given) {
    if (key == "model" || key == "quant" || key == "assume_dense") continue;
    const auto* known = std::find_if(kSettings.begin(), kSettings.end(),
                                     [&](const LoggedSetting& row) { return row.key == key; });
    if (known == kSettings.end()) return unused(key, setting);
    const std::string logged(known->logged);
    facts.words[logged] = setting.text.empty() ? "on" : setting.text;
    if (!known->number) continue;
    const Parsed<int64_t> number = parse_integer(setting.text);
    const auto* value = std::get_if<int64_t>(&number);
    if (value == nullptr || *value < 0 || *value > kLargestCompared) {
      return Diagnostics{setting_problem(
          key, setting, fmt::format("{} is no number of its kind", in_quotes(setting.text)),
          fmt::format("write a whole number from 0 to {}", kLargestCompared))};
    }
    facts.numbers[logged] = {*value};
    if (logged == "n_ctx") facts.numbers["max_seq_len"] = {*value};
  }
  return facts;
}

// "2 %" or "0.02" -> 20 of a thousand.
Result<int64_t> per_mille(const std::string& text) {
  const Parsed<double> ratio = parse_ratio(text);
  if (const auto* value = std::get_if<double>(&ratio); value != nullptr && *value <= 1) {
    return static_cast<int64_t>(std::llround(*value * 1000));
  }
  return one_error("--tolerance", fmt::format("{} is no share of a figure", in_quotes(text)),
                   "write a percentage: --tolerance '2 %'");
}

// The model that --model names, and its weights if --quant says how it is packed.
std::optional<Diagnostics> add_model(const SettingMap& given, CompareOptions& options) {
  const auto named = given.find("model");
  const auto quant = given.find("quant");
  if (named != given.end()) {
    const Result<ImportedModel> model =
        load_any_model(named->second.text, {.assume_dense = given.contains("assume_dense")});
    if (!model) return model.diagnostics();
    options.model = model->model;
  }
  if (quant == given.end()) return std::nullopt;
  if (!options.model) {
    return one_error("--quant", "needs --model: of which model?", "--model NAME|FILE");
  }
  const std::optional<Quantization> packed = parse_quantization(quant->second.text);
  if (!packed) {
    return one_error("--quant", fmt::format("{} is not known", in_quotes(quant->second.text)),
                     "`tidemark list quants` shows them all");
  }
  const Result<WeightsInventory> weights = quantized_weights(*options.model, *packed);
  if (!weights) return weights.diagnostics();
  options.weights = *weights;
  return std::nullopt;
}

std::vector<ModelSpec> known_models() {
  std::vector<ModelSpec> known;
  for (const std::string& name : list_configs(ConfigKind::kModel)) {
    Result<ModelSpec> model = load_model(name);
    if (model) known.push_back(std::move(model).value());
  }
  return known;
}

int compare(const CompareCommand& command) {
  const Result<int64_t> tolerance = per_mille(command.tolerance);
  if (!tolerance) return fail(tolerance.diagnostics());
  const Result<SettingMap> given = given_settings(command.scenario);
  if (!given) return fail(given.diagnostics());
  const auto model = given->find("model");
  if (auto refused = overwrites(
          {{"-o", command.output.file}},
          {{"FILE", command.file}, {"--model", model == given->end() ? "" : model->second.text}})) {
    return fail(*refused);
  }
  const Result<LoggedFacts> facts = facts_of(*given);
  if (!facts) return fail(facts.diagnostics());
  const Result<std::string> text = read_file(command.file, kLargestLog);
  if (!text) return fail(text.diagnostics());
  const Result<LoggedFile> log = read_log(*text, command.file);
  if (!log) return fail(log.diagnostics());
  const std::vector<ModelSpec> known = known_models();
  CompareOptions options{.tolerance_per_mille = *tolerance, .settings = *facts, .known = known};
  if (const auto refused = add_model(*given, options)) return fail(*refused);

  CompareReport report{.file = std::filesystem::path(command.file).filename().string(),
                       .tolerance_per_mille = *tolerance,
                       .notes = log->notes};
  Diagnostics refused;
  for (const LoggedRun& run : log->runs) {
    Result<Comparison> made = compare_run(run, options);
    if (made) {
      report.runs.push_back(std::move(made).value());
    } else {
      refused.insert(refused.end(), made.diagnostics().begin(), made.diagnostics().end());
    }
  }
  if (report.runs.empty()) return fail(refused);
  if (!refused.empty()) report.notes.emplace_back("Runs without a model were left out.");
  return emit(command.output, rendered(report, command.output), any_over(report) ? kNo : kYes);
}

}  // namespace

int run_compare(const CompareCommand& command) {
  try {
    return compare(command);
  } catch (const std::overflow_error&) {
    return fail(one_error(command.file, "sizes leave the 63-bit range", "is a number a slip?"));
  }
}

}  // namespace tidemark::cli
