"""General theorems on swizzles, pads and bank conflicts, proved by Z3, one family per file.

`THEOREMS` of each file lists them; `swzverify theorems` finds and proves them. Files that start with
an underscore hold what several families need.
"""
