What a run gives up when memory nears the limit: simulate --adapt.

# Two slots are too much; one is not.
$ tidemark simulate minicpm-2b --quant int4 --strategy double-buffer --budget "1.9 GB" --generate 4 --adapt drop-prefetch | sed -n '/^Events/,/^Estimates/p'
Events
     44.5 ms  memory state: approaching limit
     44.5 ms  memory state: ok
      602 ms  memory state: approaching limit
      606 ms  action: drop-prefetch: one slot instead of two
      606 ms  memory state: ok
Estimates  of the device, not measured or published: app_available, memory_bandwidth, compute,

# Less of the ubatch, then less of the cache.
$ tidemark simulate minicpm-2b --quant int4 -c 2048 --prompt 1500 --generate 100 --budget "2.3 GB" --adapt shrink-ubatch,spill-kv | sed -n '/^Events/,/^Estimates/p'
Events
      393 ms  memory state: approaching limit
      432 ms  action: shrink-ubatch: 256 tokens, an arena of 17.2 MiB
      1.45 s  action: shrink-ubatch: 128 tokens, an arena of 8.58 MiB
      1.97 s  action: shrink-ubatch: 64 tokens, an arena of 4.29 MiB
      2.23 s  action: shrink-ubatch: 32 tokens, an arena of 2.14 MiB
      2.36 s  action: spill-kv: 661 MiB of the cache stay
      2.36 s  memory state: ok
Estimates  of the device, not measured or published: app_available, memory_bandwidth, compute,

# The cache grows by blocks until nothing but stopping is left.
$ tidemark simulate minicpm-2b --quant int4 --prompt 100 --generate 600 --kv-growth blocks --budget "1.7 GB" --adapt drop-prefetch,shorten-context | sed -n '/^Events/,/^Estimates/p'
Events
      8.48 s  memory state: approaching limit
      8.52 s  action: shorten-context: generation stops after 222 tokens
Estimates  of the device, not measured or published: app_available, memory_bandwidth, compute,

# Each is an instant of the trace, beside the progress of loading.
$ tidemark simulate minicpm-2b --quant int4 --strategy block-cache --cache-size "1.3 GB" --budget "2.9 GB" --generate 4 --adapt shrink-cache --quiet --trace trace.json -o report.txt
$ grep '"ph":"i"' trace.json | grep -v progress
{"ph":"i","pid":1,"ts":690477.750,"s":"p","name":"memory state","args":{"detail":"approaching limit"}},
{"ph":"i","pid":1,"ts":983500.082,"s":"p","name":"action","args":{"detail":"shrink-cache: 1006 MiB instead of 1.21 GiB"}},
{"ph":"i","pid":1,"ts":983500.082,"s":"p","name":"memory state","args":{"detail":"ok"}},

$ tidemark simulate minicpm-2b --adapt shrink,spill-kv,spill-kv
error: --adapt: "shrink" is not an action
  hint: there are: drop-prefetch, shrink-cache, shrink-ubatch, shorten-context, spill-kv
error: --adapt: spill-kv stands there twice
  hint: an action is taken again by itself while memory stays short
[exit 2]
