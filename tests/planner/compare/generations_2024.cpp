#include "generations.h"

namespace tidemark {
namespace {

// PL013, January to March 2024: an input buffer, no output buffer, graph splits by "measure".
Generation early_2024() {
  return {.id = "PL013",
          .version = "early 2024",
          .wording = LlamaWording::kEarly2024,
          .text = R"(
llm_load_print_meta: arch             = llama
llm_load_print_meta: n_vocab          = 32000
llm_load_print_meta: n_ctx_train      = 4096
llm_load_print_meta: n_embd           = 4096
llm_load_print_meta: n_head           = 32
llm_load_print_meta: n_head_kv        = 32
llm_load_print_meta: n_layer          = 32
llm_load_print_meta: n_ff             = 11008
llm_load_print_meta: model ftype      = Q4_K - Medium
llm_load_print_meta: model params     = 6.74 B
llm_load_tensors: offloading 32 repeating layers to GPU
llm_load_tensors: offloaded 33/33 layers to GPU
llama_new_context_with_model: n_ctx      = 2048
llama_new_context_with_model: freq_base  = 10000.0
llama_kv_cache_init:      CUDA0 KV buffer size =  1024.00 MiB
llama_new_context_with_model: KV self size  = 1024.00 MiB, K (f16):  512.00 MiB, V (f16):  512.00 MiB
llama_new_context_with_model:  CUDA_Host input buffer size   =    13.02 MiB
llama_new_context_with_model:      CUDA0 compute buffer size =   164.01 MiB
llama_new_context_with_model:  CUDA_Host compute buffer size =     8.00 MiB
llama_new_context_with_model: graph splits (measure): 3
)",
          .terms = {{TermKind::kKv, "CUDA0", 1024.0},
                    {TermKind::kKvTotal, "", 1024.0},
                    {TermKind::kInput, "CUDA_Host", 13.02},
                    {TermKind::kCompute, "CUDA0", 164.01},
                    {TermKind::kCompute, "CUDA_Host", 8.0}}};
}

// PL051, March 2024: an output buffer, two devices at work at once.
Generation march_2024() {
  return {.id = "PL051",
          .version = "March 2024, build 2450",
          .wording = LlamaWording::k2024,
          .text = R"(
main: build = 2450 (1f41c25e)
llm_load_print_meta: arch             = command-r
llm_load_print_meta: n_vocab          = 256000
llm_load_print_meta: n_embd           = 8192
llm_load_print_meta: n_head           = 64
llm_load_print_meta: n_head_kv        = 64
llm_load_print_meta: n_layer          = 40
llm_load_print_meta: n_ff             = 22528
llm_load_tensors: offloaded 41/41 layers to GPU
llm_load_tensors:        CPU buffer size =  1640.62 MiB
llm_load_tensors:      CUDA0 buffer size =  5434.38 MiB
llm_load_tensors:      CUDA1 buffer size = 13989.53 MiB
llama_new_context_with_model: n_ctx      = 4096
llama_new_context_with_model: n_batch    = 2048
llama_new_context_with_model: n_ubatch   = 512
llama_kv_cache_init:      CUDA0 KV buffer size =  1536.00 MiB
llama_kv_cache_init:      CUDA1 KV buffer size =  3584.00 MiB
llama_new_context_with_model: KV self size  = 5120.00 MiB, K (f16): 2560.00 MiB, V (f16): 2560.00 MiB
llama_new_context_with_model:  CUDA_Host  output buffer size =     1.95 MiB
llama_new_context_with_model: pipeline parallelism enabled (n_copies=4)
llama_new_context_with_model:      CUDA0 compute buffer size =   672.01 MiB
)",
          .terms = {{TermKind::kKv, "CUDA0", 1536.0},
                    {TermKind::kKv, "CUDA1", 3584.0},
                    {TermKind::kKvTotal, "", 5120.0},
                    {TermKind::kOutput, "CUDA_Host", 1.95, false},
                    {TermKind::kCompute, "CUDA0", 672.01}}};
}

