#include "planner/model/model_spec.h"

#include <array>

#include "planner/base/check.h"

namespace tidemark {

int64_t ModelSpec::n_layer() const {
  if (const LayerListSpec* list = layer_list()) return static_cast<int64_t>(list->layers.size());
  return static_cast<int64_t>(transformer()->layers.size());
}

Tokens tokens_of_image(const ImageSpec& image, int64_t pixels) {
  if (image.patch_size <= 0 || image.merge <= 0) return Tokens(0);
  const int64_t side = pixels / image.patch_size / image.merge;
  return Tokens(checked_add(checked_mul(side, side), image.extra_tokens));
}

std::string_view name_of(StackRole role) {
  constexpr std::array<std::string_view, 4> kNames = {"encoder", "vision", "audio", "draft"};
  return kNames.at(static_cast<size_t>(role));
}

std::string_view name_of(NormKind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"none", "plain", "scale", "scale-and-shift"};
  return kNames.at(static_cast<size_t>(kind));
}

std::string_view name_of(QkNormKind kind) {
  constexpr std::array<std::string_view, 3> kNames = {"none", "head", "width"};
  return kNames.at(static_cast<size_t>(kind));
}

std::string_view mixer_name(const Mixer& mixer) {
  constexpr std::array<std::string_view, std::variant_size_v<Mixer>> kNames = {
      "attention",        "mla",  "mamba",      "mamba2", "gated-delta",
      "linear-attention", "rwkv", "short-conv", "none"};
  return kNames.at(mixer.index());
}

}  // namespace tidemark
