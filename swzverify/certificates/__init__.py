"""Certificates: what a proof states, written so that others can judge it again without Z3 and
without the front end.

`describe` copies what a claim is about, and `make` adds what shows it. Everything that a recheck
needs (`claim`, `goals`, `program`, `statement`, `encode`, the witnesses, `solvers`, `recheck`)
imports nothing of the package but `errors` and `processes`, and neither numpy nor Z3.
"""
