"""Searches over listings of machine code: reuse marks, order of instructions, register numbers.

Each minimizes the most conflicts that a listing can have, as `subjects.listing` defines them.
"""
