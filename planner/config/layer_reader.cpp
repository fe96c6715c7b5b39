#include "planner/config/layer_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "planner/base/diagnostic.h"

namespace tidemark {
namespace {

constexpr std::array kNorms = {NormKind::kNone, NormKind::kPlain, NormKind::kScale,
                               NormKind::kScaleAndShift};
constexpr std::array kQkNorms = {QkNormKind::kNone, QkNormKind::kHead, QkNormKind::kWidth};

template <typename Choices>
auto read_choice(YamlMap& map, std::string_view key, const Choices& choices) {
  const std::optional<std::string> text = map.text(key);
  std::vector<std::string> names;
  for (const auto choice : choices) {
    if (text && name_of(choice) == *text) return choice;
    names.emplace_back(name_of(choice));
  }
  if (text) {
    map.error(key, fmt::format("{} is not one of them", in_quotes(*text)),
              suggestion(*text, "there are", names));
  }
  return choices.front();
}

AttentionBias read_projections(YamlMap& map, std::string_view key) {
  AttentionBias bias;
  const auto texts = map.text_list(key);
  for (const YamlText& text : texts.value_or(std::vector<YamlText>{})) {
    bool* const place = text.text == "q"     ? &bias.q
                        : text.text == "k"   ? &bias.k
                        : text.text == "v"   ? &bias.v
                        : text.text == "out" ? &bias.out
                                             : nullptr;
    if (place == nullptr) {
      map.error_at(text.where, map.path(key),
                   fmt::format("{} is no projection", in_quotes(text.text)),
                   "there are: q, k, v, out");
    } else if (std::exchange(*place, true)) {
      map.error_at(text.where, map.path(key), fmt::format("names {} twice", text.text));
    }
  }
  return bias;
}

// Takes over each key that the mapping states; where the value is wrong, 0 or what means absent.
class KeyReader {
 public:
  explicit KeyReader(YamlMap& map) : map_(map) {}
  void number(std::string_view key, int64_t& value, int64_t least, int64_t most = kMostWidth) {
    if (map_.has(key)) value = map_.integer(key, least, most).value_or(std::min<int64_t>(value, 0));
  }
  void flag(std::string_view key, bool& value) {
    if (map_.has(key)) value = map_.boolean(key).value_or(false);
  }
  void norm(std::string_view key, NormKind& value) { value = read_norm(map_, key, value); }
  void qk_norm(std::string_view key, QkNormKind& value) {
    if (map_.has(key)) value = read_choice(map_, key, kQkNorms);
  }
  void projections(std::string_view key, AttentionBias& value) {
    if (map_.has(key)) value = read_projections(map_, key);
  }

 private:
  YamlMap& map_;
};

struct KeyNames {
  std::vector<std::string_view> names{};
  void number(std::string_view key, int64_t&, int64_t, int64_t = 0) { names.push_back(key); }
  void flag(std::string_view key, bool&) { names.push_back(key); }
  void norm(std::string_view key, NormKind&) { names.push_back(key); }
  void qk_norm(std::string_view key, QkNormKind&) { names.push_back(key); }
  void projections(std::string_view key, AttentionBias&) { names.push_back(key); }
};

// False once an unknown name is reported.
bool read_mixer_name(YamlMap& map, Mixer& mixer) {
  const std::optional<std::string> text = map.text("mixer");
  if (!text) return false;
  std::vector<std::string> names;
  for (const Mixer& other : all_mixers()) {
    names.emplace_back(mixer_name(other));
    if (names.back() != *text) continue;
    if (other.index() != mixer.index()) mixer = other;
    return true;
  }
  map.error("mixer", fmt::format("{} is no mixer", in_quotes(*text)),
            suggestion(*text, "there are", names));
  return false;
}

// "mamba, mamba2"; empty for a key of no mixer.
std::string owners_of(std::string_view key) {
  static const std::vector<Mixer> mixers = all_mixers();
  std::string owners;
  for (const Mixer& mixer : mixers) {
    if (!is_mixer_key(mixer, key)) continue;
    owners += (owners.empty() ? "" : ", ") + std::string(mixer_name(mixer));
  }
  return owners;
}

// Keys that another mixer would take are named as such, not merely unknown.
void refuse_other_mixers_keys(YamlMap& map, const Mixer& mixer) {
  for (const std::string& key : map.keys()) {
    if (is_mixer_key(mixer, key)) continue;
    const std::string owners = owners_of(key);
    if (owners.empty() || !map.has(key)) continue;
    map.error_at(map.where_key(key), map.path(key),
                 fmt::format("is no key of mixer {}", mixer_name(mixer)),
                 fmt::format("it belongs to {}", owners));
  }
}

// What belongs to a mixer whose name is wrong is neither right nor wrong.
void pass_over_mixer_keys(YamlMap& map) {
  for (const std::string& key : map.keys()) {
    if (!owners_of(key).empty()) map.has(key);
  }
}

void check_heads(YamlMap& map, const CrossAttentionSpec& cross) {
  const AttentionSpec& heads = cross.attention;
  if (heads.n_head > 0 && heads.n_head_kv > 0 && heads.n_head % heads.n_head_kv != 0) {
    map.error("n_head_kv",
              fmt::format("{} does not divide n_head {}", heads.n_head_kv, heads.n_head),
              "grouped-query attention needs n_head to be a multiple of n_head_kv");
  }
}

CrossAttentionSpec read_cross_attention(YamlMap& parent) {
  CrossAttentionSpec cross;
  std::optional<YamlMap> map = parent.map("cross_attention");
  if (!map) return cross;
  KeyReader reader(*map);
  visit_keys(reader, cross);
  if (!map->has("n_head")) map->integer("n_head", 1, kMostWidth);
  if (!map->has("head_dim")) map->integer("head_dim", 1, kMostWidth);
  if (!map->has("n_head_kv")) cross.attention.n_head_kv = cross.attention.n_head;
  check_heads(*map, cross);
  map->finish();
  return cross;
}

ExtraWeight read_extra(YamlMap& map) {
  ExtraWeight extra;
  extra.name = map.text("name").value_or("");
  extra.columns = map.integer("columns", 1, int64_t{1} << 40).value_or(1);
  if (map.has("rows")) extra.rows = map.integer("rows", 1, int64_t{1} << 40).value_or(1);
  if (map.has("count")) extra.count = map.integer("count", 1, kMostWidth).value_or(1);
  if (map.has("is_parameter")) extra.is_parameter = map.boolean("is_parameter").value_or(true);
  map.finish();
  return extra;
}

}  // namespace

bool LayerKeys::has(std::string_view key) const {
  return own_.has(key) || (inherits_ && around_ != nullptr && around_->has(key));
}

void LayerKeys::error(std::string_view key, std::string message, std::string hint) {
  YamlMap& map = !own_.has(key) && around_ != nullptr && around_->has(key) ? *around_ : own_;
  if (!reported_.insert(fmt::format("{}: {}", map.path(key), message)).second) return;
  map.error(key, std::move(message), std::move(hint));
}

void LayerKeys::require(std::string_view key) {
  if (!has(key)) own_.error(key, "is missing", "expected a whole number");
}

void LayerKeys::require_all(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) require(key);
}

