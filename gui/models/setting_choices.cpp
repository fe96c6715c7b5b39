#include "gui/models/setting_choices.h"

#include <algorithm>

#include "planner/alloc/planners.h"
#include "planner/capacity/scenario.h"
#include "planner/config/load.h"
#include "planner/config/load_common.h"
#include "planner/config/settings.h"
#include "planner/model/dtype.h"

namespace tidemark {
namespace {

constexpr int kStopsPerOctave = 4;
constexpr int kOctaves = 13;  // 128 to 1,048,576
constexpr int64_t kFirstContext = 128;

QString text_of(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QStringList config_names(ConfigKind kind) {
  QStringList names;
  for (const std::string& name : list_configs(kind)) names.push_back(text_of(name));
  return names;
}

QStringList format_names(DTypeUse use) {
  QStringList names;
  for (const Format& format : formats()) {
    const bool allowed = std::holds_alternative<DType>(parse_dtype_for(use, format.name));
    if (format.selectable && allowed) names.push_back(text_of(format.name));
  }
  return names;
}

QStringList quantization_choices() {
  QStringList names;
  for (const std::string& name : quantization_names()) names.push_back(text_of(name));
  return names;
}

// "on" and "off" of a setting that is a flag; the words of "cold|warm", not those of "N|SIZE".
QStringList words_of_help(const SettingInfo& info) {
  const QString value = info.value.empty() ? QStringLiteral("on|off") : text_of(info.value);
  const bool lists = value.contains(QLatin1Char('|'));
  const bool names_kinds =
      std::any_of(value.begin(), value.end(), [](QChar c) { return c.isUpper(); });
  if (!lists || names_kinds) return {};
  QStringList words = value.split(QLatin1Char('|'));
  const QString fallback = text_of(info.fallback);
  if (words.removeOne(fallback)) words.push_back(fallback);
  return words;
}

}  // namespace

QStringList setting_choices(std::string_view key) {
  if (key == "model") return config_names(ConfigKind::kModel);
  if (key == "device") return config_names(ConfigKind::kDevice);
  if (key == "engine") return config_names(ConfigKind::kEngine);
  if (key == "quant") return quantization_choices();
  if (key == "cache_type_k" || key == "cache_type_v") return format_names(DTypeUse::kCache);
  if (key == "strategy") {
    QStringList names;
    for (const StrategyKind kind : strategies()) names << text_of(name_of(kind));
    return names;
  }
  if (key == "planner") {
    QStringList names;
    for (const PlannerInfo& planner : planners()) names << text_of(planner.name);
    return names;
  }
  const SettingInfo* info = find_setting(key);
  return info == nullptr ? QStringList() : words_of_help(*info);
}

QString example_scenario() {
  const QStringList names = config_names(ConfigKind::kScenario);
  const QString wanted = QStringLiteral("minicpm-2b-phone");
  if (names.contains(wanted)) return wanted;
  return names.isEmpty() ? QString() : names.front();
}

int last_context_position() { return kOctaves * kStopsPerOctave; }

int64_t context_at(int position) {
  const int held = std::clamp(position, 0, last_context_position());
  const int64_t octave = kFirstContext << (held / kStopsPerOctave);
  return octave + octave / kStopsPerOctave * (held % kStopsPerOctave);
}

int context_position(int64_t n_ctx) {
  int position = 0;
  while (position < last_context_position() && context_at(position + 1) <= n_ctx) ++position;
  return position;
}

}  // namespace tidemark
