"""The expression form: hash-consed bit-vector expressions over named, bounded variables, and how to
read them.

`expr` is the form itself, `integers` builds it from mathematical integers without wrapping, `c_*`
is the front end for C integer expressions; `evaluate`, `intervals`, `gf2`, `periods`, `c_source`
and `symbolic` are readings that need no solver. May import nothing of the package but
`errors`.
"""
