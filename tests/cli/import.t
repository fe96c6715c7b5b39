Model files other than YAML: read, written, and asked what they would be in another format.

# A sparse file is as long as a real one. Its tensors take what llama.cpp's quantizer gives MiniCPM-2B, 1,799,561,826 bytes
# (measured).
$ tidemark export minicpm-2b --quant Q4_K_M -o minicpm.gguf
minicpm.gguf: 362 tensors, 1.68 GiB (1,799,584,128 B), 21.8 KiB (22,272 B) of it on disk
$ tidemark import minicpm.gguf --format table
Model      minicpm-2b (minicpm), 2,724,880,896 parameters, 40 layers, 1.68 GiB as stored
Source     GGUF v3, each tensor in its own type, 362 tensors
Context    4,096 tokens as trained
Embedding  221 MiB (232,003,170 B)
Layers     1.46 GiB (1,567,549,440 B)
Other      9.00 KiB (9,216 B)
KV cache   360 KiB (368,640 B) per token at f16
Files      2,724,880,896 elements, 1.68 GiB (1,799,561,826 B)

# The same model three ways: by its file as YAML, by its file, by its config.json.
$ tidemark import minicpm.gguf -o minicpm.yaml && tidemark plan ./minicpm.yaml --quant Q4_K_M --json | grep weights_bytes
wrote minicpm.yaml
    "weights_bytes": 1799561826,
$ tidemark plan minicpm.gguf --json | grep weights_bytes
    "weights_bytes": 1799561826,
$ mkdir hub && cat > hub/config.json <<'END'
> {"architectures": ["MiniCPMForCausalLM"], "model_type": "minicpm", "hidden_size": 2304, "intermediate_size": 5760,
>  "num_hidden_layers": 40, "num_attention_heads": 36, "num_key_value_heads": 36, "vocab_size": 122753,
>  "max_position_embeddings": 4096, "torch_dtype": "bfloat16"}
> END
$ tidemark import hub
\# head_dim is not stated: 64, hidden_size / num_attention_heads
\# tie_word_embeddings is not stated: true, MiniCPMConfig's default
schema: model/1
\# 2,724,880,896 parameters
name: hub
architecture: minicpm
source: hub/config.json
n_layer: 40
n_embd: 2304
n_head: 36
n_ff: 5760
n_vocab: 122753
n_ctx_train: 4096
tied_embeddings: true
dtype: bf16
$ tidemark plan hub --quant Q4_K_M --json | grep weights_bytes
    "weights_bytes": 1799561826,

# A file's YAML has the file's bytes. Rows of 576 do not fill blocks of 256, so most of this Q4_K_M is Q5_0; an F16 file
# keeps its norms in f32: (4 x 640 + 2 x 256) x 18 layers + 640 = 55,936 values, 2 B more each.
$ tidemark export smollm2-135m --quant Q4_K_M -o small.gguf --quiet && tidemark import small.gguf -o small.yaml --quiet
$ grep -E "dtype|stored_as" small.yaml
dtype: Q5_0
stored_as: Q4_K_M
$ for model in small.gguf ./small.yaml; do tidemark plan $model --json | grep weights_bytes; done
    "weights_bytes": 103668480,
    "weights_bytes": 103668480,
$ tidemark export gemma-3-270m --quant F16 -o half.gguf --quiet && tidemark import half.gguf -o half.yaml --quiet
$ for model in half.gguf ./half.yaml gemma-3-270m; do tidemark plan $model --json | grep weights_bytes; done
    "weights_bytes": 536308224,
    "weights_bytes": 536308224,
    "weights_bytes": 536196352,

# So it is for every file type.
$ tidemark list quants --format csv | grep 'GGUF file type' | cut -d, -f1 > types.txt; grep -c . types.txt
35
$ weights() { tidemark plan $1 --json | grep weights_bytes; }; for type in $(cat types.txt); do tidemark export smollm2-1.7b --quant $type -o any.gguf --quiet; tidemark import any.gguf -o any.yaml --quiet; test "$(weights any.gguf)" = "$(weights ./any.yaml)" && echo same; done | grep -c same
35

# A safetensors file alone has sizes and no meaning: 2 B for each of 2,724,880,896 values.
$ tidemark export minicpm-2b --quant f16 -o alone.safetensors
alone.safetensors: 362 tensors, 5.08 GiB (5,449,797,264 B), 34.6 KiB (35,472 B) of it on disk
$ tidemark import alone.safetensors --format table | tail -n 6
Model      alone (layer-list), 42 layers, 5.08 GiB as stored
Source     safetensors, sizes only, 42 tensors
Layers     5.08 GiB (5,449,761,792 B)
Files      2,724,880,896 elements, 5.08 GiB (5,449,761,792 B), as the files state
Warning    No config.json stands beside the file: the sizes of its weights are known, what they
           compute, and so the activations and the KV cache, is not.

