"""swzverify proves GPU shared-memory layouts right: one to one, contiguous vectors, no bank
conflicts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swzverify.lazy import importer, lister

if TYPE_CHECKING:
    from swzverify.costs import AccessCosts, cost
    from swzverify.hardware import access_cost
    from swzverify.layout import Layout, Swizzle
    from swzverify.notebook import Access, Tile
    from swzverify.prover import prove
    from swzverify.spec import Spec, load_spec

__version__ = "0.1.0"

__all__ = ["Access", "AccessCosts", "Layout", "Spec", "Swizzle", "Tile", "access_cost", "cost", "load_spec", "prove"]

__getattr__ = importer(
    "swzverify",
    {
        "Access": ".notebook",
        "AccessCosts": ".costs",
        "Layout": ".layout",
        "Spec": ".spec",
        "Swizzle": ".layout",
        "Tile": ".notebook",
        "access_cost": ".hardware",
        "cost": ".costs",
        "load_spec": ".spec",
        "prove": ".prover",
    },
)
__dir__ = lister("swzverify", __all__)