// PL014, mid 2024, CPU; a line of progress and a broken one in between.
Generation mid_2024_cpu() {
  return {.id = "PL014",
          .version = "mid 2024",
          .wording = LlamaWording::k2024,
          .text = R"(
llama_model_loader: loaded meta data with 19 key-value pairs and 291 tensors from m.gguf (version GGUF V2)
llama_model_loader: - kv   0:                       general.architecture str              = llama
llama_model_loader: - kv   2:                       llama.context_length u32              = 4096
llama_model_loader: - kv   3:                     llama.embedding_length u32              = 4096
llama_model_loader: - kv   4:                          llama.block_count u32              = 32
llama_model_loader: - kv   5:                  llama.feed_forward_length u32              = 11008
llama_model_loader: - kv   7:                 llama.attention.head_count u32              = 32
llama_model_loader: - kv   8:              llama.attention.head_count_kv u32              = 32
llama_model_loader: - kv  13:                      tokenizer.ggml.tokens arr[str,32000]   = ["<unk>", "<s>", ...
llm_load_print_meta: model ftype      = Q5_K - Medium
llm_load_tensors:        CPU buffer size =  4560.87 MiB
.....................................................................
llama_new_context_with_model: n_ctx      = 2048
llama_new_context_with_model: n_batch    = 2048
llama_new_context_with_model: n_ubatch   = 512
llama_new_context_with_model: flash_attn = 0
llama_kv_cache_init:        CPU KV buffer size =
llama_kv_cache_init:        CPU KV buffer size =  1024.00 MiB
llama_new_context_with_model: KV self size  = 1024.00 MiB, K (f16):  512.00 MiB, V (f16):  512.00 MiB
llama_new_context_with_model:        CPU  output buffer size =     0.12 MiB
llama_new_context_with_model:        CPU compute buffer size =   164.01 MiB
llama_new_context_with_model: graph nodes  = 1030
llama_new_context_with_model: graph splits = 1
)",
          .terms = {{TermKind::kModel, "CPU", 4560.87},
                    {TermKind::kKv, "CPU", 1024.0},
                    {TermKind::kOutput, "CPU", 0.12},
                    {TermKind::kCompute, "CPU", 164.01}}};
}

