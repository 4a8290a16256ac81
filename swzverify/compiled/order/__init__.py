"""Which accesses of a kernel to shared memory can run at the same time, and whether they touch a common byte.

`between` finds the accesses that can run between the same barriers of the block or the warp, `pairs` asks whether
two threads touch a common byte there, and `verdict` has the result. `pipelines` finds what barriers of parts of a
block leave without an order: `walk` makes the graph of one thread, and `interleaved` runs the graphs of a few threads.
docs/architecture.md, "Which file has which rule", lists the files by topic.

What it relies on: two threads of a block are ordered by barriers alone; a barrier orders every access
before it, by each of its threads, before every access behind it, by each of them; a thread that has
returned counts as arrived. An order that is not known here makes a race `unknown`, and never a proof.
"""
