// The graphs of llama_projector.h: patches of the image, the tower's layers, and what makes tokens
// of the result. The order of the ops is that engine's.
#include <algorithm>
#include <string>

#include "planner/engine/llama_cpp/ggml_builder.h"
#include "planner/engine/llama_cpp/llama_projector.h"

namespace tidemark {
namespace {

constexpr int64_t kColours = 3;
constexpr int64_t kFrames = 2;         // of a pair that Qwen's towers read at once
constexpr int64_t kWindowPattern = 8;  // of so many layers of Qwen2.5-VL, one sees all patches

enum class Projector { kQwen2, kQwen3, kGemma3, kIdefics3 };

const ExtraWeight* extra(const StackSpec& tower, std::string_view name) {
  const auto found = std::ranges::find(tower.extras, name, &ExtraWeight::name);
  return found == tower.extras.end() ? nullptr : &*found;
}

// Told by the tensors that only this kind has.
std::optional<Projector> kind_of(const StackSpec& tower) {
  const ExtraWeight* patches = extra(tower, "patch_embd.weight");
  if (patches == nullptr || tower.n_embd == 0) return std::nullopt;
  if (extra(tower, "mm.soft_emb_norm.weight") != nullptr) return Projector::kGemma3;
  if (extra(tower, "mm.fc.weight") != nullptr) return Projector::kIdefics3;
  const bool pairs = patches->count == kColours * kFrames * tower.n_embd;
  if (!pairs || extra(tower, "mm.2.weight") == nullptr || tower.image.merge != 2) {
    return std::nullopt;
  }
  return extra(tower, "position_embd.weight") != nullptr ? Projector::kQwen3 : Projector::kQwen2;
}

// Layers whose results are kept for the decoder's first layers, as published: of 27, of 24.
bool is_kept(int64_t n_layer, int64_t layer) {
  const int64_t step = n_layer == 24 ? 6 : 8;
  const int64_t first = n_layer == 24 ? 5 : 8;
  return layer >= first && (layer - first) % step == 0 && layer < first + 3 * step;
}

class Drawing {
 public:
  Drawing(const StackSpec& tower, Projector kind, int64_t pixels, bool flash, DType patches)
      : tower_(tower),
        kind_(kind),
        flash_(flash),
        patches_(patches),
        patch_(tower.image.patch_size),
        side_(pixels / patch_),
        n_(checked_mul(side_, side_)),
        width_(tower.n_embd),
        n_head_(tower.layers.front().attention()->n_head) {}

  GgmlGraph draw() {
    const bool is_qwen = kind_ == Projector::kQwen2 || kind_ == Projector::kQwen3;
    BuiltId x = is_qwen ? merged_patches() : plain_patches();
    if (is_qwen) positions_ = build_.input("positions", DType::kI32, {n_ * 4, 1, 1, 1});
    if (has_windows()) x = into_windows(x);
    for (; layer_ < std::ssize(tower_.layers); ++layer_) x = add_layer(x);
    if (kind_ != Projector::kQwen2 || extra(tower_, "mm.norm.weight") != nullptr) x = norm(x);
    build_.expand(is_qwen                       ? qwen_head(x)
                  : kind_ == Projector::kGemma3 ? gemma_head(x)
                                                : shuffled(x));
    return build_.graph();
  }

 private:
  bool has_windows() const {
    return kind_ == Projector::kQwen2 && tower_.layers.front().feed_forward.gated;
  }

  BuiltId weight(GgmlShape ne) {
    return build_.weight("w" + std::to_string(n_weights_++), DType::kF16, ne);
  }

