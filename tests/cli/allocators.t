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
