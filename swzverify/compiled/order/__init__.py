"""The order in time of shared-memory accesses in compiled kernels: which pairs can meet, and whether they race."""
