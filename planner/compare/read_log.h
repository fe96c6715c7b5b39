// Any log -> what it says of memory. Each engine's lines have a reader of their own; all read the
// whole text, and the ones that found terms decide what the log is.
//
// Lines that no reader knows are passed over. Excerpts, interleaved output and several runs in one
// file are no problem; a text without a single figure is an error that says what was looked for.
#pragma once

#include <string_view>

#include "planner/base/result.h"
#include "planner/compare/logged_run.h"

namespace tidemark {

inline constexpr Bytes kLargestLog = Bytes::of(int64_t{256} << 20);
inline constexpr size_t kMostLoggedRuns = 64;
inline constexpr size_t kMostLoggedTerms = 1024;  // of one run

// Everything found, in the order of the text; `file` is for messages.
Result<LoggedFile> read_log(std::string_view text, std::string_view file);

// One engine's lines; no runs where there are none.
LoggedFile read_llama_log(std::string_view text);   // llama.cpp, its forks and what embeds it
LoggedFile read_ollama_log(std::string_view text);  // ollama's planner and its own engine
LoggedFile read_vllm_log(std::string_view text);
LoggedFile read_whisper_log(std::string_view text);
LoggedFile read_meminfo(std::string_view text);  // Android's `dumpsys meminfo PACKAGE`

// Appends `term`, or adds to the one of that kind and device where `adds`; else replaces it.
void put_term(LoggedRun& run, LoggedTerm term, bool adds = false);

}  // namespace tidemark