# Formats.
$ tidemark plan minicpm-2b --quant Q4_K_M --pure --json | grep weights_bytes
    "weights_bytes": 1599742224,
$ tidemark plan minicpm-2b --quant gptq4_g128 | grep -E "^  weights|Note"
  weights          1,837,780,992  1.71 GiB   54.2 %  largest; embedding 539 MiB
Note       1 of 281 weight matrices are not held in gptq4_g128, because its tools leave them alone
$ tidemark plan llama-3.1-8b --quant Q4_K_M --embedding flash --device mac-m1-8 | grep -E "^  weights|Note"
  weights          4,618,575,872  4.30 GiB   88.0 %  largest; embedding 282 MiB in flash, head 411 MiB
Note       Q4_K_M is a mix: 65 f32, 193 Q4_K, 33 Q6_K tensors.
Note       The embedding lives in flash; of its rows, one ubatch is held.
$ tidemark plan minicpm-2b --quant Q4_K_M --tensor-type token_embd=Q8_0 --json | grep -E "embedding_bytes"
    "embedding_bytes": 300499344,
$ tidemark plan minicpm-2b --quant Q4_K_Z
error: --quant: "Q4_K_Z" is not a weight format
  hint: did you mean "Q4_K_S"?
[exit 2]
$ tidemark plan minicpm-2b --quant int4 --pure
error: --pure: only GGUF file types are mixes
  hint: add --quant Q4_K_M, or leave it out
[exit 2]

# Parts taken out.
$ tidemark plan minicpm-2b --transform drop-layers=8,keep-ffn=0.75,vocab=32000 | grep -E "^Model|^  weights"
Model      minicpm-2b (minicpm), 1,708,869,888 parameters, 32 layers, 3.18 GiB as stored
  weights          3,417,739,776  3.18 GiB   73.3 %  largest; embedding 141 MiB
$ tidemark plan minicpm-2b --transform drop-layers=40
error: --transform: no layer would be left
  hint: keep at least one
[exit 2]

# What is not known is refused, or goes on with a warning that follows the model.
$ mkdir odd && sed 's/minicpm/frobnicate/; s/MiniCPM/Frobnicate/' hub/config.json > odd/config.json
$ tidemark import odd
odd/config.json:1:71: error: model_type: unknown model "frobnicate"
  hint: --assume-dense takes it for a dense decoder like Llama
[exit 2]
$ tidemark import odd --assume-dense --json | grep -E '"parameters"|warnings|dense'
    "parameters": 3007703808,
  "warnings": [
    "\"frobnicate\" is unknown and taken for a dense decoder like Llama."
$ tidemark plan odd --assume-dense | grep -A2 Note
Note       "frobnicate" is unknown and taken for a dense decoder like Llama.
$ printf 'GGUF\003\000\000\000' > short.gguf; tidemark plan ./short.gguf
./short.gguf: error: byte 8: the file ends inside the number of tensors
  hint: the file was cut off or is damaged: fetch it again
[exit 2]
$ head -c 100 minicpm.gguf > cut.gguf; tidemark import cut.gguf
cut.gguf: error: byte 8: 362 tensors cannot stand in the 84 bytes that follow
  hint: the file was cut off or is damaged: fetch it again
[exit 2]
$ tidemark import nothing.gguf
error: model: no file "nothing.gguf"
  hint: write a built-in name, or the path of a model file or of its folder
[exit 2]
$ printf '{"model_type": "llama", "model_type": "llama"}' > twice.json; tidemark import ./twice.json
./twice.json: error: model_type: byte 35: the key appears twice in one object
[exit 2]
$ tidemark export minicpm-2b --quant int4 -o no.gguf
error: --quant: GGUF has no tensors of int4
  hint: name a GGUF file type, such as Q4_K_M
[exit 2]
$ tidemark export minicpm-2b -o no.bin
error: --output: ".bin" is no kind of file that is written here
  hint: end the name in .gguf or .safetensors
[exit 2]

# Experts of two matrices that share a bias: what is exported is read again.
$ tidemark export nomic-embed-text-v2-moe --quant F32 -o nomic.gguf --quiet && tidemark import nomic.gguf --format table | sed -n '1p;/^Files/p'
Model      nomic-embed-text-v2-moe (nomic-bert), 475,292,928 parameters, 305,423,616 active, 12
Files      475,292,928 elements, 1.77 GiB (1,901,171,712 B)
