The arenas of two models, taken out without their offsets and packed anew: each is proved optimal.
$ for model in minicpm-2b llama-3.1-8b; do for phase in prefill decode; do
>   tidemark plan $model --ctx-size 1024 --show problem:$phase | cut -d, -f1-5 > arena.csv
>   tidemark pack arena.csv --quiet --json | grep -E '"(status|peak_bytes|load_bytes|nodes)"'
> done; done
  "status": "proved_optimal",
  "peak_bytes": 33032192,
  "load_bytes": 33032192,
  "nodes": 0,
  "status": "proved_optimal",
  "peak_bytes": 64516,
  "load_bytes": 64516,
  "nodes": 0,
  "status": "proved_optimal",
  "peak_bytes": 75499520,
  "load_bytes": 75499520,
  "nodes": 0,
  "status": "proved_optimal",
  "peak_bytes": 147460,
  "load_bytes": 147460,
  "nodes": 0,
