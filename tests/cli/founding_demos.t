The two demo programs of the founding documents, through the command line. Expected figures: docs/explanation/textbook-formulas.md.

# Six slices of weights, loaded, computed and released one after the other: 864 MB whatever the budget.
$ tidemark simulate --scenario demo-layers-2000 --json | grep -E '"(outcome|peak_bytes|peak_at)"'
  "outcome": "completed",
  "peak_bytes": 864000000,
  "peak_at": "prefill 0, embedding",
$ tidemark simulate --scenario demo-layers-1500 --json | grep -E '"(outcome|peak_bytes)"'
  "outcome": "completed",
  "peak_bytes": 864000000,
$ tidemark simulate --scenario demo-layers-1200 --json | grep -E '"(outcome|peak_bytes)"'
  "outcome": "completed",
  "peak_bytes": 864000000,

# The original checks the budget before it adds the activation, so it calls 863 OK; the peak is over it.
$ tidemark simulate --scenario demo-layers-863 --json | grep -E '"(outcome|reason|peak_bytes)"'
  "outcome": "over_limit",
  "reason": "peak 824 MiB is 977 KiB over the limit of 823 MiB at prefill 0, embedding; most of it is weights",
  "peak_bytes": 864000000,
$ tidemark simulate --scenario demo-layers-863 --budget "864 MB" --json | grep -E '"(outcome|peak_bytes)"'
  "outcome": "completed",
  "peak_bytes": 864000000,

# Two slots that alternate hold the first two layers at once: 800 + 600 + 64.
$ tidemark simulate --scenario demo-layers-2000 --strategy double-buffer --json | grep -E '"(outcome|peak_bytes)"'
  "outcome": "completed",
  "peak_bytes": 1464000000,

# All weights and all activations at once (full demand 4008 MB), and 10 % on top.
$ tidemark plan --scenario demo-layers-2000 --engine formula --strategy resident --json | grep -E '"(weights|compute|runtime|total)_bytes"'
    "weights_bytes": 3400000000,
    "compute_bytes": 608000000,
    "runtime_bytes": 400800000,
    "total_bytes": 4408800000
    "total_bytes": 3000000000,
$ tidemark plan --scenario demo-layers-2000 --engine formula --json | grep -A 2 -E '"term": "(total demand|full demand|peak, load-compute-release|peak, shared buffer|peak, double buffer|peak, two fixed slots)"'
    {"term": "total demand", "formula": "W + A + 0.1 (W + A)", "textbook_bytes": 4408800000, "textbook_count": null, "planned_bytes": 3656000000, "why": "The plan counts the KV cache and the output rows, which the formula leaves out, and does not keep the activations of all layers at once."},
    {"term": "weights", "formula": "W = N x bits / 8, or the sum of the layers", "textbook_bytes": 3400000000, "textbook_count": null, "planned_bytes": 3400000000, "why": "The plan counts whole blocks and scales row by row, and keeps the norms of quantized models in f32; sizes given layer by layer are the same on both sides."},
    {"term": "activations", "formula": "A = sum of a over all layers", "textbook_bytes": 608000000, "textbook_count": null, "planned_bytes": 256000000, "why": "The formula counts one tensor a layer over the whole context and adds up all layers; the plan counts every tensor of one batch and gives its memory to others after its last use."},
