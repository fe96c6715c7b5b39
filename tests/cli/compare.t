A pasted log against the prediction.

$ cat > server.log <<'END'
> print_info: file type   = Q8_0
> print_info: file size   = 7.95 GiB (8.50 BPW)
> print_info: arch             = llama
> print_info: n_embd           = 4096
> print_info: n_layer          = 32
> print_info: n_head           = 32
> print_info: n_head_kv        = 8
> print_info: n_ff             = 14336
> print_info: n_vocab          = 128256
> load_tensors:   CPU_Mapped model buffer size =  8137.64 MiB
> llama_context: n_seq_max     = 1
> llama_context: n_ctx         = 2048
> llama_context: n_batch       = 2048
> llama_context: n_ubatch      = 512
> llama_context: flash_attn    = 0
> llama_context:        CPU  output buffer size =     0.49 MiB
> init: kv_size = 2048, offload = 1, type_k = 'f16', type_v = 'f16', n_layer = 32, can_shift = 1
> init:        CPU KV buffer size =   256.00 MiB
> llama_context:        CPU compute buffer size =   258.50 MiB
> END
$ tidemark compare server.log
server.log against the prediction, tolerance 2 % of what is logged

Engine     llama.cpp, wording of spring 2025
Model      llama-3-8b: the log's dimensions are those of llama-3-8b
Weights    Q8_0; all together as large as the log says
Settings   n_ctx 2048, n_batch 2048, n_ubatch 512, n_seq_max 1, type_k f16, type_v f16, flash_attn
           0

  Term                 device           logged    predicted  difference
  size of all tensors              8140.80 MiB  8137.64 MiB   +3.16 MiB  +0.04 %  ok
  model buffer         CPU_Mapped  8137.64 MiB  8137.64 MiB   -0.00 MiB  -0.00 %  ok
  output buffer        CPU            0.49 MiB     0.49 MiB   +0.00 MiB  +0.15 %  ok
  KV cache             CPU          256.00 MiB   256.00 MiB           0  +0.00 %  ok
  compute buffer       CPU          258.50 MiB   258.50 MiB           0  +0.00 %  ok

Note       Layers: everything on the host.
Answer     all 5 terms that could be judged are within 2 %

# Bad input.
$ tidemark compare server.log --tolerance x
error: --tolerance: "x" is no share of a figure
  hint: write a percentage: --tolerance '2 %'
[exit 2]
$ tidemark compare server.log -c many
error: --ctx-size: "many" is no number of its kind
  hint: write a whole number from 0 to 2147483648
[exit 2]
$ echo hello > other.log; tidemark compare other.log
other.log: error: no line of it states memory in a way that is known
  hint: paste the start-up log of llama.cpp, ollama, vLLM or whisper.cpp, or `adb shell dumpsys meminfo PACKAGE`
[exit 2]
$ tidemark compare /dev/null
/dev/null: error: not a regular file
  hint: a folder, a pipe or a device is not read: write it to a file first
[exit 2]

# A term that is off by more than the tolerance.
$ sed 's/258.50/301.77/' server.log > off.log; tidemark compare off.log | tail -n 1
Answer     1 of 5 terms are off by more than 2 %
$ tidemark compare off.log > report.txt
[exit 1]
$ tidemark compare off.log --tolerance '20 %' > report.txt

# The examples of its help, and the other formats: a row a term.
$ tidemark compare --help | grep -A 3 Examples
Examples:
  tidemark compare server.log
  tidemark compare server.log --model llama-3-8b --tolerance '1 %' --json
Exit code 1 when a term is off by more than the tolerance.
$ tidemark compare server.log --model llama-3-8b --tolerance '1 %' --json | grep -m 1 within_tolerance
  "within_tolerance": true,
$ tidemark compare server.log --format csv | head -n 1
run,engine,model,term,device,line,logged,rounding,predicted,difference,unit,judgement,reason
$ tidemark compare server.log --format csv | grep -c '^1,llama.cpp,llama-3-8b,'
5
$ tidemark compare server.log --format csv | grep compute_buffer
1,llama.cpp,llama-3-8b,compute_buffer,CPU,19,271056896,5243,271056896,0,bytes,ok,
$ tidemark compare off.log --format md | grep compute_buffer | grep -c '| off |'
1
