Every stage of the chain can be printed.

$ tidemark plan demo-layers --engine bare --show weights
  tensor     type  columns  rows      bytes
  embedding  f32         0     0  800000000
  layer1     f32         0     0  600000000
  layer2     f32         0     0  600000000
  layer3     f32         0     0  600000000
  layer4     f32         0     0  600000000
  output     f32         0     0  200000000
$ tidemark plan demo-layers --engine bare --show units
  visit  unit       first_step  last_step      bytes
  0      embedding           0          0  800000000
  1      layer1              1          1  600000000
  2      layer2              2          2  600000000
  3      layer3              3          3  600000000
  4      layer4              4          4  600000000
  5      output              5          5  200000000
$ tidemark plan demo-layers --engine bare --show graph
  step  op         kind         reads      writes     written_bytes  scratch_bytes
  0     embedding  plain_layer             embedding       64000000              0
  1     layer1     plain_layer  embedding  layer1         128000000              0
  2     layer2     plain_layer  layer1     layer2         128000000              0
  3     layer3     plain_layer  layer2     layer3         128000000              0
  4     layer4     plain_layer  layer3     layer4         128000000              0
  5     output     plain_layer  layer4     output          32000000              0
$ tidemark plan demo-layers --engine bare --show ranges
  tensor     lower  upper      bytes
  embedding      0      2   64000000
  layer1         1      3  128000000
  layer2         2      4  128000000
  layer3         3      5  128000000
  layer4         4      6  128000000
  output         5      6   32000000
$ tidemark plan demo-layers --engine bare --show load
  step  op         live_bytes
  0     embedding    64000000
  1     layer1      192000000
  2     layer2      256000000
  3     layer3      256000000
  4     layer4      256000000
  5     output      160000000
$ tidemark plan demo-layers --engine bare --show problem
id,lower,upper,size,alignment,offset
embedding,0,2,64000000,1,128000000
layer1,1,3,128000000,1,0
layer2,2,4,128000000,1,128000000
layer3,3,5,128000000,1,0
layer4,4,6,128000000,1,128000000
output,5,6,32000000,1,0
$ tidemark plan demo-layers --engine bare --show dot
digraph tidemark {
  node [shape=box];
  op0 [label="embedding\nplain_layer"];
  op1 [label="layer1\nplain_layer"];
  op2 [label="layer2\nplain_layer"];
  op3 [label="layer3\nplain_layer"];
  op4 [label="layer4\nplain_layer"];
  op5 [label="output\nplain_layer"];
  op0 -> op1 [label="embedding 64000000 B"];
  op1 -> op2 [label="layer1 128000000 B"];
  op2 -> op3 [label="layer2 128000000 B"];
  op3 -> op4 [label="layer3 128000000 B"];
  op4 -> op5 [label="layer4 128000000 B"];
  tensor5 [shape=ellipse, label="output 32000000 B"];
  op5 -> tensor5;
}
$ tidemark plan demo-layers --engine bare --show map
Arena, prefill: 244 MiB in 6 buffers over 6 steps, lower bound 244 MiB

  244 MiB +
\          |........cccccccceeeeeeee
\          |........cccccccceeeeeeee
\          |........cccccccceeeeeeee
\  203 MiB |........cccccccceeeeeeee
\          |........cccccccceeeeeeee
\          |........cccccccceeeeeeee
          |aaaaaaaacccccccceeeeeeee
  163 MiB |aaaaaaaacccccccceeeeeeee
          |aaaaaaaacccccccceeeeeeee
          |aaaaaaaacccccccceeeeeeee
          |aaaaaaaacccccccceeeeeeee
  122 MiB |aaaaaaaacccccccceeeeeeee
