"""Searches over listings of machine code: reuse marks, the order of the instructions, the numbers of
the registers.

Each counts the conflicts that a listing has at most, as `subjects.listing` defines them. May import
`subjects`, `hardware`, `errors`.
"""
