"""swzverify proves GPU shared-memory layouts: one to one, contiguous vectors, no bank conflicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from swzverify.core.lazy import importer, lister, provide

if TYPE_CHECKING:
    from swzverify.apps.explorer.cell import explore
    from swzverify.apps.run.scan_code import Scan, scan
    from swzverify.explain.notebook import Access, Tile
    from swzverify.hardware import access_cost
    from swzverify.hardware.fragments import fragment_elements
    from swzverify.layout import Layout, Swizzle
    from swzverify.prover import prove
    from swzverify.search.costs import AccessCosts, cost
    from swzverify.spec import Spec, load_spec
    from swzverify.subjects import operand_addresses
    from swzverify.testing.guard import guard

__version__ = "0.2.0"

__all__ = [
    "Access",
    "AccessCosts",
    "Layout",
    "Scan",
    "Spec",
    "Swizzle",
    "Tile",
    "access_cost",
    "cost",
    "explore",
    "fragment_elements",
    "guard",
    "load_spec",
    "operand_addresses",
    "prove",
    "scan",
]

__getattr__ = importer(
    "swzverify",
    {
        "Access": ".explain.notebook",
        "AccessCosts": ".search.costs",
        "Layout": ".layout",
        "Scan": ".apps.run.scan_code",
        "Spec": ".spec",
        "Swizzle": ".layout",
        "Tile": ".explain.notebook",
        "access_cost": ".hardware",
        "cost": ".search.costs",
        "explore": ".apps.explorer.cell",
        "fragment_elements": ".hardware.fragments",
        "guard": ".testing.guard",
        "load_spec": ".spec",
        "operand_addresses": ".subjects",
        "prove": ".prover",
        "scan": ".apps.run.scan_code",
    },
)
__dir__ = lister("swzverify", __all__)


def _svg_of(value: object) -> object:
    """Notebooks' pictures are drawn by `notebook`, which is imported with the first of them."""
    draw = importer("swzverify", {"svg_of": ".explain.notebook.drawing"})("svg_of")
    return cast("Callable[[object], str | None]", draw)(value)


provide("picture", _svg_of)
