"""Tiles and accesses as Python and notebooks work with them: a tile states its accesses, an access
says what it costs; and what notebooks draw of a value (`drawing.py`).

They are the subjects of claims with a few methods more, so that whatever takes a subject takes
them; specs and `swzverify.Tile` give these. May import `prover`, `pictures`, `costs`, `claims`,
`subjects`, `hardware`, `layout`, `ir`, `shown`, `errors`.
"""

from swzverify.notebook.access import Access
from swzverify.notebook.stated import block_of, expressions_of, loop_of
from swzverify.notebook.tile import Tile

__all__ = ["Access", "Tile", "block_of", "expressions_of", "loop_of"]