  // IM2COL of the pixels and one product.
  BuiltId convolved(BuiltId image) {
    const BuiltId kernel = build_.weight("patches" + std::to_string(n_weights_++), patches_,
                                         {patch_, patch_, kColours, width_});
    const int64_t columns = kColours * patch_ * patch_;
    const DType type = patches_ == DType::kF16 ? DType::kF16 : DType::kF32;
    const BuiltId rows = build_.op("IM2COL", {columns, side_, side_, 1}, {kernel, image}, type);
    const BuiltId product = build_.mul_mat(build_.reshape(rows, {columns, n_, 1, 1}),
                                           build_.reshape(kernel, {columns, width_, 1, 1}));
    const BuiltId planes = build_.reshape(product, {side_, side_, 1, width_});
    return build_.cont(build_.permute(planes, {0, 1, 3, 2}));
  }

  BuiltId image() {
    const int64_t pixels = side_ * patch_;
    return build_.input("inp_raw", DType::kF32, {pixels, pixels, kColours, 1});
  }

  BuiltId plain_patches() {
    BuiltId x = build_.reshape(convolved(image()), {n_, width_, 1, 1});
    x = build_.cont(build_.transpose(x));
    if (extra(tower_, "patch_embd.bias") != nullptr) x = shifted(x);
    return build_.map("ADD", {x, weight({width_, n_, 1, 1})});
  }

  // Two by two patches side by side.
  BuiltId by_squares(BuiltId x) {
    x = build_.cont(x, {width_ * 2, side_ / 2, side_, 1});
    x = build_.reshape(x, {width_ * 2, side_ / 2, 2, side_ / 2});
    return build_.cont(build_.permute(x, {0, 2, 1, 3}), {width_, n_, 1, 1});
  }

  BuiltId merged_patches() {
    const BuiltId raw = image();
    const BuiltId first = convolved(raw);
    BuiltId x = build_.map("ADD", {first, convolved(raw)});
    x = by_squares(build_.permute(x, {1, 2, 0, 3}));
    if (kind_ == Projector::kQwen2) return x;
    if (extra(tower_, "patch_embd.bias") != nullptr) x = shifted(x);
    return build_.map("ADD", {x, by_squares(resized_positions())});
  }

  // A table of positions for another grid is interpolated.
  BuiltId resized_positions() {
    const int64_t rows = extra(tower_, "position_embd.weight")->rows;
    int64_t trained = 1;
    while ((trained + 1) * (trained + 1) <= rows) ++trained;
    const BuiltId table =
        build_.weight("positions_table", DType::kF32, {width_, trained * trained, 1, 1});
    if (trained == side_) return table;
    BuiltId x = build_.reshape(table, {width_, trained, trained, 1});
    x = build_.permute(x, {2, 0, 1, 3});
    x = build_.op("UPSCALE", {side_, side_, width_, 1}, {x});
    return build_.cont(build_.permute(x, {1, 2, 0, 3}), {width_, n_, 1, 1});
  }

  BuiltId into_windows(BuiltId x) {
    const BuiltId order = build_.input("inv_window_idx", DType::kI32, {n_ / 4, 1, 1, 1});
    mask_ = build_.input("window_mask", DType::kF32, {n_, n_, 1, 1});
    if (flash_) mask_ = build_.op("CPY", {n_, n_, 1, 1}, {mask_}, DType::kF16);
    x = build_.reshape(x, {width_ * 4, n_ / 4, 1, 1});
    x = build_.op("GET_ROWS", {width_ * 4, n_ / 4, 1, 1}, {x, order});
    return build_.reshape(x, {width_, n_, 1, 1});
  }

  BuiltId shifted(BuiltId x) { return build_.map("ADD", {x, weight({build_[x].ne[0], 1, 1, 1})}); }

  BuiltId norm(BuiltId x) {
    const bool is_rms = has_windows();
    const int64_t width = build_[x].ne[0];
    x = build_.map(is_rms ? "RMS_NORM" : "NORM", {x});
    x = build_.map("MUL", {x, weight({width, 1, 1, 1})});
    return is_rms ? x : shifted(x);
  }

  BuiltId linear(BuiltId x, int64_t rows, bool bias) {
    x = build_.mul_mat(weight({build_[x].ne[0], rows, 1, 1}), x);
    return bias ? shifted(x) : x;
  }

