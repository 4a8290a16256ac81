"""Certificates as they are written: what a proof states, with what shows it.

`describe` copies what a claim is about, `make` and `make_kernels` add what shows it, `workers` has
processes recheck them. Their form, and everything that judges them, is the package `swzrecheck`,
which imports nothing of this one.
"""
