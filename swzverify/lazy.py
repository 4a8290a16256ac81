"""Packages whose names are imported at their first use: what a command does not need, it does not
wait for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def importer(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """A package's `__getattr__` for names that live in the given modules of it, relative or whole.

    >>> importer("swzverify", {"Layout": ".layout"})("Layout").__name__
    'Layout'
    """

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name], package), name)

    return get
