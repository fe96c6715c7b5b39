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

Arena, packed: 12 B in 5 buffers between instants 0 and 21, lower bound 12 B

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
           0 instant
           ^ fullest at instant 0

     largest buffers  size  offset  instants
  a  b1                4 B     0 B  [0, 3)
  b  b2                4 B     0 B  [3, 9)
  c  b3                4 B     4 B  [0, 9)
  d  b4                4 B     0 B  [9, 21)
  e  b5                4 B     8 B  [0, 21)
$ tidemark pack five.csv --quiet --capacity 11
Packing of five

Buffers    5, 20 B if each stood apart
Load       12 B
Capacity   11 B
Peak       no plan; at least 12 B needed
Status     infeasible
Conflict   b1, b3, b5 do not fit together; without any one of them the rest does

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
    "above_instants": 9,
    "instant": 0,
    "saves_moved_bytes": 4,
    "saves_split_bytes": 0,
    "split_at": 0
  },
  "groups": 0,
  "apart": 0,
  "bank_bytes": 1,
  "hints": 0,
  "hints_met": 0,
  "explained_pool": null,
  "bound": {
    "kind": "load",
    "buffers": 3,
    "names": [
      "b1",
      "b3",
      "b5"
    ]
  },
  "pools": [],
  "spilled": 0,
  "spilled_bytes": 0,
  "conflict": null,
  "unplaced": [],
  "notes": []
}
$ tidemark pack five.csv --quiet --planner linear-scan --capacity 12 --svg five.svg | grep Status && head -c 4 five.svg
Status     proved optimal, by linear-scan
<svg

# The arena of a model, taken out and packed by itself.
$ tidemark plan minicpm-2b --show problem | cut -d, -f1-5 > minicpm.csv && tidemark pack minicpm.csv --quiet --json | grep -E '"(status|peak_bytes|lower_bound_bytes)"'
  "status": "proved_optimal",
  "peak_bytes": 33032192,
  "lower_bound_bytes": 33032192,

# Three memories in order: what is pinned, what spills. c leaves sram: it relieves as much as b or a
# would, and is the smallest.
$ cat > mix.csv <<'END'
> id,lower,upper,size,pool,not_in,cost
> a,0,4,6,,,
> b,0,4,4,,,
> c,1,3,3,,,
> d,4,9,9,dram,,
> e,0,9,2,,sram dram,
> END
$ tidemark pack mix.csv --quiet --pool sram=10 --pool dram=12B --pool flash
Packing of mix

Buffers    5, 24 B if each stood apart
Load       15 B
Peaks      21 B in all, 0 B above the lower bound of 21 B
Status     feasible, by first-fit-by-size
Spilled    1 buffer, 3 B; that less would do is not ruled out

  Pool   capacity  peak  lower bound  buffers  status
  sram       10 B  10 B         10 B        2  proved optimal
  dram       12 B   9 B          9 B        2  proved optimal
  flash      none   2 B          2 B        1  proved optimal

  Live at the peak  offset  size  instants  moved away, saves
  a                    0 B   6 B         4                6 B
  b                    6 B   4 B         4                4 B

Instant    0, the first of the highest load in sram; 2 buffers live
$ tidemark pack mix.csv --quiet --pool sram=10 --pool dram=12 --pool flash --format csv
id,lower,upper,size,offset,pool,not_in
a,0,4,6,0,sram,
b,0,4,4,6,sram,
c,1,3,3,0,dram,
d,4,9,9,0,dram,
e,0,9,2,0,flash,sram dram
$ tidemark pack mix.csv --quiet --pool sram=10 --pool dram=8 --pool flash | grep -E 'Status|No room'
Status     infeasible
No room    d
$ tidemark pack mix.csv --pool sram=10
mix.csv:5:9: error: pool: "dram" is no pool
  hint: --pool NAME or --pool NAME=SIZE states each, the first to be filled first
mix.csv:6:15: error: not_in: "dram" is no pool
  hint: --pool NAME or --pool NAME=SIZE states each, the first to be filled first
[exit 2]

# A group keeps its distances: two inputs are written where the output will hold them, and what is
# free of the group until then is used.
$ cat > join.csv <<'END'
> id,lower,upper,size,group,group_offset,hint
> out,3,9,8,joined,0,
> in1,0,4,4,joined,0,
> in2,1,4,4,joined,4,
> early,0,1,4,,,
> late,5,9,8,,,0
> END
$ tidemark pack join.csv --quiet --map | grep -vE '^ +[a-e] '
Packing of join

Buffers    5, 20 B if each stood apart; 1 group
Load       16 B
Peak       16 B, 0 B above the lower bound of 16 B
Status     proved optimal, by first-fit-by-size
Hints      1 of 1 met
...

# Buffers that must share no bank of 64 bytes, though they never live together.
$ printf 'id,lower,upper,size,apart\nw,0,4,40,x\nx,5,9,40,\n' > apart.csv
$ tidemark pack apart.csv --quiet --bank 64 --format csv
id,lower,upper,size,offset,apart
w,0,4,40,0,x
x,5,9,40,64,
$ tidemark pack apart.csv --quiet --bank 64 --threads 2 --json | grep -E '"(status|peak_bytes|bank_bytes|apart)":'
  "status": "proved_optimal",
  "peak_bytes": 104,
  "apart": 1,
  "bank_bytes": 64,

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
$ tidemark pack five.csv --capacity 12 --pool sram=12
error: --capacity: stands beside --pool
  hint: give each pool its own: --pool NAME=SIZE
[exit 2]
$ tidemark pack five.csv --pool sram=12 --pool sram --bank 48 --seed -1
error: --pool: "sram" stands twice
error: --bank: "48" is no power of two
error: --seed: "-1" is no integer from 0 to 18446744073709551615
[exit 2]
$ printf 'id,lower,upper,size,gaps\na,0,5,3,4-2\nb,0,5,3,4-6\n' > gaps.csv; tidemark pack gaps.csv
gaps.csv:2:9: error: gaps: "4-2" covers no instant
  hint: the second number is the first instant after the gap
gaps.csv:3:9: error: gaps: "4-6" reaches outside the lifetime, 0 to 5
[exit 2]
$ printf '\377\376i\000d\000' > wide.csv; tidemark pack wide.csv
error: wide.csv: is UTF-16
  hint: save it as UTF-8
[exit 2]

# No text.
$ printf 'id,lower\0' > binary.csv && tidemark pack binary.csv
binary.csv: error: byte 8: a NUL, which no text holds
  hint: a problem is a table in text: see `tidemark pack --help`
[exit 2]
