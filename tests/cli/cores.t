Cores of the device and what a run draws: simulate --threads, --cores, devices with energy.

# All cores, two threads, the three little cores.
$ for flags in "" "--threads 2" "--cores little" "-t 12 --cores little"; do tidemark simulate tinyllama-1.1b --quant Q8_0 --prompt 512 --generate 4 $flags | grep -o 'first token after [0-9.]* m*s'; done
first token after 1.20 s
first token after 2.13 s
first token after 5.84 s
first token after 5.84 s

# What is left of the device is an estimate where its cores are.
$ tidemark simulate tinyllama-1.1b --quant Q8_0 --threads 2 --cores big | grep -A1 -e '^Settings' -e '^Stages' -e '^Estimates'
Settings   flags: model=tinyllama-1.1b, cores=big, threads=2, quant=Q8_0
           engine profile tidemark: cache_type_k=f16, cache_type_v=f16, flash_attn=on,
--
Stages     busy: read 369 ms, compute 1.25 s (memory 836 ms, arithmetic 412 ms); limited by
           compute (memory); first layer ready after 369 ms; tokens 26.5 ms apart in the median,
--
Estimates  of the device, not measured or published: app_available, memory_bandwidth, compute,
           swap, storage, cores

$ tidemark simulate tinyllama-1.1b --device galaxy-s25 --cores little
error: --cores: galaxy-s25 has no little cores
  hint: leave it out
[exit 2]
$ tidemark simulate tinyllama-1.1b --device demo-3gb --threads 4 | grep -A1 'ignores'
Note       Device demo-3gb states no cores and ignores: threads.

# A sweep's --threads are its own.
$ tidemark sweep --model tinyllama-1.1b -t 1,4 --threads 1 --format csv --quiet | cut -d, -f2-8
model,assume_dense,transform,model_scale,device,cores,threads
tinyllama-1.1b,,,,galaxy-s23,,1
tinyllama-1.1b,,,,galaxy-s23,,4

# A device that states what it draws.
$ (sed 's/^name: .*/name: metered/' $SOURCE/configs/devices/galaxy-s23.yaml; echo 'energy: {operations: [{type: int8, each: 0.5 pJ}], computing: 2 W, memory: 20 pJ/B, storage: 60 pJ/B, idle: 250 mW}') > metered.yaml
$ tidemark simulate tinyllama-1.1b --quant Q8_0 --device ./metered.yaml | grep '^Energy'
Energy     3.35 J: compute 2.20 J, memory 732 mJ, storage 70.1 mJ, idle 348 mJ; a mean of 2.41 W
$ tidemark simulate tinyllama-1.1b --quant Q8_0 --device ./metered.yaml --json | grep -A6 '"energy"'
  "energy": {
    "total_uj": 3353539,
    "compute_uj": 2203278,
    "memory_uj": 732000,
    "storage_uj": 70144,
    "idle_uj": 348117
  },

# What compressed memory gains, and where it ends.
$ tidemark simulate llama-2-7b --quant Q4_0 --device galaxy-s23 --enforce | sed -n '/^Events/,/^Estimates/p'
Events
      131 ms  memory state: approaching limit
      238 ms  memory state: critical
      238 ms  swap: other apps, 2 : 1: 4.00 GiB of them free 2.00 GiB
      918 ms  killed: lmkd, critical stall: 4.90 GiB of its own over 4.83 GiB
Estimates  of the device, not measured or published: app_available, memory_bandwidth, compute,

# Which strategy draws least.
$ tidemark simulate tinyllama-1.1b --quant Q8_0 --device ./metered.yaml --strategy resident,layerwise,double-buffer --generate 8 | grep -A3 '^  strategy'
  strategy       outcome        peak  peak at              TTFT  tok/s      read   stall  energy
  resident       completed  1.17 GiB  loading weights    572 ms   37.8  1.09 GiB  369 ms  1.37 J
  layerwise      completed   152 MiB  prefill 0, output  572 ms   2.53  8.71 GiB  2.95 s  2.50 J
  double-buffer  completed   218 MiB  prefill 0, output  371 ms   2.71  8.71 GiB  2.56 s  2.41 J

# Threads that no core is there for.
$ tidemark simulate minicpm-2b --quant int4 -c 512 --generate 2 --threads 64 | tr -s ' \n' ' ' | grep -o 'More threads.*turns\.'
More threads were asked for than there are cores: 8 compute, one on each; more would take turns.
