// A grid of scenarios: which settings vary over which values. The last axis runs fastest.
//
//   quant: int4,int8   ctx_size: 512-2048*2        2 x 3 = 6 scenarios
//   0 int4 512   1 int4 1024   2 int4 2048   3 int8 512   4 int8 1024   5 int8 2048
//   Checked by GridTest.WorkedExample.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "planner/base/result.h"
#include "planner/config/settings.h"
#include "sim/sweep/axis_text.h"

namespace tidemark {

// Settings as written, in the order in which they become axes; each key once.
using GridTexts = std::vector<std::pair<std::string, SettingText>>;

// Replaces texts in place; keys that are new go behind, in the order of the settings table.
GridTexts overlay(GridTexts weaker, const SettingMap& stronger);

struct GridAxis {
  std::string key{};
  std::vector<std::string> values{};
  SettingText source{};  // where the values were written
};

struct Grid {
  SettingMap fixed{};            // settings of one value
  std::vector<GridAxis> axes{};  // settings of several

  int64_t count() const;
  SettingMap at(int64_t index) const;  // 0 <= index < count()
};

// Any key of the settings table; a text of several values makes an axis. All problems at once,
// among them a grid of more than kMostScenarios.
Result<Grid> make_grid(const GridTexts& texts);

AxisKind axis_kind(const SettingInfo& setting);

// An error about one text of a grid, at its place in the file or under its flag.
Diagnostic grid_error(const std::string& key, const SettingText& text, const UnitError& error);

}  // namespace tidemark
