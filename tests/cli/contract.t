The JSON contract other programs depend on: MiniCPM-2B, published dimensions.

$ tidemark plan minicpm-2b --quant int4 -c 4096 --device galaxy-s23 --json > plan.json
[exit 1]
$ grep -E '"(schema|parameters|kv_cache_bytes|weights_bytes|recurrent_state_bytes|compute_bytes|output_bytes|runtime_bytes|total_bytes)"' plan.json
  "schema": "tidemark.plan/1",
    "parameters": 2724880896,
    "weights_bytes": 1365182338,
    "kv_cache_bytes": 1509949440,
    "recurrent_state_bytes": 0,
    "compute_bytes": 35983360,
    "output_bytes": 491012,
    "runtime_bytes": 8912896,
    "total_bytes": 2920519046
      {"change": "ctx_size x 2", "compute_bytes": 35983360, "output_bytes": 491012},
      {"change": "ubatch_size x 2", "compute_bytes": 71966720, "output_bytes": 491012},
      {"change": "logits of every token", "compute_bytes": 35983360, "output_bytes": 251398144}
    "total_bytes": 8589934592,
$ python3 -c "import json; m = json.load(open('plan.json'))['memory']; print(m['total_bytes'] == sum(v for k, v in m.items() if k != 'total_bytes'))"
True
$ python3 -c "import json; d = json.load(open('plan.json')); print({k: list(d[k]) for k in ('model', 'memory', 'arena', 'device', 'verdict')})"
{'model': ['name', 'architecture', 'parameters', 'active_parameters', 'layers', 'tensor_bytes'], 'memory': ['weights_bytes', 'kv_cache_bytes', 'recurrent_state_bytes', 'compute_bytes', 'output_bytes', 'runtime_bytes', 'total_bytes'], 'arena': ['planner', 'status', 'peak_bytes', 'lower_bound_bytes', 'no_reuse_bytes', 'buffers', 'phase', 'steps', 'peak_step', 'peak_op', 'largest_tensor', 'phases', 'scaling'], 'device': ['name', 'total_bytes', 'os_bytes', 'available_bytes', 'margin_bytes', 'limit_bytes', 'limit_rule', 'estimates'], 'verdict': ['fits', 'slack_bytes', 'binding_term']}

# Flag, environment, scenario file, engine profile, default: the strongest wins, and the origin is told.
$ TIDEMARK_CTX_SIZE=1024 TIDEMARK_QUANT=int8 tidemark plan minicpm-2b -c 2048 --json | grep -E '"(ctx_size|quant|cache_type_k|batch_size)"'
    "quant": {"value": "int8", "origin": "environment TIDEMARK_QUANT"},
    "ctx_size": {"value": "2048", "origin": "flag --ctx-size"},
    "batch_size": {"value": "2048", "origin": "default"},
    "cache_type_k": {"value": "f16", "origin": "engine profile tidemark"},

# llama.cpp's spellings can be pasted.
$ tidemark plan llama-3.1-8b --quant Q4_0 -c 8192 -b 1024 -ub 256 -np 2 -ctk q8_0 -ctv q8_0 -fa --json | grep -E '"(ctx_size|batch_size|ubatch_size|parallel|cache_type_k|cache_type_v|flash_attn|kv_cache_bytes)"'
    "ctx_size": {"value": "8192", "origin": "flag --ctx-size"},
    "batch_size": {"value": "1024", "origin": "flag --batch-size"},
    "ubatch_size": {"value": "256", "origin": "flag --ubatch-size"},
    "parallel": {"value": "2", "origin": "flag --parallel"},
    "cache_type_k": {"value": "Q8_0", "origin": "flag --cache-type-k"},
    "cache_type_v": {"value": "Q8_0", "origin": "flag --cache-type-v"},
    "flash_attn": {"value": "on", "origin": "flag --flash-attn"},
    "kv_cache_bytes": 570425344,

# Two runs, the same bytes.
$ for i in 1 2; do tidemark simulate minicpm-2b --quant int4 --strategy layerwise --json -o $i.json --svg $i.svg --trace $i.trace --curve $i.csv --quiet; done
$ cmp 1.json 2.json && cmp 1.svg 2.svg && cmp 1.trace 2.trace && cmp 1.csv 2.csv && echo same
same
$ head -c 15 1.svg; echo; head -n 2 1.csv; python3 -c "import json; print(sorted(json.load(open('1.trace'))))"
<svg xmlns="htt
t_ns,weights_bytes,kv_cache_bytes,recurrent_state_bytes,compute_bytes,output_bytes,runtime_bytes,total_bytes,file_backed_bytes,committed_bytes
0,141656962,1509949440,0,35983360,491012,8912896,1696993670,0,1696993670
['displayTimeUnit', 'traceEvents']

# Several values of one flag: results[], exit code 0 when one of them fits.
$ tidemark plan minicpm-2b --quant int4 --strategy resident,layerwise --json | grep -E '"(schema|results|strategy|fits)"'
  "schema": "tidemark.plan/1",
  "results": [
      "schema": "tidemark.plan/1",
        "strategy": {"value": "resident", "origin": "flag --strategy"},
      "strategy": "resident",
        "fits": false,
      "schema": "tidemark.plan/1",
        "strategy": {"value": "layerwise", "origin": "flag --strategy"},
      "strategy": "layerwise",
        "fits": true,
$ tidemark plan minicpm-2b --quant int4 --strategy resident,layerwise
Plans of minicpm-2b on galaxy-s23

Model      minicpm-2b (minicpm), 2,724,880,896 parameters, 40 layers, 5.08 GiB as stored
Device     galaxy-s23: total 8.00 GiB - system 5.17 GiB = available 2.83 GiB
Engine     tidemark
Settings   flags: model=minicpm-2b, quant=int4
           engine profile tidemark: cache_type_k=f16, cache_type_v=f16, flash_attn=on,
           activation_type=f32
           defaults: device=galaxy-s23, engine=tidemark, ctx_size=4096, batch_size=2048,
           ubatch_size=512, parallel=1, n_outputs=1, planner=best-of, margin=10 %, prompt=128,
           generate=32, seed=0, cache_policy=lru
Limit      2.55 GiB (available - margin), margin 290 MiB

  strategy   fits     total     slack   weights  KV cache   compute     other  arena gap
  resident     no  2.72 GiB  -175 MiB  1.27 GiB  1.41 GiB  34.3 MiB  8.97 MiB        0 B
  layerwise   yes  1.58 GiB  +992 MiB   135 MiB  1.41 GiB  34.3 MiB  8.97 MiB        0 B

Result     1 of 2 fit; lowest total 1.58 GiB
Estimates  of the device, not measured or published: app_available, memory_bandwidth, compute,
           swap, storage
