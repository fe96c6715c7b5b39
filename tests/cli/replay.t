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
error: --memory-limit: "none" is no size
  hint: write --memory-limit 512MiB
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
$ mkdir scratch
$ TMPDIR=scratch timeout --preserve-status --signal INT 1 tidemark replay minicpm-2b --model-scale 0.25 --generate 200 --quiet
[exit 130]
$ ls -A scratch