std::vector<Mixer> all_mixers() {
  return {AttentionSpec{},       MlaSpec{},  MambaSpec{},     Mamba2Spec{}, GatedDeltaSpec{},
          LinearAttentionSpec{}, RwkvSpec{}, ShortConvSpec{}, NoMixer{}};
}

bool is_mixer_key(const Mixer& mixer, std::string_view key) {
  static const std::vector<KeyNames> tables = [] {
    std::vector<KeyNames> made;
    for (Mixer one : all_mixers()) visit_mixer_keys(made.emplace_back(), one);
    return made;
  }();
  const std::vector<std::string_view>& names = tables.at(mixer.index()).names;
  return std::ranges::find(names, key) != names.end();
}

LayerNorms default_norms(const LayerSpec& layer) {
  LayerNorms norms;
  const bool has_mixer = !std::holds_alternative<NoMixer>(layer.mixer);
  const bool has_ffn = layer.feed_forward.n_ff > 0 || layer.moe.n_expert > 0 ||
                       std::holds_alternative<RwkvSpec>(layer.mixer);
  if (!has_mixer) norms.before_mixer = NormKind::kNone;
  if (!has_ffn) norms.before_ffn = NormKind::kNone;
  return norms;
}

bool must_state_n_ff(const LayerSpec& layer) {
  const bool is_whole = std::holds_alternative<MambaSpec>(layer.mixer) ||
                        std::holds_alternative<Mamba2Spec>(layer.mixer) ||
                        std::holds_alternative<RwkvSpec>(layer.mixer);
  return !is_whole && layer.moe.n_expert == 0;
}

NormKind read_norm(YamlMap& map, std::string_view key, NormKind otherwise) {
  return map.has(key) ? read_choice(map, key, kNorms) : otherwise;
}

std::vector<ExtraWeight> read_extras(YamlMap& map, std::string_view key, int64_t most) {
  std::vector<ExtraWeight> extras;
  if (!map.has(key)) return extras;
  std::vector<YamlMap> entries = map.map_list(key);
  if (std::ssize(entries) > most) {
    map.error(key, fmt::format("has {} entries", entries.size()),
              fmt::format("at most {} are read", most));
    return extras;
  }
  for (YamlMap& entry : entries) extras.push_back(read_extra(entry));
  return extras;
}

ImageSpec read_image(YamlMap& parent) {
  ImageSpec image;
  std::optional<YamlMap> map = parent.map("image");
  if (!map) return image;
  KeyReader reader(*map);
  visit_keys(reader, image);
  if (!map->has("patch_size")) map->integer("patch_size", 1, kMostWidth);
  map->finish();
  return image;
}

void read_layer_keys(YamlMap& map, LayerSpec& layer) {
  const bool is_known = !map.has("mixer") || read_mixer_name(map, layer.mixer);
  if (!is_known) layer.mixer = NoMixer{};
  KeyReader reader(map);
  visit_mixer_keys(reader, layer.mixer);
  visit_common_keys(reader, layer);
  if (map.has("cross_attention")) layer.cross = read_cross_attention(map);
  if (map.has("layer_extras")) layer.extras = read_extras(map, "layer_extras", kMostLayerExtras);
  if (is_known) {
    refuse_other_mixers_keys(map, layer.mixer);
  } else {
    pass_over_mixer_keys(map);
  }
}

}  // namespace tidemark
