#include "planner/compare/read_log.h"

#include <algorithm>
#include <iterator>

#include "planner/base/checked.h"

namespace tidemark {
namespace {

void append(LoggedFile& all, LoggedFile part) {
  std::ranges::move(part.runs, std::back_inserter(all.runs));
  std::ranges::move(part.notes, std::back_inserter(all.notes));
}

bool says_something(const LoggedRun& run) { return !run.terms.empty(); }

}  // namespace

void put_term(LoggedRun& run, LoggedTerm term, bool adds) {
  const auto same = std::ranges::find_if(run.terms, [&](const LoggedTerm& other) {
    return other.kind == term.kind && other.device == term.device;
  });
  if (same == run.terms.end()) {
    if (run.terms.size() < kMostLoggedTerms) run.terms.push_back(std::move(term));
    return;
  }
  if (!adds) {
    same->figure = term.figure;
    return;
  }
  const int64_t value = same->figure.value + term.figure.value;  // each below 2^61
  if (value < (int64_t{1} << 61)) {
    same->figure = {value, same->figure.rounding + term.figure.rounding};
  }
}

Result<LoggedFile> read_log(std::string_view text, std::string_view file) {
  LoggedFile all = read_llama_log(text);
  append(all, read_ollama_log(text));
  append(all, read_vllm_log(text));
  append(all, read_whisper_log(text));
  append(all, read_meminfo(text));
  const auto [first, last] =
      std::ranges::remove_if(all.runs, [](const LoggedRun& run) { return !says_something(run); });
  all.runs.erase(first, last);
  if (all.runs.empty()) {
    return Diagnostics{{.where = {.file = std::string(file)},
                        .message = "no line of it states memory in a way that is known",
                        .hint =
                            "paste the start-up log of llama.cpp, ollama, vLLM or whisper.cpp, or "
                            "`adb shell dumpsys meminfo PACKAGE`"}};
  }
  if (all.runs.size() > kMostLoggedRuns) {
    all.notes.push_back("Only the first 64 runs of the log are compared.");
    all.runs.resize(kMostLoggedRuns);
  }
  return all;
}

}  // namespace tidemark
