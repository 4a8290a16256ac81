"""The view of an operand: the address that the tensor core reads for each element, atom by atom.

The addresses are those of the claim `delivers`; this view adds only where a cell stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swzverify.claims.common_base import origin_text
from swzverify.claims.operand_points import OperandPoints
from swzverify.core.words import binding_text
from swzverify.errors import SwzError, nearest
from swzverify.explain.pictures.grid import MAX_ROWS, Window
from swzverify.explain.pictures.picture import BANKS_SCALE, Cell, Panel, Picture
from swzverify.hardware import BANK_WORD_BYTES, BANKS
from swzverify.hardware.tensor_cores import Major
from swzverify.subjects import Operand
from swzverify.subjects.descriptor import CHUNK_BYTES, CORE_ROWS
from swzverify.subjects.memory import BASE


@dataclass(frozen=True, slots=True)
class _Atoms:
    """How an operand is cut into panels and cells, in elements of (rows, k)."""

    panel: tuple[int, int]
    cell: tuple[int, int]

    @staticmethod
    def of(operand: Operand) -> _Atoms:
        """Eight rows with all of K, or K-rows of the mode's width; a cell has 16 bytes."""
        chunk = CHUNK_BYTES // operand.element_bytes
        if operand.major is Major.K:
            return _Atoms((CORE_ROWS, operand.columns), (1, chunk))
        return _Atoms((operand.descriptor.row_bytes // operand.element_bytes, CORE_ROWS), (chunk, 1))


@dataclass(frozen=True, slots=True)
class _Sides:
    """Where each element is read, and where the tile has it, in bytes."""

    read: NDArray[np.int64]
    wanted: NDArray[np.int64]


def operand_view(
    operand: Operand, at: Mapping[str, int] | None = None, rows: Window | None = None, most_rows: int = MAX_ROWS
) -> Picture:
    """The operand in one iteration, at one base.

    Args:
        operand: The operand.
        at: Values of its loops and of `base`; the first ones by default.
        rows: The rows of the operand to draw; the atoms that have one of them are drawn.
        most_rows: How many rows are drawn without `rows`.

    Raises:
        SwzError: SWZ581 for a variable or a value that the operand does not have, or rows that it does not have.
    """
    points = OperandPoints(operand)
    point = _point(points, at or {})
    first, end = _window(operand, rows, most_rows)
    read, wanted = (each.first // 8 for each in (points.read_places(point), points.wanted_places(point)))
    sides, atoms = _Sides(read, wanted), _Atoms.of(operand)
    wrong = int((read != wanted).sum())
    along = "k" if operand.major is Major.K else "the rows"
    total = operand.rows * operand.columns
    says = (
        "Each element is read where the tile has it."
        if wrong == 0
        else f"{wrong} of {total} elements are read elsewhere than the tile has them; where it has them stands below."
    )
    where = binding_text({**operand.binding(point), BASE: points.places[0].at(point)})
    cut = f" The picture shows rows {first} to {end - 1} of {operand.rows}." if end - first < operand.rows else ""
    return Picture(
        f"{operand.name}: the byte address of each element that the tensor core reads",
        (
            f"{operand.described()}; {where}.",
            f"A cell has the elements of {CHUNK_BYTES} bytes along {along}, the address of the first one, and the "
            f"colour of its bank.{cut}",
            says,
        ),
        tuple(
            _panel(sides, atoms, row, k)
            for row in range(first, end, atoms.panel[0])
            for k in range(0, operand.columns, atoms.panel[1])
        ),
        BANKS_SCALE,
        "the tile has these elements elsewhere",
    )


def _point(points: OperandPoints, at: Mapping[str, int]) -> dict[str, int]:
    """The iteration and the base of some values.

    Raises:
        SwzError: SWZ581.
    """
    operand = points.operand
    known = [*(loop.name for loop in operand.loops), BASE]
    for name in at:
        if name not in known:
            hint = nearest(name, known) or f"there are {', '.join(known)}"
            raise SwzError("SWZ581", f"operand {operand.name} has no variable '{name}'", hint=hint)
    if operand.iterations == 0:
        raise SwzError("SWZ581", f"the loops of operand {operand.name} never run: there is nothing to draw")
    found = points.point_of(at)
    if found is None:
        values = [loop.describe(loop.count or 0) for loop in operand.loops]
        raise SwzError(
            "SWZ581",
            f"operand {operand.name} has no iteration at {binding_text(at)}",
            hint="; ".join([*values, origin_text(points.places[0])]),
        )
    return found


def _window(operand: Operand, rows: Window | None, most_rows: int) -> Window:
    """The rows of whole atoms that are drawn.

    Raises:
        SwzError: SWZ581.
    """
    step = _Atoms.of(operand).panel[0]
    if rows is None:
        whole = max(step, most_rows // step * step)
        return 0, min(operand.rows, whole)
    first, end = rows
    if not 0 <= first < end <= operand.rows:
        raise SwzError("SWZ581", f"operand {operand.name}: rows {first}:{end} are not inside 0:{operand.rows}")
    return first // step * step, min(operand.rows, -(-end // step) * step)


def _panel(sides: _Sides, atoms: _Atoms, first_row: int, first_k: int) -> Panel:
    """One atom."""
    end_row = min(first_row + atoms.panel[0], sides.read.shape[0])
    rows, ks = range(first_row, end_row, atoms.cell[0]), range(first_k, first_k + atoms.panel[1], atoms.cell[1])
    cells = [
        _cell(sides, atoms, (place, row), (column, k)) for place, row in enumerate(rows) for column, k in enumerate(ks)
    ]
    title = f"rows {first_row} to {end_row - 1}"
    if atoms.panel[1] < sides.read.shape[1]:
        title += f", k {first_k} to {first_k + atoms.panel[1] - 1}"
    return Panel(title, "row", "k", _heads(rows), _heads(ks), tuple(cells))


def _heads(numbers: Sequence[int]) -> tuple[str, ...]:
    return tuple(map(str, numbers))


def _cell(sides: _Sides, atoms: _Atoms, row: tuple[int, int], k: tuple[int, int]) -> Cell:
    """Elements that lie side by side; row and k have the place in the panel and the element's number."""
    part = np.s_[row[1] : row[1] + atoms.cell[0], k[1] : k[1] + atoms.cell[1]]
    read, wanted = int(sides.read[row[1], k[1]]), int(sides.wanted[row[1], k[1]])
    wrong = bool((sides.read[part] != sides.wanted[part]).any())
    bank = read // BANK_WORD_BYTES % BANKS
    tip = f"({row[1]}, {k[1]}): address {read}, bank {bank}; the tile has it at {wanted}"
    # the first element of a cell may be right where others of it are not
    elsewhere = (f"({wanted})" if read != wanted else "(in part)",) if wrong else ()
    return Cell(row[0], k[0], (str(read), *elsewhere), bank, wrong, tip)
