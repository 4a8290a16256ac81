"""The text of kernels: comment blocks that hold contracts, and integer constants of the code.

Pure functions of text. Nothing here opens a file, and nothing that a file holds is ever run.
"""
