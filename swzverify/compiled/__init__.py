"""Compiled kernels, from their text to the verdict of each access to shared memory.

`binaries` takes PTX out of files, `ptx` reads it, `kernel` makes expressions of it, `scan` decides,
`trial` runs a kernel with chosen values, `sass` and `profiler` read machine code and counters. May
import `search` (for cures), `prover`, `claims`, `subjects`, `engines`, `hardware`, `layout`, `ir`,
`core`, `errors`.
"""
