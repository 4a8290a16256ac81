"""The programs that people start: the command line, its work, the comparison, the page, the theorems.

`options` declares the options of a command, `commands` does its work with `run`, `diff`, `explorer` and
`theorems`, and `cli` is the registry of the commands.
"""
