// The sentences around chart and table. Same words as the text reports of the command line.
#pragma once

#include <QString>

#include "gui/models/run_controller.h"

namespace tidemark {

enum class Mood { kGood, kBad, kProblem };

struct Banner {
  Mood mood = Mood::kProblem;
  QString headline{};
  QString details{};
};

// The verdict of the plan and how the simulated run went; or what is wrong, and where. Good only
// when it fits and completes.
Banner banner_of(const RunResult& result);

// "minicpm-2b on galaxy-s23"; empty without a plan.
QString subject_of(const RunResult& result);

// "Arena: prefill placed by first-fit-by-size: 31.5 MiB in 405 buffers; lower bound 31.5 MiB, gap 0
// B: proved optimal"
QString arena_words(const PlanReport& plan);

// Estimates of the device and notes of the plan, one a line; empty when there are none.
QString note_words(const PlanReport& plan);

// Problems as the command line prints them.
QString problem_words(const Diagnostics& problems);

// The problem that belongs beside the field of a setting; empty when there is none. A hint only
// where it is short: the box above the curve has it in full.
QString problem_of_setting(const Diagnostics& problems, std::string_view key);

}  // namespace tidemark
