#include "planner/import/gguf/gguf_model.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "planner/import/gguf/layer_reader.h"
#include "planner/import/gguf/match.h"
#include "planner/import/gguf_reader.h"

namespace tidemark {
namespace {

constexpr size_t kMostContradictions = 8;
constexpr size_t kMostNamed = 5;

// What the file is, when it is no model.
std::string_view foreign_kind(const GgufHeader& header) {
  const std::string type = header.text("general.type").value_or("model");
  const std::string name = header.text("general.architecture").value_or("");
  if (type == "mmproj" || name == "clip") return "a multimodal projector, not a language model";
  if (type == "adapter") return "an adapter, not a model";
  if (type == "imatrix" || name == "imatrix") return "an importance matrix, not a model";
  if (header.tensors.empty()) return "a vocabulary without tensors, not a model";
  return "";
}

std::vector<LayerSpec> read_layers(LayerReader& reader, const TensorTable& table,
                                   std::string_view prefix, int64_t begin, int64_t end) {
  std::vector<LayerSpec> layers;
  for (int64_t i = begin; i < end; ++i) {
    layers.push_back(reader.read(i, TensorBlock(table, fmt::format("{}blk.{}.", prefix, i))));
  }
  return layers;
}

void read_outside(const GgufKeys& keys, const TensorTable& table, TransformerSpec& spec) {
  const GgufArchitecture& architecture = table.architecture();
  const TensorBlock outside(table, "");
  const TensorBlock main(table, std::string(architecture.main_prefix));
  spec.n_vocab = outside.rows("token_embd.weight");
  spec.n_ctx_train = Tokens(keys.number("context_length"));
  spec.is_causal = keys.flag("attention.causal", !architecture.is_encoder);
  const bool has_output = outside.has("output.weight");
  spec.has_head = spec.is_causal || has_output;
  spec.tied_embeddings = spec.has_head && !has_output;
  spec.head_bias = outside.has("output.bias");
  spec.n_position = outside.rows("position_embd.weight");
  spec.n_token_type = outside.rows("token_types.weight");
  spec.embedding_norm = outside.norm("token_embd_norm");
  spec.final_norm =
      main.norm("output_norm", architecture.plain_norms ? NormKind::kPlain : NormKind::kNone);
  spec.extras = outside.extras();
}

void read_stacks(LayerReader& reader, const TensorTable& table, const GgufWidths& widths,
                 TransformerSpec& spec) {
  const GgufArchitecture& architecture = table.architecture();
  if (architecture.is_encoder_decoder) {
    spec.stacks.push_back({.role = StackRole::kEncoder,
                           .n_embd = widths.n_embd,
                           .layers = read_layers(reader, table, "enc.", 0, widths.n_block),
                           .final_norm = TensorBlock(table, "enc.").norm("output_norm")});
  }
  const int64_t n_main = widths.n_layer - widths.n_draft;
  const TensorBlock first_draft(table, fmt::format("blk.{}.", n_main));
  if (widths.n_draft == 0 || !first_draft.has("attn_norm.weight")) return;
  spec.stacks.push_back({.role = StackRole::kDraft,
                         .n_embd = widths.n_embd,
                         .layers = read_layers(reader, table, "", n_main, widths.n_layer),
                         .is_counted = false});
}

TransformerSpec read_transformer(const GgufKeys& keys, const TensorTable& table) {
  const GgufArchitecture& architecture = table.architecture();
  const auto n_tensor = static_cast<int64_t>(table.tensors().size());
  const GgufWidths widths = read_widths(keys, architecture, n_tensor);
  LayerReader reader(keys, widths);
  TransformerSpec spec{.n_embd = widths.n_embd};
  read_outside(keys, table, spec);
  const int64_t n_main =
      architecture.is_encoder_decoder ? widths.n_decoder : widths.n_layer - widths.n_draft;
  spec.layers = read_layers(reader, table, architecture.main_prefix, 0, n_main);
  read_stacks(reader, table, widths, spec);
  return spec;
}

// The type that holds most bytes.
DType main_type(const GgufHeader& header) {
  std::map<uint32_t, Bytes> bytes;
  for (const GgufTensor& tensor : header.tensors) bytes[tensor.type_id] += tensor.bytes;
  const auto most = std::ranges::max_element(
      bytes, [](const auto& a, const auto& b) { return a.second < b.second; });
  return dtype_of_ggml_id(most->first).value_or(DType::kF16);
}

// Also F16 and BF16 are mixes: their norms stay in f32.
Quantization packing_of(const GgufHeader& header) {
  const auto id = header.integer("general.file_type");
  const auto type = id ? file_type_of_id(*id) : std::nullopt;
  if (!type || *type == FileType::kF32) return {};
  return {.kind = QuantKind::kFileType, .file_type = *type};
}

void add_contradictions(const GgufMatch& match, bool only_warn, Problems& problems,
                        std::vector<std::string>& warnings) {
  const size_t shown = std::min(match.contradictions.size(), kMostContradictions);
  for (size_t i = 0; i < shown; ++i) {
    const auto& [tensor, message] = match.contradictions[i];
    if (only_warn) {
      warnings.push_back(fmt::format("{}: {}", printable(tensor), message));
    } else {
      problems.add(tensor, message);
    }
  }
  const size_t rest = match.contradictions.size() - shown;
  if (rest == 0) return;
  const std::string text = fmt::format("{} more tensors contradict the keys", rest);
  if (only_warn) {
    warnings.push_back(text);
  } else {
    problems.add("", text);
  }
}

void warn_of_the_rest(const GgufMatch& match, const GgufHeader& header, const TransformerSpec& spec,
                      std::vector<std::string>& warnings) {
  if (!match.unexplained.empty()) {
    std::vector<std::string> names;
    for (size_t i = 0; i < std::min(match.unexplained.size(), kMostNamed); ++i) {
      names.push_back(printable(match.unexplained[i]));
    }
    warnings.push_back(fmt::format(
        "{} tensors of the file belong to no part of the model known here ({}{}); their "
        "bytes are counted",
        match.unexplained.size(), fmt::join(names, ", "),
        match.unexplained.size() > kMostNamed ? ", ..." : ""));
  }
  if (match.stored_elements != match.expected_elements) {
    warnings.push_back(fmt::format("the file holds {} elements, the model as understood {}",
                                   match.stored_elements, match.expected_elements));
  }
  const auto n_token = header.array_count("tokenizer.ggml.tokens");
  if (n_token && *n_token != spec.n_vocab) {
    warnings.push_back(
        fmt::format("the vocabulary has {} tokens, the embedding {} rows", *n_token, spec.n_vocab));
  }
}

Result<ImportedModel> read_model(const GgufHeader& header, const std::string& name,
                                 const GgufArchitecture& architecture) {
  const bool is_generic = &architecture == &generic_architecture();
  Problems problems(header.parts.empty() ? "" : header.parts.front().file);
  const TensorTable table(header, architecture);
  const GgufKeys keys(header, name, problems);
  ImportedModel imported{.format = fmt::format("GGUF v{}", header.version)};
  ModelSpec& model = imported.model;
  model = {.name = header.text("general.name").value_or(name),
           .architecture = name,
           .source = header.parts.empty() ? "" : header.parts.front().file,
           .dtype = main_type(header),
           .stored_as = packing_of(header)};
  TransformerSpec spec = read_transformer(keys, table);
  if (table.find("token_embd.weight") == nullptr) {
    problems.add("token_embd.weight", "the file lacks this tensor");
  }
  if (!problems.empty()) return problems.take();
  model.dims = spec;
  if (is_generic) {
    imported.warnings.push_back(fmt::format(
        "architecture {} is not known here; it was read as a dense decoder", in_quotes(name)));
  }
  GgufMatch match = match_tensors(model, table);
  add_contradictions(match, is_generic, problems, imported.warnings);
  if (!problems.empty()) return problems.take();
  warn_of_the_rest(match, header, spec, imported.warnings);
  imported.stored = StoredSize{.elements = match.stored_elements};
  for (const GgufTensor& tensor : header.tensors) imported.stored->bytes += tensor.bytes;
  model.stored = std::move(match.stored);
  return imported;
}

Diagnostics refusal(const GgufHeader& header, std::string_view path, std::string_view message,
                    std::string_view hint) {
  Problems problems(header.parts.empty() ? "" : header.parts.front().file);
  problems.add(path, message, hint);
  return problems.take();
}

}  // namespace

Result<ImportedModel> model_of_gguf(const GgufHeader& header, const ImportOptions& options) {
  if (const std::string_view kind = foreign_kind(header); !kind.empty()) {
    return refusal(header, "", fmt::format("the file holds {}", kind), "");
  }
  constexpr std::string_view kKey = "general.architecture";
  const auto name = header.text(kKey);
  if (!name) return refusal(header, kKey, "the file lacks this key", "");
  const GgufArchitecture* architecture = find_architecture(*name);
  if (architecture == nullptr && !options.assume_dense) {
    return refusal(header, kKey,
                   fmt::format("architecture {} is not known here; the nearest are {}",
                               in_quotes(*name), fmt::join(nearest_architectures(*name), ", ")),
                   "--assume-dense reads it as a dense decoder");
  }
  try {
    return read_model(header, *name,
                      architecture == nullptr ? generic_architecture() : *architecture);
  } catch (const std::overflow_error&) {
    return refusal(header, "", "the sizes of this model leave 63 bits", "");
  }
}

Result<ImportedModel> read_gguf_model(const std::filesystem::path& path,
                                      const ImportOptions& options) {
  const Result<GgufHeader> header = read_gguf(path);
  if (!header) return header.diagnostics();
  return model_of_gguf(*header, options);
}

}  // namespace tidemark
