"""Packages whose names are imported at their first use, and functions that stand above their callers:
what a command does not need, it does not wait for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import ModuleType


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


def lister(package: str, names: Iterable[str]) -> Callable[[], list[str]]:
    """A package's `__dir__`: its public names, whether they were imported already or not, and the
    modules of it that were.

    >>> import swzverify
    >>> "Tile" in dir(swzverify), "importer" in dir(swzverify)
    (True, False)
    """
    public = frozenset(names)

    def list_names() -> list[str]:
        found = vars(sys.modules[package])
        others = (name for name, value in found.items() if name.startswith("__") or isinstance(value, ModuleType))
        return sorted({*public, *others})

    return list_names


_PROVIDED: dict[str, Callable[[object], object]] = {}


def provide(what: str, function: Callable[[object], object]) -> None:
    """Say who does something that is asked for further down, where nothing above is imported."""
    _PROVIDED[what] = function


def provided(what: str) -> Callable[[object], object] | None:
    """Who does it; None where nobody was told.

    >>> provided("a dinner") is None
    True
    """
    return _PROVIDED.get(what)
