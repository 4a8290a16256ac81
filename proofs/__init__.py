"""General theorems on swizzles, pads and bank conflicts, proved by Z3: one family a file, listed in
`THEOREMS` of each.

`swzverify theorems` finds and proves them. Files that begin with an underscore hold what several
families need.
"""
