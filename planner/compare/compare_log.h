// A logged run against what is predicted for it, term by term.
//
//   logged 258.50 MiB, predicted 271,056,896 B: within half of the last printed place, no reason
//   logged 280.01, predicted 286.01 MiB (2.1 %): over; "builds before August 2025 store by no
//   index" predicts 280.01, so that is the likely reason
//   Checked by CompareLogTest.WorkedInTheHeader.
//
// A reason is named only when predicting under it meets the logged figure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "planner/base/result.h"
#include "planner/compare/logged_model.h"
#include "planner/compare/logged_run.h"

namespace tidemark {

struct ComparedTerm {
  TermKind kind = TermKind::kModel;
  std::string device{};
  LoggedFigure logged{};
  std::optional<int64_t> predicted{};  // in the unit of the logged figure
  bool judged = true;                  // false: holds more than what is predicted
  bool over = false;                   // judged, predicted, and off by more than is allowed
  std::string reason{};                // of the difference, or why nothing is predicted
  int64_t line = 0;

  int64_t difference() const { return predicted ? logged.value - *predicted : 0; }
};

struct ComparedSetting {
  std::string key{};
  std::string value{};
  std::string origin{};  // "log", "flag", or why it was assumed
};

struct Comparison {
  LogEngine engine = LogEngine::kLlamaCpp;
  std::string age{};  // "build 6209", "wording of summer 2025"
  std::string model{};
  std::string model_origin{};
  std::string weights_origin{};
  std::vector<ComparedSetting> settings{};
  std::vector<std::string> missing{};  // settings that nothing is known of
  std::vector<ComparedTerm> terms{};
  std::vector<std::string> notes{};

  bool any_over() const;
  int64_t compared() const;  // terms with a prediction that is judged
};

struct CompareOptions {
  int64_t tolerance_per_mille = 20;  // of the logged figure, beside its rounding
  std::optional<ModelSpec> model{};  // instead of the log's
  std::optional<WeightsInventory> weights{};
  LoggedFacts settings{};  // instead of the log's, by its keys: "n_ctx", "flash_attn"
  std::span<const ModelSpec> known{};
};

// Refused when the log names no model and none is given.
Result<Comparison> compare_run(const LoggedRun& run, const CompareOptions& options);

// Is `predicted` as good as `logged`, whose last place was rounded?
bool within(const LoggedFigure& logged, int64_t predicted, int64_t tolerance_per_mille);

}  // namespace tidemark
