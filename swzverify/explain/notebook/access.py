"""An access that says what it costs."""

from __future__ import annotations

from swzverify import subjects
from swzverify.core.shown import Drawn
from swzverify.search.costs import AccessCosts, cost


class Access(subjects.Access, Drawn):
    """An instruction at a tile's coordinates, or at byte addresses outright, which says what it costs.

    Fields and errors are those of `swzverify.subjects.Access`. `Tile.read` and `Tile.write` make
    one, and specs have them in `spec.cases[0].accesses`. Notebooks show the groups of the worst warp
    instruction.

    >>> from swzverify import Layout, Tile
    >>> read = Tile("A", 32, Layout("(32,32):(32,1)")).read("ld.shared.b32", coord=["lane", 0], threads=32)
    >>> read.warps, read.cost().wavefronts
    (1, 32)
    """

    def cost(self) -> AccessCosts:
        """What all warp instructions of it take, at the worst stage and base. No engine is asked.

        Raises:
            SwzError: SWZ206 for a loop without a bound, values that each lane has of its own, or more than
                2^26 lanes to price; SWZ404 for a misaligned address; SWZ105 if there is no warp instruction
                with an active lane.

        >>> from swzverify import Layout, Tile
        >>> tile = Tile("A", 32, Layout("(32,32):(33,1)"))
        >>> print(tile.read("ld.shared.b32", coord=["lane", "k"], threads=32, loops={"k": 4}).cost())
        1 wavefront (minimum 1), 0 bank conflicts
          warp instructions  4
          wavefronts         4 in all; 4 take 1
          worst at           warp = 0, k = 0, base = 0
          evidence           measured
        """
        return cost(self)
