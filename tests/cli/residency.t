Where weights lie and when they come: progress of loading, split files, a cache that reads ahead, experts, rows, processes.

# Progress of loading: as events, and on a line of its own.
$ tidemark simulate minicpm-2b --quant int4 --generate 2 --initialise "1 GB/s" --json | grep '"progress"'
    {"t_ns": 112327367, "what": "progress", "detail": "25 % of the weights read"},
    {"t_ns": 218902902, "what": "progress", "detail": "50 % of the weights read"},
    {"t_ns": 325478437, "what": "progress", "detail": "75 % of the weights read"},
    {"t_ns": 400278862, "what": "progress", "detail": "25 % of the weights initialised"},
    {"t_ns": 432156862, "what": "progress", "detail": "all weights read"},
    {"t_ns": 736745806, "what": "progress", "detail": "50 % of the weights initialised"},
    {"t_ns": 1073212750, "what": "progress", "detail": "75 % of the weights initialised"},
    {"t_ns": 1409688910, "what": "progress", "detail": "all weights initialised"},
    {"t_ns": 1409720526, "what": "progress", "detail": "first layer"},
    {"t_ns": 1916525558, "what": "progress", "detail": "first token"}

$ tidemark simulate minicpm-2b --quant int4 --generate 2 --strategy layerwise | grep -A 1 '^Loading'
Loading    25 % of the weights after 188 ms, 50 % of the weights after 433 ms, 75 % of the weights
           after 678 ms, all weights after 936 ms

# Files of whole tensors: an open each, and a request more for a unit that lies in two.
$ tidemark simulate minicpm-2b --quant int4 --generate 2 --split 4 | sed -n '/^Note/,$p'
Note       The weights lie in 4 files: 400 us to open them, 100 us each; 2 weight units lie in
           several and take a request of each.

$ tidemark simulate minicpm-2b --quant int4 --generate 2 --strategy mmap --split "300 MB" | sed -n '/^Note/,$p'
Note       The weights lie in 5 files: 500 us to open them, 100 us each; 4 weight units lie in
           several and take a request of each.

# A block cache one layer too small for lru, without and with reading ahead.
$ for n in 0 1 8; do tidemark simulate minicpm-2b --quant int4 --strategy block-cache --cache-size "1.3 GB" --generate 8 --prefetch $n | grep '^Cache'; done
Cache      7 hits, 337 misses, hit rate 0.02, 298 evictions
Cache      343 hits, 1 misses, hit rate 1.00, 298 evictions; 336 prefetched, 289 of them late, 0
Cache      343 hits, 1 misses, hit rate 1.00, 298 evictions; 336 prefetched, 283 of them late, 0

# Memory that is given up costs what was fetched.
$ tidemark simulate minicpm-2b --quant int4 --strategy block-cache --cache-policy lfu --cache-size "1.3 GB" --budget "2.9 GB" --generate 4 --adapt shrink-cache --prefetch 16 | grep -A 1 '^Cache'
Cache      171 hits, 1 misses, hit rate 0.99, 143 evictions; 173 prefetched, 114 of them late, 8
           lost

# A mixture's experts in a run: N of each layer, or so much in all.
$ tidemark simulate qwen3-30b-a3b --quant int4 --device oneplus-12r --expert-cache 16 --prompt 16 --generate 32 | sed -n '/^Time/,/^Estimates/p'
Time       first token after 4.91 s, then 338 ms per token (2.96 tok/s), end at 15.4 s
Read       14.4 GiB of weights; compute waited for them 13.8 s (89.8 % of the run)
Stages     busy: read 13.8 s, compute 1.57 s (memory 1.55 s, arithmetic 22.0 ms); limited by read;
           first layer ready after 596 ms; tokens 326 ms apart in the median, 730 ms at most
