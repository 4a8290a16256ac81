"""The cross-check on a GPU: the device evaluates the proved maps and runs their instructions.

`access_run`, `tile_run` and `map_run` say what to launch and what results to expect. `source` writes
the kernels from the expressions' C reading. `worker` is a process of its own that owns the device,
through `driver`, which alone imports NVIDIA's bindings. `crosscheck` is the entry point.
"""
