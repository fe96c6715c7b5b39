#include "planner/compare/logged_run.h"

#include <algorithm>
#include <array>

#include "planner/base/check.h"

namespace tidemark {
namespace {

struct KindRow {
  TermKind kind = TermKind::kModel;
  std::string_view key{};
  std::string_view name{};
  bool counts = false;
};

constexpr std::array kKinds{
    KindRow{TermKind::kModel, "model_buffer", "model buffer"},
    KindRow{TermKind::kRepacked, "repacked_buffer", "repacked buffer"},
    KindRow{TermKind::kKv, "kv_cache", "KV cache"},
    KindRow{TermKind::kKvTotal, "kv_cache_total", "KV cache, all"},
    KindRow{TermKind::kKvFull, "kv_cache_full", "KV cache, full layers"},
    KindRow{TermKind::kKvWindow, "kv_cache_window", "KV cache, window layers"},
    KindRow{TermKind::kWindowCells, "window_cells", "cells of window layers", true},
    KindRow{TermKind::kRecurrent, "recurrent_state", "recurrent state"},
    KindRow{TermKind::kRecurrentAll, "recurrent_state_total", "recurrent state, all"},
    KindRow{TermKind::kContext, "context", "context"},
    KindRow{TermKind::kOutput, "output_buffer", "output buffer"},
    KindRow{TermKind::kInput, "input_buffer", "input buffer"},
    KindRow{TermKind::kCompute, "compute_buffer", "compute buffer"},
    KindRow{TermKind::kGraphNodes, "graph_nodes", "graph nodes", true},
    KindRow{TermKind::kFileSize, "file_size", "size of all tensors"},
    KindRow{TermKind::kWeights, "weights", "weights, planned"},
    KindRow{TermKind::kRepeating, "weights_repeating", "weights of layers, planned"},
    KindRow{TermKind::kHead, "weights_nonrepeating", "weights of head, planned"},
    KindRow{TermKind::kPlannedKv, "kv_cache_planned", "KV cache, planned"},
    KindRow{TermKind::kCacheTokens, "cache_tokens", "tokens in the cache", true},
    KindRow{TermKind::kConcurrency, "concurrency_hundredths", "requests at once, 1/100", true},
    KindRow{TermKind::kCacheNeeded, "cache_needed", "cache of one request"},
    KindRow{TermKind::kCacheBytes, "cache_available", "cache, available"},
    KindRow{TermKind::kCross, "cross_cache", "cross-attention cache"},
    KindRow{TermKind::kPadding, "padding", "padding cache"},
    KindRow{TermKind::kConvolution, "graph_convolution", "compute buffer, conv"},
    KindRow{TermKind::kEncode, "graph_encode", "compute buffer, encode"},
    KindRow{TermKind::kCrossGraph, "graph_cross", "compute buffer, cross"},
    KindRow{TermKind::kDecode, "graph_decode", "compute buffer, decode"},
    KindRow{TermKind::kFileBacked, "file_backed", "mapped files"},
    KindRow{TermKind::kPrivate, "private", "private memory"},
    KindRow{TermKind::kGraphics, "graphics", "graphics driver"},
    KindRow{TermKind::kResident, "resident", "resident, all"}};

const KindRow& row_of(TermKind kind) {
  const auto found = std::ranges::find(kKinds, kind, &KindRow::kind);
  check(found != kKinds.end(), "every kind of term has a name");
  return *found;
}

}  // namespace

std::string_view name_of(LogEngine engine) {
  constexpr std::array<std::string_view, 6> kNames{"llama.cpp", "ik_llama.cpp", "ollama",
                                                   "vLLM",      "whisper.cpp",  "Android meminfo"};
  return kNames[static_cast<size_t>(engine)];
}

std::string_view name_of(TermKind kind) { return row_of(kind).name; }
std::string_view key_of(TermKind kind) { return row_of(kind).key; }
bool counts_something(TermKind kind) { return row_of(kind).counts; }

std::string_view name_of(LlamaWording wording) {
  constexpr std::array<std::string_view, 9> kNames{"unknown",     "2023",         "early 2024",
                                                   "2024",        "January 2025", "spring 2025",
                                                   "summer 2025", "autumn 2025",  "2026"};
  return kNames[static_cast<size_t>(wording)];
}

std::optional<int64_t> LoggedFacts::number(std::string_view key) const {
  const auto found = numbers.find(key);
  if (found == numbers.end() || found->second.empty()) return std::nullopt;
  return found->second.front();
}

std::string_view LoggedFacts::word(std::string_view key) const {
  const auto found = words.find(key);
  return found == words.end() ? std::string_view() : std::string_view(found->second);
}

const LoggedTerm* LoggedRun::find(TermKind kind) const {
  const auto found = std::ranges::find(terms, kind, &LoggedTerm::kind);
  return found == terms.end() ? nullptr : &*found;
}

}  // namespace tidemark
