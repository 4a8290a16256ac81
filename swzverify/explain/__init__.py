"""What people look at in order to understand: pictures, the notebook's tiles, explanations.

May import `search`, `prover`, `claims`, `subjects`, `engines`, `hardware`, `layout`, `ir`, `core`,
`errors`.
"""
