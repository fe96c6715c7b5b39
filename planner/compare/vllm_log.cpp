// vLLM's start-up lines, of its first engine and of the second. What it prints as "GB" are GiB.
#include <algorithm>
#include <array>

#include "planner/compare/log_text.h"
#include "planner/compare/read_log.h"

namespace tidemark {
namespace {

using std::string_view;

struct Size {
  string_view label{};
  TermKind kind = TermKind::kModel;
};

constexpr std::array kSizes{
    Size{"model weights took ", TermKind::kModel},
    Size{"Model loading took ", TermKind::kModel},
    Size{"Available KV cache memory: ", TermKind::kCacheBytes},
    Size{"kv_cache_size=", TermKind::kCacheBytes},
    Size{"the rest of the memory reserved for KV Cache is ", TermKind::kCacheBytes},
    Size{"larger than the available KV cache memory (", TermKind::kCacheBytes}};

constexpr std::array kNumbers{string_view("max_seq_len"), string_view("tensor_parallel_size"),
                              string_view("pipeline_parallel_size"), string_view("block_size")};
constexpr std::array kWords{string_view("model"), string_view("dtype"),
                            string_view("kv_cache_dtype"), string_view("quantization")};

// "178,880 tokens": digits with commas between them.
std::optional<int64_t> grouped_integer(string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c == ',') continue;
    if (c < '0' || c > '9' || digits.size() > 16) break;
    digits += c;
  }
  return leading_integer(digits);
}

class Reader {
 public:
  void read(int64_t line, string_view text) {
    for (const Size& size : kSizes) {
      const auto rest = after(text, size.label);
      const auto value = rest ? figure(*rest, true) : std::nullopt;
      if (value) put_term(run_, {.kind = size.kind, .figure = *value, .line = line});
    }
    for (const string_view label : {string_view("# GPU blocks: "), string_view("GPU blocks: "),
                                    string_view("# cuda blocks: ")}) {
      const auto rest = after(text, label);
      if (const auto blocks = rest ? grouped_integer(*rest) : std::nullopt) {
        run_.settings.numbers["gpu_blocks"] = {*blocks};
      }
    }
    if (const auto rest = after(text, "GPU KV cache size: ")) {
      if (const auto tokens = grouped_integer(*rest)) {
        put_term(run_, {.kind = TermKind::kCacheTokens, .figure = {*tokens, 0}, .line = line});
      }
    }
    concurrency(line, text);
    refusal(line, text);
    arguments(text);
  }

  LoggedFile take() {
    LoggedFile file;
    if (!run_.terms.empty()) file.runs.push_back(std::move(run_));
    return file;
  }

 private:
  // "Maximum concurrency for 2,048 tokens per request: 10.79x"
  void concurrency(int64_t line, string_view text) {
    const auto length = after(text, "Maximum concurrency for ");
    const auto times = after(text, "tokens per request: ");
    if (!length || !times) return;
    if (const auto tokens = grouped_integer(*length))
      run_.settings.numbers["max_seq_len"] = {*tokens};
    if (const auto value = scaled_figure(*times, 100)) {
      put_term(run_, {.kind = TermKind::kConcurrency, .figure = *value, .line = line});
    }
  }

  // "max seq len (32768), (0.95 GiB KV cache is needed, which is larger than ..."
  void refusal(int64_t line, string_view text) {
    const size_t needed = text.find("KV cache is needed");
    if (needed == string_view::npos) return;
    const size_t open = text.rfind('(', needed);
    if (open == string_view::npos) return;
    if (const auto size = figure(text.substr(open + 1), true)) {
      put_term(run_, {.kind = TermKind::kCacheNeeded, .figure = *size, .line = line});
    }
    if (const auto length = after(text, "max seq len (")) {
      if (const auto tokens = grouped_integer(*length)) {
        run_.settings.numbers["max_seq_len"] = {*tokens};
      }
    }
  }

  // "Initializing an LLM engine (v0.6.3) with config: model='x', dtype=torch.float16, ..."
  void arguments(string_view text) {
    if (text.find("LLM engine") == string_view::npos) return;
    for (const string_view key : kNumbers) {
      const auto rest = after(text, std::string(key) + "=");
      if (const auto number = rest ? leading_integer(*rest) : std::nullopt) {
        run_.settings.numbers[std::string(key)] = {*number};
      }
    }
    for (const string_view key : kWords) {
      const auto rest = after(text, " " + std::string(key) + "=");
      if (!rest) continue;
      string_view value = rest->substr(0, std::min(rest->find(','), size_t{200}));
      if (value.size() >= 2 && value.front() == '\'') value = value.substr(1, value.size() - 2);
      run_.settings.words[std::string(key)] = std::string(value);
    }
    if (const string_view name = run_.settings.word("model"); !name.empty()) {
      run_.model.words["name"] = std::string(name);
    }
  }

  LoggedRun run_{.engine = LogEngine::kVllm};
};

}  // namespace

LoggedFile read_vllm_log(std::string_view text) {
  Reader reader;
  each_log_line(text, [&](int64_t number, string_view line) { reader.read(number, line); });
  return reader.take();
}

}  // namespace tidemark
