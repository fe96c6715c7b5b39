Several requests served by one model: simulate --requests.

# A trace. Contexts of 1,024 cells each: 360 MiB a request, whatever it holds.
$ printf 'arrival_ms,prompt,generate\n0,400,30\n0,300,20\n100,200,10\n' > trace.csv
$ tidemark simulate minicpm-2b --quant int4 --requests trace.csv -np 4 -c 4096 --json | grep -E '"(completed|most_running|(pool|peak)_blocks|block_bytes|mean_(held|used)_bytes|waste_per_mille)"'
  "outcome": "completed",
    "completed": 3,
    "most_running": 3,
    "block_bytes": 377487360,
    "pool_blocks": 3,
    "peak_blocks": 3,
    "mean_held_bytes": 960299127,
    "mean_used_bytes": 288519734,
    "waste_per_mille": 699

# Blocks of 16 cells: what they hold is what they take.
$ tidemark simulate minicpm-2b --quant int4 --requests trace.csv -np 4 -c 4096 --kv-growth blocks | sed -n '/^Requests/,/^Estimates/p'
Requests   3 of 3 served, 3 at most together; 60 tokens made (0.581 requests/s), 900 of prompts
           computed in 2 passes
Latency    p50 / p90 / p99: first token 3.96 s / 4.06 s / 4.06 s, between tokens 39.9 ms / 41.9 ms
           / 1.58 s, whole request 4.83 s / 5.16 s / 5.16 s
KV pool    60 of 224 blocks of 16 tokens (5.63 MiB) held at most; 281 MiB held on average, 2.0 %
           of it unused
Estimates  of the device, not measured or published: app_available, memory_bandwidth, compute,

# A prefix is computed once and held once.
$ printf 'arrival_ms,prompt,generate,prefix,prefix_tokens\n0,400,30,chat,256\n0,300,20,chat,256\n' > shared.csv
$ tidemark simulate minicpm-2b --quant int4 --requests shared.csv -np 4 -c 4096 --kv-growth blocks | sed -n '/^KV pool/,/^Estimates/p'
KV pool    31 of 224 blocks of 16 tokens (5.63 MiB) held at most; 139 MiB held on average, 1.6 %
           of it unused; 256 tokens shared
Estimates  of the device, not measured or published: app_available, memory_bandwidth, compute,

# Drawn: the same numbers on every machine. A short pool preempts.
$ tidemark simulate minicpm-2b --quant int4 --requests 50:2 -np 8 -c 8192 --kv-growth blocks --kv-pool "200 MiB" | sed -n '/^Requests/,/^Estimates/p'
Requests   50 of 50 served, 7 at most together; 1,608 tokens made (1.02 requests/s), 7,412 of
           prompts computed in 40 passes
Latency    p50 / p90 / p99: first token 14.2 s / 21.2 s / 26.5 s, between tokens 38.2 ms / 39.3 ms
           / 1.07 s, whole request 17.3 s / 24.8 s / 27.4 s
KV pool    35 of 35 blocks of 16 tokens (5.63 MiB) held at most; 169 MiB held on average, 4.9 % of
           it unused; 13 preemptions, 1,160 tokens to compute again
Estimates  of the device, not measured or published: app_available, memory_bandwidth, compute,

# Mistakes are told at their place.
$ printf 'arrival_ms,prompt,generate\n0,0,5\n1,5\n' > wrong.csv
$ tidemark simulate minicpm-2b --quant int4 --requests wrong.csv
wrong.csv:2:3: error: requests: "0" is not a number of tokens for prompt
  hint: from 1 to 16,777,216
wrong.csv:3:1: error: requests: has 2 fields, the header 3
[exit 2]
$ tidemark simulate minicpm-2b --quant int4 --requests 50
error: --requests: "50": cannot open: no such file
  hint: name a CSV file, or draw requests: 200:2.5 is 200, 2.5 a second
[exit 2]
$ tidemark simulate minicpm-2b --quant int4 --requests 50:fast
error: --requests: "50:fast" is not a number of requests and a rate
  hint: 200:2.5 draws 200 requests (at most 1,000,000), 2.5 a second on average
[exit 2]
$ tidemark simulate minicpm-2b --quant int4 --requests trace.csv --strategy layerwise --adapt spill-kv
error: strategy: requests are served with all weights resident, not layerwise
  hint: leave --strategy out, or simulate one prompt without --requests
error: adapt: is for a run of one prompt
  hint: leave it out: with --requests, memory is bounded by --kv-pool
[exit 2]
$ tidemark simulate minicpm-2b --quant int4 --requests trace.csv --kv-pool "100 MiB"
error: kv_pool: 100 MiB (104,857,600 B) is too small: the longest request needs 1.41 GiB (1,509,949,440 B)
  hint: a whole context is kept for it; --kv-growth blocks keeps what it fills
[exit 2]
$ tidemark simulate minicpm-2b --quant int4 --kv-pool "1 GiB"
error: --kv-pool: is shared by requests, and there are none
  hint: add --requests, or leave it out
[exit 2]
