Bad input: every problem of every file in one run, with its place and a hint; exit code 2.

$ cat > broken.yaml <<'END'
> schema: model/1
> name: broken
> architecture: llama
> source: made up for this test
> n_layer: 2
> n_embd: 2048
> n_head: 32
> n_head_kv: 7
> head_dim: 64
> n_fff: 5632
> n_vocab: 32000
> n_layer: 3
> tied_embeddings: true
> dtype: f16
> END
$ cat > device.yaml <<'END'
> schema: device/1
> name: phone
> description: a phone
> source: made up for this test
> ram_total: 8
> app_available: 3 GiB
> memory_bandwidth: 40 GB/s
> flash_read: 2 GB/s
> flash_latency: 100 us
> compute: 1000 GOPS
> page_size: 4 KiB
> END
$ tidemark plan ./broken.yaml --device ./device.yaml
./broken.yaml:1:1: error: n_ff: is missing
  hint: expected a whole number
./broken.yaml:8:12: error: n_head_kv: 7 does not divide n_head 32
  hint: grouped-query attention needs n_head to be a multiple of n_head_kv
./broken.yaml:10:1: error: n_fff: unknown key
  hint: did you mean "n_ff"?
./broken.yaml:12:1: error: n_layer: is given twice, first in line 5
  hint: keep one of the two
./device.yaml:5:12: error: ram_total: "8" has no unit
  hint: write a number and a unit: 512 MiB, 3.5 GB
[exit 2]
$ tidemark plan minicpm-2b --quant int5 -c 010 --device galaxy-s32 --budget 2G --strategy layerwize
error: --device: there is no device called "galaxy-s32"
  hint: there are: galaxy-s22, galaxy-s23, galaxy-s25, ipcam-512, galaxy-s24-ultra, mac-m1-8, mac-m4-16, oneplus-12, demo-3gb, flexgen-t4, g99-phone, go-phone, laptop-16gb, mate-40-pro, oneplus-12r, pixel-6, pixel-8, pixel-9, rk3588-16, rpi-4-8 and 21 more
error: --quant: "int5" is not a weight format
  hint: did you mean "int8"?
error: --ctx-size: "010" has a leading zero
  hint: some readers take it for an octal number
error: --strategy: "layerwize" is not known
  hint: did you mean "layerwise"?
error: --budget: "2G" has the ambiguous unit "G"
  hint: write 2 GiB (1024^3) or 2 GB (1000^3); they are 7.4 % apart
[exit 2]
$ tidemark plan minicpm-2b -c 99999999999999999999
error: --ctx-size: "99999999999999999999" is out of range
  hint: whole numbers lie between -2^63 and 2^63 - 1
[exit 2]
$ tidemark plan minicpm-2b --prompt 5000
error: --prompt: prompt and generate need 5000 cells, a sequence has 4096
  hint: raise ctx_size to 5000
[exit 2]
$ tidemark plan
error: model: is not given
  hint: name a built-in model or a model file
[exit 2]
$ tidemark plan nosuch
error: MODEL: there is no model called "nosuch"
  hint: there are: gpt2, phi-2, phi-4, yi-34b, gpt2-xl, kimi-k2, mimo-7b, olmo-1b, olmo-7b, opt-30b, phi-1.5, qwen-7b, t5-base, t5-small, bloom-1b7, bloom-7b1, falcon-7b, gemma-2b, gemma-7b, glm-4-9b and 216 more
[exit 2]
$ tidemark plan minicpm-2b --ctxsize 12
error: The following arguments were not expected: 12 --ctxsize
  hint: did you mean --ctx-size?
[exit 2]
$ tidemark paln minicpm-2b
error: "paln" is not a verb of this program
  hint: did you mean plan?
[exit 2]
$ tidemark plan minicpm-2b --show wieghts
error: --show: there is no stage 'wieghts'
  hint: one of weights, units, graph, dot, ranges, load, problem, map, kinds
[exit 2]
$ tidemark list modles
error: list: there is no list of 'modles'
  hint: did you mean models?
[exit 2]
$ tidemark simulate minicpm-2b --strategy resident,layerwise --trace t.json
error: --trace: needs exactly one run, but the settings list several
  hint: give one --strategy, or write the picture of all of them with --svg
