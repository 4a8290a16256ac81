"""Tiles and accesses for Python and notebooks: a tile states its accesses, an access its cost.

They are the subjects of claims with a few more methods, so they can be used wherever a subject can;
specs and `swzverify.Tile` make these. `drawing.py` has the pictures of values in notebooks. May
import `prover`, `pictures`, `costs`, `claims`, `subjects`, `hardware`, `layout`, `ir`, `shown`,
`errors`.
"""

from swzverify.explain.notebook.stated import block_of, expressions_of, loop_of
from swzverify.explain.notebook.tile import Access, Tile

__all__ = ["Access", "Tile", "block_of", "expressions_of", "loop_of"]
