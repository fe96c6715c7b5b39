// Every rule below restates one of llama.cpp's src/llama-quant.cpp, in its order.
#include "planner/model/gguf_mix.h"

#include <algorithm>

namespace tidemark {
namespace {

using Kind = TensorKindByName;

// The models that llama.cpp classes as 70B, by architecture and depth (src/models/*.cpp): grouped
// queries set Llama's apart from 65B; a Llama of eight experts has classes of its own.
bool is_seventy_billion(const RecipeModel& model) {
  if (model.n_layer != 80) return false;
  if (model.architecture == "llama") {
    return model.n_head != model.n_head_kv && model.n_expert != 8;
  }
  return model.architecture == "qwen2" || model.architecture == "deci" ||
         model.architecture == "olmo";
}

}  // namespace

GgufMix::GgufMix(const RecipeModel& model, std::span<const RecipeTensor> tensors,
                 const RecipeChoice& choice)
    : type_(choice.type),
      base_(file_type_of(choice.type).base),
      importance_(choice.importance_matrix),
      falcon_(model.architecture == "falcon"),
      seventy_billion_(is_seventy_billion(model)),
      n_layer_(model.n_layer),
      n_expert_(model.n_expert),
      gqa_(model.n_head_kv > 0 ? model.n_head / model.n_head_kv : 0) {
  for (const RecipeTensor& tensor : tensors) {
    const Kind kind = kind_by_name(tensor.name);
    if (is_value_like(kind)) ++n_value_;
    if (kind == Kind::kOutput) tied_ = false;
  }
}

bool GgufMix::is_one_of(std::initializer_list<FileType> types) const {
  return std::ranges::find(types, type_) != types.end();
}

// The first and last eighth, and every third in between.
bool GgufMix::gets_more_bits(int64_t i, int64_t n) const {
  return i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2;
}

// Experts need not come layer by layer, so then the name says the layer.
std::optional<int64_t> GgufMix::layer(const RecipeTensor& tensor, int64_t counted) const {
  if (n_expert_ <= 1) return counted;
  const std::optional<int64_t> named = layer_of_name(tensor.name);
  return named && *named < n_layer_ ? named : std::nullopt;
}

std::optional<DType> GgufMix::next(const RecipeTensor& tensor) {
  const Kind kind = kind_by_name(tensor.name);
  if (kind == Kind::kOutput || (tied_ && kind == Kind::kEmbedding)) return output(tensor);
  if (type_ == FileType::kMxfp4Moe) return tensor.count > 1 ? DType::kMxfp4 : DType::kQ8_0;
  if (kind == Kind::kEmbedding) return embedding();
  if (is_one_of({FileType::kIq1S, FileType::kIq1M, FileType::kIq2Xxs, FileType::kIq2Xs,
                 FileType::kIq2S, FileType::kIq2M})) {
    return low_bits(kind);
  }
  if (is_value_like(kind)) return value();
  if (kind == Kind::kKey || kind == Kind::kQuery) return key_or_query(kind);
  if (kind == Kind::kAttentionOutput) return attention_output();
  if (kind != Kind::kDown && kind != Kind::kGate && kind != Kind::kUp) return base_;
  int64_t& counter = kind == Kind::kDown ? i_down_ : kind == Kind::kGate ? i_gate_ : i_up_;
  const std::optional<int64_t> place = layer(tensor, counter++);
  if (!place) return std::nullopt;
  return kind == Kind::kDown ? down(*place) : gate_or_up(*place);
}

DType GgufMix::output(const RecipeTensor& tensor) const {
  if (type_ == FileType::kMxfp4Moe || falcon_ || !divides(base_, tensor.columns)) {
    return DType::kQ8_0;
  }
  if (is_one_of({FileType::kIq1S, FileType::kIq1M, FileType::kIq2Xxs, FileType::kIq2Xs,
                 FileType::kIq2S, FileType::kIq2M, FileType::kIq3Xxs})) {
    return DType::kQ5K;
  }
  return base_ == DType::kQ8_0 ? base_ : DType::kQ6K;
}

DType GgufMix::embedding() const {
  if (is_one_of({FileType::kIq1S, FileType::kIq1M, FileType::kIq2Xxs, FileType::kIq2Xs})) {
    return DType::kQ2K;
  }
  if (is_one_of({FileType::kIq2S, FileType::kIq2M, FileType::kIq3Xxs})) return DType::kIq3S;
  if (is_one_of({FileType::kTq1_0, FileType::kTq2_0, FileType::kQ2_0})) return DType::kQ4K;
  return base_;
}

DType GgufMix::low_bits(Kind kind) {
  const bool larger = is_one_of({FileType::kIq2S, FileType::kIq2M});
  const DType lifted = larger ? DType::kIq3S : DType::kQ2K;
  if (is_value_like(kind)) return gqa_ >= 4 || n_expert_ >= 4 ? DType::kQ4K : lifted;
  if (kind == Kind::kKey && n_expert_ == 8) return DType::kQ4K;
  if (kind == Kind::kDown) return i_down_++ < n_layer_ / 8 ? lifted : base_;
  if (kind == Kind::kAttentionOutput) {
    if (n_expert_ == 8) return DType::kQ5K;
    if (is_one_of({FileType::kIq1S, FileType::kIq1M})) return DType::kIq2Xxs;
    if (larger) return DType::kIq3S;
  }
  return base_;
}

DType GgufMix::value() {
  const bool grouped = gqa_ >= 4;
  const int64_t i = i_value_++;
  DType dtype = base_;
  if (type_ == FileType::kQ2K) {
    dtype = grouped ? DType::kQ4K : DType::kQ3K;
  } else if (type_ == FileType::kIq3Xxs) {
    dtype = grouped ? DType::kQ4K : importance_ ? DType::kIq3Xxs : DType::kIq3S;
  } else if (is_one_of({FileType::kQ2KS, FileType::kIq3Xs, FileType::kIq3S}) && grouped) {
    dtype = DType::kQ4K;
  } else if (type_ == FileType::kIq3M) {
    dtype = DType::kQ4K;
  } else if (type_ == FileType::kQ3KM) {
    dtype = i < 2 ? DType::kQ5K : DType::kQ4K;
  } else if (type_ == FileType::kQ3KL) {
    dtype = DType::kQ5K;
  } else if (is_one_of({FileType::kIq4Nl, FileType::kIq4Xs}) && grouped) {
    dtype = DType::kQ5K;
  } else if (is_one_of({FileType::kQ4KM, FileType::kQ5KM}) && gets_more_bits(i, n_value_)) {
    dtype = DType::kQ6K;
  } else if (type_ == FileType::kQ4KS && i < 4) {
    dtype = DType::kQ5K;
  }
  // Eight query heads share a value head there, so the lift costs next to nothing.
  if (seventy_billion_ && (dtype == DType::kQ3K || dtype == DType::kQ4K)) dtype = DType::kQ5K;
  return n_expert_ == 8 ? DType::kQ8_0 : dtype;
}

DType GgufMix::key_or_query(Kind kind) const {
  if (kind == Kind::kKey && n_expert_ == 8) return DType::kQ8_0;
  if (type_ == FileType::kIq3Xs) return DType::kIq3Xxs;
  return type_ == FileType::kIq3Xxs ? DType::kIq2S : base_;
}

DType GgufMix::down(int64_t layer) const {
  const int64_t n = n_layer_;
  const bool early = layer < n / 8;
  const bool more = gets_more_bits(layer, n);
  switch (type_) {
    case FileType::kQ2K:
      return DType::kQ3K;
    case FileType::kQ2KS:
      return early ? DType::kQ4K : base_;
    case FileType::kIq3Xxs:
      if (importance_) return base_;
      return early ? DType::kQ4K : DType::kQ3K;
    case FileType::kQ3KM:
      if (layer < n / 16) return DType::kQ5K;
      return !falcon_ || more ? DType::kQ4K : DType::kQ3K;
    case FileType::kIq3M:
      return early || (n_expert_ == 8 && more) ? DType::kQ4K : base_;
    case FileType::kQ3KL:
      return falcon_ ? DType::kQ4K : DType::kQ5K;
    case FileType::kQ4KM:
      if (!falcon_) return more ? DType::kQ6K : base_;
      if (layer < n / 16) return DType::kQ6K;
      return more ? DType::kQ5K : DType::kQ4K;
    case FileType::kIq4Nl:
    case FileType::kIq4Xs:
      return early && !importance_ ? DType::kQ5K : base_;
    case FileType::kQ5KM:
      return more ? DType::kQ6K : base_;
    case FileType::kQ4KS:
      return early && !falcon_ ? DType::kQ5K : base_;
    case FileType::kQ4_0:
      return early && importance_ ? DType::kQ4_1 : base_;
    case FileType::kQ5_0:
      return early && importance_ ? DType::kQ5_1 : base_;
    default:
      return base_;
  }
}

DType GgufMix::attention_output() const {
  if (falcon_) return type_ == FileType::kQ3KL ? DType::kQ4K : base_;
  if (n_expert_ == 8) {
    const bool lifted =
        is_one_of({FileType::kQ2K, FileType::kIq3Xs, FileType::kIq3Xxs, FileType::kQ3KS,
                   FileType::kQ3KM, FileType::kIq4Nl, FileType::kQ4KS, FileType::kQ4KM,
                   FileType::kIq3S, FileType::kIq3M, FileType::kIq4Xs});
    return lifted ? DType::kQ5K : base_;
  }
  switch (type_) {
    case FileType::kQ2K:
      return DType::kQ3K;
    case FileType::kIq3Xxs:
      return DType::kIq3S;
    case FileType::kQ3KM:
    case FileType::kIq3M:
      return DType::kQ4K;
    case FileType::kQ3KL:
      return DType::kQ5K;
    default:
      return base_;
  }
}

DType GgufMix::gate_or_up(int64_t layer) const {
  const bool middle = layer >= n_layer_ / 8 && layer < 7 * n_layer_ / 8;
  return type_ == FileType::kIq3Xs && middle ? DType::kIq3Xxs : base_;
}

}  // namespace tidemark