[exit 2]
$ tidemark simulate minicpm-2b --quant int4 --strategy layerwise --json -o nosuch/folder/x.json
nosuch/folder/x.json: error: cannot write: No such file or directory
  hint: name a file in a folder that exists, is writable and has space
[exit 2]
$ TIDEMARK_CTX_SIZE=many tidemark plan minicpm-2b
error: TIDEMARK_CTX_SIZE: "many" is not a whole number
  hint: write decimal digits alone: 4096
[exit 2]
$ tidemark plan minicpm-2b --set ctx_sise=4096
error: --set: "ctx_sise" is not a setting
  hint: did you mean "ctx_size"?
[exit 2]

# Outputs: two of one run must differ, and losing standard error changes nothing.
$ tidemark simulate demo-blocks --svg same -o ./same
error: --svg: "same" is also the file of -o
  hint: give each output a file of its own
[exit 2]
$ tidemark simulate demo-blocks --strategy resident -o nosuch/x --svg nosuch/y
nosuch/x: error: cannot write: No such file or directory
  hint: name a file in a folder that exists, is writable and has space
nosuch/y: error: cannot write: No such file or directory
  hint: name a file in a folder that exists, is writable and has space
[exit 2]
$ printf 'id,lower,upper,size\na,0,2,4\n' > one.csv && tidemark pack one.csv -o same --svg same
error: --svg: "same" is also the file of -o
  hint: give each output a file of its own
[exit 2]
$ tidemark pack one.csv -o nosuch/x --svg nosuch/y
nosuch/x: error: cannot write: No such file or directory
  hint: name a file in a folder that exists, is writable and has space
nosuch/y: error: cannot write: No such file or directory
  hint: name a file in a folder that exists, is writable and has space
[exit 2]
$ tidemark plan demo-blocks,demo-layers --show units
error: --show: shows one plan, but the settings list several
  hint: give one value to each setting
[exit 2]
$ tidemark simulate demo-blocks --strategy block-cache --cache-size "0 B"
error: --cache-size: 0 B is out of range
  hint: from 1 B to 1048576 TiB
[exit 2]
$ tidemark plan demo-blocks --device demo-3gb --engine bare --budget "5 GB" -o closed.txt 2>&- && head -n 1 closed.txt
Plan of demo-blocks on demo-3gb
$ tidemark sweep --model demo-blocks -o :memory: --quiet && ls :memory:
:memory:
$ tidemark plan minicpm-2b --flash-attn maybe
error: --flash-attn: "maybe" is not known
  hint: there are: on, off, auto
[exit 2]

# Files that are not what they seem, and names as their publishers write them.
$ printf 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 4920734272\n' > model.gguf
$ tidemark plan model.gguf
model.gguf: error: byte 0: not a GGUF file: it does not begin with "GGUF"
  hint: this is Git LFS's pointer to the file, not the file: fetch it with `git lfs pull`
[exit 2]
$ cp model.gguf model.safetensors && tidemark import model.safetensors
model.safetensors: error: byte 0: a header of 2336927755350992246 bytes is more than the 100000000 that the format allows
  hint: this is Git LFS's pointer to the file, not the file: fetch it with `git lfs pull`
[exit 2]
$ mkdir cloned && cp model.gguf cloned/config.json && tidemark import cloned
cloned/config.json: error: byte 0: this is no JSON, after v
  hint: this is Git LFS's pointer to the file, not the file: fetch it with `git lfs pull`
[exit 2]
$ printf 'PK\003\004' > pytorch_model.bin && tidemark import pytorch_model.bin
pytorch_model.bin: error: .bin files are not read
  hint: this is a PyTorch checkpoint: give its config.json, or convert it to safetensors
[exit 2]
$ printf '\010\003' > model.onnx && tidemark plan ./model.onnx
./model.onnx: error: .onnx files are not read
  hint: give the model's .gguf, .safetensors or config.json, or its dimensions in a .yaml
[exit 2]
$ tidemark plan meta-llama/Llama-3.1-8B-Instruct
error: MODEL: no file "meta-llama/Llama-3.1-8B-Instruct"
  hint: did you mean "llama-3.1-8b"?
[exit 2]
$ tidemark plan minicpm-2b --device Galaxy_S23
error: --device: there is no device called "Galaxy_S23"
  hint: did you mean "galaxy-s23"?
[exit 2]
