"""Compiled kernels, from their text to the verdict of each access to shared memory.

`binaries` takes PTX out of files, `ptx` reads it, `kernel` makes expressions of it, `order` says which
accesses can run at the same time, `scan` decides, `trial` runs a kernel with chosen values, `sass` and
`profiler` read machine code and counters. `kinds` is the registry of what a scan claims.
docs/architecture.md, "From PTX to a verdict", follows one access and says which file has which rule.
"""
