"""The text of kernels: comment blocks that hold contracts, and the integer constants that the code
defines.

Pure functions of text. Nothing here opens a file, and nothing that a file holds is ever run.
"""
