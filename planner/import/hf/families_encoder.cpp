// BERT and its kin: one encoder, and a small head for the task that the class is named after.
#include "planner/import/hf/families_encoder.h"

#include <fmt/core.h>

#include <array>
#include <string>

#include "planner/import/hf/decoder_shape.h"

namespace tidemark {
namespace {

enum class Task { kNone, kMaskedLm, kPreTraining, kSequence, kToken, kQuestion, kOther };

Task task_of(const ConfigNotes& notes) {
  if (notes.architectures.empty()) return Task::kNone;
  constexpr std::array<std::pair<std::string_view, Task>, 6> kEndings = {{
      {"ForMaskedLM", Task::kMaskedLm},
      {"ForPreTraining", Task::kPreTraining},
      {"ForSequenceClassification", Task::kSequence},
      {"ForTokenClassification", Task::kToken},
      {"ForQuestionAnswering", Task::kQuestion},
      {"Model", Task::kNone},
  }};
  for (const auto& [ending, task] : kEndings) {
    if (notes.architectures.front().ends_with(ending)) return task;
  }
  return Task::kOther;
}

// Answers that a classifier tells apart: the labels the file names, else two.
int64_t n_labels(ConfigReader& reader, Task task) {
  reader.pass_over({"label2id"});
  if (task == Task::kQuestion) return 2;
  const auto labels = reader.object("id2label");
  if (labels && !labels->value().keys.empty()) return std::ssize(labels->value().keys);
  return reader.integer({"num_labels"}, kWidths, 2);
}

struct BertDefaults {
  int64_t n_vocab = 0;
  int64_t n_token_type = 0;
};

struct BertShape : EncoderShape {
  int64_t n_vocab = 0;
  int64_t n_position = 0;
  int64_t n_token_type = 0;
};

BertShape read_bert_shape(ConfigReader& reader, const BertDefaults& defaults) {
  BertShape shape;
  shape.n_embd = reader.integer({"hidden_size"}, kWidths, 768);
  shape.n_layer = reader.integer({"num_hidden_layers"}, kLayers, 12);
  shape.n_head = reader.integer({"num_attention_heads"}, kHeads, 12);
  shape.n_ff = reader.integer({"intermediate_size"}, kWidths, 3072);
  shape.n_vocab = reader.integer({"vocab_size"}, kVocab, defaults.n_vocab);
  shape.n_position = reader.integer({"max_position_embeddings"}, kWidths, 512);
  shape.n_token_type = reader.integer({"type_vocab_size"}, kWidthsOrNone, defaults.n_token_type);
  check_heads(reader, shape, "num_attention_heads");
  return shape;
}

// Embeddings and layers; no head yet.
TransformerSpec make_encoder(const ConfigReader& reader, const BertShape& shape) {
  return {.n_embd = shape.n_embd,
          .n_vocab = shape.n_vocab,
          .n_ctx_train = Tokens(shape.n_position),
          .tied_embeddings = true,
          .has_head = false,
          .is_causal = false,
          .n_position = shape.n_position,
          .n_token_type = shape.n_token_type,
          .embedding_norm = NormKind::kScaleAndShift,
          .final_norm = NormKind::kNone,
          .layers = repeat(reader, encoder_layer(shape, NormPlace::kAfter), shape.n_layer)};
}

// A matrix, a LayerNorm, and the embedding again as the head, with a bias of its own.
void add_masked_lm_head(ConfigReader& reader, TransformerSpec& spec, std::string_view stem) {
  add_linear(spec.extras, fmt::format("{}.transform", stem), spec.n_embd, spec.n_embd);
  add_norm(spec.extras, fmt::format("{}.transform_norm", stem), spec.n_embd);
  spec.has_head = true;
  spec.head_bias = true;
  spec.tied_embeddings = read_tied(reader, true);
}

void warn_of_unknown_head(ConfigReader& reader) {
  reader.warn(fmt::format("The head of {} is not counted.",
                          in_quotes(reader.notes().architectures.front())));
}

// The checkpoints that name BertForMaskedLM come from pre-training, and hold the pooler and the
// next-sentence head that this class would not make: bert-base-uncased stores 110,106,428 values,
// the class alone has 109,514,298.
TransformerSpec read_bert(ConfigReader& reader) {
  const BertShape shape = read_bert_shape(reader, {.n_vocab = 30522, .n_token_type = 2});
  const std::string positions = reader.text({"position_embedding_type"}, "absolute");
  if (positions != "absolute") {
    reader.refuse("position_embedding_type", "only absolute positions are known");
  }
  TransformerSpec spec = make_encoder(reader, shape);
  const Task task = task_of(reader.notes());
  const bool from_pretraining = task == Task::kMaskedLm || task == Task::kPreTraining;
  if (task != Task::kToken && task != Task::kQuestion) {
    add_linear(spec.extras, "pooler.dense", shape.n_embd, shape.n_embd);
  }
  if (from_pretraining) {
    add_masked_lm_head(reader, spec, "cls");
    add_linear(spec.extras, "cls.seq_relationship", shape.n_embd, 2);
  } else if (task == Task::kOther) {
    warn_of_unknown_head(reader);
  } else if (task != Task::kNone) {
    add_linear(spec.extras, "classifier", shape.n_embd, n_labels(reader, task));
  }
  if (task == Task::kMaskedLm) {
    reader.warn(
        "BertForMaskedLM itself has no pooler and no next-sentence head; both are counted, since "
        "pre-trained checkpoints of this name hold them.");
  }
  return spec;
}

// RoBERTa: positions count from 2, so that the table has two rows more than tokens; a classifier
// of two matrices instead of the pooler.
TransformerSpec read_roberta(ConfigReader& reader) {
  const BertShape shape = read_bert_shape(reader, {.n_vocab = 50265, .n_token_type = 2});
  TransformerSpec spec = make_encoder(reader, shape);
  spec.n_ctx_train = Tokens(std::max<int64_t>(shape.n_position - 2, 1));
  switch (const Task task = task_of(reader.notes())) {
    case Task::kNone:
      add_linear(spec.extras, "pooler.dense", shape.n_embd, shape.n_embd);
      break;
    case Task::kMaskedLm:
      add_masked_lm_head(reader, spec, "lm_head");
      break;
    case Task::kSequence:
      add_linear(spec.extras, "classifier.dense", shape.n_embd, shape.n_embd);
      add_linear(spec.extras, "classifier.out_proj", shape.n_embd, n_labels(reader, task));
      break;
    case Task::kToken:
    case Task::kQuestion:
      add_linear(spec.extras, "classifier", shape.n_embd, n_labels(reader, task));
      break;
    case Task::kPreTraining:
    case Task::kOther:
      warn_of_unknown_head(reader);
  }
  return spec;
}

TransformerSpec read_distilbert(ConfigReader& reader) {
  BertShape shape;
  shape.n_embd = reader.integer({"dim", "hidden_size"}, kWidths, 768);
  shape.n_layer = reader.integer({"n_layers", "num_hidden_layers"}, kLayers, 6);
  shape.n_head = reader.integer({"n_heads", "num_attention_heads"}, kHeads, 12);
  shape.n_ff = reader.integer({"hidden_dim", "intermediate_size"}, kWidths, 3072);
  shape.n_vocab = reader.integer({"vocab_size"}, kVocab, 30522);
  shape.n_position = reader.integer({"max_position_embeddings"}, kWidths, 512);
  check_heads(reader, shape, "n_heads");
  TransformerSpec spec = make_encoder(reader, shape);
  const Task task = task_of(reader.notes());
  if (task == Task::kMaskedLm) add_masked_lm_head(reader, spec, "vocab");
  if (task == Task::kSequence) {
    add_linear(spec.extras, "pre_classifier", shape.n_embd, shape.n_embd);
  }
  if (task == Task::kSequence || task == Task::kToken || task == Task::kQuestion) {
    add_linear(spec.extras, "classifier", shape.n_embd, n_labels(reader, task));
  }
  if (task == Task::kPreTraining || task == Task::kOther) warn_of_unknown_head(reader);
  return spec;
}

// Layer i of nomic_bert: experts in every second layer, from the second on, where the file has any.
LayerSpec nomic_layer(ConfigReader& reader, const EncoderShape& shape, bool gated) {
  LayerSpec layer = encoder_layer(shape, NormPlace::kAfter);
  auto& attention = std::get<AttentionSpec>(layer.mixer);
  const bool bias = reader.boolean({"qkv_proj_bias"}, true);
  attention.bias = {.q = bias, .k = bias, .v = bias, .out = bias};
  attention.fused_qkv = true;
  layer.feed_forward = {
      .n_ff = shape.n_ff, .gated = gated, .bias = reader.boolean({"mlp_fc1_bias"}, true)};
  if (reader.boolean({"mlp_fc2_bias"}, true) != layer.feed_forward.bias) {
    reader.refuse("mlp_fc2_bias", "must be as mlp_fc1_bias");
  }
  if (reader.boolean({"prenorm"}, false)) reader.refuse("prenorm", "must be false");
  return layer;
}

// Experts of two matrices share one bias of n_embd.
LayerSpec nomic_expert_layer(LayerSpec layer, const EncoderShape& shape, int64_t n_expert,
                             int64_t n_expert_used) {
  layer.feed_forward = {};
  layer.moe = {
      .n_expert = n_expert, .n_expert_used = n_expert_used, .n_ff_exp = shape.n_ff, .gated = false};
  layer.extras.push_back({.name = "ffn_exps.bias", .columns = shape.n_embd});
  return layer;
}

TransformerSpec read_nomic_bert(ConfigReader& reader) {
  BertShape shape;
  shape.n_embd = reader.integer({"n_embd", "hidden_size"}, kWidths);
  shape.n_layer = reader.integer({"n_layer", "num_hidden_layers"}, kLayers);
  shape.n_head = reader.integer({"n_head", "num_attention_heads"}, kHeads);
  shape.n_ff = reader.integer({"n_inner", "intermediate_size"}, kWidths);
  shape.n_vocab = reader.integer({"vocab_size"}, kVocab);
  shape.n_token_type = reader.integer({"type_vocab_size"}, kWidthsOrNone, 2);
  check_heads(reader, shape, "n_head");
  const bool rotary = reader.optional_number({"rotary_emb_fraction"}).value_or(0) > 0;
  const int64_t n_position =
      reader.integer({"n_positions", "max_position_embeddings"}, kWidthsOrNone, 0);
  if (!rotary) shape.n_position = n_position;
  const std::string activation = reader.text({"activation_function"}, "gelu");
  const bool gated = activation == "swiglu" || activation == "glu" || activation == "geglu";
  const LayerSpec layer = nomic_layer(reader, shape, gated);
  const int64_t every = reader.integer({"moe_every_n_layers"}, kLayersOrNone, 0);
  const int64_t n_expert = reader.integer({"num_experts"}, kExpertsOrNone, 0);
  const int64_t used = reader.integer({"moe_top_k"}, kExpertsOrNone, 1);
  TransformerSpec spec = make_encoder(reader, shape);
  spec.n_ctx_train = Tokens(n_position);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const bool has_experts = every > 1 && n_expert > 0 && i % static_cast<size_t>(every) == 1;
    spec.layers[i] = has_experts ? nomic_expert_layer(layer, shape, n_expert, used) : layer;
  }
  return spec;
}

}  // namespace

