#include "generations.h"

#include <utility>

namespace tidemark {
namespace {

// PL052, January 2025: print_info, llama_init_from_model.
Generation january_2025() {
  return {.id = "PL052",
          .version = "January 2025",
          .wording = LlamaWording::kJanuary2025,
          .text = R"(
print_info: arch             = gptneox
print_info: n_embd           = 2560
print_info: n_layer          = 32
print_info: n_head           = 32
print_info: n_head_kv        = 32
print_info: n_embd_head_k    = 80
print_info: n_ff             = 10240
print_info: n_vocab          = 50304
load_tensors: offloading output layer to GPU
load_tensors: offloaded 33/33 layers to GPU
llama_init_from_model: n_seq_max     = 1
llama_init_from_model: n_ctx         = 2048
llama_init_from_model: n_ctx_per_seq = 2048
llama_init_from_model: n_batch       = 2048
llama_init_from_model: n_ubatch      = 512
llama_init_from_model: flash_attn    = 0
llama_kv_cache_init: kv_size = 2048, offload = 1, type_k = 'f16', type_v = 'f16', n_layer = 32, can_shift = 1
llama_kv_cache_init:      CUDA0 KV buffer size =   640.00 MiB
llama_init_from_model: KV self size  =  640.00 MiB, K (f16):  320.00 MiB, V (f16):  320.00 MiB
llama_init_from_model:  CUDA_Host  output buffer size =     0.19 MiB
llama_init_from_model:      CUDA0 compute buffer size =   162.00 MiB
llama_init_from_model:  CUDA_Host compute buffer size =     9.01 MiB
llama_init_from_model: graph nodes  = 1319
llama_init_from_model: graph splits = 2
)",
          .terms = {{TermKind::kKv, "CUDA0", 640.0},
                    {TermKind::kOutput, "CUDA_Host", 0.19},
                    {TermKind::kCompute, "CUDA0", 162.0},
                    {TermKind::kCompute, "CUDA_Host", 9.01}}};
}

// PL005, spring 2025: llama_context, "init:" before the cache.
Generation spring_2025() {
  return {.id = "PL005",
          .version = "spring 2025",
          .wording = LlamaWording::kSpring2025,
          .text = R"(
print_info: file type   = Q8_0
print_info: file size   = 7.95 GiB (8.50 BPW)
print_info: arch             = llama
print_info: n_ctx_train      = 8192
print_info: n_embd           = 4096
print_info: n_layer          = 32
print_info: n_head           = 32
print_info: n_head_kv        = 8
print_info: n_ff             = 14336
print_info: model params     = 8.03 B
print_info: n_vocab          = 128256
load_tensors: loading model tensors, this can take a while... (mmap = true)
load_tensors:   CPU_Mapped model buffer size =  8137.64 MiB
llama_context: constructing llama_context
llama_context: n_seq_max     = 1
llama_context: n_ctx         = 2048
llama_context: n_ctx_per_seq = 2048
llama_context: n_batch       = 2048
llama_context: n_ubatch      = 512
llama_context: causal_attn   = 1
llama_context: flash_attn    = 0
llama_context:        CPU  output buffer size =     0.49 MiB
init: kv_size = 2048, offload = 1, type_k = 'f16', type_v = 'f16', n_layer = 32, can_shift = 1
init:        CPU KV buffer size =   256.00 MiB
llama_context: KV self size  =  256.00 MiB, K (f16):  128.00 MiB, V (f16):  128.00 MiB
llama_context:        CPU compute buffer size =   258.50 MiB
llama_context: graph nodes  = 1158
llama_context: graph splits = 1
)",
          .terms = {{TermKind::kModel, "CPU_Mapped", 8137.64},
                    {TermKind::kKv, "CPU", 256.0},
                    {TermKind::kOutput, "CPU", 0.49},
                    {TermKind::kCompute, "CPU", 258.5}}};
}

