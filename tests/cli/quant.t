Real weights in other formats: a safetensors file of a few tensors, its shards, a GGUF file, and files that are wrong.

$ cat > tensors.py <<'END'
> import json, struct, sys
> def write(path, tensors):
>     header, data = {}, b""
>     for name, (dtype, shape, values) in tensors.items():
>         code = {"F32": "f", "F16": "e", "I64": "q"}[dtype]
>         begin = len(data)
>         data += struct.pack(f"<{len(values)}{code}", *values)
>         header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, len(data)]}
>     text = json.dumps(header).encode()
>     open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)
> ramp = [(i * 37 % 101 - 50) / 64 for i in range(192)]
> write("m.safetensors", {"a.weight": ("F32", [3, 64], ramp), "b.weight": ("F16", [4, 48], ramp),
>                         "zeros.weight": ("F32", [2, 32], [0.0] * 64), "steps.weight": ("F32", [2, 2], [127, -1, 2, 127]),
>                         "norm.weight": ("F32", [64], ramp[:64]), "ids": ("I64", [2, 2], [1, 2, 3, 4])})
> nan, inf = float("nan"), float("inf")
> write("bad.safetensors", {"a.weight": ("F32", [2, 2], [1, nan, -inf, 2]), "b.weight": ("F32", [2, 2], [1e-42, 0, 0, 1e-45])})
> write("s-1.safetensors", {"a.weight": ("F32", [3, 64], ramp)})
> write("s-2.safetensors", {"b.weight": ("F32", [3, 64], ramp)})
> json.dump({"weight_map": {"a.weight": "s-1.safetensors", "b.weight": "s-2.safetensors"}},
>           open("model.safetensors.index.json", "w"))
> END
$ python3 tensors.py

# a: 3 rows of 64 + 2 B in int8, 32 + 2 B in int4, 2 blocks of 18 B in Q4_0. Rows of 48 fill one block and a half.
$ tidemark quant m.safetensors --to int8,int4,q4_0
Quantization of m.safetensors

Source     safetensors, 6 tensors, 1.67 KiB (1,712 B)
Integers   one scale for each output row, symmetric; range: smallest to largest value
Kept       1 tensor as stored, 256 B (vectors): norm.weight
Kept       1 tensor as stored, 32 B (type I64): ids
Misfit     1 tensor as stored in Q4_0, whose blocks rows of 48 do not fill: b.weight
Misfit     1 tensor as stored in Q4_0, whose blocks rows of 2 do not fill: steps.weight

  Tensor        shape   stored   size  to     size   SQNR, dB  max error    cosine
  a.weight      3 x 64  F32     768 B  int8  198 B      48.30    0.00305  0.999993
                                       int4  102 B      23.04     0.0557  0.997518
                                       Q4_0  108 B      23.47     0.0977  0.997782
  b.weight      4 x 48  F16     384 B  int8  200 B      48.64    0.00305  0.999993
                                       int4  104 B      23.27     0.0514  0.997778
                                       Q4_0  384 B  as stored          -         -
  zeros.weight  2 x 32  F32     256 B  int8   68 B   infinite          0         -
                                       int4   36 B   infinite          0         -
                                       Q4_0   36 B   infinite          0         -
  steps.weight  2 x 2   F32      16 B  int8    8 B   infinite          0  1.000000
                                       int4    6 B      38.10       2.00  0.999923
                                       Q4_0   16 B  as stored          -         -

  All tensors   size  of stored  quantized  mean SQNR, dB  worst  in
  int8         762 B     44.5 %          4          48.47  48.30  a.weight
  int4         536 B     31.3 %          4          28.14  23.04  a.weight
  Q4_0         832 B     48.6 %          2          23.47  23.47  a.weight
$ tidemark quant m.safetensors --to int4 --granularity group=32 --asymmetric --range percentile=99 --tensors '[ab].weight' --format csv
tensor,shape,stored_type,stored_bytes,format,bytes,as_stored,sqnr_db,max_error,rms_error,cosine
a.weight,3 x 64,F32,768,int4_g32_zp,112,false,23.53511916928584,0.05206298828125,0.03045713478894517,0.9977831593394137
b.weight,4 x 48,F16,384,int4_g32_zp,116,false,23.75347949253794,0.05206298828125,0.029700997083256686,0.9978956387131764
$ tidemark quant m.safetensors --to q8_0,f16 --top 1 --format md
| Tensor | shape | stored | size | to | size | SQNR, dB | max error | cosine |
| :--- | :--- | :--- | ---: | :--- | ---: | ---: | ---: | ---: |
| a.weight | 3 x 64 | F32 | 768 B | Q8_0 | 204 B | 48.24 | 0.00317 | 0.999993 |
| a.weight | 3 x 64 | F32 | 768 B | f16 | 384 B | infinite | 0 | 1.000000 |

