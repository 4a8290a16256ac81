"""The text of kernels: comment blocks that hold contracts, integer constants of the code, and launches.

Pure functions of text, but for `launches`, which opens the sources and headers that a scanned kernel names. Nothing
that a file holds is ever run.
"""
