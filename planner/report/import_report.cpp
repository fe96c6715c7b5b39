#include "planner/report/import_report.h"

#include <fmt/core.h>

#include "planner/base/units.h"
#include "planner/model/quantized_weights.h"
#include "planner/model/state.h"
#include "planner/report/escape.h"
#include "planner/report/layout.h"
#include "planner/report/sections.h"

namespace tidemark {
namespace {

std::vector<std::string> towers_of(const TransformerSpec& spec) {
  std::vector<std::string> towers;
  for (const StackSpec& stack : spec.stacks) {
    std::string text =
        fmt::format("{}, {} layers of {}", name_of(stack.role), stack.layers.size(), stack.n_embd);
    const Tokens tokens = tokens_of_image(stack.image, stack.image.image_size);
    if (tokens > Tokens(0)) {
      text += fmt::format(", {} x {} pixels: {} tokens", stack.image.image_size,
                          stack.image.image_size, tokens.count());
    } else if (stack.n_tokens > Tokens(0)) {
      text += fmt::format(", {} tokens", stack.n_tokens.count());
    }
    if (!stack.is_counted) text += ", not counted";
    towers.push_back(std::move(text));
  }
  return towers;
}

void add_state(ImportReport& report, const ModelSpec& model) {
  report.kv_per_token = kv_bytes_per_token(model, DType::kF16, DType::kF16);
  const StateSizes one = state_sizes(model, {.n_cells = 1, .n_source = source_tokens(model)});
  report.kv_full_per_token = one.kv_full;
  report.recurrent_per_sequence = one.recurrent;
  report.cross_per_sequence = one.cross;
}

std::string stored_text(const StoredSize& stored) {
  std::string text = fmt::format("{} elements, {}", format_count(stored.elements),
                                 format_bytes_exact(stored.bytes));
  if (stored.stated_bytes) {
    const Bytes gap = *stored.stated_bytes - stored.bytes;
    text += gap == Bytes{}
                ? ", as the files state"
                : fmt::format("; the files state {}, {} away",
                              format_bytes_exact(*stored.stated_bytes), format_signed_bytes(gap));
  }
  return text;
}

}  // namespace

Result<ImportReport> make_import_report(const ImportedModel& imported) {
  const ModelSpec& model = imported.model;
  const Result<WeightsInventory> weights = quantized_weights(model, Quantization{});
  if (!weights) return weights.diagnostics();
  ImportReport report{.format = imported.format,
                      .stored_as = std::string(stored_name(model)),
                      .weight_parts = weight_parts_of(*weights),
                      .tensors = static_cast<int64_t>(weights->tensors.size()),
                      .elements = weights->elements,
                      .defaults = imported.defaults,
                      .warnings = imported.warnings,
                      .stored = imported.stored};
  report.model = {.name = model.name,
                  .architecture = model.architecture,
                  .parameters = weights->parameters,
                  .active_parameters = weights->active_parameters,
                  .layers = model.n_layer(),
                  .tensor_bytes = weights->bytes};
  if (const TransformerSpec* spec = model.transformer()) {
    report.context_trained = spec->n_ctx_train.count();
    report.towers = towers_of(*spec);
    add_state(report, model);
  }
  return report;
}

std::string to_text(const ImportReport& report) {
  const auto bytes = [](Bytes value) { return format_bytes_exact(value); };
  std::string out = model_line(report.model);
  const auto line = [&out](const char* label, const std::string& text) {
    if (!text.empty()) out += paragraph(label, text);
  };
  const auto size_line = [&](const char* label, Bytes value) {
    if (value > Bytes{}) line(label, bytes(value));
  };
  std::string types = "stored as " + report.stored_as;
  if (report.stored_as == "as-stored") types = "each tensor in its own type";
  if (report.stored_as == "sizes only") types = report.stored_as;
  line("Source",
       fmt::format("{}, {}, {} tensors", report.format, types, format_count(report.tensors)));
  if (report.context_trained > 0) {
    line("Context", fmt::format("{} tokens as trained", format_count(report.context_trained)));
  }
  size_line("Embedding", report.weight_parts.embedding);
  size_line("Head", report.weight_parts.head);
  size_line("Layers", report.weight_parts.layers);
  size_line("Stacks", report.weight_parts.stacks);
  size_line("Other", report.weight_parts.other);
  if (report.kv_per_token > Bytes{}) {
    std::string text = bytes(report.kv_per_token) + " per token at f16";
    if (report.kv_full_per_token != report.kv_per_token) {
      text += fmt::format(", {} of it in layers that see the whole context",
                          bytes(report.kv_full_per_token));
    }
    line("KV cache", text);
  }
  if (report.recurrent_per_sequence > Bytes{}) {
    line("State", bytes(report.recurrent_per_sequence) + " per sequence, whatever the context");
  }
  if (report.cross_per_sequence > Bytes{}) {
    line("Cross KV", bytes(report.cross_per_sequence) + " per sequence at f16");
  }
  for (const std::string& tower : report.towers) line("Stack", one_line(tower));
  if (report.stored) line("Files", stored_text(*report.stored));
  if (report.stored) {
    for (const StoredDifference& difference : report.stored->differences) {
      line("", fmt::format("{}: {} elements, {}", one_line(difference.what),
                           format_count(difference.elements), bytes(difference.bytes)));
    }
  }
  for (const AppliedDefault& applied : report.defaults) {
    line("Default", fmt::format("{} = {}: {}", one_line(applied.key), one_line(applied.value),
                                one_line(applied.why)));
  }
  for (const std::string& warning : report.warnings) line("Warning", one_line(warning));
  return out;
}

std::string import_comments(const ImportedModel& imported) {
  std::string out;
  const auto comment = [&out](const std::string& text) {
    for (const std::string& line : wrap_words(one_line(text), 98)) out += "# " + line + "\n";
  };
  for (const std::string& warning : imported.warnings) comment("Warning: " + warning);
  for (const AppliedDefault& applied : imported.defaults) {
    comment(fmt::format("{} is not stated: {}, {}", applied.key, applied.value, applied.why));
  }
  return out;
}

}  // namespace tidemark
