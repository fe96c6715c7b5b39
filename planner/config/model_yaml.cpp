#include "planner/config/model_yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>

#include "planner/base/units.h"
#include "planner/config/layer_kinds.h"
#include "planner/config/layer_statement.h"
#include "planner/model/weights.h"

namespace tidemark {
namespace {

constexpr size_t kLineWidth = 100;

using Lines = std::vector<std::string>;

void add_entry(Lines& lines, const KeyText& entry) {
  lines.push_back(fmt::format("{}:{}{}", entry.key, entry.text.empty() ? "" : " ", entry.text));
  for (const std::string& item : entry.items) lines.push_back("  - " + item);
}

void add(Lines& lines, std::string_view key, std::string_view text) {
  lines.push_back(fmt::format("{}: {}", key, text));
}

void add(Lines& lines, std::string_view key, int64_t value, int64_t otherwise) {
  if (value != otherwise) add(lines, key, std::to_string(value));
}

void add(Lines& lines, std::string_view key, NormKind value, NormKind otherwise) {
  if (value != otherwise) add(lines, key, name_of(value));
}

// A list that is too long for a line goes on in the next.
void add_folded(Lines& lines, std::string_view text) {
  std::string indent;
  while (indent.size() + text.size() > kLineWidth) {
    const size_t comma = text.rfind(", ", kLineWidth - 2 - indent.size());
    if (comma == std::string_view::npos) break;
    lines.push_back(fmt::format("{}{},", indent, text.substr(0, comma)));
    text.remove_prefix(comma + 2);
    indent = "  ";
  }
  lines.push_back(fmt::format("{}{}", indent, text));
}

void add_flag(Lines& lines, std::string_view key, bool value, bool otherwise) {
  if (value != otherwise) add(lines, key, value ? "true" : "false");
}

void add_extras(Lines& lines, const std::vector<ExtraWeight>& extras) {
  if (!extras.empty()) add_entry(lines, {.key = "extras", .items = extras_items(extras)});
}

// The mixer of most kinds; the first of several.
std::string main_mixer(const std::vector<LayerStatement>& kinds) {
  const auto count = [&](const std::string& mixer) {
    return std::ranges::count(kinds, mixer, &LayerStatement::mixer);
  };
  return std::ranges::max_element(kinds, {},
                                  [&](const LayerStatement& kind) { return count(kind.mixer); })
      ->mixer;
}

bool contains(const std::vector<KeyText>& entries, const KeyText& entry) {
  return std::ranges::find(entries, entry) != entries.end();
}

// What all kinds say alike, the mixer's keys among the kinds that have the main one. `kinds` keep
// the rest.
LayerStatement take_common(std::vector<LayerStatement>& kinds) {
  LayerStatement top{.mixer = main_mixer(kinds)};
  const auto takes_part = [&](const LayerStatement& kind) { return kind.mixer == top.mixer; };
  const LayerStatement first = *std::ranges::find_if(kinds, takes_part);
  for (const KeyText& entry : first.of_mixer) {
    if (std::ranges::all_of(kinds, [&](const LayerStatement& kind) {
          return !takes_part(kind) || contains(kind.of_mixer, entry);
        })) {
      top.of_mixer.push_back(entry);
    }
  }
  for (const KeyText& entry : first.common) {
    if (std::ranges::all_of(
            kinds, [&](const LayerStatement& kind) { return contains(kind.common, entry); })) {
      top.common.push_back(entry);
    }
  }
  for (LayerStatement& kind : kinds) {
    if (takes_part(kind)) {
      std::erase_if(kind.of_mixer, [&](const KeyText& e) { return contains(top.of_mixer, e); });
    }
    std::erase_if(kind.common, [&](const KeyText& e) { return contains(top.common, e); });
  }
  return top;
}

std::vector<KeyText> entries_of(const LayerStatement& statement, std::string_view known_mixer) {
  std::vector<KeyText> entries;
  if (statement.mixer != known_mixer) entries.push_back({.key = "mixer", .text = statement.mixer});
  entries.insert(entries.end(), statement.of_mixer.begin(), statement.of_mixer.end());
  entries.insert(entries.end(), statement.common.begin(), statement.common.end());
  return entries;
}

void add_kind(Lines& lines, const std::string& name, const std::vector<KeyText>& entries) {
  const bool has_lists =
      std::ranges::any_of(entries, [](const KeyText& entry) { return !entry.items.empty(); });
  const std::string flow = fmt::format("  {}: {}", name, flow_mapping(entries));
  if (!has_lists && flow.size() <= kLineWidth) {
    lines.push_back(flow);
    return;
  }
  lines.push_back(fmt::format("  {}:", name));
  Lines body;
  for (const KeyText& entry : entries) add_entry(body, entry);
  for (const std::string& line : body) lines.push_back("    " + line);
}

void add_layers(Lines& lines, const std::vector<LayerSpec>& layers, int64_t n_embd) {
  if (layers.empty()) return;
  const LayerKinds groups = group_layers(layers);
  std::vector<LayerStatement> kinds;
  for (const LayerSpec& kind : groups.kinds) kinds.push_back(state_layer(kind, n_embd));
  const LayerStatement top = take_common(kinds);
  for (const KeyText& entry : entries_of(top, "attention")) add_entry(lines, entry);
  if (kinds.size() == 1) return;
  lines.emplace_back("kinds:");
  for (size_t i = 0; i < kinds.size(); ++i) {
    add_kind(lines, groups.names[i], entries_of(kinds[i], top.mixer));
  }
  add_folded(lines, fmt::format("layer_order: {}", order_text(groups)));
}

Lines stack_lines(const StackSpec& stack) {
  const auto& [role, n_embd, layers, final_norm, extras, image, n_tokens, is_counted] = stack;
  Lines lines;
  add(lines, "role", name_of(role));
  add(lines, "n_layer", std::to_string(layers.size()));
  add(lines, "n_embd", std::to_string(n_embd));
  add_layers(lines, layers, n_embd);
  add(lines, "final_norm", final_norm, NormKind::kNone);
  add(lines, "n_tokens", n_tokens.count(), 0);
  add_flag(lines, "is_counted", is_counted, true);
  if (image != ImageSpec{}) add(lines, "image", image_mapping(image));
  add_extras(lines, extras);
  return lines;
}

void add_dims(Lines& lines, const TransformerSpec& spec) {
  const auto& [n_embd, n_vocab, n_ctx_train, tied_embeddings, has_head, head_bias, is_causal,
               n_position, n_token_type, embedding_norm, final_norm, layers, stacks, extras] = spec;
  add(lines, "n_layer", std::to_string(layers.size()));
  add(lines, "n_embd", std::to_string(n_embd));
  add_layers(lines, layers, n_embd);
  add(lines, "n_vocab", std::to_string(n_vocab));
  add(lines, "n_ctx_train", n_ctx_train.count(), 0);
  if (has_head || tied_embeddings)
    add(lines, "tied_embeddings", tied_embeddings ? "true" : "false");
  add_flag(lines, "has_head", has_head, true);
  add_flag(lines, "head_bias", head_bias, false);
  add_flag(lines, "is_causal", is_causal, true);
  add(lines, "n_position", n_position, 0);
  add(lines, "n_token_type", n_token_type, 0);
  add(lines, "embedding_norm", embedding_norm, NormKind::kNone);
  add(lines, "final_norm", final_norm, NormKind::kScale);
  if (!stacks.empty()) lines.emplace_back("stacks:");
  for (const StackSpec& stack : stacks) {
    std::string_view indent = "  - ";
    for (const std::string& line : stack_lines(stack)) {
      lines.push_back(fmt::format("{}{}", indent, line));
      indent = "    ";
    }
  }
  add_extras(lines, extras);
}

// Exact, in the unit that leaves the fewest digits.
std::string size_text(Bytes bytes) {
  struct Unit {
    std::string_view name{};
    int64_t count = 1;
  };
  constexpr std::array<Unit, 7> kUnits = {{{"B", 1},
                                           {"kB", 1000},
                                           {"KiB", 1024},
                                           {"MB", 1000 * 1000},
                                           {"MiB", 1024 * 1024},
                                           {"GB", 1000 * 1000 * 1000},
                                           {"GiB", 1024 * 1024 * 1024}}};
  const Unit* best = kUnits.data();
  for (const Unit& unit : kUnits) {
    if (bytes.count() > 0 && bytes.count() % unit.count == 0) best = &unit;
  }
  return fmt::format("{} {}", bytes.count() / best->count, best->name);
}

void add_dims(Lines& lines, const LayerListSpec& spec) {
  lines.emplace_back("layers:");
  for (const auto& [name, weights, activation, operations] : spec.layers) {
    const std::string work = operations > 0 ? fmt::format(", operations: {}", operations) : "";
    lines.push_back(fmt::format("  - {{name: {}, weights: {}, activation: {}{}}}", yaml_text(name),
                                size_text(weights), size_text(activation), work));
  }
}

// "2,724,880,896 parameters"; of a mixture also how many one token uses.
std::optional<std::string> parameters_text(const ModelSpec& model) {
  if (model.transformer() == nullptr) return std::nullopt;
  try {
    const WeightsInventory weights = weights_inventory(model, DType::kF16);
    std::string text = format_count(weights.parameters) + " parameters";
    if (weights.active_parameters != weights.parameters) {
      text += fmt::format(", {} active", format_count(weights.active_parameters));
    }
    return text;
  } catch (const std::overflow_error&) {
    return std::nullopt;
  }
}

std::string joined(const Lines& lines) { return fmt::format("{}\n", fmt::join(lines, "\n")); }

void add_format(Lines& lines, const ModelSpec& model) {
  if (model.layer_list() != nullptr) return;
  add(lines, "dtype", name_of(model.dtype));
  if (model.stored_as.kind != QuantKind::kAsStored) {
    add(lines, "stored_as", name_of(model.stored_as));
  }
}

}  // namespace

std::string model_to_yaml(const ModelSpec& model) {
  const auto& [name, architecture, source, dtype, stored_as, dims, stored] = model;
  Lines lines = {"schema: model/1"};
  if (const auto parameters = parameters_text(model)) lines.push_back("# " + *parameters);
  add(lines, "name", yaml_text(name));
  if (model.layer_list() == nullptr) add(lines, "architecture", yaml_text(architecture));
  add(lines, "source", yaml_text(source));
  std::visit([&](const auto& spec) { add_dims(lines, spec); }, dims);
  add_format(lines, model);
  return joined(lines);
}

std::string model_dims_to_yaml(const ModelSpec& model) {
  Lines lines;
  if (model.layer_list() == nullptr) add(lines, "architecture", yaml_text(model.architecture));
  std::visit([&](const auto& spec) { add_dims(lines, spec); }, model.dims);
  add_format(lines, model);
  return joined(lines);
}

}  // namespace tidemark
