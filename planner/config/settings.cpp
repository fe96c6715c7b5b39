#include "planner/config/settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <optional>

#include "planner/config/load_common.h"
#include "planner/config/yaml_reader.h"

namespace tidemark {
namespace {

constexpr size_t kMostCombinations = 1000;
constexpr size_t kMostValue = 65536;

constexpr auto kTable = std::to_array<SettingInfo>({
    {"model", "", "MODEL", "",
     "Model: a built-in name, a YAML, GGUF or safetensors file, a config.json or its folder", true},
    {"assume_dense", "--assume-dense", "", "off",
     "Take an unknown architecture for a dense Llama-like decoder", false},
    {"transform", "--transform", "CHANGE,...", "",
     "What if: drop-layers=8, keep-heads=0.5, keep-ffn=0.75, vocab=32000, tie", false},
    {"model_scale", "--model-scale", "F", "1",
     "Shrinks the model's widths in proportion, as for a replay on a small machine", false},
    {"device", "--device", "NAME|FILE", "galaxy-s23", "Device it runs on", true},
    {"cores", "--cores", "big|little|all", "all", "Cores of the device that compute", false},
    {"threads", "-t,--threads", "N", "one for each core",
     "Threads that compute, on the fastest of those cores first", false},
    {"engine", "--engine", "NAME|FILE", "tidemark", "Engine whose memory policy counts", true},
    {"quant", "--quant", "NAME", "",
     "Format of the weights: a GGUF file type, or one format (default: as stored)", true},
    {"pure", "--pure", "", "off", "A file type's base type for every matrix, no mix", false},
    {"imatrix", "--imatrix", "", "off", "An importance matrix was used; some mixes differ", false},
    {"tensor_type", "--tensor-type", "PATTERN=TYPE,...", "",
     "Other types for the tensors whose names a pattern finds", false},
    {"embedding", "--embedding", "resident|flash", "resident",
     "Where the token embedding lives; flash reads it row by row", false},
    {"ctx_size", "-c,--ctx-size", "N", "4096 or what the model was trained for, the smaller",
     "Context cells, in total over all sequences", false},
    {"batch_size", "-b,--batch-size", "N", "2048", "Tokens submitted together", false},
    {"ubatch_size", "-ub,--ubatch-size", "N", "512",
     "Tokens per graph evaluation; sizes the compute arena", false},
    {"parallel", "-np,--parallel", "N", "1", "Sequences", false},
    {"cache_type_k", "-ctk,--cache-type-k", "TYPE", "",
     "Type of the K cache (default: the engine's)", false},
    {"cache_type_v", "-ctv,--cache-type-v", "TYPE", "",
     "Type of the V cache (default: the engine's)", false},
    {"kv_resident", "--kv-resident", "SIZE", "all of it",
     "KV cache kept in memory, the rest in a file; engines tidemark (read ahead) and mnn (mapped)",
     false},
    {"kv_unified", "--kv-unified", "", "off", "One KV cache for all sequences instead of one each",
     false},
    {"kv_growth", "--kv-growth", "whole|blocks", "whole",
     "A simulated run's cache: there from the start, or block by block as tokens come", false},
    {"kv_block", "--kv-block", "N", "16, or the engine's", "Tokens of a block of the cache", false},
    {"swa_full", "--swa-full", "", "off", "Sliding-window layers keep the whole context", false},
    {"flash_attn", "-fa,--flash-attn", "on|off|auto", "auto", "Attention without a scores tensor",
     false},
    {"n_outputs", "--n-outputs", "N", "one per sequence",
     "Rows of logits kept per pass; 0 = one for every token of the ubatch", false},
    {"activation_type", "--activation-type", "TYPE", "",
     "Type of activations (default: the engine's)", false},
    {"n_gpu_layers", "-ngl,--n-gpu-layers", "N", "0",
     "Layers on a GPU, the output counted as one more; llama.cpp only", false},
    {"cpu_moe", "-cmoe,--cpu-moe", "", "off",
     "The experts of all layers stay with the CPU; llama.cpp only", false},
    {"n_cpu_moe", "-ncmoe,--n-cpu-moe", "N", "0",
     "The experts of the first N layers stay with the CPU; llama.cpp only", false},
    {"override_tensor", "-ot,--override-tensor", "PATTERN=BUFFER,...", "",
     "Weights whose names a pattern finds go to that buffer: CPU, GPU0; llama.cpp only", false},
    {"tensor_split", "-ts,--tensor-split", "N0,N1,...", "one device",
     "Share of the layers of each device; llama.cpp only", false},
    {"split_mode", "-sm,--split-mode", "none|layer", "layer",
     "One device, or whole layers over all of them; llama.cpp only", false},
    {"main_gpu", "-mg,--main-gpu", "N", "0", "The device of split mode none; llama.cpp only",
     false},
    {"no_op_offload", "--no-op-offload", "", "off",
     "Large batches of the CPU's layers stay with the CPU; llama.cpp only", false},
    {"no_mmap", "--no-mmap", "", "off",
     "Read the weights instead of mapping the file; llama.cpp only", false},
    {"mlock", "--mlock", "", "off", "Pages of the mapped file may not be dropped; llama.cpp only",
     false},
    {"repack", "--repack", "none|arm|avx2|avx512", "the device's",
     "Processor whose kernels want some weights interleaved, in a buffer of their own; llama.cpp "
     "only",
     false},
    {"no_repack", "--no-repack", "", "off", "Leave them as they are; llama.cpp only", false},
    {"mmproj", "--mmproj", "auto|FILE", "",
     "The projector is loaded as well: of the model itself in f16, or of a file; llama.cpp only",
     false},
    {"no_mmproj_offload", "--no-mmproj-offload", "", "off",
     "The projector stays with the CPU; llama.cpp only", false},
    {"model_draft", "-md,--model-draft", "MODEL", "",
     "A model that guesses tokens ahead is loaded as well; llama.cpp only", false},
    {"quant_draft", "--quant-draft", "NAME", "as quant", "Format of the draft model's weights",
     false},
    {"ctx_size_draft", "-cd,--ctx-size-draft", "N", "one sequence's",
     "Context cells of the draft model", false},
    {"cache_type_k_draft", "-ctkd,--cache-type-k-draft", "TYPE", "f16",
     "Type of the draft model's K cache", false},
    {"cache_type_v_draft", "-ctvd,--cache-type-v-draft", "TYPE", "f16",
     "Type of the draft model's V cache", false},
    {"n_gpu_layers_draft", "-ngld,--n-gpu-layers-draft", "N", "all if any of the model is",
     "Layers of the draft model on a GPU", false},
    {"strategy", "--strategy", "NAME", "resident", "How weights are loaded", true},
    {"chunk", "--chunk", "N|1/N", "1",
     "Layers of a chunk, or parts of a layer; strategy chunked only", false},
    {"read_size", "--read-size", "SIZE", "a whole weight unit", "Bytes of one read request", false},
    {"read_depth", "--read-depth", "N", "1", "Read requests kept in flight", false},
    {"read_order", "--read-order", "sequential|random", "sequential",
     "Where the next request lies in the file", false},
    {"initialise", "--initialise", "RATE", "no time",
     "Bytes a second at which what was read is parsed, checked, unpacked", false},
    {"load_overlap", "--load-overlap", "on|off", "on",
     "Read on while what was read before is initialised", false},
    {"page_cache", "--page-cache", "cold|warm", "cold",
     "Does the weight file lie in the system's page cache when the run begins?", false},
    {"prefetch", "--prefetch", "N", "0",
     "Weight units asked for ahead of the one that computes; strategies mmap and block-cache",
     false},
    {"split", "--split", "N|SIZE", "one file",
     "Files of whole tensors that hold the weights: so many, or of at most that size", false},
    {"processes", "--processes", "N", "1",
     "Processes that map the one weight file, one after the other; strategy mmap only", false},
    {"expert_cache", "--expert-cache", "N|SIZE", "",
     "Experts kept: N of each layer, or SIZE in all; the others are read when a token needs them",
     false},
    {"hot_rows", "--hot-rows", "RATIO", "",
     "Feed-forward neurons kept; of the others each token reads those it needs", false},
    {"cold_rows", "--cold-rows", "RATIO", "10 %",
     "Share of the others that a token reads; with hot_rows only", false},
    {"bundle", "--bundle", "on|off", "on",
     "A neuron's rows and column lie side by side and are one request; with hot_rows only", false},
    {"offload", "--offload", "N,N,N,N,N,N", "",
     "Percent of weights, KV cache and hidden states on the accelerator and in memory, each as a "
     "pair; the rest in storage",
     false},
    {"batches", "--batches", "N", "1",
     "Batches that a layer serves before the next one is moved; with offload only", false},
    {"planner", "--planner", "NAME", "best-of", "How the arena is planned", true},
    {"op_order", "--op-order", "program|memory", "program",
     "Order of the ops: as written, or the one that needs least memory", true},
    {"budget", "--budget", "SIZE", "", "Limit that replaces the device's", false},
    {"enforce", "--enforce", "", "off",
     "The system's rules end a simulated run: jetsam, lmkd, Memory Limiter, OOM killer, cgroup",
     false},
    {"requests", "--requests", "FILE.csv|N:RATE", "",
     "Requests served together: a trace, or N that come at RATE a second, drawn about the means "
     "prompt and generate",
     false},
    {"kv_pool", "--kv-pool", "SIZE", "what the limit leaves", "KV cache that the requests share",
     false},
    {"adapt", "--adapt", "ACTION,...", "",
     "Given up in this order when memory nears the limit: drop-prefetch, shrink-cache, "
     "shrink-ubatch, shorten-context, spill-kv",
     false},
    {"margin", "--margin", "RATIO", "10 %", "Share of the available memory kept free", false},
    {"prompt", "--prompt", "N", "128", "Tokens of the prompt", false},
    {"generate", "--generate", "N", "32", "Tokens to generate", false},
    {"seed", "--seed", "N", "0", "Seed of everything random", false},
    {"cache_size", "--cache-size", "SIZE", "what the limit leaves", "Capacity of the block cache",
     false},
    {"cache_policy", "--cache-policy", "NAME", "lru", "What the block cache evicts", true},
    {"pinned", "--pinned", "UNIT,...", "", "Weight units the block cache keeps once loaded", false},
    {"trace", "", "UNIT,...", "",
     "Weight units to access in order, instead of the model's own passes", false},
});

std::string environment_name(std::string_view key) {
  std::string name = "TIDEMARK_";
  for (const char c : key) name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace

std::span<const SettingInfo> settings_table() { return kTable; }

const SettingInfo* find_setting(std::string_view key) {
  const auto* found = std::find_if(kTable.begin(), kTable.end(),
                                   [&](const SettingInfo& info) { return info.key == key; });
  return found == kTable.end() ? nullptr : found;
}

std::vector<std::string> setting_keys() {
  std::vector<std::string> keys;
  for (const SettingInfo& info : kTable) keys.emplace_back(info.key);
  return keys;
}

std::string setting_hint(std::string_view wrong_key) {
  const auto near = did_you_mean(wrong_key, setting_keys());
  return near ? fmt::format("did you mean {}?", in_quotes(*near))
              : "`tidemark list settings` shows them all";
}

SettingMap settings_from_environment() {
  SettingMap settings;
  for (const SettingInfo& info : kTable) {
    const std::string name = environment_name(info.key);
    const char* value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') continue;
    settings[std::string(info.key)] = {.text = value, .origin = "environment " + name};
  }
  return settings;
}

Result<SettingMap> load_scenario_file(std::string_view name_or_path) {
  const Result<std::filesystem::path> path = find_config(ConfigKind::kScenario, name_or_path);
  if (!path) return path.diagnostics();
  const Result<std::string> text = read_config(*path);
  if (!text) return text.diagnostics();
  Result<SettingMap> settings = parse_scenario(path->string(), *text);
  if (!settings || is_config_path(name_or_path)) return settings;
  // A built-in scenario is told by its name: the same words in every checkout.
  SettingMap named = std::move(settings).value();
  for (auto& [key, setting] : named) {
    setting.origin = fmt::format("scenario {}:{}", name_or_path, setting.where.line);
  }
  return named;
}

Result<SettingMap> parse_scenario(const std::string& file, std::string_view text) {
  YamlDocument document(file, text);
  std::optional<YamlMap> map = document.root();
  if (!map || !is_schema(*map, "scenario/1")) return document.diagnostics();
  SettingMap settings;
  for (auto& [key, value] : map->all_texts()) {
    if (key == "schema" || key == "description") continue;
    if (find_setting(key) == nullptr) {
      map->error_at(map->where_key(key), map->path(key), "unknown setting", setting_hint(key));
      continue;
    }
    if (value.text.size() > kMostValue) {
      map->error(key, fmt::format("is longer than {} bytes", kMostValue));
      continue;
    }
    settings[key] = {.text = std::move(value.text),
                     .origin = fmt::format("scenario {}:{}", file, value.where.line),
                     .where = value.where};
  }
  if (has_errors(document.diagnostics())) return document.diagnostics();
  return settings;
}

Result<SettingMap> setting_from_assignment(std::string_view assignment) {
  const size_t equals = assignment.find('=');
  const std::string key(assignment.substr(0, std::min(equals, assignment.size())));
  if (equals == std::string_view::npos || equals + 1 == assignment.size()) {
    return one_error("--set", fmt::format("{} is not key=value", in_quotes(assignment)),
                     "write --set ctx_size=8192");
  }
  if (find_setting(key) == nullptr) {
    return one_error("--set", fmt::format("{} is not a setting", in_quotes(key)),
                     setting_hint(key));
  }
  return SettingMap{
      {key, {.text = std::string(assignment.substr(equals + 1)), .origin = "flag --set " + key}}};
}

SettingMap merge(SettingMap weaker, const SettingMap& stronger) {
  for (const auto& [key, setting] : stronger) weaker[key] = setting;
  return weaker;
}

Result<std::vector<SettingMap>> expand_lists(const SettingMap& settings) {
  std::vector<SettingMap> runs{settings};
  Diagnostics problems;
  for (const SettingInfo& info : kTable) {
    const auto found = settings.find(info.key);
    if (!info.takes_list || found == settings.end()) continue;
    const auto values = split_list(found->second.text);
    if (!values) {
      problems.push_back(
          setting_problem(info.key, found->second,
                          fmt::format("{} has an empty entry", in_quotes(found->second.text)),
                          "separate the values by single commas"));
      continue;
    }
    if (runs.size() * values->size() > kMostCombinations) {
      problems.push_back(
          setting_problem(info.key, found->second,
                          fmt::format("makes {} combinations", runs.size() * values->size()),
                          fmt::format("at most {} are run at once", kMostCombinations)));
      continue;
    }
    std::vector<SettingMap> longer;
    for (const SettingMap& run : runs) {
      for (const std::string& value : *values) {
        longer.push_back(run);
        longer.back()[std::string(info.key)].text = value;
      }
    }
    runs = std::move(longer);
  }
  if (has_errors(problems)) return problems;
  return runs;
}

Diagnostic setting_problem(std::string_view key, const SettingText& setting, std::string message,
                           std::string hint) {
  // "flag --ctx-size" and "environment TIDEMARK_CTX_SIZE" name the place themselves.
  const size_t space = setting.origin.find(' ');
  const bool in_file = !setting.where.file.empty();
  const bool named = !in_file && space != std::string::npos;
  return {.where = setting.where,
          .path = named ? setting.origin.substr(space + 1) : std::string(key),
          .message = std::move(message),
          .hint = std::move(hint)};
}

}  // namespace tidemark
