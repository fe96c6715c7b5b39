// What the fields of the window offer.
#pragma once

#include <QStringList>
#include <cstdint>
#include <string_view>

namespace tidemark {

// The values that `key` may take, in the order in which `tidemark list` names them, or in which its
// help does, what is not the default first; empty for a setting that is a number, a size or a text.
//   "planner"  ->  best-of, ...     "page_cache", help "cold|warm"  ->  warm, cold
QStringList setting_choices(std::string_view key);

// The built-in example: a scenario that is always there, or "" when the configurations are not
// found.
QString example_scenario();

// The context slider has four stops an octave, from 128 to 1,048,576 cells:
//   position 0 1 2 3 4 5  ->  128 160 192 224 256 320     Checked by SettingChoices.ContextStops.
int last_context_position();
int64_t context_at(int position);
// The last stop that is not above `n_ctx`; 0 for less than the first.
int context_position(int64_t n_ctx);

}  // namespace tidemark