LayerSpec encoder_layer(const EncoderShape& shape, NormPlace place) {
  const bool before = place == NormPlace::kBefore;
  const NormKind first = before ? NormKind::kScaleAndShift : NormKind::kNone;
  const NormKind last = before ? NormKind::kNone : NormKind::kScaleAndShift;
  return {.mixer = AttentionSpec{.n_head = shape.n_head,
                                 .n_head_kv = shape.n_head,
                                 .head_dim = shape.n_embd / std::max<int64_t>(shape.n_head, 1),
                                 .bias = {.q = true, .k = true, .v = true, .out = true}},
          .feed_forward = {.n_ff = shape.n_ff, .gated = false, .bias = true},
          .norms = {
              .before_mixer = first, .after_mixer = last, .before_ffn = first, .after_ffn = last}};
}

void check_heads(ConfigReader& reader, const EncoderShape& shape, std::string_view key) {
  if (shape.n_head > 0 && shape.n_embd % shape.n_head == 0) return;
  reader.refuse(key, fmt::format("{} does not divide the width {}", shape.n_head, shape.n_embd));
}

std::vector<LayerSpec> repeat(const ConfigReader& reader, const LayerSpec& layer, int64_t n_layer) {
  if (!reader.ok()) return {};
  return std::vector<LayerSpec>(static_cast<size_t>(n_layer), layer);
}