--
    {"term": "full demand", "formula": "W + A", "textbook_bytes": 4008000000, "textbook_count": null, "planned_bytes": 3656000000, "why": "Full load is the same idea on both sides; the difference is that of the weights and activations above."},
    {"term": "layer weight", "formula": "w = W / L", "textbook_bytes": 566666666, "textbook_count": null, "planned_bytes": 800000000, "why": "The formula spreads all weights evenly over the layers; the plan takes the largest unit, often the embedding or the head."},
    {"term": "peak, load-compute-release", "formula": "max (w + a)", "textbook_bytes": 864000000, "textbook_count": null, "planned_bytes": 1056000000, "why": "The plan reserves its activations for the whole run beside the largest unit, and counts the layer's input with its output."},
    {"term": "peak, shared buffer", "formula": "max (w, a)", "textbook_bytes": 800000000, "textbook_count": null, "planned_bytes": null, "why": "No plan reaches it: a layer's product needs its weights and its activations at the same time, so they cannot take turns in one buffer."},
    {"term": "peak, double buffer", "formula": "max (w_i + w_(i+1) + a_i)", "textbook_bytes": 1464000000, "textbook_count": null, "planned_bytes": 1656000000, "why": "The plan also pairs the last visit of a pass with the first of the next, and counts the embedding and the head as units."},
    {"term": "peak, two fixed slots", "formula": "2 max w + max a", "textbook_bytes": 1728000000, "textbook_count": null, "planned_bytes": 1856000000, "why": "Two slots of the largest unit each; the plan's units and activations take the place of w and a."},
    {"term": "slices at the limit", "formula": "ceil(L / k), k = floor(limit / w)", "textbook_bytes": null, "textbook_count": 2, "planned_bytes": null, "why": "The formula sees weights alone and layers of equal size; a real slice also needs room for the KV cache and the activations."},
    {"term": "least read per pass", "formula": "max (0, W - limit)", "textbook_bytes": 1400000000, "textbook_count": null, "planned_bytes": 1400000000, "why": "What cannot stay must be read again for every token; activations and KV cache only add to it."},
$ tidemark plan --scenario demo-layers-2000 --engine formula --strategy resident
Plan of demo-layers on demo-3gb

Model      demo-layers (layer-list), 6 layers, 3.17 GiB as stored
Device     demo-3gb: total 2.79 GiB - system 477 MiB = available 2.33 GiB
Engine     formula, strategy resident
Settings   flags: engine=formula, strategy=resident
           scenario demo-layers-2000: model=demo-layers, device=demo-3gb, budget=2000 MB,
           prompt=1, generate=1
           engine profile formula: cache_type_k=f16, cache_type_v=f16, flash_attn=off,
           activation_type=f32
           defaults: ctx_size=4096, batch_size=2048, ubatch_size=512, parallel=1, n_outputs=1,
           planner=best-of, margin=10 %, seed=0, cache_policy=lru

  Memory                   bytes      size    share
  weights          3,400,000,000  3.17 GiB   77.1 %  largest
  KV cache                     0       0 B    0.0 %
  recurrent state              0       0 B    0.0 %
  compute            608,000,000   580 MiB   13.8 %  activations 580 MiB + scratch 0 B
  output                       0       0 B    0.0 %
  runtime            400,800,000   382 MiB    9.1 %
  -------------------------------------------------
  total            4,408,800,000  4.11 GiB  100.0 %

Limit      1.86 GiB (--budget), margin 238 MiB
Verdict    DOES NOT FIT: 4.11 GiB needed, over the limit of 1.86 GiB, slack -2.24 GiB. Largest
           term: weights, 77.1 % of the total.
Arena      prefill placed by first-fit-by-size: 244 MiB in 6 buffers over 6 steps
           lower bound 244 MiB, gap 0 B (0.0 %): proved optimal
           fullest at step 2 (layer2); 580 MiB without reuse, 2.4 times as much
           largest there: layer1, 122 MiB
Estimates  of the device, not measured or published: memory_bandwidth, flash_read, flash_latency,
           compute