// PL050, mid 2025: llama_kv_cache_unified, still with "KV self size".
Generation mid_2025() {
  return {.id = "PL050",
          .version = "mid 2025",
          .wording = LlamaWording::kSpring2025,
          .text = R"(
print_info: arch             = phi3
print_info: n_embd           = 3072
print_info: n_layer          = 32
print_info: n_head           = 32
print_info: n_head_kv        = 32
print_info: n_embd_head_k    = 96
print_info: n_ff             = 8192
print_info: n_vocab          = 32064
load_tensors: offloaded 33/33 layers to GPU
load_tensors:        CUDA0 model buffer size =  2228.82 MiB
load_tensors:   CPU_Mapped model buffer size =    52.84 MiB
llama_context: n_seq_max     = 1
llama_context: n_ctx         = 4096
llama_context: n_ctx_per_seq = 4096
llama_context: n_batch       = 256
llama_context: n_ubatch      = 256
llama_context: flash_attn    = 0
llama_context:  CUDA_Host  output buffer size =     0.12 MiB
llama_kv_cache_unified: kv_size = 4096, type_k = 'f16', type_v = 'f16', n_layer = 32, can_shift = 1, padding = 32
llama_kv_cache_unified:      CUDA0 KV buffer size =  1536.00 MiB
llama_kv_cache_unified: KV self size  = 1536.00 MiB, K (f16):  768.00 MiB, V (f16):  768.00 MiB
llama_context:      CUDA0 compute buffer size =   150.00 MiB
llama_context:  CUDA_Host compute buffer size =     7.00 MiB
llama_context: graph nodes  = 1414
llama_context: graph splits = 2
)",
          .terms = {{TermKind::kKv, "CUDA0", 1536.0},
                    {TermKind::kOutput, "CUDA_Host", 0.12},
                    {TermKind::kCompute, "CUDA0", 150.0},
                    {TermKind::kCompute, "CUDA_Host", 7.0}}};
}

// PL009, July 2025, inside another program: "size =" of the cache, not yet one for each sequence.
Generation july_2025() {
  return {.id = "PL009",
          .version = "July 2025",
          .wording = LlamaWording::kSummer2025,
          .text = R"(
print_info: arch             = llama
print_info: n_ctx_train      = 131072
print_info: n_embd           = 2048
print_info: n_layer          = 16
print_info: n_head           = 32
print_info: n_head_kv        = 8
print_info: n_embd_head_k    = 64
print_info: n_ff             = 8192
print_info: n_vocab          = 128256
llama_context: n_seq_max     = 1
llama_context: n_ctx         = 4096
llama_context: n_ctx_per_seq = 4096
llama_context: n_batch       = 2048
llama_context: n_ubatch      = 512
llama_context: flash_attn    = 0
llama_context:        CPU  output buffer size =     0.49 MiB
llama_kv_cache_unified:        CPU KV buffer size =   128.00 MiB
llama_kv_cache_unified: size =  128.00 MiB (  4096 cells,  16 layers,  1 seqs), K (f16):   64.00 MiB, V (f16):   64.00 MiB
llama_kv_cache_unified: LLAMA_SET_ROWS=0, using old ggml_cpy() method for backwards compatibility
llama_context:        CPU compute buffer size =   280.01 MiB
llama_context: graph nodes  = 582
llama_context: graph splits = 1
)",
          .terms = {{TermKind::kKv, "CPU", 128.0},
                    {TermKind::kKvTotal, "", 128.0},
                    {TermKind::kOutput, "CPU", 0.49},
                    {TermKind::kCompute, "CPU", 280.01}}};
}

