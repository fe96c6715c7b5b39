// llama.cpp's lines of all ages. Where a line stands, which word is before its colon and how it is
// put tell the age; what it says is the same.
#include <algorithm>
#include <array>
#include <set>

#include "planner/compare/llama_lines.h"
#include "planner/compare/log_text.h"
#include "planner/compare/read_log.h"

namespace tidemark {
namespace {

using std::string_view;

// Sorted, as binary search wants them.
constexpr std::array kTags{string_view("build"),
                           string_view("build_info"),
                           string_view("common_memory_breakdown_print"),
                           string_view("create_memory"),
                           string_view("ggml_gallocr_reserve_n"),
                           string_view("ggml_gallocr_reserve_n_impl"),
                           string_view("init"),
                           string_view("llama_context"),
                           string_view("llama_init_from_model"),
                           string_view("llama_kv_cache"),
                           string_view("llama_kv_cache_init"),
                           string_view("llama_kv_cache_iswa"),
                           string_view("llama_kv_cache_recurrent"),
                           string_view("llama_kv_cache_unified"),
                           string_view("llama_kv_cache_unified_iswa"),
                           string_view("llama_memory_breakdown_print"),
                           string_view("llama_memory_recurrent"),
                           string_view("llama_model_loader"),
                           string_view("llama_new_context_with_model"),
                           string_view("llm_load_print_meta"),
                           string_view("llm_load_tensors"),
                           string_view("load_tensors"),
                           string_view("main"),
                           string_view("print_info"),
                           string_view("sched_reserve")};
static_assert(std::ranges::is_sorted(kTags));

// What a context says of its settings.
constexpr std::array kSettings{
    string_view("n_ctx"),      string_view("n_ctx_per_seq"), string_view("n_ctx_seq"),
    string_view("n_batch"),    string_view("n_ubatch"),      string_view("n_seq_max"),
    string_view("flash_attn"), string_view("kv_unified"),    string_view("n_outputs_max"),
    string_view("attn_rot_k"), string_view("attn_rot_v"),    string_view("kv_size"),
    string_view("type_k"),     string_view("type_v"),        string_view("mla_attn"),
    string_view("fused_moe"),  string_view("n_copies"),      string_view("embeddings")};

struct BufferWord {
  string_view word{};
  TermKind kind = TermKind::kModel;
  bool adds = false;  // of one device there may be several in a row
};

constexpr std::array kBuffers{
    BufferWord{"model", TermKind::kModel, true},  BufferWord{"KV", TermKind::kKv, true},
    BufferWord{"RS", TermKind::kRecurrent, true}, BufferWord{"output", TermKind::kOutput},
    BufferWord{"input", TermKind::kInput},        BufferWord{"compute", TermKind::kCompute}};

bool is_of_context(TermKind kind) {
  return kind != TermKind::kModel && kind != TermKind::kRepacked && kind != TermKind::kFileSize;
}

bool is_repacked_name(string_view device) {
  return device.ends_with("REPACK") || device.ends_with("AARCH64") || device == "AMX";
}

string_view unquoted(string_view text) {
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'') {
    return text.substr(1, text.size() - 2);
  }
  return text;
}

class Reader {
 public:
  void read(int64_t line, string_view text) {
    line_ = line;
    const std::optional<TaggedLine> found = tagged(text, kTags);
    if (!found) return;
    const string_view tag = found->tag;
    const string_view body = found->body;
    if (tag == "print_info" || tag == "llm_load_print_meta") return model_line(tag, body);
    if (tag == "llama_model_loader") return loader_line(body);
    if (tag == "build" || tag == "build_info" || tag == "main") return build_line(tag, body);
    if (tag.ends_with("breakdown_print")) return breakdown_line(body);
    if (tag.starts_with("ggml_gallocr")) return failure_line(body);
    if (tag.starts_with("llm_load") || tag == "load_tensors") return tensors_line(body);
    context_line(tag, body);
  }

  LoggedFile take() {
    file_.runs.push_back(std::move(run_));
    return std::move(file_);
  }

 private:
  void age(LlamaWording at_least) { run_.wording = std::max(run_.wording, at_least); }

  bool has_context() const {
    return std::ranges::any_of(run_.terms,
                               [](const LoggedTerm& term) { return is_of_context(term.kind); });
  }

