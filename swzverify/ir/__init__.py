"""Expressions: hash-consed bit-vector expressions over named, bounded variables, and their readings.

`expr` is the form itself. `integers` builds it from mathematical integers without wrapping. The
files `c_*` are the front end for C integer expressions. `evaluate`, `intervals`, `gf2`, `periods`
and `c_source` are readings that need no solver. `bounded` writes a value in plainer words, and
`whole` reads the numbers that Python callers pass.
"""