  BuiltId gelu_pair(BuiltId x, int64_t inner, int64_t rows) {
    x = build_.map("UNARY", {linear(x, inner, true)});
    return linear(x, rows, true);
  }

  BuiltId add_layer(BuiltId x) {
    const int64_t head = width_ / n_head_;
    const BuiltId normed = norm(x);
    BuiltId q{};
    BuiltId k{};
    BuiltId v{};
    if (kind_ == Projector::kQwen3) {
      const BuiltId all = linear(normed, 3 * width_, true);
      const int64_t row = head * 4;
      const int64_t next = 3 * width_ * 4;
      const auto third = [&](int64_t i) {
        return build_.view(all, {head, n_head_, n_, 1}, {row, next, checked_mul(next, n_)},
                           i * width_ * 4);
      };
      q = third(0);
      k = third(1);
      v = third(2);
    } else {
      const auto heads = [&] {
        return build_.reshape(linear(normed, width_, true), {head, n_head_, n_, 1});
      };
      q = heads();
      k = heads();
      v = heads();
    }
    if (kind_ == Projector::kQwen2 || kind_ == Projector::kQwen3) {
      q = build_.map("ROPE", {q, positions_});
      k = build_.map("ROPE", {k, positions_});
    }
    const BuiltId mixed = build_.map("ADD", {attended(q, k, v), x});
    const BuiltId made = build_.map("ADD", {mixed, feed_forward(norm(mixed))});
    if (extra(tower_, "deepstack.0.norm.weight") != nullptr &&
        is_kept(std::ssize(tower_.layers), layer_)) {
      keep(made);
    }
    return made;
  }

  BuiltId feed_forward(BuiltId x) {
    const FeedForwardSpec& spec = tower_.layers.front().feed_forward;
    const BuiltId up = linear(x, spec.n_ff, true);
    if (!spec.gated) return linear(build_.map("UNARY", {up}), width_, true);
    const BuiltId gate = linear(x, spec.n_ff, true);
    return linear(build_.map("GLU", {gate, up}), width_, true);
  }

  BuiltId attended(BuiltId q, BuiltId k, BuiltId v) {
    for (const BuiltId part : {q, k, v}) build_.expand(part);
    const int64_t head = width_ / n_head_;
    q = build_.permute(q, {0, 2, 1, 3});
    k = build_.permute(k, {0, 2, 1, 3});
    const bool masked = has_windows() && (layer_ + 1) % kWindowPattern != 0;
    BuiltId x{};
    if (flash_) {
      const GgmlShape ne{head, n_, n_head_, 1};
      k = build_.op("CPY", ne, {k}, DType::kF16);
      v = build_.op("CPY", ne, {build_.permute(v, {0, 2, 1, 3})}, DType::kF16);
      std::vector<BuiltId> sources{q, k, v};
      if (masked) sources.push_back(mask_);
      x = build_.op("FLASH_ATTN_EXT", {head, n_head_, n_, 1}, std::move(sources));
      x = build_.reshape(x, {width_, n_, 1, 1});
    } else {
      v = build_.cont(build_.permute(v, {1, 2, 0, 3}));
      std::vector<BuiltId> scores{build_.mul_mat(k, q)};
      if (masked) scores.push_back(mask_);
      x = build_.mul_mat(v, build_.map("SOFT_MAX", std::move(scores)));
      x = build_.cont(build_.permute(x, {0, 2, 1, 3}), {width_, n_, 1, 1});
    }
    return linear(x, width_, true);
  }

  // What the decoder's first layers get of a layer in the middle.
  void keep(BuiltId x) {
    const int64_t rows = extra(tower_, "mm.2.weight")->rows;
    const BuiltId squares = build_.reshape(x, {width_ * 4, n_ / 4, 1, 1});
    const BuiltId one = gelu_pair(norm(squares), width_ * 4, rows);
    kept_ = kept_ ? joined(*kept_, one) : one;
  }

