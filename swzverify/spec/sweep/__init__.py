"""Many variants of one spec, each measured: the axes of `sweep:` become cases, processes on one
machine or many compute chunks of cases, and a folder keeps every finished chunk.
"""
