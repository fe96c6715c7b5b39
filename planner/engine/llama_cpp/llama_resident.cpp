#include "planner/engine/llama_cpp/llama_resident.h"

#include <algorithm>
#include <map>

#include "planner/engine/ggml_alloc.h"

namespace tidemark {
namespace {

using namespace literals;

// Measured on 57 runs; see the header.
constexpr Bytes kProcess = 6800_KiB;      // program and libraries
constexpr Bytes kLoader = 1100_KiB;       // what loading leaves besides the model
constexpr int64_t kBytesPerToken = 40;    // of the vocabulary, with or without a tokenizer
constexpr int64_t kBytesPerPair = 268;    // more: 241 to 310, the longer the list the less
constexpr int64_t kBytesPerPiece = 115;   // more, of a SentencePiece-like tokenizer
constexpr int64_t kBytesPerLogit = 4;     // and per id of the list beside the logits
constexpr int64_t kSmallestGraph = 1024;  // nodes that room is made for
constexpr int64_t kNodesPerTensor = 8;
constexpr int64_t kBytesPerNode = 2 * (368 + 50);  // two arenas
constexpr Bytes kTables = 256_KiB;
constexpr int64_t kTableBytesPerTensor = 2150;
constexpr int64_t kBytesPerCell = 48;
constexpr Bytes kKernels = 500_KiB;  // of the libraries, first touched by an evaluation
constexpr int64_t kPage = 4096;
constexpr int64_t kKvMultiple = 256;

int64_t tokenizer_bytes(LlamaTokenizer tokenizer) {
  if (tokenizer == LlamaTokenizer::kBytePairs) return kBytesPerPair;
  return tokenizer == LlamaTokenizer::kSentencePiece ? kBytesPerPiece : 0;
}

Bytes metadata(const LlamaMemory& memory) {
  const int64_t n_tensors = memory.model.n_tensors;
  const int64_t nodes = std::max(kSmallestGraph, checked_mul(kNodesPerTensor, n_tensors));
  const int64_t cells = checked_mul(
      checked_add(memory.kv_full > Bytes{} ? memory.context.cells : 0, memory.context.cells_swa),
      memory.context.n_stream);
  return Bytes::of(checked_mul(nodes, kBytesPerNode)) + kTables +
         Bytes::of(checked_mul(n_tensors, kTableBytesPerTensor)) +
         Bytes::of(checked_mul(cells, kBytesPerCell));
}

// Pages [first, last) by their numbers, joined.
class Pages {
 public:
  void add(Bytes from, Bytes size) {
    if (size == Bytes{}) return;
    int64_t first = from.count() / kPage;
    int64_t last = ceil_div((from + size).count(), kPage);
    auto at = runs_.upper_bound(first);
    if (at != runs_.begin() && std::prev(at)->second >= first) --at;
    while (at != runs_.end() && at->first <= last) {
      first = std::min(first, at->first);
      last = std::max(last, at->second);
      at = runs_.erase(at);
    }
    runs_.emplace(first, last);
  }

  Bytes bytes() const {
    int64_t count = 0;
    for (const auto& [first, last] : runs_) count += last - first;
    return Bytes::of(checked_mul(count, kPage));
  }