  BuiltId joined(BuiltId a, BuiltId b) {
    return build_.op("CONCAT", {build_[a].ne[0] + build_[b].ne[0], build_[a].ne[1], 1, 1}, {a, b});
  }

  BuiltId qwen_head(BuiltId x) {
    const int64_t rows = extra(tower_, "mm.2.weight")->rows;
    x = gelu_pair(build_.reshape(x, {width_ * 4, n_ / 4, 1, 1}), width_ * 4, rows);
    if (kept_) x = joined(x, *kept_);
    if (!has_windows()) return x;
    const BuiltId order = build_.input("window_idx", DType::kI32, {n_ / 4, 1, 1, 1});
    return build_.op("GET_ROWS", {rows, n_ / 4, 1, 1}, {x, order});
  }

  BuiltId gemma_head(BuiltId x) {
    const int64_t pooled = side_ / tower_.image.merge;
    const int64_t rows = extra(tower_, "mm.input_projection.weight")->rows;
    x = build_.cont(build_.transpose(x), {side_, side_, width_, 1});
    x = build_.op("POOL_2D", {pooled, pooled, width_, 1}, {x});
    x = build_.reshape(x, {pooled * pooled, width_, 1, 1});
    x = build_.map("RMS_NORM", {build_.cont(build_.transpose(x))});
    x = build_.map("MUL", {x, weight({width_, 1, 1, 1})});
    const BuiltId matrix = build_.cont(build_.transpose(weight({rows, width_, 1, 1})));
    return build_.mul_mat(matrix, x);
  }

  BuiltId shuffled(BuiltId x) {
    const int64_t merge = tower_.image.merge;
    const int64_t part = side_ / merge;
    x = build_.reshape(x, {width_ * merge, part, side_, 1});
    x = build_.permute(x, {0, 2, 1, 3});
    x = build_.cont(x, {width_ * merge * merge, part, part, 1});
    x = build_.permute(x, {0, 2, 1, 3});
    x = build_.cont(x, {width_ * merge * merge, part * part, 1, 1});
    return linear(x, extra(tower_, "mm.fc.weight")->rows, false);
  }

  const StackSpec& tower_;
  Projector kind_;
  bool flash_;
  DType patches_;
  int64_t patch_;
  int64_t side_;  // patches
  int64_t n_;     // patches
  int64_t width_;
  int64_t n_head_;
  GgmlBuilder build_{};
  int64_t n_weights_ = 0;
  int64_t layer_ = 0;
  BuiltId positions_{};
  BuiltId mask_{};
  std::optional<BuiltId> kept_{};
};

// Every layer alike, and widths that divide.
bool is_sound(const StackSpec& tower, int64_t pixels) {
  if (tower.layers.empty() || tower.image.patch_size <= 0 || tower.image.merge <= 0) return false;
  const int64_t step = checked_mul(tower.image.patch_size, tower.image.merge);
  if (pixels < step || pixels % step != 0) return false;
  for (const LayerSpec& layer : tower.layers) {
    const AttentionSpec* attention = layer.attention();
    if (attention == nullptr || layer.feed_forward.n_ff <= 0) return false;
    if (attention->n_head <= 0 || tower.n_embd % attention->n_head != 0) return false;
  }
  return true;
}

}  // namespace

std::optional<GgmlGraph> projector_graph(const ModelSpec& model, int64_t pixels, bool flash,
                                         DType patches) {
  const TransformerSpec* spec = model.transformer();
  if (spec == nullptr) return std::nullopt;
  const auto tower = std::ranges::find(spec->stacks, StackRole::kVision, &StackSpec::role);
  if (tower == spec->stacks.end() || !is_sound(*tower, pixels)) return std::nullopt;
  const std::optional<Projector> kind = kind_of(*tower);
  if (!kind) return std::nullopt;
  return Drawing(*tower, *kind, pixels, flash, patches).draw();
}

}  // namespace tidemark
