"""Judges certificates of swzverify again: without Z3, without the prover, without its reading of specs.

`python -m swzrecheck DIR` does it in one process; README.md beside this file says in which order to
read the modules. Nothing of `swzverify` is imported, and nothing but the standard library, the
solvers (`bitwuzla`, `cvc5`) apart.
"""
