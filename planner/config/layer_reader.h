// How one layer is read. Used by load_layers.cpp alone.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "planner/config/load_layers.h"

namespace tidemark {

// Where the keys of one layer stand: in the mapping of its kind, or in the one around it. A problem
// of the latter concerns many kinds and is reported once.
class LayerKeys {
 public:
  // `around` is nullptr without kinds; `reported` outlives this.
  LayerKeys(YamlMap& own, YamlMap* around, std::set<std::string>& reported)
      : own_(own), around_(around), reported_(reported) {}

  // Without what the mapping around says of another mixer.
  LayerKeys without_inherited() const {
    LayerKeys keys = *this;
    keys.inherits_ = false;
    return keys;
  }

  bool has(std::string_view key) const;
  void error(std::string_view key, std::string message, std::string hint = "");
  // Reports a key that stands nowhere.
  void require(std::string_view key);
  void require_all(std::initializer_list<std::string_view> keys);

 private:
  YamlMap& own_;
  YamlMap* around_ = nullptr;
  std::set<std::string>& reported_;
  bool inherits_ = true;
};

// Takes over the keys that `map` states.
void read_layer_keys(YamlMap& map, LayerSpec& layer);

// Fills in what follows from other keys, and checks them against each other.
void complete_layer(LayerKeys keys, bool inherits_mixer, const LayerContext& context,
                    LayerSpec& layer);

}  // namespace tidemark
