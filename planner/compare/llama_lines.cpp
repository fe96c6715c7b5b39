#include "planner/compare/llama_lines.h"

#include <algorithm>
#include <array>

#include "planner/compare/log_text.h"
#include "planner/compare/read_log.h"

namespace tidemark {
namespace {

constexpr size_t kMostKeys = 1024;
constexpr size_t kMostTensors = 65'536;
constexpr size_t kMostTypes = 64;

struct Rename {
  std::string_view from{};
  std::string_view to{};
};

// What older builds call the same.
constexpr std::array kSameKeys{Rename{"model ftype", "ftype"}, Rename{"file type", "ftype"},
                               Rename{"model params", "params"}, Rename{"general.name", "name"},
                               Rename{"format", "file format"}};

// Keys of the file, without the architecture in front, as print_info calls them.
constexpr std::array kFileKeys{Rename{"block_count", "n_layer"},
                               Rename{"context_length", "n_ctx_train"},
                               Rename{"embedding_length", "n_embd"},
                               Rename{"feed_forward_length", "n_ff"},
                               Rename{"attention.head_count", "n_head"},
                               Rename{"attention.head_count_kv", "n_head_kv"},
                               Rename{"attention.key_length", "n_embd_head_k"},
                               Rename{"attention.value_length", "n_embd_head_v"},
                               Rename{"attention.sliding_window", "n_swa"},
                               Rename{"attention.kv_lora_rank", "n_lora_kv"},
                               Rename{"attention.q_lora_rank", "n_lora_q"},
                               Rename{"expert_count", "n_expert"},
                               Rename{"expert_used_count", "n_expert_used"},
                               Rename{"expert_feed_forward_length", "n_ff_exp"},
                               Rename{"vocab_size", "n_vocab"},
                               Rename{"ssm.conv_kernel", "ssm_d_conv"},
                               Rename{"ssm.inner_size", "ssm_d_inner"},
                               Rename{"ssm.state_size", "ssm_d_state"},
                               Rename{"ssm.time_step_rank", "ssm_dt_rank"},
                               Rename{"ssm.group_count", "ssm_n_group"}};

template <size_t N>
std::string_view renamed(const std::array<Rename, N>& table, std::string_view key) {
  const auto found = std::ranges::find(table, key, &Rename::from);
  return found == table.end() ? std::string_view() : found->to;
}

// "8", "[8, 8]"; not "0.0e+00", "8B" or "1.50 B".
bool is_whole(std::string_view value) {
  if (value.starts_with('[')) return value.find("...") == std::string_view::npos;
  return !value.empty() && std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
}

void keep(LoggedFacts& facts, std::string_view key, std::string_view value, bool overwrite) {
  if (facts.words.size() >= kMostKeys && !facts.words.contains(key)) return;
  if (!overwrite && facts.words.contains(key)) return;
  facts.words[std::string(key)] = std::string(value.substr(0, 200));
  if (!is_whole(value)) return;
  std::vector<int64_t> numbers = integers(value);
  if (!numbers.empty()) facts.numbers[std::string(key)] = std::move(numbers);
}

void read_file_key(std::string_view key, std::string_view type, std::string_view value,
                   LoggedRun& run) {
  if (key == "general.architecture") return keep(run.model, "arch", value, false);
  if (key == "general.name") return keep(run.model, "name", value, false);
  if (key == "tokenizer.ggml.tokens") {
    const auto count = after(type, ",");
    if (count) {
      if (const auto number = leading_integer(*count)) {
        keep(run.model, "n_vocab", std::to_string(*number), false);
      }
    }
    return;
  }
  const size_t dot = key.find('.');
  if (dot == std::string_view::npos) return;
  const std::string_view known = renamed(kFileKeys, key.substr(dot + 1));
  if (!known.empty()) keep(run.model, known, value, false);
}

// "0: token_embd.weight q4_K [ 4096, 32000, 1, 1 ]"
void read_tensor(std::string_view text, LoggedRun& run) {
  const auto rest = after(text, ":");
  if (!rest || run.tensors.size() >= kMostTensors) return;
  const std::vector<std::string_view> words = words_of(*rest);
  const size_t bracket = rest->find('[');
  if (words.size() < 3 || bracket == std::string_view::npos) return;
  const std::optional<DType> dtype = parse_dtype(words[1]);
  std::vector<int64_t> ne = integers(rest->substr(bracket));
  ne.resize(4, 1);
  const auto is_bad = [](int64_t n) { return n < 1 || n > (int64_t{1} << 30); };
  if (!dtype || std::ranges::any_of(ne, is_bad)) return;
  run.tensors.push_back({.name = std::string(words[0].substr(0, 100)),
                         .dtype = *dtype,
                         .columns = ne[0],
                         .rows = ne[1],
                         .count = checked_mul(ne[2], ne[3])});
}

}  // namespace

void read_model_line(std::string_view body, int64_t line, LoggedRun& run) {
  const auto pair = assignment(body);
  if (!pair) return;
  auto [key, value] = *pair;
  if (key == "file size" || key == "model size") {
    if (const auto size = figure(value)) {
      put_term(run, {.kind = TermKind::kFileSize, .figure = *size, .line = line});
    }
    return;
  }
  const std::string_view known = renamed(kSameKeys, key);
  keep(run.model, known.empty() ? key : known, value, true);
}

void read_loader_line(std::string_view body, LoggedRun& run) {
  if (const auto types = after(body, "- type")) {
    const size_t colon = types->find(':');
    if (colon == std::string_view::npos || run.tensor_types.size() >= kMostTypes) return;
    const auto count = leading_integer(trimmed(types->substr(colon + 1)));
    if (count)
      run.tensor_types[std::string(trimmed(types->substr(0, colon)).substr(0, 20))] = *count;
    return;
  }
  if (const auto tensor = after(body, "- tensor")) return read_tensor(*tensor, run);
  if (body.starts_with("- kv")) {
    const auto rest = after(body, ":");
    if (!rest) return;
    const auto pair = assignment(*rest);
    if (!pair) return;
    const std::vector<std::string_view> words = words_of(pair->first);
    if (words.size() >= 2) read_file_key(words[0], words[1], pair->second, run);
  }
}

}  // namespace tidemark
