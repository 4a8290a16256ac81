"""Makes the study's data and tables out of its two sweeps.

    swzverify sweep docs/study/swizzles.swz.yaml --output swizzles.sweep
    swzverify sweep docs/study/pads.swz.yaml --output pads.sweep
    python docs/study/tabulate.py swizzles.sweep pads.sweep

It writes cells.csv, a row for each cell, and the tables of index.md.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from math import log2
from pathlib import Path

from swzverify.explain.pictures import Cell as Square
from swzverify.explain.pictures import Panel, Picture, Scale
from swzverify.explain.pictures.svg import render_svg

FOLDER = Path(__file__).parent
CELLS = FOLDER / "cells.csv"
PAGE = FOLDER / "index.md"
PICTURE = FOLDER / "universal.svg"
ELEMENT_BYTES = {"i8": 1, "f16": 2, "f32": 4, "f64": 8}
VECTOR_BYTES = {"b8": 1, "b16": 2, "b32": 4, "v2.b32": 8, "v4.b32": 16}
SETS = {
    "columns": ("row_write", "column_read"),
    "matrices": ("row_write", "ldmatrix"),
    "all": ("row_write", "column_read", "ldmatrix"),
}
"""The accesses that are to be free together. `ldmatrix.trans` and `stmatrix` cost what `ldmatrix` does."""
Row = dict[str, str]


@dataclass(frozen=True, order=True)
class Cell:
    """One cell of the study: a set of accesses, an element, a row and a vector, and what is best.

    `swizzle` is `B,M,S`, or `none`; `as_good` counts the swizzles of the same costs. `conflicts` and
    `wavefronts` are summed over the accesses. `pad_bytes` is the least pad without a conflict, empty
    where none below 128 bytes has that. `universal` is what the published formula comes to: `best`,
    `worse: +N wavefronts`, `torn` or `illegal`.
    """

    accesses: str
    element_bytes: int
    vector_bytes: int
    row_elements: int
    swizzle: str
    as_good: int
    conflicts: int
    wavefronts: int
    pad_bytes: str
    universal: str


def universal(element_bytes: int, vector_bytes: int, row_elements: int) -> tuple[int, int, int]:
    """B, M and S of the published formula.

    Source: "CuTe Swizzle" (leimao.github.io/blog/CuTe-Swizzle), "Universal Swizzle Equations and
    Configurations".
    """
    base = int(log2(vector_bytes // element_bytes))
    return int(log2(128 // element_bytes)) - base, base, row_elements.bit_length() - 1 - base


def formula(element_bytes: int, vector_bytes: int, row_elements: int) -> tuple[int, int, int]:
    """B, M and S of this study's formula; B = 0 is no swizzle."""
    row_bytes = row_elements * element_bytes
    power, chunk = row_bytes & -row_bytes, max(4, vector_bytes)
    bits = int(log2(min(power, 128) // chunk)) if min(power, 128) > chunk else 0
    return bits, int(log2(chunk)) - int(log2(element_bytes)), int(log2(max(power, 128) // chunk))


def cells(swizzles: Iterable[Row], pads: Iterable[Row]) -> Iterator[Cell]:
    """Every cell, in order."""
    by_cell, padded = _grouped(swizzles), _grouped(pads)
    for accesses, names in SETS.items():
        for key in sorted(by_cell):
            element, vector, length = key
            rows = sorted(_priced(by_cell[key], names))
            best = rows[0]
            good = [row for row in rows if row[:3] == best[:3]]
            free = [int(row["P"]) * element for row in padded[key] if _cost(row, names) in _free(padded[key], names)]
            yield Cell(
                accesses,
                element,
                vector,
                length,
                _shown(best[3:]),
                len(good),
                best[2],
                best[1],
                str(min(free)) if free else "",
                _verdict(universal(element, vector, length), rows),
            )


def _grouped(rows: Iterable[Row]) -> dict[tuple[int, int, int], list[Row]]:
    found: dict[tuple[int, int, int], list[Row]] = {}
    for row in rows:
        element, vector = ELEMENT_BYTES[row["E"]], VECTOR_BYTES[row["V"].removeprefix("st.shared.")]
        found.setdefault((element, vector, int(row["C"])), []).append(row)
    return found


def _cost(row: Row, names: Iterable[str]) -> tuple[int, int] | None:
    """Bank conflicts and wavefronts of some accesses together; None where one of them is torn."""
    if row["status"] not in ("free", "conflicts", "torn"):
        return None
    if any(not row[f"{name}_wavefronts"] for name in names):
        return None
    return (
        sum(int(row[f"{name}_conflicts"]) for name in names),
        sum(int(row[f"{name}_wavefronts"]) for name in names),
    )


def _free(rows: Iterable[Row], names: tuple[str, ...]) -> set[tuple[int, int]]:
    found = (_cost(row, names) for row in rows)
    return {cost for cost in found if cost is not None and cost[0] == 0}


Priced = tuple[bool, int, int, int, int, int]


def _priced(rows: Iterable[Row], names: tuple[str, ...]) -> Iterator[Priced]:
    """Conflicted or not, wavefronts, conflicts, then B, M, S: the order of `swzverify synth`."""
    for row in rows:
        cost = _cost(row, names)
        if cost is not None:
            yield cost[0] > 0, cost[1], cost[0], int(row["B"]), int(row["M"]), int(row["S"])


def _shown(swizzle: tuple[int, ...]) -> str:
    return ",".join(map(str, swizzle)) if swizzle[0] else "none"


def _verdict(stated: tuple[int, int, int], rows: list[Priced]) -> str:
    bits, _, shift = stated
    if bits < 0 or shift < bits:
        return "illegal"
    wanted = (0, 0, 1) if bits == 0 else stated
    found = next((row for row in rows if row[3:] == wanted), None)
    if found is None:
        return "torn"
    worse = found[1] - rows[0][1]
    return f"worse: +{worse} wavefronts" if worse else "best"


def read(file: Path) -> list[Row]:
    """The rows of a CSV file."""
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def read_cells() -> list[Cell]:
    """The cells of the study, as they are kept."""
    kinds = {each.name: int if each.type == "int" else str for each in fields(Cell)}
    return [Cell(**{name: kinds[name](row[name]) for name in kinds}) for row in read(CELLS)]  # type: ignore[arg-type]


def write_cells(found: Iterable[Cell]) -> None:
    """Keep the cells."""
    with CELLS.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow([each.name for each in fields(Cell)])
        lines.writerows(astuple(cell) for cell in found)


def table(found: Iterable[Cell], rows: dict[str, Callable[[Cell], bool]], text: Callable[[Cell], str]) -> list[str]:
    """A Markdown table: a row for each kind of row length, a column for each element and vector.

    A cell has each text that its cells have.
    """
    kept = list(found)
    heads = sorted({(cell.element_bytes, cell.vector_bytes) for cell in kept})
    lines = ["| elements per row | " + " | ".join(f"{e} B, {v} B" for e, v in heads) + " |"]
    lines.append("|---|" + "---|" * len(heads))
    for name, belongs in rows.items():
        parts: list[str] = []
        for head in heads:
            here = [text(cell) for cell in kept if (cell.element_bytes, cell.vector_bytes) == head and belongs(cell)]
            parts.append(" or ".join(dict.fromkeys(here)))
        lines.append(f"| {name} | " + " | ".join(parts) + " |")
    return lines


def tables() -> dict[str, list[str]]:
    """The tables of the page, by name."""
    found = read_cells()
    columns = [cell for cell in found if cell.accesses == "columns"]
    matrices = [cell for cell in found if cell.accesses == "matrices"]
    every = [cell for cell in found if cell.accesses == "all"]
    kinds: dict[str, Callable[[Cell], bool]] = {
        "16, 48, 80, ... 240": lambda cell: cell.row_elements & -cell.row_elements == 16,
        "32, 96, 160, 224": lambda cell: cell.row_elements & -cell.row_elements == 32,
        "64, 192": lambda cell: cell.row_elements & -cell.row_elements == 64,
        "128": lambda cell: cell.row_elements == 128,
        "256": lambda cell: cell.row_elements == 256,
    }
    marks = {"best": "=", "illegal": "x", "torn": "torn"}
    lengths = {str(count): (lambda cell, count=count: cell.row_elements == count) for count in range(16, 257, 16)}

    def mark(cell: Cell) -> str:
        return marks.get(cell.universal) or cell.universal.removeprefix("worse: ").removesuffix(" wavefronts")

    return {
        "columns": table(columns, kinds, lambda cell: cell.swizzle),
        "matrices": table([cell for cell in matrices if cell.vector_bytes == 16], kinds, lambda cell: cell.swizzle),
        "pads": table(columns, kinds, lambda cell: cell.pad_bytes or "-"),
        "universal": table(columns, lengths, mark),
        "all": table(every, kinds, lambda cell: f"+{cell.conflicts}" if cell.conflicts else cell.swizzle),
    }


def picture() -> str:
    """What the universal formula costs more than the best swizzle, as SVG."""
    found = [cell for cell in read_cells() if cell.accesses == "columns"]
    heads = sorted({(cell.element_bytes, cell.vector_bytes) for cell in found})
    lengths = sorted({cell.row_elements for cell in found})
    drawn: list[Square] = []
    for cell in found:
        worse = cell.universal.removeprefix("worse: +").removesuffix(" wavefronts")
        extra = int(worse) if worse.isdigit() else 0 if cell.universal == "best" else None
        row, column = lengths.index(cell.row_elements), heads.index((cell.element_bytes, cell.vector_bytes))
        text = "x" if extra is None else str(extra)
        drawn.append(Square(row, column, (text,), extra, cell.universal == "best"))
    panel = Panel(
        "",
        "elements per row",
        "bytes of an element, of a vector",
        tuple(map(str, lengths)),
        tuple(f"{element}, {vector}" for element, vector in heads),
        tuple(drawn),
    )
    words = "Wavefronts of a row write and a column read above the best swizzle; x: the formula is illegal."
    scale = Scale("wavefronts more", 0, max(cell.value or 0 for cell in drawn))
    return render_svg(Picture("The universal formula", (words,), (panel,), scale, "as good as the best"))


def page(text: str) -> str:
    """The page with its tables as they are now."""
    for name, lines in tables().items():
        begin, end = f"<!-- table {name} -->\n", "<!-- end -->"
        before, found, rest = text.partition(begin)
        if not found:
            sys.exit(f"the page has no table {name}")
        text = before + begin + "\n" + "\n".join(lines) + "\n\n" + end + rest.partition(end)[2]
    return text


def main(swizzles: str, pads: str) -> None:
    """Write the data and the page."""
    write_cells(cells(read(Path(swizzles) / "cases.csv"), read(Path(pads) / "cases.csv")))
    PICTURE.write_text(picture(), encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
