Offset assignment alone, on the public CSV format.

# The five buffers used all over the project: the load is 12, so a plan of 12 is optimal.
$ cat > five.csv <<'END'
> id,lower,upper,size
> b1,0,3,4
> b2,3,9,4
> b3,0,9,4
> b4,9,21,4
> b5,0,21,4
> END
$ tidemark pack five.csv --quiet
Packing of five

Buffers    5, 20 B if each stood apart
Load       12 B
Peak       12 B, 0 B above the lower bound of 12 B
Status     proved optimal, by first-fit-by-size

  Live at the peak  offset  size  instants  moved away, saves
  b1                   0 B   4 B         3                0 B
  b3                   4 B   4 B         9                4 B
  b5                   8 B   4 B        21                4 B

Instant    0, the first of the highest load; 3 buffers live
$ tidemark pack five.csv --quiet --format csv
id,lower,upper,size,offset
b1,0,3,4,0
b2,3,9,4,0
b3,0,9,4,4
b4,9,21,4,0
b5,0,21,4,8
$ tidemark pack five.csv --quiet --map | tail -n +14

Arena, packed: 12 B in 5 buffers over 3 steps, lower bound 12 B

     12 B +
          |eeeeeeeeeeee
          |eeeeeeeeeeee
          |eeeeeeeeeeee
      8 B |eeeeeeeeeeee
\          |cccccccc....
\          |cccccccc....
\          |cccccccc....
\      4 B |cccccccc....
          |aaaabbbbdddd
          |aaaabbbbdddd
          |aaaabbbbdddd
          |aaaabbbbdddd
      0 B +------------
           0 step
           ^ fullest at step 0

     largest buffers  size  offset  steps
  a  b1                4 B     0 B  [0, 1)
  b  b2                4 B     0 B  [1, 2)
  c  b3                4 B     4 B  [0, 2)
  d  b4                4 B     0 B  [2, 3)
  e  b5                4 B     8 B  [0, 3)
$ tidemark pack five.csv --quiet --capacity 11
Packing of five

Buffers    5, 20 B if each stood apart
Load       12 B
Capacity   11 B
Peak       no plan; at least 12 B needed
Status     infeasible

  Live at the peak  offset  size  instants  moved away, saves
  b1                     -   4 B         3                0 B
  b3                     -   4 B         9                4 B
  b5                     -   4 B        21                4 B

Instant    0, the first of the highest load; 3 buffers live
[exit 1]
$ tidemark pack five.csv --quiet --planner no-reuse --json | grep -v wall
{
  "schema": "tidemark.pack/1",
  "tool_version": "0.1.0",
  "instance": "five",
  "buffers": 5,
  "capacity": null,
  "planner": "no-reuse",
  "status": "feasible",
  "peak_bytes": 20,
  "lower_bound_bytes": 12,
  "load_bytes": 12,
  "no_reuse_bytes": 20,
  "nodes": 0,
  "limited_by_time": false,
  "peak_instant": 0,
  "peak_buffers": 3,
  "largest": [
    {"name": "b1", "offset": 0, "size_bytes": 4, "instants": 3, "saves_bytes": 0},
    {"name": "b3", "offset": 8, "size_bytes": 4, "instants": 9, "saves_bytes": 4},
    {"name": "b5", "offset": 16, "size_bytes": 4, "instants": 21, "saves_bytes": 4}
  ],
  "hole": {
    "offset": 4,
    "size_bytes": 4,
    "above": "b3",
    "above_instants": 9
  },
  "notes": []
}
$ tidemark pack five.csv --quiet --planner linear-scan --capacity 12 --svg five.svg | grep Status && head -c 4 five.svg
Status     proved optimal, by linear-scan
<svg

# The arena of a model, taken out and packed by itself.
$ tidemark plan minicpm-2b --show problem > minicpm.csv && tidemark pack minicpm.csv --quiet --json | grep -E '"(status|peak_bytes|lower_bound_bytes)"'
  "status": "proved_optimal",
  "peak_bytes": 33032192,
  "lower_bound_bytes": 33032192,

# Bad input.
$ printf 'id,lower,upper,size\na,0,5,-3\nb,7,2,x\n' > bad.csv; tidemark pack bad.csv
bad.csv:2:7: error: size: "-3" is no integer from 0 to 9007199254740992
bad.csv:3:7: error: size: "x" is no integer from 0 to 9007199254740992
[exit 2]
$ tidemark pack none.csv
none.csv: error: cannot open: no such file
[exit 2]
$ tidemark pack five.csv --planner best
error: --planner: "best" is not known
  hint: `tidemark list planners` shows them all
[exit 2]
$ tidemark pack five.csv --capacity much
error: --capacity: "much" is not a size
  hint: write a number and a unit: 512 MiB, 3.5 GB
[exit 2]