// PL003, mid 2024, as llama-cpp-python prints it; with the times of a container before each line.
Generation mid_2024_cuda() {
  return {.id = "PL003",
          .version = "mid 2024",
          .wording = LlamaWording::k2024,
          .text = R"(
2024-07-02T10:00:01.5Z llm_load_print_meta: arch             = llama
2024-07-02T10:00:01.5Z llm_load_print_meta: n_vocab          = 128256
2024-07-02T10:00:01.5Z llm_load_print_meta: n_embd           = 4096
2024-07-02T10:00:01.5Z llm_load_print_meta: n_layer          = 32
2024-07-02T10:00:01.5Z llm_load_print_meta: n_head           = 32
2024-07-02T10:00:01.5Z llm_load_print_meta: n_head_kv        = 8
2024-07-02T10:00:01.5Z llm_load_print_meta: n_ff             = 14336
2024-07-02T10:00:01.5Z llm_load_print_meta: model ftype      = Q4_K - Medium
2024-07-02T10:00:01.5Z llm_load_print_meta: model params     = 8.03 B
2024-07-02T10:00:01.5Z llm_load_print_meta: model size       = 4.58 GiB (4.89 BPW)
2024-07-02T10:00:02.0Z llm_load_tensors: offloaded 33/33 layers to GPU
2024-07-02T10:00:02.0Z llm_load_tensors:        CPU buffer size =   281.81 MiB
2024-07-02T10:00:02.0Z llm_load_tensors:      CUDA0 buffer size =  4403.49 MiB
2024-07-02T10:00:03.0Z llama_new_context_with_model: n_ctx      = 512
2024-07-02T10:00:03.0Z llama_new_context_with_model: n_batch    = 512
2024-07-02T10:00:03.0Z llama_new_context_with_model: n_ubatch   = 512
2024-07-02T10:00:03.0Z llama_new_context_with_model: flash_attn = 0
2024-07-02T10:00:03.0Z llama_kv_cache_init:      CUDA0 KV buffer size =    64.00 MiB
2024-07-02T10:00:03.0Z llama_new_context_with_model: KV self size  =   64.00 MiB, K (f16):   32.00 MiB, V (f16):   32.00 MiB
2024-07-02T10:00:03.0Z llama_new_context_with_model:  CUDA_Host  output buffer size =     0.49 MiB
2024-07-02T10:00:03.0Z llama_new_context_with_model:      CUDA0 compute buffer size =   258.50 MiB
2024-07-02T10:00:03.0Z llama_new_context_with_model:  CUDA_Host compute buffer size =     9.01 MiB
2024-07-02T10:00:03.0Z llama_new_context_with_model: graph nodes  = 1030
2024-07-02T10:00:03.0Z llama_new_context_with_model: graph splits = 2
)",
          .terms = {{TermKind::kModel, "CPU", 281.81},
                    {TermKind::kModel, "CUDA0", 4403.49},
                    {TermKind::kKv, "CUDA0", 64.0},
                    {TermKind::kOutput, "CUDA_Host", 0.49},
                    {TermKind::kCompute, "CUDA0", 258.5},
                    {TermKind::kCompute, "CUDA_Host", 9.01}}};
}

// PL019, mid 2024, flash attention; counts of tensor types.
Generation mid_2024_flash() {
  return {.id = "PL019",
          .version = "mid 2024",
          .wording = LlamaWording::k2024,
          .text = R"(
llama_model_loader: - type  f32:  121 tensors
llama_model_loader: - type q5_1:  132 tensors
llama_model_loader: - type q8_0:   13 tensors
llama_model_loader: - type q5_K:   12 tensors
llama_model_loader: - type q6_K:   12 tensors
llm_load_print_meta: arch             = qwen2
llm_load_print_meta: n_vocab          = 151936
llm_load_print_meta: n_embd           = 896
llm_load_print_meta: n_layer          = 24
llm_load_print_meta: n_head           = 14
llm_load_print_meta: n_head_kv        = 2
llm_load_print_meta: n_embd_head_k    = 64
llm_load_print_meta: n_ff             = 4864
llm_load_print_meta: model ftype      = Q5_K - Medium
llm_load_print_meta: model params     = 494.03 M
llm_load_print_meta: model size       = 394.95 MiB (6.71 BPW)
llm_load_tensors:        CPU buffer size =   394.95 MiB
llama_new_context_with_model: n_ctx      = 32768
llama_new_context_with_model: n_batch    = 2048
llama_new_context_with_model: n_ubatch   = 512
llama_new_context_with_model: flash_attn = 1
llama_kv_cache_init:        CPU KV buffer size =   384.00 MiB
llama_new_context_with_model: KV self size  =  384.00 MiB, K (f16):  192.00 MiB, V (f16):  192.00 MiB
llama_new_context_with_model:        CPU  output buffer size =     0.58 MiB
llama_new_context_with_model:        CPU compute buffer size =   298.50 MiB
llama_new_context_with_model: graph nodes  = 751
)",
          .terms = {{TermKind::kModel, "CPU", 394.95},
                    {TermKind::kKv, "CPU", 384.0},
                    {TermKind::kOutput, "CPU", 0.58},
                    {TermKind::kCompute, "CPU", 298.5}}};
}

}  // namespace

std::vector<Generation> logs_of_2024() {
  return {early_2024(), march_2024(), mid_2024_cpu(), mid_2024_cuda(), mid_2024_flash()};
}

}  // namespace tidemark