  void end_run() {
    if (!run_.terms.empty() && file_.runs.size() < kMostLoggedRuns) file_.runs.push_back(run_);
    run_.terms.clear();
    run_.settings = {};
    from_table_.clear();
    cache_ = string_view();
  }

  void start_model() {
    end_run();
    run_ = LoggedRun{.engine = run_.engine, .wording = run_.wording, .build = run_.build};
  }

  void model_line(string_view tag, string_view body) {
    if (tag == "print_info") age(LlamaWording::kJanuary2025);
    if (body.starts_with("arch ") && has_context()) start_model();
    read_model_line(body, line_, run_);
  }

  void loader_line(string_view body) {
    if (body.starts_with("loaded meta data") && (!run_.model.words.empty() || has_context())) {
      start_model();
    }
    read_loader_line(body, run_);
    const auto pair = body.find(" tensors from ");
    if (pair == string_view::npos) return;
    if (const auto counted = after(body, "pairs and ")) {
      if (const auto count = leading_integer(*counted)) run_.model.numbers["n_tensors"] = {*count};
    }
  }

  // "6209 (fb22dd07) with cc", "build = 2405 (ecab1c75)", "b7474-4364bf7"
  void build_line(string_view tag, string_view body) {
    if (tag == "main") {
      const auto pair = assignment(body);
      if (!pair || pair->first != "build") return;
      body = pair->second;
    }
    if (body.starts_with("b")) body.remove_prefix(1);
    const std::optional<int64_t> number = leading_integer(body);
    if (number && *number >= 1000 && *number < 1'000'000) run_.build = number;
  }

  bool buffer_line(string_view body, bool of_tensors) {
    const size_t at = body.find("buffer size");
    if (at == string_view::npos) return false;
    const auto pair = assignment(body.substr(at));
    if (!pair) return false;
    const std::optional<LoggedFigure> size = figure(pair->second, true);
    std::vector<string_view> words = words_of(body.substr(0, at));
    if (!size || words.empty()) return true;
    BufferWord kind{.word = "", .kind = TermKind::kModel, .adds = true};
    const auto named = std::ranges::find(kBuffers, words.back(), &BufferWord::word);
    if (named != kBuffers.end()) {
      kind = *named;
      words.pop_back();
    } else if (!of_tensors) {
      return true;
    }
    const std::string device(words.empty() ? string_view() : words.front().substr(0, 60));
    if (kind.kind == TermKind::kModel && is_repacked_name(device)) kind.kind = TermKind::kRepacked;
    if (kind.kind == TermKind::kInput) age(LlamaWording::kEarly2024);
    if (kind.kind == TermKind::kOutput) age(LlamaWording::k2024);
    put_term(run_, {.kind = kind.kind, .device = device, .figure = *size, .line = line_},
             kind.adds);
    return true;
  }

  void tensors_line(string_view body) {
    if (buffer_line(body, true)) return;
    if (const auto done = after(body, "offloaded ")) {
      const auto count = leading_integer(*done);
      const auto of = after(*done, "/");
      const auto all = of ? leading_integer(*of) : std::nullopt;
      if (count && all) {
        run_.settings.numbers["offloaded"] = {*count};
        run_.settings.numbers["layers_and_head"] = {*all};
      }
      return;
    }
    if (const auto device = after(body, "assigned to device ")) {
      const string_view name = device->substr(0, device->find(','));
      if (run_.layer_devices.size() < 4096) run_.layer_devices.emplace_back(name.substr(0, 60));
      return;
    }
    if (const auto mapped = after(body, "mmap = ")) {
      run_.settings.words["mmap"] = mapped->starts_with("true") ? "on" : "off";
    }
    if (body.starts_with("mem required")) {
      age(LlamaWording::k2023);
      const auto pair = assignment(body);
      const auto size = pair ? figure(pair->second, true) : std::nullopt;
      if (size) put_term(run_, {.kind = TermKind::kModel, .figure = *size, .line = line_});
    }
  }

