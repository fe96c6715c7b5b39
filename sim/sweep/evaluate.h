// One grid point -> one row, in two steps: what it is (cheap), and what comes of it. Pure functions
// of the settings and of the files these name; any thread may call them.
#pragma once

#include <optional>
#include <string>

#include "planner/config/settings.h"
#include "sim/sweep/row.h"

namespace tidemark {

struct PreparedScenario {
  SettingMap written{};
  std::optional<Scenario> scenario{};  // none when the settings do not resolve
  Diagnostics problems{};              // then why
  std::string canonical{};             // canonical_text(), or unresolved_text() without a scenario
};

PreparedScenario prepare_scenario(SettingMap settings);

// Plans and simulates. What cannot be resolved, planned or simulated becomes a failed row with the
// terms known so far. The id is left empty.
SweepRow compute_row(const PreparedScenario& prepared);

}  // namespace tidemark
