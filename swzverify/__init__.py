"""swzverify proves GPU shared-memory layouts right: one to one, contiguous vectors, no bank conflicts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swzverify.hardware import access_cost
    from swzverify.layout import Layout, Swizzle
    from swzverify.prove import prove
    from swzverify.spec import load_spec
    from swzverify.subjects import Access, Tile

__version__ = "0.1.0"

__all__ = ["Access", "Layout", "Swizzle", "Tile", "access_cost", "load_spec", "prove"]

_HOMES = {
    "Access": "swzverify.subjects",
    "Layout": "swzverify.layout",
    "Swizzle": "swzverify.layout",
    "Tile": "swzverify.subjects",
    "access_cost": "swzverify.hardware",
    "load_spec": "swzverify.spec",
    "prove": "swzverify.prove",
}


def __getattr__(name: str) -> object:
    """Import what is asked for only then: `swzverify --help` needs neither numpy nor Z3."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'swzverify' has no attribute '{name}'")
