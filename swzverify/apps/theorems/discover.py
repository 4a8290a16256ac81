"""Finds the theorems: every file of the folder `proofs`.

The folder lies beside the package or, if installed, inside it.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path

from swzverify.apps.theorems.theorem import Outcome, Theorem
from swzverify.errors import SwzError, nearest

PACKAGE = "swzverify.proofs"
"""The name by which the proofs are imported, wherever they lie."""


@dataclass(frozen=True, slots=True)
class Family:
    """The theorems of one file, and what they are about."""

    title: str
    theorems: tuple[Theorem, ...]


def proofs_folder() -> Path:
    """The folder with the proofs. Never the working directory: a stranger's `proofs` must not run.

    Raises:
        SwzError: SWZ505 if the installation has none.

    >>> (proofs_folder() / "__init__.py").is_file()
    True
    """
    package = Path(__file__).resolve().parents[2]
    checkout = package.parent
    inside, beside = package / "proofs", checkout / "proofs"
    if (inside / "__init__.py").is_file():
        return inside
    if (checkout / "pyproject.toml").is_file() and (beside / "__init__.py").is_file():
        return beside
    raise SwzError(
        "SWZ505", "this installation has no proofs", hint=f"they belong into {inside}; install swzverify again"
    )


def find_theorems() -> tuple[Theorem, ...]:
    """All theorems, by file and in the order of each file.

    Raises:
        ValueError: Two theorems share a name, or a reference is wrong.

    >>> sum(theorem.name == "swizzle-involution" for theorem in find_theorems())
    1
    """
    found = [theorem for family in find_families() for theorem in family.theorems]
    check_catalogue(found)
    return tuple(found)


def find_families() -> tuple[Family, ...]:
    """The theorems by file; a file's title is the first line of its docstring."""
    folder = proofs_folder()
    _import_package(folder)
    families: list[Family] = []
    for path in sorted(folder.glob("*.py")):
        if not path.stem.startswith("_"):
            module = importlib.import_module(f"{PACKAGE}.{path.stem}")
            families.append(Family(_first_paragraph(module.__doc__ or path.stem), tuple(module.THEOREMS)))
    return tuple(families)


def check_catalogue(theorems: list[Theorem]) -> None:
    """Check the names of theorems, and the references of refuted theorems.

    Raises:
        ValueError: Two theorems have one name, or a refuted theorem names no proved one as its mended
            form.
    """
    by_name = {theorem.name: theorem for theorem in theorems}
    if len(by_name) < len(theorems):
        raise ValueError("two theorems share a name")
    for theorem in theorems:
        mended = by_name.get(theorem.mended_by)
        if theorem.mended_by and (mended is None or mended.expected is not Outcome.PROVED):
            raise ValueError(f"theorem {theorem.name} is mended by {theorem.mended_by}, which is no proved theorem")


def select_theorems(theorems: tuple[Theorem, ...], names: tuple[str, ...]) -> tuple[Theorem, ...]:
    """The theorems whose name contains one of the texts; all if there are no texts.

    Raises:
        SwzError: SWZ506 if a text is in no name.
    """
    for text in names:
        if not any(text in theorem.name for theorem in theorems):
            hint = nearest(text, [theorem.name for theorem in theorems])
            raise SwzError("SWZ506", f"no theorem has {text!r} in its name", hint=hint)
    return tuple(theorem for theorem in theorems if not names or any(text in theorem.name for text in names))


def _import_package(folder: Path) -> None:
    if PACKAGE in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(
        PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise SwzError("SWZ505", f"{folder} cannot be imported", hint="install swzverify again")
    module = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = module
    spec.loader.exec_module(module)


def _first_paragraph(text: str) -> str:
    r"""The first paragraph of a docstring, on one line.

    >>> _first_paragraph("What holds of swizzles,\nand of pads.\n\nMore.")
    'What holds of swizzles, and of pads.'
    """
    return " ".join(text.strip().split("\n\n")[0].split())
