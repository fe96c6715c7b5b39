What llama.cpp puts where: experts by hand, several devices, a projector, a draft model.

# The experts of all layers, by shorthand and by pattern.
$ tidemark plan qwen3-30b-a3b --engine llama.cpp --quant Q4_K_M -c 4096 -ngl 99 --cpu-moe --budget 64GiB | sed -n '/columns  /,/  all/p'
  llama.cpp's columns     model  context   compute      self
  GPU                   784 MiB  384 MiB   222 MiB  1.36 GiB
  host                 17.0 GiB      0 B  12.0 MiB  17.1 GiB
  ----------------------------------------------------------
  all                  17.8 GiB  384 MiB   234 MiB  18.4 GiB

$ tidemark plan qwen3-30b-a3b --engine llama.cpp --quant Q4_K_M -c 4096 -ngl 99 -ot '\.ffn_(?:up|down|gate)_exps=CPU' --budget 64GiB | sed -n '/columns  /,/  all/p'
  llama.cpp's columns     model  context   compute      self
  GPU                   784 MiB  384 MiB   222 MiB  1.36 GiB
  host                 17.0 GiB      0 B  12.0 MiB  17.1 GiB
  ----------------------------------------------------------
  all                  17.8 GiB  384 MiB   234 MiB  18.4 GiB

# Two devices and one.
$ tidemark plan llama-3.1-8b --engine llama.cpp --quant Q4_0 -c 4096 -ngl 99 -ts 3,1 --budget 64GiB | sed -n '/columns  /,/  all/p'
  llama.cpp's columns     model  context   compute      self
  GPU0                 2.86 GiB  400 MiB   156 MiB  3.40 GiB
  GPU1                 1.20 GiB  112 MiB   156 MiB  1.46 GiB
  host                  282 MiB      0 B  32.0 MiB   314 MiB
  ----------------------------------------------------------
  all                  4.33 GiB  512 MiB   344 MiB  5.17 GiB

$ tidemark plan llama-3.1-8b --engine llama.cpp --quant Q4_0 -c 4096 -ngl 99 -ts 3,1 -sm none -mg 1 --budget 64GiB | sed -n '/columns  /,/  all/p'
  llama.cpp's columns     model  context   compute      self
  GPU1                 4.06 GiB  512 MiB   112 MiB  4.67 GiB
  host                  282 MiB      0 B  20.0 MiB   302 MiB
  ----------------------------------------------------------
  all                  4.33 GiB  512 MiB   132 MiB  4.96 GiB

# A projector and a draft model are rows of their own and part of the total.
$ tidemark plan gemma-3-4b --engine llama.cpp --quant Q4_0 -c 4096 --mmproj auto -md gemma-3-1b -cd 2048 --no-repack --budget 64GiB | sed -n '/columns  /,/  all/p'
  llama.cpp's columns     model   context   compute      self
  host                 2.20 GiB   254 MiB  84.5 MiB  2.53 GiB
  host, draft           681 MiB  30.0 MiB  52.3 MiB   763 MiB
  host, projector       811 MiB       0 B   121 MiB   932 MiB
  -----------------------------------------------------------
  all                  3.65 GiB   284 MiB   258 MiB  4.18 GiB

$ tidemark plan gemma-3-4b --engine llama.cpp --quant Q4_0 -c 4096 --mmproj auto -md gemma-3-1b --json --budget 64GiB | python3 -c "
> import json, sys
> plan = json.load(sys.stdin)
> rows = plan['llama_cpp']['columns']
> print([(row['where'], row['part']) for row in rows])
> print(sum(row['model_bytes'] for row in rows) == plan['memory']['weights_bytes'])
> print(sum(row['context_bytes'] for row in rows) == plan['memory']['kv_cache_bytes'])
> print(sum(row['compute_bytes'] for row in rows) == plan['memory']['compute_bytes'])"
[('host', 'model'), ('CPU_REPACK', 'model'), ('host', 'draft'), ('CPU_REPACK', 'draft'), ('host', 'projector')]
True
True
True

# What is stated wrongly.
$ tidemark plan qwen3-30b-a3b --engine llama.cpp -ot '(exps=CPU'
error: --override-tensor: "(exps": not a pattern of tensor names: an unmatched (
  hint: write a part of the name (attn_v) or a regular expression without braces
[exit 2]
$ tidemark plan qwen3-30b-a3b --engine llama.cpp -ot 'exps=CUDA1'
error: --override-tensor: "CUDA1" is none of the 1 devices
  hint: state a share of each device in tensor_split, they are counted from 0
[exit 2]
$ tidemark plan qwen3-30b-a3b --engine llama.cpp -ot 'exps'
error: --override-tensor: "exps" is not PATTERN=BUFFER
  hint: write PATTERN=BUFFER, such as \.ffn_.*_exps\.=CPU
[exit 2]
$ tidemark plan llama-3.1-8b --engine llama.cpp -ts 1,none
error: --tensor-split: "none" is no share
  hint: one number for each device, in proportion: 3,1
[exit 2]
$ tidemark plan llama-3.1-8b --engine llama.cpp -sm row
error: --split-mode: row shares out each matrix, padded as the kernels of each device want; that is not modelled
  hint: plan with layer: weights, caches and states are as large in total
[exit 2]
$ tidemark plan llama-3.1-8b --engine llama.cpp --mmproj auto
error: --mmproj: llama-3.1-8b has no vision or audio tower
  hint: leave mmproj out, or name the projector's file
[exit 2]
$ tidemark plan llama-3.1-8b --engine llama.cpp -cd 512
error: --ctx-size-draft: there is no draft model
  hint: name one: model_draft
[exit 2]
$ tidemark plan gemma-3-4b --engine llama.cpp --mmproj nowhere.gguf
nowhere.gguf: error: cannot open: no such file
[exit 2]

# What our planner would save is told from the graph that all stays with the CPU, of which it is.
$ tidemark plan llama-3.1-8b --engine llama.cpp --quant Q4_0 -c 4096 -ngl 20 | sed -n '/^Ours/,/our own/p'
Ours       the graph all on the CPU, where llama.cpp takes 120 MiB, placed by first-fit-by-size:
           96.0 MiB, saves 24.0 MiB; lower bound 96.0 MiB
           our own graph of the model, arena and scratch: 79.0 MiB, saves 41.0 MiB
