"""Many variants of one spec, each measured.

The axes of `sweep:` become cases. Processes on one machine or many compute chunks of cases, and a
folder keeps every finished chunk.
"""
