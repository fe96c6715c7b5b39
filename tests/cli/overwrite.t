No command writes over what it reads: whatever the two are called, the file stays; exit code 2.

$ cp $SOURCE/tests/cli/tiny.yaml .
$ tidemark export ./tiny.yaml -o v.gguf --quiet && cp v.gguf before.gguf
$ tidemark export v.gguf --quant Q8_0 -o ./v.gguf
error: -o: "./v.gguf" belongs to MODEL "v.gguf", which this command reads
  hint: name another file to write
[exit 2]
$ ln -s v.gguf link.gguf && tidemark quant link.gguf -o "$PWD/v.gguf" 2>&1 | sed "s:$PWD:HERE:"
error: -o: "HERE/v.gguf" belongs to FILE "link.gguf", which this command reads
  hint: name another file to write
$ tidemark import v.gguf -o link.gguf
error: -o: "link.gguf" belongs to FILE "v.gguf", which this command reads
  hint: name another file to write
[exit 2]
$ tidemark replay ./tiny.yaml --weights v.gguf --svg ./v.gguf
error: --svg: "./v.gguf" belongs to --weights "v.gguf", which this command reads
  hint: name another file to write
[exit 2]
$ tidemark replay ./v.gguf -o v.gguf
error: -o: "v.gguf" belongs to MODEL "./v.gguf", which this command reads
  hint: name another file to write
[exit 2]
$ tidemark plan ./tiny.yaml -o tiny.yaml
error: -o: "tiny.yaml" belongs to MODEL "./tiny.yaml", which this command reads
  hint: name another file to write
[exit 2]
$ TIDEMARK_MODEL=./tiny.yaml tidemark simulate --curve x.csv --svg tiny.yaml
error: --svg: "tiny.yaml" belongs to MODEL "./tiny.yaml", which this command reads
  hint: name another file to write
[exit 2]
$ cp $SOURCE/configs/scenarios/demo-lru.yaml s.yaml && tidemark simulate --scenario ./s.yaml --trace s.yaml
error: --trace: "s.yaml" belongs to --scenario "./s.yaml", which this command reads
  hint: name another file to write
[exit 2]
$ cp $SOURCE/configs/devices/demo-3gb.yaml d.yaml && tidemark simulate demo-blocks --device ./d.yaml --allocators -o d.yaml
error: -o: "d.yaml" belongs to --device "./d.yaml", which this command reads
  hint: name another file to write
[exit 2]
$ cmp v.gguf before.gguf && ls
before.gguf
d.yaml
link.gguf
s.yaml
tiny.yaml
v.gguf

# A folder stands for the checkpoint in it, an index for its shards; other files there may be written, and what is not read.
$ mkdir m && tidemark export ./tiny.yaml -o m/model.safetensors --quiet
$ tidemark quant m --json -o m/model.safetensors
error: -o: "m/model.safetensors" belongs to FILE "m", which this command reads
  hint: name another file to write
[exit 2]
$ tidemark quant m --to int8 --format csv -o m/out.csv --quiet && tidemark quant m --to int8 --format csv -o m/out.csv
wrote m/out.csv
$ tidemark export ./tiny.yaml -o m/model.safetensors --quiet
$ echo '{}' > m/config.json && tidemark import m/model.safetensors -o m/config.json
error: -o: "m/config.json" belongs to FILE "m/model.safetensors", which this command reads
  hint: name another file to write
[exit 2]
$ tidemark export m/config.json -o m/model.safetensors
error: -o: "m/model.safetensors" belongs to MODEL "m/config.json", which this command reads
  hint: name another file to write
[exit 2]
$ tidemark export ./tiny.yaml -o t-00002-of-00002.gguf --quiet && tidemark quant t-00001-of-00002.gguf -o t-00002-of-00002.gguf
error: -o: "t-00002-of-00002.gguf" belongs to FILE "t-00001-of-00002.gguf", which this command reads
  hint: name another file to write
[exit 2]

# Problems and logs.
$ printf 'id,lower,upper,size\na,0,2,4\n' > p.csv && tidemark pack p.csv --format csv -o p.csv
error: -o: "p.csv" belongs to PROBLEM "p.csv", which this command reads
  hint: name another file to write
[exit 2]
$ tidemark pack p.csv --quiet --svg ./p.csv
error: --svg: "./p.csv" belongs to PROBLEM "p.csv", which this command reads
  hint: name another file to write
[exit 2]
$ tidemark compare p.csv -o p.csv
error: -o: "p.csv" belongs to FILE "p.csv", which this command reads
  hint: name another file to write
[exit 2]
$ cat p.csv
id,lower,upper,size
a,0,2,4