// PL001, August 2025, build 6209: two devices over the network; "size =" of the cache.
Generation august_2025() {
  return {.id = "PL001",
          .version = "August 2025, build 6209",
          .wording = LlamaWording::kSummer2025,
          .text = R"(
build: 6209 (fb22dd07) with cc for aarch64-linux-gnu
print_info: file type   = Q4_0
print_info: file size   = 37.22 GiB (4.53 BPW)
print_info: arch             = llama
print_info: n_embd           = 8192
print_info: n_layer          = 80
print_info: n_head           = 64
print_info: n_head_kv        = 8
print_info: n_embd_head_k    = 128
print_info: n_ff             = 28672
print_info: model params     = 70.55 B
print_info: general.name     = Llama 3.1 70B
print_info: n_vocab          = 128256
load_tensors: offloaded 81/81 layers to GPU
load_tensors:   CPU_Mapped model buffer size =   563.62 MiB
load_tensors:         RPC0 model buffer size = 18821.56 MiB
load_tensors:         RPC1 model buffer size = 18725.42 MiB
llama_context: n_seq_max     = 1
llama_context: n_ctx         = 4096
llama_context: n_ctx_per_seq = 4096
llama_context: n_batch       = 2048
llama_context: n_ubatch      = 512
llama_context: flash_attn    = 0
llama_context: kv_unified    = false
llama_context:        CPU  output buffer size =     0.49 MiB
llama_kv_cache_unified:       RPC0 KV buffer size =   656.00 MiB
llama_kv_cache_unified:       RPC1 KV buffer size =   624.00 MiB
llama_kv_cache_unified: size = 1280.00 MiB (  4096 cells,  80 layers,  1/1 seqs), K (f16):  640.00 MiB, V (f16):  640.00 MiB
llama_context:       RPC0 compute buffer size =   588.01 MiB
llama_context:       RPC1 compute buffer size =   588.01 MiB
llama_context:        CPU compute buffer size =    28.01 MiB
llama_context: graph nodes  = 2806
llama_context: graph splits = 3
)",
          .terms = {{TermKind::kModel, "CPU_Mapped", 563.62},
                    {TermKind::kModel, "RPC0", 18821.56},
                    {TermKind::kModel, "RPC1", 18725.42},
                    {TermKind::kKv, "RPC0", 656.0},
                    {TermKind::kKv, "RPC1", 624.0},
                    {TermKind::kKvTotal, "", 1280.0},
                    {TermKind::kOutput, "CPU", 0.49},
                    {TermKind::kCompute, "RPC0", 588.01},
                    {TermKind::kCompute, "RPC1", 588.01},
                    {TermKind::kCompute, "CPU", 28.01}}};
}

// PL044, end of 2025: llama_kv_cache; a file from before the split of the latent matrices.
Generation autumn_2025() {
  return {.id = "PL044",
          .version = "end of 2025",
          .wording = LlamaWording::kAutumn2025,
          .text =
              "\x1b[0m"
              R"(
print_info: file type   = Q4_0
print_info: file size   = 8.29 GiB (4.53 BPW)
print_info: arch             = deepseek2
print_info: n_embd           = 2048
print_info: n_layer          = 27
print_info: n_head           = 16
print_info: n_head_kv        = 16
print_info: n_embd_head_k    = 192
print_info: n_embd_head_v    = 128
print_info: n_ff             = 10944
print_info: n_expert         = 64
print_info: n_expert_used    = 6
print_info: n_lora_kv        = 512
print_info: n_ff_exp         = 1408
print_info: n_expert_shared  = 2
print_info: n_vocab          = 102400
print_info: model params     = 15.71 B
load_tensors: offloaded 28/28 layers to GPU
load_tensors:   CPU_Mapped model buffer size =   112.50 MiB
load_tensors:       OpenCL model buffer size =  8376.26 MiB
llama_context: n_seq_max     = 1
llama_context: n_ctx         = 4096
llama_context: n_ctx_seq     = 4096
llama_context: n_batch       = 2048
llama_context: n_ubatch      = 512
llama_context: flash_attn    = auto
llama_context: kv_unified    = false
llama_context:        CPU  output buffer size =     0.39 MiB
llama_kv_cache:     OpenCL KV buffer size =  1080.00 MiB
llama_kv_cache: size = 1080.00 MiB (  4096 cells,  27 layers,  1/1 seqs), K (f16):  648.00 MiB, V (f16):  432.00 MiB
llama_context: Flash Attention was auto, set to enabled
llama_context:     OpenCL compute buffer size =   208.00 MiB
llama_context:        CPU compute buffer size =    12.01 MiB
llama_context: graph nodes  = 1737
)",
          .terms = {{TermKind::kModel, "CPU_Mapped", 112.5},
                    {TermKind::kKvTotal, "", 1080.0},
                    {TermKind::kOutput, "CPU", 0.39},
                    {TermKind::kCompute, "OpenCL", 208.0, false},
                    {TermKind::kCompute, "CPU", 12.01}}};
}