Note       The model is a list of layer sizes: quantization, context and cache types do not change
           it.

  Textbook against plan       textbook   planned  difference
  total demand                4.11 GiB  3.40 GiB    -718 MiB
      W + A + 0.1 (W + A)
      The plan counts the KV cache and the output rows, which the formula leaves out, and does not
      keep the activations of all layers at once.
  weights                     3.17 GiB  3.17 GiB         0 B
      W = N x bits / 8, or the sum of the layers
      The plan counts whole blocks and scales row by row, and keeps the norms of quantized models
      in f32; sizes given layer by layer are the same on both sides.
  activations                  580 MiB   244 MiB    -336 MiB
      A = sum of a over all layers
      The formula counts one tensor a layer over the whole context and adds up all layers; the
      plan counts every tensor of one batch and gives its memory to others after its last use.
  runtime overhead             382 MiB         -           -
      O = 0.1 (W + A)
      A runtime's own memory is a fixed amount that an engine profile states; it does not grow
      with the model.
  full demand                 3.73 GiB  3.40 GiB    -336 MiB
      W + A
      Full load is the same idea on both sides; the difference is that of the weights and
      activations above.
  layer weight                 540 MiB   763 MiB    +223 MiB
      w = W / L
      The formula spreads all weights evenly over the layers; the plan takes the largest unit,
      often the embedding or the head.
  peak, load-compute-release   824 MiB  1007 MiB    +183 MiB
      max (w + a)
      The plan reserves its activations for the whole run beside the largest unit, and counts the
      layer's input with its output.
  peak, shared buffer          763 MiB         -           -
      max (w, a)
      No plan reaches it: a layer's product needs its weights and its activations at the same
      time, so they cannot take turns in one buffer.
  peak, double buffer         1.36 GiB  1.54 GiB    +183 MiB
      max (w_i + w_(i+1) + a_i)
      The plan also pairs the last visit of a pass with the first of the next, and counts the
      embedding and the head as units.
  peak, two fixed slots       1.61 GiB  1.73 GiB    +122 MiB
      2 max w + max a
      Two slots of the largest unit each; the plan's units and activations take the place of w and
      a.
  slices at the limit                2         -           -
      ceil(L / k), k = floor(limit / w)
      The formula sees weights alone and layers of equal size; a real slice also needs room for
      the KV cache and the activations.
  least read per pass         1.30 GiB  1.30 GiB         0 B
      max (0, W - limit)
      What cannot stay must be read again for every token; activations and KV cache only add to
      it.
  available memory            2.33 GiB  2.33 GiB         0 B
      M_total - M_os
      The same subtraction on both sides.
  safety margin                238 MiB   238 MiB         0 B
      R = ratio x M_available
      The same share on both sides; the ratio is a setting.
  red line                    2.10 GiB  1.86 GiB    -238 MiB
      M_available - R
      The plan's limit may be lower where the system sets one per app, and is the budget where one
      is given.
[exit 1]

# The cache demo: eleven accesses, no hit, whatever the text around it says.
$ tidemark simulate --scenario demo-lru --json | grep -E '"(cache_hits|cache_misses|cache_evictions|hit_rate|bytes_read|peak_bytes)"'
  "peak_bytes": 1536000000,
  "bytes_read": 7680000000,
  "cache_hits": 0,
  "cache_misses": 11,
  "cache_evictions": 9,
  "hit_rate": 0.0,
$ tidemark simulate --scenario demo-lru-pinned --json | grep -E '"(cache_hits|cache_misses|cache_evictions|hit_rate|bytes_read)"'
  "bytes_read": 6656000000,
  "cache_hits": 2,
  "cache_misses": 9,
  "cache_evictions": 7,
  "hit_rate": 0.18181818181818182,
$ tidemark simulate --scenario demo-mru --json | grep -E '"(cache_hits|cache_misses|cache_evictions|hit_rate|bytes_read)"'
  "bytes_read": 5632000000,
  "cache_hits": 3,
  "cache_misses": 8,
  "cache_evictions": 6,
  "hit_rate": 0.2727272727272727,
$ tidemark simulate --scenario demo-next-use --json | grep -E '"(cache_hits|cache_misses|cache_evictions|hit_rate|bytes_read)"'
  "bytes_read": 5632000000,
  "cache_hits": 3,
  "cache_misses": 8,
  "cache_evictions": 6,
  "hit_rate": 0.2727272727272727,
$ tidemark simulate --scenario demo-lru --cache-size "2816 MB" --json | grep -E '"(cache_hits|cache_misses|cache_evictions|hit_rate|bytes_read)"'
  "bytes_read": 2816000000,
  "cache_hits": 7,
  "cache_misses": 4,
  "cache_evictions": 0,
  "hit_rate": 0.6363636363636364,
$ tidemark simulate --scenario demo-lru --cache-size "700 MB"
error: --cache-size: 668 MiB (700,000,000 B) is too small: the largest block, beside what is pinned, needs 732 MiB (768,000,000 B)
  hint: raise --cache-size, or pin less
[exit 2]

# A 3 GB device whose system holds 0.5 GB: 2.5 GB available, 0.25 GB margin, red line 2.25 GB.
$ tidemark plan demo-layers --engine bare --device demo-3gb --json | grep -E '"(available|margin|limit)_bytes"'
    "available_bytes": 2500000000,
    "margin_bytes": 250000000,
    "limit_bytes": 2250000000,
