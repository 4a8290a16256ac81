"""Layouts that are looked for: what accesses cost on a tile, and the members of families that cost less.

`costs` prices one tile, `cures` changes one thing of it, `parameter_maps` tries every swizzle or pad,
`synth` finds the best member for all accesses and says why none is better.
"""
