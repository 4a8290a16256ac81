"""The expression form: hash-consed bit-vector expressions over named, bounded variables, and how to
read them.

`expr` is the form itself, `integers` builds it from mathematical integers without wrapping, `c_*`
is the front end for C integer expressions; `evaluate`, `intervals`, `gf2`, `periods` and
`c_source` are readings that need no solver, and `bounded` writes a value in plainer words. `whole`
reads the numbers that Python callers give. May import nothing of the package but `errors`.
"""
