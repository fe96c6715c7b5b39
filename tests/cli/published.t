Published runs, simulated from the scenarios that ship. What was published stands beside each in docs/explanation/validity.md.

# Row 1, what a token reads: published 2196, 1090, 738, 164 and 87 ms.
$ for row in dense half predictor window bundled; do tidemark simulate --scenario published-01-$row | tr -s '\n ' ' ' | grep -o 'end at [0-9.]* m*s'; done
end at 2.20 s
end at 1.10 s
end at 720 ms
end at 160 ms
end at 88.9 ms

# Row 2, reading, unpacking and computing one after another: published 3182, 669, 565, 305, 84 and 706 ms.
$ for row in cpu-dense cpu metal-m1 metal-m2 rtx-4090 falcon-cpu; do tidemark simulate --scenario published-02-$row | tr -s '\n ' ' ' | grep -o 'then [0-9.]* m*s per token'; done
then 3.18 s per token
then 669 ms per token
then 565 ms per token
then 305 ms per token
then 84.0 ms per token
then 706 ms per token

# Row 3, a share of 13.4 GB: published 52.1 %, 6.98 GB.
$ tidemark plan --scenario published-03 --json | grep weights_bytes
    "weights_bytes": 6975879200,

# Row 4, layers on the device are not read again: published 7965, 8807 and 10120 ms.
$ for row in 60b 65b 70b; do tidemark simulate --scenario published-04-$row | tr -s '\n ' ' ' | grep -o 'then [0-9.]* m*s per token'; done
then 8.24 s per token
then 9.25 s per token
then 10.2 s per token

# Rows 6 to 8, offloading: published 7.32, 7.32; 0.69, which its own disk rate misses and a fitted one reaches; 0.59 without overlap.
$ for row in 06-48x3 06-64x2 07-default 07-fitted 08; do tidemark simulate --scenario published-$row | tr -s '\n ' ' ' | grep -o 'generated: .* phases'; done
generated: 4,608 tokens at 7.176 tok/s over both phases
generated: 4,096 tokens at 7.031 tok/s over both phases
generated: 8,192 tokens at 0.156 tok/s over both phases
generated: 8,192 tokens at 0.684 tok/s over both phases
generated: 8,192 tokens at 0.551 tok/s over both phases

# Row 11, ExecuTorch: published 19.2, 50.2, 7.6 and 19.7 tok/s.
$ for row in 1b-bf16 1b-4bit 3b-bf16 3b-4bit; do tidemark simulate --scenario published-11-$row | tr -s '\n ' ' ' | grep -o '([0-9.]* tok/s)'; done
(19.2 tok/s)
(56.0 tok/s)
(7.41 tok/s)
(23.2 tok/s)

# Row 12, reads and then 68 ms: published 3.3, 2.6, 2.0, 1.7 direct, 2.7, 2.1, 1.6, 1.3 buffered, 4.2 when they overlap.
$ for row in 266mb-direct 366mb-direct 494mb-direct 608mb-direct 266mb-buffered 366mb-buffered 494mb-buffered 608mb-buffered 266mb-overlap; do tidemark simulate --scenario published-12-$row | tr -s '\n ' ' ' | grep -o '([0-9.]* tok/s)'; done
(3.29 tok/s)
(2.55 tok/s)
(1.98 tok/s)
(1.65 tok/s)
(2.75 tok/s)
(2.11 tok/s)
(1.62 tok/s)
(1.35 tok/s)
(4.25 tok/s)

# Row 13, prompts: published 44 and 106 s.
$ for row in 33gb 81gb; do tidemark simulate --scenario published-13-$row | tr -s '\n ' ' ' | grep -o 'first token after [0-9.]* m*s'; done
first token after 43.9 s
first token after 107 s

# Row 14, one layer too many for the page cache: published 20 s.
$ tidemark simulate --scenario published-14 | tr -s '\n ' ' ' | grep -o 'then [0-9.]* m*s per token'
then 20.0 s per token

# Row 15, paging on a Raspberry Pi: published 11.5 s; what paging loses is not modelled.
$ tidemark simulate --scenario published-15 | tr -s '\n ' ' ' | grep -o 'then [0-9.]* m*s per token'
then 6.05 s per token

# Row 16, cache in flash: published as hidden to 3,072 tokens, then 1 ms a layer (28 of them) for each 1,024 more.
$ for prompt in 1024 2048 3072 4096 5120 6144; do tidemark simulate --scenario published-16 --prompt $prompt | tr -s '\n ' ' ' | grep -o 'then [0-9.]* m*s per token'; done
then 94.3 ms per token
then 96.0 ms per token
then 98.7 ms per token
then 128 ms per token
then 158 ms per token
then 187 ms per token

# Row 18, a layer at a time: reading ahead published as +10 %, 4 bits as up to 3 times.
$ tidemark simulate --scenario published-18 | tr -s '\n ' ' ' | grep -o 'then [0-9.]* m*s per token'
then 50.1 s per token
$ tidemark simulate --scenario published-18 --strategy double-buffer | tr -s '\n ' ' ' | grep -o 'then [0-9.]* m*s per token'
then 46.1 s per token
$ tidemark simulate --scenario published-18 --quant int4_g64 | tr -s '\n ' ' ' | grep -o 'then [0-9.]* m*s per token'
then 13.3 s per token

# Row 19, a cache for the longest sequence: 2 x 32 x 32 x 96 x 2 B x 131,072.
$ tidemark plan --scenario published-19 --json | grep -m 1 kv_cache_bytes
    "kv_cache_bytes": 51539607552,

# Row 20, Orin Nano Super: published 19.14 tok/s.
$ tidemark simulate --scenario published-20 | tr -s '\n ' ' ' | grep -o '([0-9.]* tok/s)'
(20.2 tok/s)
