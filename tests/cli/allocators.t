Heap allocators on the tensors of a pass, beside the planned arena.

$ tidemark simulate demo-layers --engine bare --allocators
6 buffers of demo-layers's prefill in the order of its steps, 580 MiB without reuse
internal: of what is held, what nobody asked for, when most is asked for; external: of what
is free, what lies outside its largest piece, at worst; fails: in a heap of the plan's size.
A TLB of 1,024 entries reaches 4 MiB of small pages, 2 GiB of large ones.

  allocator  footprint  of_the_plan  internal  external  fails_in_plan  pages_4k  pages_2m
  planned      244 MiB         1.00  -         -                     0    62,500       123
  pools        384 MiB         1.57  23.7 %    3.7 %                 4    85,938       171
  buddy        256 MiB         1.05  4.6 %     49.2 %                3    62,500       124
  slab         305 MiB         1.25  0.0 %     9.5 %                 1    78,125       153
  best-fit     305 MiB         1.25  0.0 %     9.5 %                 1    78,125       153
  arena        580 MiB         2.38  20.0 %    0.0 %                 2   148,438       290
$ tidemark simulate minicpm-2b --allocators --format csv | cut -d, -f1-6
allocator,footprint,of_the_plan,internal,external,fails_in_plan
planned,31.5 MiB,1.00,-,-,0
pools,52.0 MiB,1.65,35.7 %,0.0 %,80
buddy,64.0 MiB,2.03,34.4 %,50.0 %,319
slab,36.1 MiB,1.14,0.2 %,0.1 %,39
best-fit,36.0 MiB,1.14,0.0 %,0.1 %,39
arena,2.29 GiB,74.42,46.2 %,0.0 %,390
$ tidemark simulate minicpm-2b --allocators --strategy resident,mmap
error: --allocators: needs exactly one model and setting
  hint: the settings list several; give one of each
[exit 2]

# Caches of experts, by policy; routing is seeded.
$ tidemark simulate qwen3-30b-a3b --quant int4 --device oneplus-12r --experts 16
qwen3-30b-a3b on oneplus-12r: 48 layers of 128 experts of 2.26 MiB, 8 used by a token
16 slots a layer keep 1.69 GiB in memory, of 13.5 GiB in all
Routing is made up, fitted to one phone: of a token's experts 29 % are those of the token
before, the others are drawn by popularity.

  policy    hit_rate  read_per_token  reading_per_token
  lru         66.0 %         294 MiB             280 ms
  mru         12.2 %         761 MiB             724 ms
  next-use    80.0 %         174 MiB             165 ms
  fifo        57.7 %         367 MiB             349 ms
  clock       63.8 %         313 MiB             298 ms
  lfu         69.4 %         265 MiB             252 ms
  random      56.2 %         380 MiB             361 ms
$ tidemark simulate minicpm-2b --experts 16
error: --experts: minicpm-2b has no experts
  hint: name a mixture, such as qwen3-30b-a3b
[exit 2]
$ tidemark simulate qwen3-30b-a3b --quant int4 --experts 4
error: --experts: 4 slots a layer
  hint: from the 8 experts a token uses to all 128
[exit 2]
