"""Which accesses of a kernel to shared memory can run at the same time, and whether they meet.

`barriers` says what an instruction orders, `step` what the threads of a scope share and which barriers
some of them miss, `intervals` which accesses are reachable from one instance of a barrier, `between` which of
them can meet, `instance`
what a value is for a given thread in a given trip, `pairs` what has to be impossible, and `verdict` what
is known then. Barriers of parts of a block are read by `events`; `tracked` finds what decides them, `walk` the
graph of one thread, `roles` the threads with one graph, `objects` who takes part, `interleaved` all runs of a
few threads, and `pipelines` what they leave without an order. Imports `kernel`, `ptx`, `engines.obligations`,
`hardware` and `ir`, and no engine.

What it relies on: two threads of a block are ordered by barriers alone; a barrier orders every access
before it, by each of its threads, before every access behind it, by each of them; a thread that has
returned counts as arrived. An order that is not known here makes a race `unknown`, and never a proof.
"""
