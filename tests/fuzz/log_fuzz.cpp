// Any bytes as the log of an engine: read or refused, and what was read is compared without a
// fault, whatever numbers it claims.
#include <stdexcept>

#include "corpus.h"
#include "planner/compare/compare_log.h"
#include "planner/compare/read_log.h"

namespace tidemark::fuzz {
namespace {

std::vector<Seed> seeds() {
  return {{"llama.log",
           "print_info: arch = llama\nprint_info: n_layer = 2\nprint_info: n_embd = 64\n"
           "print_info: n_head = 4\nprint_info: n_head_kv = 2\nprint_info: n_ff = 96\n"
           "print_info: n_vocab = 100\nload_tensors: offloaded 3/3 layers to GPU\n"
           "llama_context: n_ctx = 512\nllama_context: n_ubatch = 32\n"
           "llama_kv_cache:      CUDA0 KV buffer size =    64.00 MiB\n"
           "llama_context:      CUDA0 compute buffer size =   258.50 MiB\n"},
          {"ollama.log",
           "time=2024-07-05T10:00:00Z msg=\"offload to cpu\" memory.weights.total=\"3.9 GiB\" "
           "memory.required.kv=\"256.0 MiB\"\n"},
          {"vllm.log",
           "# GPU blocks: 1381\nMaximum concurrency for 2,048 tokens per request: 10.79x\n"
           "Available KV cache memory: 8.11 GiB\n"},
          {"whisper.log",
           "whisper_model_load: n_text_layer = 6\nwhisper_init_state: kv cross size = 17.58 MB\n"},
          {"meminfo.txt",
           "** MEMINFO in pid 1 [x] **\n  Native Heap   210000   209900\n  TOTAL 9 9\n"}};
}

void use(const LoggedRun& run) {
  try {
    use_problems(compare_run(run, {}));
  } catch (const std::overflow_error&) {  // the answer of a front end: sizes leave the range
  }
}

}  // namespace
}  // namespace tidemark::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  tidemark::fuzz::write_corpus_if_asked(*argc, *argv, tidemark::fuzz::seeds());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark;
  const std::string text(data, data + size);
  const Result<LoggedFile> file = read_log(text, "x.log");
  fuzz::use_problems(file);
  if (file) {
    for (const LoggedRun& run : file->runs) fuzz::use(run);
  }
  return 0;
}
