"""swzverify proves GPU shared-memory layouts right: one to one, contiguous vectors, no bank
conflicts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swzverify.lazy import importer

if TYPE_CHECKING:
    from swzverify.costs import AccessCosts, cost
    from swzverify.hardware import access_cost
    from swzverify.layout import Layout, Swizzle
    from swzverify.prover import prove
    from swzverify.spec import load_spec
    from swzverify.subjects import Access, Tile

__version__ = "0.1.0"

__all__ = ["Access", "AccessCosts", "Layout", "Swizzle", "Tile", "access_cost", "cost", "load_spec", "prove"]

__getattr__ = importer(
    "swzverify",
    {
        "Access": ".subjects",
        "AccessCosts": ".costs",
        "Layout": ".layout",
        "Swizzle": ".layout",
        "Tile": ".subjects",
        "access_cost": ".hardware",
        "cost": ".costs",
        "load_spec": ".spec",
        "prove": ".prover",
    },
)