// PL035, 2026: window layers at full length, two caches, two sequences; Windows line ends.
Generation windows_2026() {
  std::string text = R"(
print_info: arch             = gemma2
print_info: n_embd           = 2304
print_info: n_layer          = 26
print_info: n_head           = 8
print_info: n_head_kv        = 4
print_info: n_embd_head_k    = 256
print_info: n_ff             = 9216
print_info: n_swa            = 4096
print_info: n_vocab          = 256000
load_tensors: offloaded 27/27 layers to GPU
load_tensors:   CPU_Mapped model buffer size =   461.43 MiB
load_tensors:        ROCm0 model buffer size =  1548.29 MiB
llama_context: n_seq_max     = 2
llama_context: n_ctx         = 16384
llama_context: n_ctx_seq     = 8192
llama_context: n_batch       = 512
llama_context: n_ubatch      = 256
llama_context: flash_attn    = disabled
llama_context: kv_unified    = false
llama_context:  ROCm_Host  output buffer size =     1.97 MiB
llama_kv_cache_iswa: using full-size SWA cache (ref: a discussion)
llama_kv_cache_iswa: creating non-SWA KV cache, size = 8192 cells
llama_kv_cache:      ROCm0 KV buffer size =   832.00 MiB
llama_kv_cache: size =  832.00 MiB (  8192 cells,  13 layers,  2/2 seqs), K (f16):  416.00 MiB, V (f16):  416.00 MiB
llama_kv_cache_iswa: creating     SWA KV cache, size = 8192 cells
llama_kv_cache:      ROCm0 KV buffer size =   832.00 MiB
llama_kv_cache: size =  832.00 MiB (  8192 cells,  13 layers,  2/2 seqs), K (f16):  416.00 MiB, V (f16):  416.00 MiB
llama_context:      ROCm0 compute buffer size =   252.25 MiB
llama_context:  ROCm_Host compute buffer size =    22.26 MiB
llama_context: graph nodes  = 1180
llama_context: graph splits = 2
)";
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2)) {
    text.insert(at, "\r");
  }
  return {.id = "PL035",
          .version = "2026, in ollama",
          .wording = LlamaWording::kAutumn2025,
          .text = text,
          .terms = {{TermKind::kKv, "ROCm0", 1664.0},
                    {TermKind::kKvFull, "", 832.0},
                    {TermKind::kKvWindow, "", 832.0},
                    {TermKind::kOutput, "ROCm_Host", 1.97},
                    {TermKind::kCompute, "ROCm0", 252.25},
                    {TermKind::kCompute, "ROCm_Host", 22.26}}};
}

