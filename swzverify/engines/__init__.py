"""The engines that decide obligations: GF(2), mixed radix, residues, exhaustion and Z3; one a file.

An obligation states a claim over the expression form, together with the front end's own plain
definition of the same thing. `gf2`, `radix`, `residue` and `smt` read the expressions, `exhaust`
the definition. Engines share no code with each other beyond the expression form and its readings.
Z3 is imported in `smt` alone.
"""