Cache      7,578 hits, 6,191 misses, hit rate 0.55, 5,423 evictions
Loading    25 % of the weights after 131 ms, 50 % of the weights after 266 ms, 75 % of the weights
           after 394 ms, all weights after 518 ms
Experts    6,144 of 2.26 MiB in 48 layers, 8 used by a token; 16 kept of each layer, 1.69 GiB;
           315 MiB read per token, 7,578 hits and 4,326 misses while decoding
Estimates  of the device, not measured or published: app_hard_limit, memory_bandwidth, compute

$ tidemark simulate qwen3-30b-a3b --quant int4 --device oneplus-12r --expert-cache "1.5 GiB" --cache-policy lfu --prompt 16 --generate 32 --json | grep -A 9 '"experts": {'
  "experts": {
    "layers": 48,
    "experts": 128,
    "used": 8,
    "expert_bytes": 2366464,
    "slots": null,
    "capacity_bytes": 1610612736,
    "decode_hits": 7293,
    "decode_misses": 4611,
    "read_per_token_bytes": 351992435

# Rows of the feed-forward, bundled and apart.
$ for bundle in on off; do tidemark simulate minicpm-2b --quant int4 --hot-rows 0.5 --cold-rows 0.05 --bundle $bundle --generate 8 | grep -A 1 '^Rows'; done
Rows       115,200 of 230,400 feed-forward neurons kept, 380 MiB of the others in storage;
           19.0 MiB read per token in 5,760 requests of up to 3.38 KiB
Rows       115,200 of 230,400 feed-forward neurons kept, 380 MiB of the others in storage;
           19.0 MiB read per token in 17,280 requests of up to 1.13 KiB

# Ranges of counts and of sizes in a sweep. The plan is of full caches, which a short run does not need.
$ tidemark sweep --model olmoe-1b-7b --quant int4 -c 512 --prompt 8 --generate 4 --expert-cache "8-32*2,1 GiB-2 GiB*2" --quiet | sed -n '/fits/,$p'
expert_cache  fits     total      slack  outcome        peak    TTFT  tok/s
---------------------------------------------------------------------------
8              yes   749 MiB  +1.82 GiB  completed   749 MiB  556 ms   10.4
16             yes  1.11 GiB  +1.44 GiB  completed  1.11 GiB  556 ms   13.1
32             yes  1.86 GiB   +706 MiB  completed  1.69 GiB  556 ms   26.7
1 GiB          yes  1.36 GiB  +1.19 GiB  completed  1.35 GiB  556 ms   19.7
2 GiB          yes  2.36 GiB   +198 MiB  completed  1.69 GiB  556 ms   26.7

$ tidemark sweep --model minicpm-2b --quant int4 -c 512 --generate 2 --strategy mmap --processes 2 --quiet | grep -A 1 '^Note'
Note       fits, total and slack are of a plan with all weights in one process; outcome and peak
           are of the run, with processes.

$ tidemark sweep --model minicpm-2b --quant int4 -c 512 --generate 2 --split 1-4*2 --quiet --format csv | cut -d, -f1 | wc -l
4

# Energy and what experts cost a token, in a sweep's rows and in a run's CSV.
$ tidemark sweep --model olmoe-1b-7b --quant int4 -c 512 --prompt 8 --generate 4 --expert-cache 16 --quiet --format jsonl | grep -o '"page_faults.*'
"page_faults":0,"energy_total_uj":null,"read_per_token_bytes":192389120,"not_planned":null,"tool_version":"0.1.0"}

$ tidemark simulate olmoe-1b-7b --quant int4 -c 512 --prompt 8 --generate 4 --expert-cache 16 --format csv | grep -o 'minor_faults.*\|,[0-9]*,,,,,,,,,16,.*'
minor_faults,energy_total_uj,energy_compute_uj,energy_memory_uj,energy_storage_uj,energy_idle_uj,prefetch_begun,prefetch_late,prefetch_lost,experts_layers,experts_experts,experts_used,experts_expert_bytes,experts_slots,experts_capacity_bytes,experts_decode_hits,experts_decode_misses,experts_read_per_token_bytes,rows_neurons,rows_kept,rows_cold_bytes,rows_request_bytes,rows_requests_per_token,rows_read_per_token_bytes,processes,processes_own_bytes,processes_pss_bytes,processes_last_ttft_ns
,0,,,,,,,,,16,64,8,3153920,16,807403520,201,183,192389120,,,,,,,,,,

