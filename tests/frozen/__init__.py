"""The verdicts of the library and of compiled kernels as one file, and what changed between two."""
