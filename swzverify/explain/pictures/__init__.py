r"""Pictures of tiles and accesses: what is drawn, and how each format draws it.

`picture` is the model: panels of cells with words, no format. `views/` makes pictures of tiles and
accesses, one view per file; `text`, `svg`, `html`, `latex` and `png` draw any picture. `hardware`
and `costs` say what an access costs: a view says where words lie and never what they cost.

>>> from swzverify import Layout, Swizzle, Tile
>>> from swzverify.explain.pictures.text import render_text
>>> from swzverify.explain.pictures.views.logical import logical
>>> tile = Tile("A", 32, Layout((4, 4), (4, 1)), Swizzle(2, 0, 2))
>>> print(render_text(logical(tile, numbers="bank", probed=False)))
A: the bank of each element
4 x 4 elements of 32 bits at (4,4):(4,1), Swizzle<2,0,2> on element offsets, base 0
<BLANKLINE>
row\column    0   1   2   3
         0   b0  b1  b2  b3
         1   b5  b4  b7  b6
         2  b10 b11  b8  b9
         3  b15 b14 b13 b12
<BLANKLINE>
"""

from swzverify.explain.pictures.picture import Cell, Panel, Picture, Scale

__all__ = ["Cell", "Panel", "Picture", "Scale"]
