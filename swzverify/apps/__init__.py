"""The programs that people start: the command line, its work, the comparison, the page, the theorems.

`cli` declares the options of a command, `commands` does its work with `run`, `diff`, `explorer` and
`theorems`. May import every room but `testing`.
"""