  void setting(string_view key, string_view value) {
    if (std::ranges::find(kSettings, key) == kSettings.end()) return;
    const bool again = run_.settings.words.contains(key);
    if (again && has_context() && (key == "n_ctx" || key == "n_seq_max" || key == "kv_size")) {
      end_run();
    }
    if (key == "n_ctx_seq") age(LlamaWording::kAutumn2025);
    if (key == "mla_attn" || key == "fused_moe") run_.engine = LogEngine::kIkLlamaCpp;
    value = unquoted(value);
    run_.settings.words[std::string(key)] = std::string(value.substr(0, 60));
    const std::vector<int64_t> numbers = integers(value);
    if (!numbers.empty()) run_.settings.numbers[std::string(key)] = numbers;
  }

  void context_line(string_view tag, string_view body) {
    if (tag == "llama_new_context_with_model") age(LlamaWording::kEarly2024);
    if (tag == "llama_init_from_model") age(LlamaWording::kJanuary2025);
    if (tag == "llama_context") age(LlamaWording::kSpring2025);
    if (tag == "sched_reserve") age(LlamaWording::k2026);
    if (const auto flash = after(body, "Flash Attention was auto, set to ")) {
      run_.settings.words["flash_attn"] = flash->starts_with("enabled") ? "on" : "off";
      return;
    }
    if (body.find("pipeline parallelism enabled") != string_view::npos) {
      const auto copies = after(body, "n_copies=");
      run_.settings.numbers["n_copies"] = {copies ? leading_integer(*copies).value_or(4) : 4};
      return;
    }
    if (body.starts_with("using full-size SWA cache")) {
      run_.settings.words["swa_full"] = "on";
      return;
    }
    if (const auto rows = after(body, "LLAMA_SET_ROWS=")) {
      run_.settings.words["set_rows"] = rows->starts_with('0') ? "off" : "on";
      return;
    }
    if (cache_line(tag, body) || total_line(body) || buffer_line(body, false)) return;
    if (const auto nodes = after(body, "graph nodes")) {
      const bool stated = nodes->starts_with('=');
      const auto count = stated ? leading_integer(trimmed(nodes->substr(1))) : std::nullopt;
      if (count) {
        put_term(run_, {.kind = TermKind::kGraphNodes, .figure = {*count, 0}, .line = line_});
      }
      return;
    }
    settings_line(body);
  }

  // "n_ctx      = 4096", or several: "kv_size = 4096, offload = 1, type_k = 'f16', ..."
  void settings_line(string_view body) {
    for (string_view rest = body; !rest.empty();) {
      const size_t comma = rest.find(", ");
      if (const auto pair = assignment(rest.substr(0, comma))) setting(pair->first, pair->second);
      if (comma == string_view::npos) break;
      rest.remove_prefix(comma + 2);
    }
  }

  // "creating     SWA KV cache, size = 768 cells", "size =  128.00 MiB (  4096 cells, ..."
  bool cache_line(string_view tag, string_view body) {
    if (tag.starts_with("llama_kv_cache_unified")) age(LlamaWording::kSpring2025);
    if (body.starts_with("creating ")) {
      const bool window =
          body.find("non-SWA") == string_view::npos && body.find("SWA") != string_view::npos;
      cache_ = window ? "window" : "full";
      const auto size = after(body, "size = ");
      const auto cells = size ? leading_integer(*size) : std::nullopt;
      if (window && cells) {
        put_term(run_, {.kind = TermKind::kWindowCells, .figure = {*cells, 0}, .line = line_});
      }
      return true;
    }
    if (!body.starts_with("size")) return false;
    const auto pair = assignment(body);
    const auto size = pair ? figure(pair->second, true) : std::nullopt;
    if (!size) return false;
    const bool recurrent = tag.find("recurrent") != string_view::npos;
    if (tag == "llama_kv_cache_unified") age(LlamaWording::kSummer2025);
    if (tag == "llama_kv_cache" || recurrent) age(LlamaWording::kAutumn2025);
    TermKind kind = recurrent ? TermKind::kRecurrentAll : TermKind::kKvTotal;
    if (!recurrent && cache_ == "full") kind = TermKind::kKvFull;
    if (!recurrent && cache_ == "window") kind = TermKind::kKvWindow;
    put_term(run_, {.kind = kind, .figure = *size, .line = line_});
    if (const auto cells = after(body, "MiB (");
        cells && !recurrent && kind != TermKind::kKvWindow) {
      if (const auto count = leading_integer(*cells)) run_.settings.numbers["cells"] = {*count};
    }
    if (const auto cells = after(body, "MiB ("); cells && kind == TermKind::kKvWindow) {
      if (const auto count = leading_integer(*cells)) {
        put_term(run_, {.kind = TermKind::kWindowCells, .figure = {*count, 0}, .line = line_});
      }
    }
    types_in(body);
    return true;
  }

