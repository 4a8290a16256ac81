"""Tiles and accesses for Python and notebooks: a tile states its accesses, an access its cost.

They are the subjects of claims with a few more methods, so they can be used wherever a subject can;
specs and `swzverify.Tile` make these. `drawing.py` has the pictures of values in notebooks.
"""

from swzverify.explain.notebook.stated import loop_of
from swzverify.explain.notebook.tile import Access, Tile

__all__ = ["Access", "Tile", "loop_of"]