| All tensors | size | of stored | quantized | mean SQNR, dB | worst | in |
| :--- | ---: | ---: | ---: | ---: | ---: | :--- |
| Q8_0 | 960 B | 56.1 % | 2 | 48.24 | 48.24 | a.weight |
| f16 | 1.16 KiB | 69.6 % | 4 | infinite | infinite | |
$ tidemark quant bad.safetensors --to int8 --json
{
  "schema": "tidemark.quant/1",
  "tool_version": "0.1.0",
  "file": "bad.safetensors",
  "file_format": "safetensors",
  "granularity": "channel",
  "range": "minmax",
  "asymmetric": false,
  "stored_bytes": 32,
  "left_out": 0,
  "totals": [
    {"format": "int8", "bytes": 24, "size_ratio": 0.75, "quantized": 1, "exact": 0, "mean_sqnr_db": 0.0, "worst_sqnr_db": 0.0, "worst_tensor": "b.weight"}
  ],
  "tensors": [
    {
      "name": "b.weight",
      "shape": [
        2,
        2
      ],
      "type": "F32",
      "bytes": 16,
      "outcomes": [
        {"format": "int8", "bytes": 8, "as_stored": false, "exact": false, "sqnr_db": 0.0, "max_error": 1.0005271035279194e-42, "rms_error": 5.0026404241444185e-43, "cosine": null}
      ]
    }
  ],
  "kept": [
    {
      "name": "a.weight",
      "shape": [
        2,
        2
      ],
      "type": "F32",
      "bytes": 16,
      "reason": "NaN or infinite values"
    }
  ],
  "notes": [
    "a.weight has 2 NaN or infinite values and was not measured."
  ]
}

# By index, by folder, and to a file.
$ tidemark quant model.safetensors.index.json --to int8 | head -n 4
Quantization of model.safetensors.index.json

Source     safetensors, 2 files, 2 tensors, 1.50 KiB (1,536 B)
Integers   one scale for each output row, symmetric; range: smallest to largest value
$ tidemark quant . --to int8 --format csv -o out.csv && cut -d, -f1,5,6 out.csv
wrote out.csv
tensor,format,bytes
a.weight,int8,198
b.weight,int8,198

# A sparse GGUF file holds zeros, which every format keeps.
$ cp $SOURCE/tests/cli/tiny.yaml .
$ tidemark export ./tiny.yaml --quant F16 -o tiny.gguf --quiet && tidemark quant tiny.gguf --to int8 --top 1
Quantization of tiny.gguf

Source     GGUF v3, 11 tensors, 81.3 KiB (83,200 B)
Integers   one scale for each output row, symmetric; range: smallest to largest value
Kept       3 tensors as stored, 768 B (vectors): output_norm.weight, blk.0.attn_norm.weight,
           blk.0.ffn_norm.weight
Shown      1 of 8 matrices, the lowest SQNR first

  Tensor             shape     stored      size  to        size  SQNR, dB  max error  cosine
  token_embd.weight  100 x 64  F16     12.5 KiB  int8  6.45 KiB  infinite          0       -

  All tensors      size  of stored  quantized  mean SQNR, dB     worst  in
  int8         42.2 KiB     51.9 %          8       infinite  infinite

# Every problem of the flags at once.
$ tidemark quant m.safetensors --to int9,q4_k,int8,int8 --granularity group=48 --range percentile=3 --tensors 'a{2}'
error: --range: "percentile=3" is none
  hint: write minmax, mse or percentile=99.9, above 50 and at most 100
error: --tensors: "a{2}": not a pattern of tensor names: no meaning for { there
  hint: write a part of the name (attn_v) or a regular expression without braces
error: --to: "int9" is no format
  hint: these can: f16, bf16, Q8_0, Q4_0, int8 and int4, also with their scales in the name: int8_tensor, int4_g64, int4_g128_zp
error: --to: the error of Q4_K cannot be measured here
  hint: these can: f16, bf16, Q8_0, Q4_0, int8 and int4, also with their scales in the name: int8_tensor, int4_g64, int4_g128_zp
error: --granularity: no format has groups of 48
  hint: there are groups of 32, 64 and 128
[exit 2]
$ tidemark quant m.safetensors --tensors conv
error: --tensors: "conv" finds none of the 6 tensors
  hint: `tidemark quant FILE` without it shows their names
[exit 2]
$ tidemark quant m.safetensors --to q8_0 --range mse --quiet --format table | grep Note
Note       No integer format is asked for: --range does nothing.
$ mkdir taken && tidemark quant m.safetensors -o taken
taken: error: cannot write: Is a directory
  hint: name a file in a folder that exists, is writable and has space
[exit 2]
$ tidemark quant m.safetensors -o taken/no/out.csv ; ls -A taken
taken/no/out.csv: error: cannot write: No such file or directory
  hint: name a file in a folder that exists, is writable and has space
$ tidemark quant missing.safetensors
missing.safetensors: error: cannot open: no such file
[exit 2]
$ tidemark quant nope
nope: error: cannot open: no such file
[exit 2]
$ tidemark quant ''
error: FILE: "" names no file
[exit 2]
$ tidemark quant tensors.py
error: tensors.py: its ending says no format that is read here
  hint: name a .safetensors, a model.safetensors.index.json, the folder of one, or a .gguf
[exit 2]
$ head -c 2000 m.safetensors > cut.safetensors && tidemark quant cut.safetensors
cut.safetensors: error: byte 2000: the file ends here, but its data needs 184 bytes more
  hint: the file was cut off: fetch it again
[exit 2]
$ tidemark quant
error: FILE is required
  hint: see `tidemark --help` or `tidemark VERB --help`
[exit 2]