  // "KV self size  = 1024.00 MiB, K (f16): ...", "compute buffer total size = 79.13 MB"
  bool total_line(string_view body) {
    for (const string_view label : {string_view("KV self size"), string_view("kv self size")}) {
      const auto rest = after(body, label);
      const auto pair = rest ? assignment(body) : std::nullopt;
      const auto size = pair ? figure(pair->second, true) : std::nullopt;
      if (!size) continue;
      put_term(run_, {.kind = TermKind::kKvTotal, .figure = *size, .line = line_});
      types_in(body);
      return true;
    }
    if (body.find("compute buffer total size") == string_view::npos) return false;
    const auto pair = assignment(body);
    const auto size = pair ? figure(pair->second, true) : std::nullopt;
    if (!size) return false;
    run_.wording = LlamaWording::k2023;
    put_term(run_, {.kind = TermKind::kCompute, .figure = *size, .line = line_});
    return true;
  }

  // "K (f16):  128.00 MiB, V (q8_0): ..."
  void types_in(string_view body) {
    for (const auto& [label, key] : {std::pair("K (", "type_k"), std::pair("V (", "type_v")}) {
      const auto rest = after(body, label);
      if (!rest) continue;
      run_.settings.words[key] =
          std::string(rest->substr(0, std::min(rest->find(')'), size_t{20})));
    }
  }

  // "|   - CUDA0 (RTX 3090)   | 24124 = 23860 + (15946 = 15364 +     411 +     170) + -15681 |"
  void breakdown_line(string_view body) {
    const size_t dash = body.find("- ");
    if (dash == string_view::npos) return;
    const std::vector<string_view> head = words_of(body.substr(dash + 2));
    const size_t bracket = body.find(" = ", body.rfind('('));
    const size_t sign = body.rfind('(') != string_view::npos && bracket != string_view::npos
                            ? bracket
                            : body.find(" = ");
    if (head.empty() || sign == string_view::npos) return;
    string_view rest = body.substr(sign + 3);
    constexpr int64_t kMiB = int64_t{1} << 20;
    for (const TermKind kind : {TermKind::kModel, TermKind::kContext, TermKind::kCompute}) {
      const auto mib = leading_integer(trimmed(rest));
      if (!mib || *mib > (int64_t{1} << 30)) return;
      LoggedTerm term{.kind = kind,
                      .device = std::string(head.front().substr(0, 60)),
                      .figure = {*mib * kMiB, kMiB},
                      .line = line_};
      // A buffer of its own line is printed to more places than the table.
      if (run_.find(kind) == nullptr) from_table_.insert(kind);
      if (from_table_.contains(kind)) put_term(run_, std::move(term));
      const size_t plus = rest.find('+');
      if (plus == string_view::npos) return;
      rest.remove_prefix(plus + 1);
    }
  }

  // "failed to allocate ROCm0 buffer of size 866125824": what was asked for
  void failure_line(string_view body) {
    const auto device = after(body, "failed to allocate ");
    const auto size = after(body, "buffer of size ");
    const auto bytes = size ? leading_integer(*size) : std::nullopt;
    if (!device || !bytes) return;
    put_term(run_, {.kind = TermKind::kCompute,
                    .device = std::string(device->substr(0, device->find(' ')).substr(0, 60)),
                    .figure = {*bytes, 0},
                    .line = line_});
  }

  LoggedFile file_{};
  LoggedRun run_{};
  int64_t line_ = 0;
  string_view cache_{};              // of which cache the next size is: "full", "window"
  std::set<TermKind> from_table_{};  // what only the table at its end states
};

}  // namespace

LoggedFile read_llama_log(std::string_view text) {
  Reader reader;
  each_log_line(text, [&](int64_t number, std::string_view line) { reader.read(number, line); });
  return reader.take();
}

}  // namespace tidemark
