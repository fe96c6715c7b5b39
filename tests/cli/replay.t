A plan executed here: what is resident is what was predicted, and what is broken is named, and what is
interrupted leaves nothing behind.

$ tidemark replay minicpm-2b --quant int8 --model-scale 0.05 -c 256 --prompt 8 --generate 2 --strategy resident,layerwise,double-buffer --quiet
Replay of minicpm-2b
...
  resident ... match ... pass
  layerwise ... match ... pass
  double-buffer ... match ... pass
...

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
