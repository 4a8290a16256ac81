"""The best layout of a tile in a family, for every access to it together, and why none is better.

May import `cures` (for pads and tiles with one thing changed), `costs`, `claims`, `subjects`,
`engines` (for ranks), `hardware`, `layout`, `ir`, `errors`.
"""
