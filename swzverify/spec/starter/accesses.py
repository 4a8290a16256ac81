"""Who goes where: the coordinates of the three ways in which warps go through a tile of rows.

- by rows: consecutive threads take consecutive vectors, as copies do;
- by columns: the lanes of a warp take one vector each of 32 rows, one below the other;
- by matrices: the lanes give the rows of 8 x 16-byte matrices, as instructions of matrices want them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from swzverify.hardware import LANES, Instruction

MATRIX_ROWS = 8


@dataclass(frozen=True, slots=True)
class Lanes:
    """Loops and coordinates as a spec has them; `loops` are names with (start, stop, step)."""

    order: Literal["rows", "columns", "matrices"]
    loops: tuple[tuple[str, tuple[int, int, int]], ...]
    row: str
    column: str
    predicate: str = ""


def by_rows(rows: int, columns: int, vector: int, threads: int) -> Lanes:
    """Consecutive threads at consecutive vectors; `columns` is a multiple of `vector`.

    >>> by_rows(64, 64, 8, 128)
    Lanes(order='rows', loops=(('i', (0, 4, 1)),), row='i*16 + tid/8', column='tid%8*8', predicate='')
    """
    a_row = columns // vector
    count = rows * a_row
    rounds = -(-count // threads)
    loops = (("i", (0, rounds, 1)),) if rounds > 1 else ()
    index = _sum(f"i*{threads}" if loops else "", "tid")
    predicate = f"{index} < {count}" if count % threads else ""
    if a_row == 1:
        return Lanes("rows", loops, index, "0", predicate)
    if threads % a_row == 0:
        in_rows = threads // a_row
        row = _sum(_times("i", in_rows) if loops else "", f"tid/{a_row}")
        return Lanes("rows", loops, row, _times(f"tid%{a_row}", vector), predicate)
    whole = f"({index})" if loops else index
    return Lanes("rows", loops, f"{whole}/{a_row}", _times(f"{whole}%{a_row}", vector), predicate)


def by_columns(rows: int, columns: int, vector: int, threads: int) -> Lanes | None:
    """A warp reads 32 rows at once; None where the warps cannot share the tile evenly.

    >>> by_columns(64, 32, 1, 64)
    Lanes(order='columns', loops=(('k', (0, 32, 1)),), row='warp*32 + lane', column='k', predicate='')
    """
    found = _shared(-(-rows // LANES), columns // vector, threads // LANES, LANES, vector)
    if found is None:
        return None
    loops, row, column = found
    row = _sum(row, "lane")
    return Lanes("columns", loops, row, column or "0", f"{row} < {rows}" if rows % LANES else "")


def by_matrices(rows: int, columns: int, vector: int, threads: int, instruction: Instruction) -> Lanes | None:
    """A warp gives the rows of its matrices: one or two below each other, for .x4 two side by side.

    None where the tile is no whole number of them, or the warps cannot share it evenly.
    """
    matrices = instruction.address_lanes // MATRIX_ROWS
    high = MATRIX_ROWS * min(matrices, 2)
    wide = vector * (2 if matrices == 4 else 1)
    if rows % high or columns % wide:
        return None
    found = _shared(rows // high, columns // wide, threads // LANES, high, wide)
    if found is None:
        return None
    loops, row, column = found
    right = _times(f"lane/{high}", vector) if matrices == 4 else ""
    return Lanes("matrices", loops, _sum(row, f"lane%{high}"), _sum(column, right) or "0")


def _shared(
    row_blocks: int, column_blocks: int, warps: int, high: int, wide: int
) -> tuple[tuple[tuple[str, tuple[int, int, int]], ...], str, str] | None:
    """Loops, row and column of each warp's first element; warps share blocks of `high` x `wide`."""
    if warps and row_blocks % warps == 0:
        rounds, abreast = row_blocks // warps, 1
        row = _sum("r" if rounds > 1 else "", _times("warp", high) if warps > 1 else "")
    elif warps and warps % row_blocks == 0 and column_blocks % (warps // row_blocks) == 0:
        rounds, abreast = 1, warps // row_blocks
        row = "" if row_blocks == 1 else _times(f"warp%{row_blocks}", high)
    else:
        return None
    step = wide * abreast
    steps = column_blocks // abreast
    loops: list[tuple[str, tuple[int, int, int]]] = []
    if rounds > 1:
        loops.append(("r", (0, rounds * warps * high, warps * high)))
    if steps > 1:
        loops.append(("k", (0, steps * step, step)))
    beside = "" if abreast == 1 else _times("warp" if row_blocks == 1 else f"warp/{row_blocks}", wide)
    return tuple(loops), row, _sum("k" if steps > 1 else "", beside)


def vector_elements(instruction: Instruction, element_bits: int) -> int | None:
    """Elements that a lane's address stands for; None where they are no whole number.

    >>> from swzverify.hardware import find_instruction
    >>> vector_elements(find_instruction("ldmatrix.x4"), 16), vector_elements(find_instruction("ld.shared.b32"), 64)
    (8, None)
    """
    bits = 8 * instruction.width_bytes
    return bits // element_bits if bits % element_bits == 0 else None


def _times(factor: str, number: int) -> str:
    return factor if number == 1 else f"{factor}*{number}"


def _sum(*terms: str) -> str:
    return " + ".join(term for term in terms if term)
