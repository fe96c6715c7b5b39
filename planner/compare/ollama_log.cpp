// ollama's own lines, which are "key=value" pairs: its planner's ("memory.required.kv") and those
// of its own engine (msg="model weights" device=CUDA0 size="3.1 GiB"). What its llama.cpp runner
// prints is read as llama.cpp's.
#include <algorithm>
#include <array>

#include "planner/compare/log_text.h"
#include "planner/compare/read_log.h"

namespace tidemark {
namespace {

using std::string_view;
using Pairs = std::vector<std::pair<string_view, string_view>>;

// key=value key="a value" ...
Pairs pairs_of(string_view line) {
  Pairs pairs;
  for (size_t sign = line.find('='); sign != string_view::npos && pairs.size() < 64;) {
    const size_t space = line.rfind(' ', sign);
    const size_t begin = space == string_view::npos ? 0 : space + 1;
    const string_view key = line.substr(begin, sign - begin);
    line.remove_prefix(sign + 1);
    const bool quoted = line.starts_with('"');
    if (quoted) line.remove_prefix(1);
    const size_t end = std::min(line.find(quoted ? '"' : ' '), line.size());
    pairs.emplace_back(key, line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
    sign = line.find('=');
  }
  return pairs;
}

string_view value_of(const Pairs& pairs, string_view key) {
  for (const auto& [name, value] : pairs) {
    if (name == key) return value;
  }
  return {};
}

struct Planned {
  string_view key{};
  TermKind kind = TermKind::kWeights;
  string_view device{};
};

constexpr std::array kPlanned{
    Planned{"memory.weights.total", TermKind::kWeights, ""},
    Planned{"memory.weights.repeating", TermKind::kRepeating, ""},
    Planned{"memory.weights.nonrepeating", TermKind::kHead, ""},
    Planned{"memory.required.kv", TermKind::kPlannedKv, ""},
    Planned{"memory.graph.full", TermKind::kCompute, kOllamaFullGraph},
    Planned{"memory.graph.partial", TermKind::kCompute, kOllamaPartialGraph}};

struct Stated {
  string_view message{};
  TermKind kind = TermKind::kModel;
};

constexpr std::array kStated{Stated{"model weights", TermKind::kModel},
                             Stated{"kv cache", TermKind::kKv},
                             Stated{"compute graph", TermKind::kCompute}};

struct Flag {
  string_view name{};
  string_view key{};
};

constexpr std::array kFlags{Flag{"--ctx-size", "n_ctx"}, Flag{"--batch-size", "n_batch"},
                            Flag{"--parallel", "n_seq_max"}, Flag{"--kv-cache-type", "type_k"}};

// "... runner --model /x --ctx-size 8192 --batch-size 512 --flash-attn --parallel 1"
void read_command(string_view command, LoggedRun& run) {
  const std::vector<string_view> words = words_of(command);
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--flash-attn") run.settings.words["flash_attn"] = "on";
    if (i + 1 == words.size()) break;
    for (const Flag& flag : kFlags) {
      if (words[i] != flag.name) continue;
      run.settings.words[std::string(flag.key)] = std::string(words[i + 1].substr(0, 40));
      if (flag.key == "type_k") run.settings.words["type_v"] = run.settings.words["type_k"];
      if (const auto number = leading_integer(words[i + 1])) {
        run.settings.numbers[std::string(flag.key)] = {*number};
      }
    }
  }
}

class Reader {
 public:
  void read(int64_t line, string_view text) {
    const bool ours = text.find("msg=") != string_view::npos;
    if (!ours) return;
    const Pairs pairs = pairs_of(text);
    if (const string_view arch = value_of(pairs, "architecture"); !arch.empty()) {
      run_.model.words["arch"] = std::string(arch.substr(0, 60));
      run_.model.words["ftype"] = std::string(value_of(pairs, "file_type").substr(0, 60));
      run_.model.words["name"] = std::string(value_of(pairs, "name").substr(0, 100));
    }
    if (const string_view command = value_of(pairs, "cmd"); !command.empty()) {
      read_command(command, run_);
    }
    planner_line(line, pairs);
    engine_line(line, pairs);
  }

  LoggedFile take() {
    LoggedFile file;
    if (!run_.terms.empty()) file.runs.push_back(std::move(run_));
    return file;
  }

 private:
  void planner_line(int64_t line, const Pairs& pairs) {
    if (value_of(pairs, "memory.weights.total").empty()) return;
    // "2024-07-05T..": its totals changed their meaning early in 2025.
    const string_view time = value_of(pairs, "time");
    if (const auto year = leading_integer(time); year && time.size() > 7) {
      const int64_t month = leading_integer(time.substr(5)).value_or(1);
      if (*year < 10'000 && month <= 12) run_.settings.numbers["month"] = {*year * 12 + month - 1};
    }
    for (const Planned& planned : kPlanned) {
      const auto size = figure(value_of(pairs, planned.key));
      if (!size) continue;
      put_term(run_, {.kind = planned.kind,
                      .device = std::string(planned.device),
                      .figure = *size,
                      .line = line});
    }
    // "[21.8 GiB 21.8 GiB]"
    const string_view cards = value_of(pairs, "memory.available");
    const auto n_cards = std::ranges::count(cards, 'B');
    if (n_cards > 1) run_.settings.numbers["cards"] = {n_cards};
    if (value_of(pairs, "msg") == "offload to metal") run_.settings.words["library"] = "metal";
    if (const auto layers = leading_integer(value_of(pairs, "layers.model"))) {
      run_.settings.numbers["layers_and_head"] = {*layers};
    }
    if (const auto layers = leading_integer(value_of(pairs, "layers.offload"))) {
      run_.settings.numbers["offloaded"] = {*layers};
    }
  }

  void engine_line(int64_t line, const Pairs& pairs) {
    const string_view message = value_of(pairs, "msg");
    for (const Stated& stated : kStated) {
      if (message != stated.message) continue;
      const auto size = figure(value_of(pairs, "size"));
      string_view device = value_of(pairs, "device");
      if (device.empty()) device = value_of(pairs, "buffer");
      if (device.empty()) device = value_of(pairs, "backend");
      if (!size || size->value == 0) continue;
      put_term(run_, {.kind = stated.kind,
                      .device = std::string(device.substr(0, 60)),
                      .figure = *size,
                      .line = line});
    }
  }

  LoggedRun run_{.engine = LogEngine::kOllama};
};

}  // namespace

LoggedFile read_ollama_log(std::string_view text) {
  Reader reader;
  each_log_line(text, [&](int64_t number, string_view line) { reader.read(number, line); });
  return reader.take();
}

}  // namespace tidemark