// PL032, 2026: attention and a recurrence, some layers on a card; the table at the end.
Generation hybrid_2026() {
  return {.id = "PL032",
          .version = "2026",
          .wording = LlamaWording::k2026,
          .text = R"(
0.00.410.112 I print_info: file type   = Q4_K - Small
0.00.410.113 I print_info: file size   = 14.49 GiB (4.63 BPW)
0.00.410.114 I print_info: arch                  = qwen35
0.00.410.114 I print_info: n_embd                = 5120
0.00.410.115 I print_info: n_layer               = 64
0.00.410.115 I print_info: n_head                = 24
0.00.410.115 I print_info: n_head_kv             = [0, 0, 0, 4, 0, 0, 0, 4]
0.00.410.115 I print_info: n_embd_head_k         = 256
0.00.410.115 I print_info: n_ff                  = 17408
0.00.410.115 I print_info: n_vocab               = 248320
0.00.410.115 I print_info: model params          = 26.90 B
0.00.700.000 I load_tensors: offloaded 26/65 layers to GPU
0.00.700.001 I load_tensors:   CPU_Mapped model buffer size =  8740.26 MiB
0.00.700.002 I load_tensors:        CUDA0 model buffer size =  6096.65 MiB
0.00.800.000 I llama_context: n_seq_max             = 1
0.00.800.000 I llama_context: n_ctx                 = 131072
0.00.800.000 I llama_context: n_ctx_seq             = 131072
0.00.800.000 I llama_context: n_batch               = 1024
0.00.800.000 I llama_context: n_ubatch              = 1024
0.00.800.000 I llama_context: flash_attn            = auto
0.00.800.000 I llama_context: kv_unified            = false
0.00.800.001 I llama_context:  CUDA_Host  output buffer size =     0.95 MiB
0.00.800.002 I llama_kv_cache:        CPU KV buffer size =  4608.00 MiB
0.00.800.003 I llama_kv_cache:      CUDA0 KV buffer size =  3584.00 MiB
0.00.800.004 I llama_kv_cache: size = 8192.00 MiB (131072 cells,  16 layers,  1/1 seqs), K (f16): 4096.00 MiB, V (f16): 4096.00 MiB
0.00.800.005 I llama_memory_recurrent:        CPU RS buffer size =    93.52 MiB
0.00.800.006 I llama_memory_recurrent:      CUDA0 RS buffer size =    56.11 MiB
0.00.800.007 I llama_memory_recurrent: size =  149.62 MiB (     1 cells,  64 layers,  1 seqs), R (f32):    5.62 MiB, S (f32):  144.00 MiB
0.00.800.008 I sched_reserve: Flash Attention was auto, set to enabled
0.00.900.000 E ggml_gallocr_reserve_n_impl: failed to allocate CUDA0 buffer of size 1469839616
)",
          .terms = {{TermKind::kKv, "CPU", 4608.0},
                    {TermKind::kKv, "CUDA0", 3584.0},
                    {TermKind::kKvTotal, "", 8192.0},
                    {TermKind::kRecurrent, "CPU", 93.52},
                    {TermKind::kRecurrent, "CUDA0", 56.11},
                    {TermKind::kRecurrentAll, "", 149.62},
                    {TermKind::kOutput, "CUDA_Host", 0.95}}};
}

// PL023, June 2025: a fork that left in mid 2024, with a type of its own.
Generation fork_2025() {
  return {.id = "PL023",
          .version = "June 2025, ik_llama.cpp",
          .wording = LlamaWording::k2024,
          .text = R"(
llama_model_loader: - type  f32:  145 tensors
llama_model_loader: - type iq3_kt:   72 tensors
llama_model_loader: - type iq4_kt:  182 tensors
llm_load_print_meta: arch             = qwen3
llm_load_print_meta: n_vocab          = 151936
llm_load_print_meta: n_embd           = 4096
llm_load_print_meta: n_layer          = 36
llm_load_print_meta: n_head           = 32
llm_load_print_meta: n_head_kv        = 8
llm_load_print_meta: n_ff             = 12288
llm_load_print_meta: model ftype      = IQ3_KT - 3.125 bpw
llm_load_print_meta: model size       = 3.455 GiB (3.624 BPW)
llm_load_tensors:        CPU buffer size =  3538.31 MiB
llama_new_context_with_model: n_ctx      = 8704
llama_new_context_with_model: n_batch    = 2048
llama_new_context_with_model: n_ubatch   = 512
llama_new_context_with_model: flash_attn = 1
llama_new_context_with_model: mla_attn   = 0
llama_new_context_with_model: fused_moe  = 0
llama_kv_cache_init:        CPU KV buffer size =  1224.00 MiB
llama_new_context_with_model: KV self size  = 1224.00 MiB, K (f16):  612.00 MiB, V (f16):  612.00 MiB
llama_new_context_with_model:        CPU  output buffer size =     0.58 MiB
llama_new_context_with_model:        CPU compute buffer size =   304.75 MiB
llama_new_context_with_model: graph nodes  = 978
)",
          .terms = {{TermKind::kKv, "CPU", 1224.0},
                    {TermKind::kOutput, "CPU", 0.58},
                    {TermKind::kCompute, "CPU", 304.75}}};
}

}  // namespace

std::vector<Generation> generations() {
  std::vector<Generation> all = logs_of_2024();
  for (Generation& log : std::vector<Generation>{january_2025(), spring_2025(), mid_2025(),
                                                 july_2025(), august_2025(), autumn_2025(),
                                                 windows_2026(), hybrid_2026(), fork_2025()}) {
    all.push_back(std::move(log));
  }
  return all;
}

}  // namespace tidemark
