// Reads the keys of one object of a config.json: with ranges, aliases and the defaults of its
// class, and remembers which keys were looked at.
//
//   {"model_type": "llama", "hidden_size": 64}, class "LlamaConfig":
//     integer({"hidden_size", "n_embd"}, kWidths)        64
//     integer({"num_hidden_layers"}, kLayers, 32)        32, recorded as LlamaConfig's default
//     boolean({"tie_word_embeddings"}, false)            false, recorded
//   Checked by ConfigReaderTest.TheExampleOfTheHeader.
//
// A wrong value is a problem in the shared notes and reads as the least that is allowed, so that
// one pass over a file finds all of its problems. Null reads as "not said".
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "planner/base/result.h"
#include "planner/import/hf/config_value.h"
#include "planner/import/imported_model.h"

namespace tidemark {

struct IntegerRange {
  int64_t least = 0;
  int64_t most = 0;
};

inline constexpr IntegerRange kWidths{1, int64_t{1} << 24};
inline constexpr IntegerRange kWidthsOrNone{0, int64_t{1} << 24};
inline constexpr IntegerRange kHeads{1, int64_t{1} << 16};
inline constexpr IntegerRange kLayers{1, 1000};
inline constexpr IntegerRange kLayersOrNone{0, 1000};
inline constexpr IntegerRange kVocab{1, int64_t{1} << 26};
inline constexpr IntegerRange kVocabOrNone{0, int64_t{1} << 26};
inline constexpr IntegerRange kExperts{1, 4096};
inline constexpr IntegerRange kExpertsOrNone{0, 4096};
inline constexpr IntegerRange kTokens{1, int64_t{1} << 40};

// What all readers of one file share.
struct ConfigNotes {
  std::string file{};
  std::string_view text{};  // the whole file, for positions
  ImportOptions options{};
  std::vector<std::string> architectures{};
  Diagnostics problems{};
  std::vector<AppliedDefault> defaults{};
  std::vector<std::string> warnings{};
  std::set<std::string> read{};  // paths of the keys that were looked at or passed over
  // Facts of the text model that no width of the spec holds, for buffers in the files.
  int64_t rotary_dim = 0;    // features of a head that turn; 0 = none
  bool states_dtype = true;  // does the file give its dtype?
  bool has_masks = false;    // the class stores its causal mask with the weights
};

using ConfigKeys = std::initializer_list<std::string_view>;

class ConfigReader {
 public:
  // `object` must outlive the reader. `config_class` is named where a default comes from.
  ConfigReader(ConfigNotes& notes, const ConfigValue& object, std::string path = "",
               std::string config_class = "");

  // Is any of the keys there and not null? Does not count as reading it.
  bool has(ConfigKeys keys) const;
  // Even if it is null.
  bool mentions(std::string_view key) const { return object_->find(key) != nullptr; }

  // The first of the keys that is there. Without a default its absence is a problem.
  int64_t integer(ConfigKeys keys, IntegerRange range);
  int64_t integer(ConfigKeys keys, IntegerRange range, int64_t otherwise,
                  std::string_view why = "");
  std::optional<int64_t> optional_integer(ConfigKeys keys, IntegerRange range);
  bool boolean(ConfigKeys keys, bool otherwise, std::string_view why = "");
  std::optional<bool> optional_boolean(ConfigKeys keys);
  std::string text(ConfigKeys keys, std::string_view otherwise, std::string_view why = "");
  std::optional<std::string> optional_text(ConfigKeys keys);
  std::optional<double> optional_number(ConfigKeys keys);
  // Empty when it is not there. At most kLayers.most values.
  std::vector<int64_t> integers(std::string_view key, IntegerRange range);
  std::vector<std::string> texts(std::string_view key);
  // A nested object; nothing when it is not there.
  std::optional<ConfigReader> object(std::string_view key);

  // Known to the class, and of no effect on sizes.
  void pass_over(ConfigKeys keys);
  void refuse(std::string_view key, std::string message, std::string hint = "");
  void warn(std::string sentence) { notes_->warnings.push_back(std::move(sentence)); }
  void record(std::string_view key, std::string value, std::string_view why = "");

  // The object that this one is nested in; nullptr at the top.
  const ConfigReader* parent() const { return parent_; }
  void set_parent(const ConfigReader* parent) { parent_ = parent; }
  const std::string& config_class() const { return class_; }
  void set_config_class(std::string_view name) { class_ = name; }
  const std::string& path() const { return path_; }
  ConfigNotes& notes() { return *notes_; }
  const ConfigValue& value() const { return *object_; }
  bool ok() const { return !has_errors(notes_->problems); }

 private:
  std::string path_of(std::string_view key) const;
  // The first of the keys that is there and not null; all of them count as read.
  const ConfigValue* take(ConfigKeys keys, std::string_view* found = nullptr);
  int64_t checked(std::string_view key, const ConfigValue& value, IntegerRange range);
  void problem(std::string_view key, const ConfigValue& at, std::string message,
               std::string hint = "");

  ConfigNotes* notes_;
  const ConfigValue* object_;
  std::string path_;
  std::string class_;
  const ConfigReader* parent_ = nullptr;
};

// Keys that change sizes wherever they stand, and that nobody has read: each is a problem, or with
// assume_dense a warning. `object` is the whole file.
void refuse_unread_sizes(ConfigNotes& notes, const ConfigValue& object);

}  // namespace tidemark
