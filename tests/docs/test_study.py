"""The study: its tables are those of its data, its data are what searches and brute force say, and a
GPU's recording speaks of its cells.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
import yaml

from swzverify.gpu.recording import load_recording
from swzverify.search.synth.problem import Form, Problem, Variant
from swzverify.search.synth.solution import find
from swzverify.spec import load_spec, parse_spec
from tests.docs.blocks import ROOT
from tests.nightly import share
from tests.oracle.brute_force import judge

STUDY = ROOT / "docs" / "study"


@pytest.fixture(scope="module")
def tabulate() -> ModuleType:
    """The script that made the data."""
    sys.path.insert(0, str(STUDY))
    try:
        import tabulate as found  # pyright: ignore[reportMissingImports]
    finally:
        sys.path.remove(str(STUDY))
    return found


def spec_of(cell: Any, swizzle: str | None) -> dict[str, Any]:
    """The spec of the sweep at one cell, with the accesses that the cell is about."""
    spec = yaml.safe_load((STUDY / "swizzles.swz.yaml").read_text(encoding="utf-8"))
    over = spec.pop("sweep")["over"]
    width = cell.vector_bytes
    elements = {size: name for name, size in over["E"]["values"].items()}
    stores = {size: name for name, size in over["V"]["values"].items()}
    loads = {size: name for name, size in over["W"]["values"].items()}
    spec["constants"] |= {"E": cell.element_bytes, "C": cell.row_elements, "V": width, "W": width}
    spec["tiles"]["A"]["element"] = elements[cell.element_bytes]
    spec["accesses"]["row_write"]["instruction"] = stores[width]
    spec["accesses"]["column_read"]["instruction"] = loads[width]
    names = {"columns": ("row_write", "column_read"), "matrices": ("row_write", "ldmatrix")}
    kept = names.get(cell.accesses, ("row_write", "column_read", "ldmatrix"))
    spec["accesses"] = {name: spec["accesses"][name] for name in kept}
    if swizzle is None or swizzle == "none":
        del spec["tiles"]["A"]["swizzle"]
    else:
        spec["tiles"]["A"]["swizzle"] = f"Swizzle<{swizzle}>"
    return spec


def searched(cell: Any) -> tuple[str, int, int]:
    """What `synth` finds among all swizzles, S of both signs: the best one, and what it costs."""
    spec = spec_of(cell, None)
    for name in ("B", "M", "S"):
        del spec["constants"][name]
    case = parse_spec(yaml.safe_dump(spec, sort_keys=False)).cases[0]
    answer = find(Problem("swizzle", (Variant(case.tiles["A"], dict(case.accesses), Form(), 232448),))).answer
    found = answer.swizzle
    shown = "none" if found is None else f"{found.bits},{found.base},{found.shift}"
    return shown, sum(answer.conflicts), sum(answer.wavefronts)


def test_the_tables_are_those_of_the_data(tabulate: ModuleType) -> None:
    text = tabulate.PAGE.read_text(encoding="utf-8")
    assert tabulate.page(text) == text
    assert tabulate.PICTURE.read_text(encoding="utf-8") == tabulate.picture()


def test_the_formula_is_the_best_in_every_cell(tabulate: ModuleType) -> None:
    cells = tabulate.read_cells()
    assert len(cells) == 3 * 14 * 16
    for cell in cells:
        if cell.accesses == "all":
            assert (cell.conflicts > 0) == (cell.vector_bytes < 16)
            continue
        vector = cell.vector_bytes if cell.accesses == "columns" else 16
        bits, base, shift = tabulate.formula(cell.element_bytes, vector, cell.row_elements)
        assert cell.conflicts == 0
        assert cell.swizzle == (f"{bits},{base},{shift}" if bits else "none"), cell


@pytest.mark.parametrize("seed", share(range(8), 2))
def test_cells_are_what_a_search_finds(seed: int, tabulate: ModuleType) -> None:
    for cell in Random(seed).sample(tabulate.read_cells(), 2):
        assert searched(cell) == (cell.swizzle, cell.conflicts, cell.wavefronts), cell


def test_cells_are_what_brute_force_counts(tabulate: ModuleType) -> None:
    small = [cell for cell in tabulate.read_cells() if cell.row_elements * cell.element_bytes <= 128]
    for cell in Random(1).sample(small, 4):
        spec = spec_of(cell, cell.swizzle)
        spec["claims"] = [{"wavefronts": {"access": name, "at_most": 1}} for name in spec["accesses"]]
        found = judge(spec)
        assert sum(each.wavefronts or 0 for each in found) == cell.wavefronts, cell
        assert sum(each.most_bank_conflicts or 0 for each in found) == cell.conflicts, cell


def test_pads_are_what_brute_force_counts(tabulate: ModuleType) -> None:
    cells = [cell for cell in tabulate.read_cells() if cell.accesses == "columns" and cell.element_bytes == 4]
    for cell in Random(2).sample([cell for cell in cells if cell.row_elements <= 64], 2):
        free: list[int] = []
        for pad in range(0, 128, max(4, cell.vector_bytes)):
            spec = spec_of(cell, None)
            spec["tiles"]["A"]["layout"] = f"(64,C):(C+{pad // 4},1)"
            spec["claims"] = [{"conflict_free": name} for name in spec["accesses"]]
            if all(each.verdict == "proved" for each in judge(spec)):
                free.append(pad)
        assert cell.pad_bytes == (str(min(free)) if free else ""), cell


def test_a_gpu_confirms_its_cells(tabulate: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    recording = load_recording(STUDY / "nvidia_h200.json")
    spec = load_spec(Path("docs/study/confirmed.swz.yaml"))
    assert [claim.id for claim in spec.claims] == [claim.id for claim in recording.claims]
    assert all(claim.agrees for claim in recording.claims)
    cells = {
        (cell.element_bytes, cell.row_elements, cell.vector_bytes): cell
        for cell in tabulate.read_cells()
        if cell.accesses == "columns"
    }
    confirmed = 0
    for name, tile in spec.cases[0].tiles.items():
        _, length, vector, kind = name.split("_")
        cell = cells[tile.element_bits // 8, int(length), int(vector.removesuffix("B"))]
        swizzle = tile.swizzle
        shown = "none" if swizzle is None else f"{swizzle.bits},{swizzle.base},{swizzle.shift}"
        if kind == "best":
            assert shown == cell.swizzle
            confirmed += 1
        else:
            assert cell.universal.startswith("worse")
    assert confirmed == 10


def main() -> None:
    """Search every cell: `python -m tests.docs.test_study`."""
    sys.path.insert(0, str(STUDY))
    import tabulate as study  # pyright: ignore[reportMissingImports]

    cells = study.read_cells()
    wrong = [cell for cell in cells if searched(cell) != (cell.swizzle, cell.conflicts, cell.wavefronts)]
    print(f"{len(cells)} cells, {len(wrong)} differ: {wrong[:3]}")


if __name__ == "__main__":
    main()
