"""Many variants of one spec, each measured: the axes of `sweep:` expanded into cases, chunks of them
computed by processes on one machine or many, and a folder that keeps every finished chunk.
"""