\          |....bbbbbbbbdddddddd....
\          |....bbbbbbbbdddddddd....
\          |....bbbbbbbbdddddddd....
\ 81.4 MiB |....bbbbbbbbdddddddd....
\          |....bbbbbbbbdddddddd....
\          |....bbbbbbbbdddddddd....
\          |....bbbbbbbbdddddddd....
\ 40.7 MiB |....bbbbbbbbdddddddd....
\          |....bbbbbbbbdddddddd....
\          |....bbbbbbbbddddddddffff
\          |....bbbbbbbbddddddddffff
\          |....bbbbbbbbddddddddffff
      0 B +------------------------
           0               4 step
                   ^ fullest at step 2 (layer2)

     largest buffers      size   offset  steps
  b  layer1            122 MiB      0 B  [1, 3)
  c  layer2            122 MiB  122 MiB  [2, 4)
  d  layer3            122 MiB      0 B  [3, 5)
  e  layer4            122 MiB  122 MiB  [4, 6)
  a  embedding        61.0 MiB  122 MiB  [0, 2)
  f  output           30.5 MiB      0 B  [5, 6)
$ tidemark plan tinyllama-1.1b --quant int4 --show graph:decode | head -n 22
  step  op                kind             reads                                        writes                         written_bytes  scratch_bytes
  0     embed             embed            token_ids                                    embed                                   8192              0
  1     blk.0.attn_norm   rms_norm         embed                                        blk.0.attn_norm                         8192              0
  2     blk.0.q           matmul           blk.0.attn_norm                              blk.0.q                                 8192           2052
  3     blk.0.k           matmul           blk.0.attn_norm                              blk.0.k                                 1024           2052
  4     blk.0.v           matmul           blk.0.attn_norm                              blk.0.v                                 1024           2052
  5     blk.0.q_rope      rope             blk.0.q positions                            blk.0.q_rope                            8192              0
  6     blk.0.k_rope      rope             blk.0.k positions                            blk.0.k_rope                            1024              0
  7     blk.0.store_kv    store_kv         blk.0.k_rope blk.0.v                         blk.0.cache_k blk.0.cache_v          2097152              0
  8     blk.0.attention   flash_attention  blk.0.q_rope blk.0.cache_k blk.0.cache_v     blk.0.attention                         8192            392
  9     blk.0.attn_out    matmul           blk.0.attention                              blk.0.attn_out                          8192           2052
  10    blk.0.attn_add    add              blk.0.attn_out embed                         blk.0.attn_add                          8192              0
  11    blk.0.ffn_norm    rms_norm         blk.0.attn_add                               blk.0.ffn_norm                          8192              0
  12    blk.0.gate        matmul           blk.0.ffn_norm                               blk.0.gate                             22528           2052
  13    blk.0.up          matmul           blk.0.ffn_norm                               blk.0.up                               22528           2052
  14    blk.0.silu        silu             blk.0.gate                                   blk.0.silu                             22528              0
  15    blk.0.mul         mul              blk.0.silu blk.0.up                          blk.0.mul                              22528              0
  16    blk.0.down        matmul           blk.0.mul                                    blk.0.down                              8192           5636
  17    blk.0.ffn_add     add              blk.0.down blk.0.attn_add                    blk.0.ffn_add                           8192              0
  18    blk.1.attn_norm   rms_norm         blk.0.ffn_add                                blk.1.attn_norm                         8192              0
  19    blk.1.q           matmul           blk.1.attn_norm                              blk.1.q                                 8192           2052
  20    blk.1.k           matmul           blk.1.attn_norm                              blk.1.k                                 1024           2052
$ tidemark plan tinyllama-1.1b --show graph:training
error: --show: there is no phase 'training'
  hint: prefill or decode
[exit 2]
$ tidemark list models | grep -E "^  (model|demo-blocks|minicpm-2b|deepseek-r1|jamba-v0.1) "
  model                          architecture     layers         parameters  stored_as
  deepseek-r1                    deepseek2            61    671,026,419,200  fp8_e4m3_b128
  demo-blocks                    layer-list            5           2.86 GiB  sizes only
  jamba-v0.1                     jamba                32     51,570,323,328  bf16
  minicpm-2b                     minicpm              40      2,724,880,896  bf16
