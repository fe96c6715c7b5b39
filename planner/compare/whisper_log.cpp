// whisper.cpp's lines. Up to 2023 its "MB" are MiB, later they are decimal; the cache of the
// encoder's states, which no setting changes but for its rounding, tells which.
#include <algorithm>
#include <array>

#include "planner/compare/log_text.h"
#include "planner/compare/read_log.h"

namespace tidemark {
namespace {

using std::string_view;

constexpr std::array kTags{string_view("whisper_backend_init"), string_view("whisper_init_state"),
                           string_view("whisper_init_with_params_no_state"),
                           string_view("whisper_model_load")};

struct Size {
  string_view label{};
  TermKind kind = TermKind::kModel;
};

constexpr std::array kSizes{Size{"kv self size", TermKind::kKv},
                            Size{"kv cross size", TermKind::kCross},
                            Size{"kv pad  size", TermKind::kPadding},
                            Size{"compute buffer (conv)", TermKind::kConvolution},
                            Size{"compute buffer (encode)", TermKind::kEncode},
                            Size{"compute buffer (cross)", TermKind::kCrossGraph},
                            Size{"compute buffer (decode)", TermKind::kDecode},
                            Size{"model size", TermKind::kModel},
                            Size{"CPU total size", TermKind::kModel}};

constexpr int64_t kMiB = int64_t{1} << 20;

// Keys and values of all text layers, two bytes each, for all states of the encoder.
std::optional<int64_t> cross_bytes(const LoggedFacts& model) {
  const auto layers = model.number("n_text_layer");
  const auto width = model.number("n_text_state");
  const auto states = model.number("n_audio_ctx");
  const auto fits = [](const std::optional<int64_t>& n) { return n && *n > 0 && *n < 65'536; };
  if (!fits(layers) || !fits(width) || !fits(states)) return std::nullopt;
  return checked_mul(checked_mul(*layers, *width), 4 * *states);
}

// Were the figures, read as decimal, meant as MiB?
bool is_binary(const LoggedRun& run) {
  const LoggedTerm* cross = run.find(TermKind::kCross);
  const std::optional<int64_t> bytes = cross_bytes(run.model);
  if (cross == nullptr || !bytes) return false;
  const int64_t as_mib = cross->figure.value / 10'000 * kMiB / 100;
  const int64_t off = as_mib > *bytes ? as_mib - *bytes : *bytes - as_mib;
  return off <= kMiB / 100;
}

class Reader {
 public:
  void read(int64_t line, string_view text) {
    const std::optional<TaggedLine> found = tagged(text, kTags);
    if (!found) return;
    const auto pair = assignment(found->body);
    if (!pair) return;
    const auto [key, value] = *pair;
    for (const Size& size : kSizes) {
      if (key != size.label) continue;
      if (const auto bytes = figure(value)) {
        put_term(run_, {.kind = size.kind, .figure = *bytes, .line = line});
        return;
      }
    }
    if (run_.model.words.size() > 200) return;
    if (key == "flash attn") run_.settings.words["flash_attn"] = std::string(value.substr(0, 20));
    run_.model.words[std::string(key)] = std::string(value.substr(0, 60));
    if (const auto number = leading_integer(value)) {
      run_.model.numbers[std::string(key)] = {*number};
    }
  }

  LoggedFile take() {
    LoggedFile file;
    if (run_.terms.empty()) return file;
    if (is_binary(run_)) {
      for (LoggedTerm& term : run_.terms) {
        term.figure = {term.figure.value / 10'000 * kMiB / 100, kMiB / 200 + 1};
      }
      file.notes.emplace_back("Its \"MB\" are MiB: the cross-attention cache tells.");
    }
    file.runs.push_back(std::move(run_));
    return file;
  }

 private:
  LoggedRun run_{.engine = LogEngine::kWhisperCpp};
};

}  // namespace

LoggedFile read_whisper_log(std::string_view text) {
  Reader reader;
  each_log_line(text, [&](int64_t number, string_view line) { reader.read(number, line); });
  return reader.take();
}

}  // namespace tidemark