 private:
  std::map<int64_t, int64_t> runs_{};
};

// Inputs that nobody reads are not written either.
std::vector<bool> read_by_any(const GgmlGraph& graph) {
  std::vector<bool> read(graph.tensors.size(), false);
  for (const GgmlTensor& tensor : graph.tensors) {
    for (const TensorId source : tensor.sources) read[root_of(graph, source).index()] = true;
  }
  return read;
}

// The tensors of `run`, each where `reserved` put the tensor of its number.
void touch(const GgmlReservation& reserved, const GgmlGraph& run, Pages& pages) {
  const std::vector<bool> read = read_by_any(run);
  const size_t n = std::min(run.tensors.size(), reserved.offsets.size());
  for (size_t i = 0; i < n; ++i) {
    const GgmlTensor& tensor = run.tensors[i];
    if (!needs_memory(tensor) || !reserved.offsets[i]) continue;
    if (tensor.input && !read[i]) continue;
    pages.add(*reserved.offsets[i], tensor.bytes);
  }
}

int64_t cells_read(int64_t used, int64_t cells) {
  const int64_t padded =
      checked_mul(ceil_div(std::max<int64_t>(used, 1), kKvMultiple), kKvMultiple);
  return std::min(padded, cells);
}

// One sequence at work, one row of logits.
LlamaRun run_of(const LlamaContext& context, int64_t n_tokens, int64_t used) {
  LlamaRun run;
  run.n_tokens =
      checked_mul(ceil_div(std::min(n_tokens, context.n_tokens), context.n_seq), context.n_seq);
  run.n_outputs = std::min(run.n_tokens, context.n_seq);
  run.n_kv = cells_read(used, context.cells);
  run.n_kv_window = cells_read(used, context.cells_swa);
  return run;
}

struct Touched {
  Bytes pages{};
  Bytes work{};
};

Result<std::pair<Touched, Touched>> touched_by(const ModelSpec& model,
                                               const WeightsInventory& weights,
                                               const LlamaContext& context,
                                               const LlamaProcess& process) {
  const Result<LlamaGraph> reserved = llama_graph(model, weights, context, prompt_run(context));
  if (!reserved) return reserved.diagnostics();
  const GgmlReservation places = reserve(reserved->graph);
  Pages pages;
  std::pair<Touched, Touched> made;
  if (process.prompt > 0) {
    const LlamaRun run = run_of(context, process.prompt, process.prompt);
    const Result<LlamaGraph> graph = llama_graph(model, weights, context, run);
    if (!graph) return graph.diagnostics();
    touch(places, graph->graph, pages);
    made.first = {pages.bytes(), llama_work_bytes(graph->graph, process.n_threads)};
  }
  made.second = made.first;
  if (process.generate > 0) {
    const LlamaRun run = run_of(context, 1, checked_add(process.prompt, process.generate));
    const Result<LlamaGraph> graph = llama_graph(model, weights, context, run);
    if (!graph) return graph.diagnostics();
    touch(places, graph->graph, pages);
    made.second = {pages.bytes(),
                   std::max(made.first.work, llama_work_bytes(graph->graph, process.n_threads))};
  }
  return made;
}

}  // namespace

Result<LlamaResident> llama_resident(const ModelSpec& published, const WeightsInventory& weights,
                                     const LlamaSettings& settings, const LlamaProcess& process) {
  const Result<LlamaMemory> memory = llama_memory(published, weights, settings, process.repack);
  if (!memory) return memory.diagnostics();
  if (!memory->context.rejection.empty()) {
    return one_error("settings", memory->context.rejection);
  }
  const ModelSpec model = as_llama_cpp_sees(published);
  const auto touched = touched_by(model, weights, memory->context, process);
  if (!touched) return touched.diagnostics();

  const int64_t n_vocab = model.transformer()->n_vocab;
  const LlamaModelBuffers& buffers = memory->model;
  LlamaResident made{.base = kProcess};
  if (process.mapped) made.file_pages = buffers.mapped;
  made.loaded =
      made.base + kLoader + (process.mapped ? buffers.mapped : buffers.plain) + buffers.repacked +
      Bytes::of(checked_mul(n_vocab, kBytesPerToken + tokenizer_bytes(process.tokenizer)));
  made.context = made.loaded + memory->kv() + memory->recurrent +
                 Bytes::of(checked_mul(checked_mul(n_vocab, kBytesPerLogit),
                                       checked_add(memory->context.n_seq, 1))) +
                 metadata(*memory);
  made.prompt = made.context + kKernels + touched->first.pages + touched->first.work;
  made.generation = made.context + kKernels + touched->second.pages + touched->second.work;
  made.touched = touched->second.pages;
  made.work = touched->second.work;
  return made;
}

}  // namespace tidemark