$ tidemark list devices | head -n 3
  device                  memory  for_apps  flash_read  description
  agx-orin-64           64.0 GiB  58.6 GiB   3.00 GB/s  Jetson AGX Orin (64 GB, NVMe), Linux
  demo-3gb              2.79 GiB  2.33 GiB    280 MB/s  The 3 GB device of the worked examples: 2.5 GB available, red line 2.25 GB
$ tidemark list engines | head -n 3
bare       1: live tensors and nothing else, for worked examples
formula    1: the textbook's estimates, with the planned numbers beside them
llama.cpp  3f545bec (build 10573 and 14 commits): llama.cpp's own buffers, mapped file, worst-case
$ tidemark list engines | awk 'length > 100' | wc -l
0
$ tidemark list engines --format csv | cut -d , -f 1 | uniq -c
      1 engine
      1 bare
      1 formula
      1 llama.cpp
      1 mlc
      1 mnn
      1 paged
      3 static
      2 tensorrt
      1 tidemark
$ tidemark list engines --json | grep -c '"runtime"'
9
$ tidemark list strategies
  strategy       resident                                            reads
  resident       all weights                                         once, before the first token
  layerwise      one weight unit at a time                           every unit, every pass, not overlapped
  double-buffer  two units in slots that alternate                   the next unit while this one computes
  chunked        two chunks: --chunk layers, or parts of a layer     the next chunk while this one computes
  mmap           pages of the mapped file that the page cache keeps  on a page fault, ahead
  block-cache    what the cache policy keeps                         on a miss
$ tidemark list quants | grep -E "^  (quant|as-stored|Q4_K_M|int8|gptq4_g128|mlx4_g64) "
  quant            kind            bits_per_weight  summary
  as-stored        as stored       -                as the model file holds it
  Q4_K_M           GGUF file type  4.89             GGUF file type, mostly Q4_K
  int8             format          8.00             symmetric, one fp16 scale a row, for all matrices
  gptq4_g128       format          4.16             packed integers inside the layers, f16 elsewhere
  mlx4_g64         format          4.50             MLX groups for all matrices
$ tidemark list planners
  planner                 summary
  no-reuse                every buffer apart: the upper bound
  first-fit-by-size       largest first, each at the lowest offset that is free
  best-fit-by-start       earliest first, each in the smallest gap that holds it, as a run-time allocator
  best-of                 the lower peak of first-fit-by-size and best-fit-by-start
  linear-scan             earliest first, each at the lowest offset that is free
  first-fit-by-width      longest life first, each at the lowest offset that is free
  first-fit-by-area       largest size times life first, each at the lowest offset that is free
  first-fit-by-conflicts  most neighbours first, each at the lowest offset that is free
  best-fit-by-size        largest first, each in the smallest gap that holds it
  lowest-floor            whatever can stand lowest next, in several orders; for very many buffers
  hill-climb              first fit over many orders, moving forward what the peak rests on
  exact                   search for the lowest peak, with proof
  portfolio               fits, lowest floor and exact search by rising cost, until the peak is proved
$ tidemark list quants --json | head -n 8
{
  "schema": "tidemark.list/1",
  "tool_version": "0.1.0",
  "list": "quants",
  "rows": [
    {"quant": "as-stored", "kind": "as stored", "bits_per_weight": "-", "summary": "as the model file holds it"},
    {"quant": "F32", "kind": "GGUF file type", "bits_per_weight": "32.00", "summary": "GGUF file type, matrices f32"},
    {"quant": "F16", "kind": "GGUF file type", "bits_per_weight": "16.00", "summary": "GGUF file type, matrices f16"},
$ tidemark plan minicpm-2b --show kinds --json
error: --show: prints a stage as text and knows no other format
  hint: leave --format out; `--show problem` is CSV already
[exit 2]
