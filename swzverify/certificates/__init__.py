"""Certificates: what a proof rests on, written so that others can judge it again without Z3 and without the front end.

`export` reads the engines' obligations; everything that a recheck needs (`program`, `statement`, `encode`, `smtlib`,
`gates`, the witnesses, `solvers`, `recheck`) imports nothing of the package but `errors`, and neither numpy nor Z3.
"""