void add_linear(std::vector<ExtraWeight>& extras, std::string_view stem, int64_t columns,
                int64_t rows, bool bias) {
  extras.push_back({.name = fmt::format("{}.weight", stem), .columns = columns, .rows = rows});
  if (bias) extras.push_back({.name = fmt::format("{}.bias", stem), .columns = rows});
}

void add_norm(std::vector<ExtraWeight>& extras, std::string_view stem, int64_t width,
              NormKind kind) {
  if (kind == NormKind::kNone || kind == NormKind::kPlain) return;
  extras.push_back({.name = fmt::format("{}.weight", stem), .columns = width});
  if (kind != NormKind::kScaleAndShift) return;
  extras.push_back({.name = fmt::format("{}.bias", stem), .columns = width});
}

std::span<const HfFamily> encoder_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"bert", "BertConfig", "bert", read_bert},
      HfFamily{"roberta", "RobertaConfig", "bert", read_roberta},
      HfFamily{"xlm-roberta", "XLMRobertaConfig", "bert", read_roberta},
      HfFamily{"camembert", "CamembertConfig", "bert", read_roberta},
      HfFamily{"distilbert", "DistilBertConfig", "distilbert", read_distilbert},
      HfFamily{"nomic_bert", "NomicBertConfig", "nomic-bert", read_nomic_bert},
  };
  return kFamilies;
}

}  // namespace tidemark
