// What a log says of one run, whatever engine wrote it: facts of the model, settings, and the
// memory it prints, each figure with the precision it was printed in.
//
//   "llama_kv_cache_init:      CUDA0 KV buffer size =    64.00 MiB"
//     a term {kKv, "CUDA0", 67,108,864 +- 5,243 B}: 64.00 stands for anything from 63.995 to 64.005
//   "print_info: n_head_kv        = [8, 8, 4]"     numbers["n_head_kv"] = {8, 8, 4}
//   "llama_context: flash_attn    = auto"          words["flash_attn"] = "auto"
//   Checked by LlamaLogTest.WorkedInTheHeader.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/model/model_spec.h"

namespace tidemark {

enum class LogEngine { kLlamaCpp, kIkLlamaCpp, kOllama, kVllm, kWhisperCpp, kMeminfo };
std::string_view name_of(LogEngine engine);  // "llama.cpp", "ik_llama.cpp", "ollama", ...

// What a figure is of. Bytes, unless the comment says otherwise.
enum class TermKind {
  kModel,         // weights on a device
  kRepacked,      // of which rearranged for a processor's kernels, in a buffer of its own
  kKv,            // KV cache on a device
  kKvTotal,       // of all devices
  kKvFull,        // layers that see everything
  kKvWindow,      // layers that see a window
  kWindowCells,   // a count
  kRecurrent,     // on a device
  kRecurrentAll,  // of all devices
  kContext,       // KV cache and recurrent state of a device in one figure
  kOutput,
  kInput,
  kCompute,
  kGraphNodes,   // a count
  kFileSize,     // of all tensors
  kWeights,      // ollama's planner, from here on
  kRepeating,    // of which in the layers
  kHead,         // of which outside of them
  kPlannedKv,    //
  kCacheTokens,  // vLLM, from here on: a count
  kConcurrency,  // requests of full length, in hundredths
  kCacheNeeded,  // for one request of full length
  kCacheBytes,   // available
  kCross,        // whisper.cpp: keys and values of the encoder's states
  kPadding,      // whisper.cpp: a scratch that flash attention pads into
  kConvolution,  // whisper.cpp: graphs
  kEncode,
  kCrossGraph,
  kDecode,
  kFileBacked,  // Android: mapped files
  kPrivate,     // Android: memory of the process alone
  kGraphics,    // Android: of its driver
  kResident     // Android: all of it
};
std::string_view name_of(TermKind kind);  // "KV cache", "compute buffer", ...
std::string_view key_of(TermKind kind);   // "kv_cache", "compute_buffer", ...
bool counts_something(TermKind kind);     // a number, no bytes

// A printed figure: what it says, and half a unit of its last place.
struct LoggedFigure {
  int64_t value = 0;
  int64_t rounding = 0;
  bool operator==(const LoggedFigure&) const = default;
};

// "device" of what ollama's planner sets aside for the graph.
inline constexpr std::string_view kOllamaFullGraph = "planned, full offload";
inline constexpr std::string_view kOllamaPartialGraph = "planned, partial offload";

struct LoggedTerm {
  TermKind kind = TermKind::kModel;
  std::string device{};  // as printed: "CUDA0", "CPU_Mapped"; empty = all together
  LoggedFigure figure{};
  int64_t line = 0;  // 1-based
};

struct LoggedFacts {
  std::map<std::string, std::vector<int64_t>, std::less<>> numbers{};
  std::map<std::string, std::string, std::less<>> words{};

  // The first of the numbers; nothing if the log does not say.
  std::optional<int64_t> number(std::string_view key) const;
  std::string_view word(std::string_view key) const;  // empty if the log does not say
};

// How an engine words its lines, which tells its age where no build number is printed.
//   Source: the wording of llama.cpp's source over time; data of public logs.
enum class LlamaWording {
  kUnknown,
  k2023,         // one figure for all: "compute buffer total size"
  kEarly2024,    // buffers by device, an input buffer, no output buffer
  k2024,         // llama_new_context_with_model, output buffer (from March 2024)
  kJanuary2025,  // llama_init_from_model, print_info
  kSpring2025,   // llama_context, "KV self size"
  kSummer2025,   // llama_kv_cache_unified: size = (from July)
  kAutumn2025,   // llama_kv_cache: size =
  k2026          // sched_reserve, n_ctx_seq
};
std::string_view name_of(LlamaWording wording);

// One model in one context.
struct LoggedRun {
  LogEngine engine = LogEngine::kLlamaCpp;
  LlamaWording wording = LlamaWording::kUnknown;
  std::optional<int64_t> build{};  // llama.cpp's build number
  LoggedFacts model{};
  LoggedFacts settings{};
  std::map<std::string, int64_t, std::less<>> tensor_types{};  // how many of each, "q4_K"
  std::vector<StoredTensor> tensors{};                         // where the log lists them
  std::vector<std::string> layer_devices{};  // likewise; the last is that of the head
  std::vector<LoggedTerm> terms{};

  const LoggedTerm* find(TermKind kind) const;  // the first
};

// Several where a log holds a draft model, a second context, or a second load.
struct LoggedFile {
  std::vector<LoggedRun> runs{};
  std::vector<std::string> notes{};
};

}  // namespace tidemark
