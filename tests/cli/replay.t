A plan executed here: what is resident is what was predicted, and what is broken is named, and what is
interrupted leaves nothing behind.

$ tidemark replay minicpm-2b --quant int8 --model-scale 0.05 -c 256 --prompt 8 --generate 2 --strategy resident,layerwise,double-buffer,chunked,mmap,block-cache --svg curves.svg --quiet
Replay of minicpm-2b
...
  resident ... match ... pass
  layerwise ... match ... pass
  double-buffer ... match ... pass
  chunked ... match ... pass
  mmap ... match ... pass
  block-cache ... match ... pass
...
$ head -c 4 curves.svg
<svg
$ tidemark replay minicpm-2b --model-scale 0.05 -c 256 --prompt 8 --generate 2 --strategy chunked,mmap --chunk 1/2 --prefetch 2 --read-order random --quiet
...
  chunked ... match ... pass
  mmap ... match ... pass
...
$ tidemark replay minicpm-2b --model-scale 0.03 -c 64 --prompt 4 --generate 1 --memory-limit 2GiB --json -o limited.json --quiet
$ grep '"end"' limited.json
  "end": "completed",
$ grep -A 1 '"limit"' limited.json
  "limit": {
    "limit_bytes": 2147483648,
$ tidemark replay minicpm-2b --model-scale 0.05 -c 256 --prompt 4 --generate 1 --memory-limit 4MiB --json -o killed.json --quiet
[exit 1]
$ grep '"end"' killed.json | grep -c -e killed -e refused
1
$ tidemark replay minicpm-2b --model-scale 0.05 --memory-limit none
error: --memory-limit: "none" is not a size
  hint: write a number and a unit: 512 MiB, 3.5 GB
[exit 2]
$ tidemark replay minicpm-2b --model-scale 0.05 --memory-limit '1 B'
error: --memory-limit: "1 B" is less than a page of memory, ... KiB
  hint: write a size that a run fits in, as 512MiB
[exit 2]
$ tidemark replay minicpm-2b --model-scale 0.05 --memory-limit -1GiB
error: --memory-limit: "-1GiB" is negative
  hint: a size is not negative
[exit 2]
$ tidemark replay minicpm-2b --model-scale 0.05 --memory-limit 8388608TiB
error: --memory-limit: "8388608TiB" is out of range
  hint: a size stays below 2^63 bytes
[exit 2]
$ tidemark replay minicpm-2b --model-scale 0.05 --memory-limit 1GiB --compare-time
error: --compare-time: a run under --memory-limit is not timed
  hint: leave one of the two out
[exit 2]
$ tidemark replay minicpm-2b --model-scale 0.03 -c 64 --prompt 4 --generate 1 --memory-limit 256KiB --quiet | grep Failed
Failed     resident: ... before its first step, while starting...

# Times have a place in text and JSON; without a device named they are those of the default one.

$ tidemark replay minicpm-2b --compare-time --format csv
error: --compare-time: csv and md have no place for the times
  hint: leave --format out, or ask for json
[exit 2]
$ tidemark replay minicpm-2b --model-scale 0.03 -c 64 --prompt 4 --generate 2 --strategy resident --compare-time --time-runs 1 2>&1 > times.txt | cat
note: times are predicted for galaxy-s23: calibrate this machine and give it as --device

# Times against several devices: each row says whose.
$ tidemark replay minicpm-2b --model-scale 0.03 -c 64 --prompt 4 --generate 2 --device galaxy-s23,mac-m1-8 --compare-time --time-runs 1 --quiet
Replay of minicpm-2b
...
  device      strategy  predicted  measured ...
  galaxy-s23  resident ... pass
  mac-m1-8    resident ... pass
...
  device      strategy  predicted time  measured time ...
  galaxy-s23  resident ...
  mac-m1-8    resident ...
...
  device      strategy  part ...
  galaxy-s23  resident ...
...
  mac-m1-8    resident ...
...

# What it is told to do for a time that it does not do is said; the page cache is warm where it is to be.
$ tidemark replay minicpm-2b --model-scale 0.03 -c 64 --prompt 4 --generate 1 --device galaxy-s23 --page-cache warm --read-size 128KiB -t 4 --compare-time --time-runs 1 > warm.txt
note: --read-size: heeded by the predicted times alone; here a unit is read in one piece
note: --threads: heeded by the predicted times alone; here one thread computes
$ grep -c pass$ warm.txt
1

# An interrupt while runs are timed leaves what was measured before; the times are of the runs that were finished.
# In the foreground, as it would signal its group too, and the second signal ends a program at once.
$ timeout --foreground --preserve-status --signal INT 3 tidemark replay $SOURCE/tests/cli/tiny.yaml -c 2048 --prompt 256 --generate 2 --device galaxy-s23 --compare-time --time-runs 1000 > finished.txt
interrupted; times are of the timed runs that were finished; the scratch files are gone
[exit 130]
$ grep -c 'match .* pass$' finished.txt
1
$ grep -A 1 'predicted time' finished.txt
  strategy  predicted time  measured time ... runs
  resident ... of ...

# What it cannot write it says before it works.
$ mkdir folder
$ tidemark replay minicpm-2b -o folder --svg nowhere/curves.svg
folder: error: cannot write: Is a directory
  hint: name a file in a folder that exists, is writable and has space
nowhere/curves.svg: error: cannot write: No such file or directory
  hint: name a file in a folder that exists, is writable and has space
[exit 2]
$ tidemark replay minicpm-2b -o curves.svg --svg ./curves.svg
error: --svg: "./curves.svg" is also the file of -o
  hint: give each output a file of its own
[exit 2]
$ tidemark replay minicpm-2b --svg -
error: --svg: "-" is standard output, where the report goes
  hint: name a file, or give the report one: -o FILE
[exit 2]
$ tidemark replay minicpm-2b -o ''
error: --output: is empty
  hint: see `tidemark --help` or `tidemark VERB --help`
[exit 2]
$ tidemark replay minicpm-2b --output= --json
error: --output: is empty
  hint: see `tidemark --help` or `tidemark VERB --help`
[exit 2]
$ tidemark replay minicpm-2b --model-scale 0.03 -c 64 --prompt 4 --generate 1 -o report.json --json --svg - --quiet | head -c 4
<svg
$ ls -A folder

# Settings that change nothing here are named, unless it is to be quiet.
$ tidemark replay minicpm-2b --model-scale 0.03 -c 64 --prompt 4 --generate 1 -ngl 5 --no-mmap --strategy resident,mmap --chunk 2 --prefetch 1 > report.txt
note: --n-gpu-layers, --no-mmap: no effect on this replay, heeded by engines of llama.cpp alone
note: --chunk: no effect on this replay, only strategy chunked takes chunks
$ tidemark replay minicpm-2b --model-scale 0.03 -c 64 --prompt 4 --generate 1 -ngl 5 --quiet | grep -c note:
0
[exit 1]
$ tidemark replay demo-blocks
error: MODEL: demo-blocks is a list of sizes and has no layers that could be computed
  hint: name a decoder: see `tidemark list models`
[exit 2]
$ tidemark replay minicpm-2b --processes 2 --tensor-type attn=f16
error: --tensor-type: the replay multiplies rows of int8, int4, Q8_0 and Q4_0; blk.0.attn_q.weight is f16
  hint: leave --tensor-type out
error: --processes: the replay is one process
  hint: leave --processes out
[exit 2]

$ tidemark replay minicpm-2b --model-scale 0.03 -c 64 --prompt 4 --generate 2 --json --shift-offset blk.3.q=64 > broken.json
[exit 1]
$ grep -A 3 '"corruption"' broken.json
  "corruption": {
    "pass": "prefill 0",
    "tensor": "blk.3.q",
    "reader": "blk.3.q_rope",
$ grep '"outputs_match"' broken.json
  "outputs_match": false,
$ tidemark replay minicpm-2b --model-scale 0.03 -c 64 --prompt 4 --generate 2 --shift-offset blk.3.q
error: --shift-offset: "blk.3.q" is not TENSOR=BYTES
  hint: write --shift-offset blk.0.q=64
[exit 2]
$ tidemark replay minicpm-2b --model-scale 0.03 -c 64 --prompt 4 --generate 2 --shift-offset blk.3.q=64KiB
error: --shift-offset: "64KiB" is not a whole number
  hint: a number of bytes: write --shift-offset blk.0.q=64
[exit 2]
$ tidemark replay minicpm-2b --model-scale 0.03 -c 64 --prompt 4 --generate 2 --shift-offset ''
error: --shift-offset: is empty
  hint: see `tidemark --help` or `tidemark VERB --help`
[exit 2]
$ mkdir scratch
$ TMPDIR=scratch timeout --foreground --preserve-status --signal INT 1 tidemark replay minicpm-2b --model-scale 0.25 --generate 200 --quiet
[exit 130]
$ ls -A scratch

# Weights that are all zeros prove nothing, and the report says so.
$ cp $SOURCE/tests/cli/tiny.yaml .
$ tidemark export ./tiny.yaml -o tiny.safetensors --quiet
$ tidemark replay ./tiny.yaml --prompt 4 --generate 1 --weights tiny.safetensors --quiet | grep -A 1 Warning
Warning    every logit is the same number, so that they match has checked nothing: are the weights
           all zeros?

$ tidemark export ./tiny.yaml --quant Q4_K_M -o tiny.gguf --quiet
$ tidemark replay ./tiny.yaml --prompt 4 --generate 1 --weights tiny.gguf 2>&1 | head -n 2
error: --weights: blk.0.attn_q.weight is of the type Q5_0, which is not read here
  hint: name a file in F32, F16, BF16, Q8_0 or Q4_0

# Neither do weights that are no numbers: they are counted, and the scratch file is gone.
$ python3 -c "import json, struct; file = open('tiny.safetensors', 'r+b'); size, = struct.unpack('<Q', file.read(8)); begin = json.loads(file.read(size))['blk.0.ffn_up.weight']['data_offsets'][0]; file.seek(8 + size + begin); file.write(struct.pack('<3e', float('nan'), 1, float('-inf')))"
$ TMPDIR=scratch tidemark replay ./tiny.yaml --prompt 4 --generate 1 --weights tiny.safetensors
tiny.safetensors: error: blk.0.ffn_up.weight: 2 of 6,144 values are NaN or infinite
  hint: a replay of them would prove nothing: name a sound file, or leave --weights out
[exit 2]
$ ls -A scratch
