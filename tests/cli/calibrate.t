This machine measured: the form of what comes out, never its numbers.

$ tidemark calibrate --quick --repeat 1 --size '32 MiB' --threads 1 -o me.yaml --quiet
$ head -n 4 me.yaml
schema: device/1
name: this-machine
description: "..."
source: "measured by tidemark calibrate ..."
$ grep -c 'order: \|op: matmul\|op: flash_attention\|op: rms_norm\|op: rope\|op: store_kv\|op: silu' me.yaml
13
$ grep -E -c '^(ram_total|app_available|memory_bandwidth|flash_read|flash_latency|cached_read|fresh_memory|compute|page_size|page_fault|os): ' me.yaml
11
$ grep '^compute: ' me.yaml
compute: ...OPS  # mean of 1, ... to ...OPS
$ tidemark simulate minicpm-2b --quant int8 -c 512 --prompt 16 --generate 4 --device ./me.yaml --strategy layerwise --format csv --quiet | cut -d , -f 1
...
$ tidemark calibrate --quick --repeat 1 --size '32 MiB' --threads 1 --format table --quiet
  what ... mean ... median ... repeats
...
  matmul, 1 token ...
...
$ tidemark calibrate --quick --repeat 1 --size '32 MiB' --threads 1 --json --quiet > me.json
$ head -n 5 me.json
{
  "schema": "tidemark.calibration/1",
  "tool_version": "...",
  "list": "calibration",
  "rows": [
$ python3 -c "import json; rows = json.load(open('me.json'))['rows']; print(rows[0]['what'], {type(row[key]).__name__ for row in rows for key in ('mean', 'median', 'least', 'most', 'repeats')}, {type(row['spread']).__name__ for row in rows}, sorted({row['unit'] for row in rows}), min(row['least'] for row in rows) > 0)"
cached_read {'int'} {'float'} ['bytes_per_second', 'ns', 'ops_per_second'] True

# What cannot be measured is refused before anything is.

$ tidemark calibrate --size 12
error: --size: "12" has no unit
  hint: write ...
[exit 2]
$ tidemark calibrate --size '1 MiB'
error: --size: "1 MiB" is too small for the scratch file
  hint: from 16 MiB to 64 GiB
[exit 2]
$ tidemark calibrate --threads 1,,2
error: --threads: "1,,2" has an empty entry
  hint: numbers from 1 to 1024, each once, separated by single commas: 1,4
[exit 2]
$ tidemark calibrate --threads 1,1025
error: --threads: "1025" is no number of threads
  hint: numbers from 1 to 1024, each once, separated by single commas: 1,4
[exit 2]
$ tidemark calibrate --threads 2,2
error: --threads: 2 is named twice
  hint: numbers from 1 to 1024, each once, separated by single commas: 1,4
[exit 2]
$ tidemark calibrate -o nowhere/me.yaml
nowhere/me.yaml: error: cannot write: No such file or directory
  hint: name a file in a folder that exists, is writable and has space
[exit 2]
$ tidemark calibrate --scratch nowhere --quick
error: calibrate: cannot use nowhere: No such file or directory
  hint: the scratch folder is that of --scratch, or of TMPDIR
[exit 2]

# An interrupt leaves nothing behind.

$ mkdir scratch
$ timeout --foreground --preserve-status --signal INT 1 tidemark calibrate --scratch scratch --size "512 MiB" --quiet
[exit 130]
$ ls -A scratch

# A replay says how its time compares, part by part.

$ tidemark replay minicpm-2b --model-scale 0.03 -c 64 --prompt 4 --generate 2 --device ./me.yaml --strategy resident,layerwise --compare-time --time-runs 1 --quiet > times.txt
$ grep -A 5 'predicted time' times.txt
  strategy   predicted time  measured time ... runs
  resident ... 1 of ...
  layerwise ... 1 of ...

  strategy   part ... steps ... predicted ... measured ... error
  resident ...

# Rates are of int8 products alone.
$ tidemark replay minicpm-2b --model-scale 0.03 -c 64 --prompt 4 --generate 1 --device ./me.yaml --quant int4 --compare-time --time-runs 1 2>&1 > int4.txt | cat
note: Products take the time that device this-machine was measured with, of int8 weights (op_rates): int4 may take longer.
$ grep -c ' pass$' int4.txt
1
$ tidemark replay minicpm-2b --model-scale 0.03 -c 64 --prompt 4 --generate 2 --compare-time --time-runs 1 --json --quiet | grep -c '"predicted_ns"\|"runs_ns"' | grep -v '^0$'
...