# Two processes over one file.
$ tidemark simulate minicpm-2b --quant int4 --strategy mmap --processes 2 --generate 4 -c 1024 | sed -n '/^  Process/,$p'
  Process  starts    TTFT      read  faults      own       RSS       PSS
  1          0 ns  939 ms  1.27 GiB  31,249  403 MiB  1.67 GiB  1.03 GiB
  2        1.04 s  507 ms       0 B  20,832  403 MiB  1.67 GiB  1.03 GiB
  RSS counts each page of the file once a process, PSS shares it out: 2.06 GiB in all.
Estimates  of the device, not measured or published: app_available, memory_bandwidth, compute,
           swap, storage
Note       2 processes map one file: each starts when the one before it has ended its answer, and
           stays open. Rates are those of the first.

# What has no meaning is refused.
$ tidemark simulate minicpm-2b --quant int4 --processes 2
error: --processes: is for strategy mmap, not for resident
  hint: add --strategy mmap, or leave it out
[exit 2]

$ tidemark simulate minicpm-2b --quant int4 --expert-cache 4 --hot-rows 0.5
error: --expert-cache: minicpm-2b has no experts, or layers of several kinds
  hint: name a mixture, such as qwen3-30b-a3b
[exit 2]

$ tidemark simulate qwen3-30b-a3b --quant int4 --expert-cache 4
error: --expert-cache: 4 slots a layer
  hint: from the 8 experts a token uses to all 128
[exit 2]

$ tidemark simulate minicpm-2b --quant int4 --cold-rows 0.05
error: --cold-rows: says how rows that are not kept are read, and all are kept
  hint: add --hot-rows, or leave it out
[exit 2]

$ tidemark simulate minicpm-2b --quant int4 --requests 5:1 --split 4
error: --requests: is not simulated together with --split, --processes, --expert-cache or --hot-rows
  hint: give one of them
[exit 2]

# What only a run knows, the plan says it leaves out; what a strategy does not use, the run says.
$ tidemark plan minicpm-2b --quant int4 --strategy mmap --processes 2 --device demo-3gb --budget 4GiB | tr -s ' \n' ' ' | grep -o 'simulate shows: processes'
simulate shows: processes

# Of experts and rows the plan counts those that are kept.
$ tidemark plan olmoe-1b-7b --quant int4 --expert-cache 16 --device galaxy-s23 | grep -A 1 'weights  \|Weights'
  weights          1,054,028,288  1005 MiB   63.5 %  largest; embedding 49.2 MiB, head 49.2 MiB
  KV cache           536,870,912   512 MiB   32.4 %  4,096 tokens x 128 KiB
--
Note       Weights are what is kept, 1005 MiB with the experts' caches full; all of them are
           3.24 GiB.
$ tidemark plan minicpm-2b --quant int4 --hot-rows 0.5 --device galaxy-s23 | grep -A 1 'weights  \|Weights'
  weights            976,555,138   931 MiB   38.6 %  embedding 135 MiB
  KV cache         1,509,949,440  1.41 GiB   59.6 %  largest; 4,096 tokens x 360 KiB
--
Note       Weights are what is kept, 931 MiB with the cold rows of one layer at a time while a
           prompt is read; all of them are 1.27 GiB.

$ tidemark simulate minicpm-2b --quant int4 -c 512 --strategy mmap --initialise 1GB/s | grep 'ignores'
Note       Strategy mmap has no such choices and ignores: initialise.
