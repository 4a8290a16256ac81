"""The view of an operand: each element has one cell, with the address of section 9, by a loop of its own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from swzverify.errors import SwzError
from swzverify.explain.pictures.views.operand import operand_view
from swzverify.spec import Spec
from swzverify.subjects import Operand

WIDTHS = {"none": 0, "32B": 32, "64B": 64, "128B": 128}


def operand(kind: str, major: str, mode: str, rows: int, base: int = 0, **fields: Any) -> Operand:
    """Operand B at a fixed base; its tile is large, and the picture need not agree with it."""
    element, size = {"f16": ("f16", 2), "tf32": ("tf32", 4), "u8": ("u8", 1)}[kind]
    step = 32 // size
    spec = {
        "swzverify": 1,
        "target": "sm_90a",
        "tiles": {"T": {"element": element, "layout": f"({rows},{4 * step}):({4 * step},1)", "base": base}},
        "operands": {
            "B": {
                "instruction": f"wgmma.m64n{rows}k{step}.{kind}",
                "role": "B",
                "major": major,
                "for": {"k": 4},
                "descriptor": {"start": "k*32", "lbo": 2048, "sbo": 1024, "swizzle": mode, **fields},
                "reads": {"tile": "T", "at": [0, f"k*{step}"]},
            }
        },
        "claims": [{"delivers": "B"}],
    }
    return Spec.from_text(json.dumps(spec)).cases[0].operands["B"]


def address(drawn: Operand, mode: str, start: int, r: int, k: int) -> int:
    """Section 9, line by line."""
    e, s = drawn.element_bytes, WIDTHS[mode]
    lbo, sbo, offset = drawn.descriptor.lbo_bytes, drawn.descriptor.sbo_bytes, drawn.descriptor.base_offset
    if drawn.major.value == "K":
        along = k * e if s else k * e // 16 * lbo + k * e % 16
        a = start + r % 8 * (s or 16) + r // 8 * sbo + along
    elif s:
        a = start + r * e % s + r * e // s * lbo + k % 8 * s + k // 8 * sbo
    else:
        a = start + r * e % 16 + r * e // 16 * sbo + k % 8 * 16 + k // 8 * lbo
    return a ^ ((a // 128 - offset) % 8 & {0: 0, 32: 1, 64: 3, 128: 7}[s]) * 16


CASES = [
    *[(kind, "K", mode, rows) for kind in ("f16", "tf32", "u8") for mode in WIDTHS for rows in (8, 24)],
    *[("f16", "MN", mode, rows) for mode in WIDTHS for rows in (8, 96)],
]


@pytest.mark.parametrize(("kind", "major", "mode", "rows"), CASES)
@pytest.mark.parametrize(("base", "offset"), [(0, 0), (1152, 3)])
def test_every_element_has_a_cell_with_its_address(
    kind: str, major: str, mode: str, rows: int, base: int, offset: int
) -> None:
    drawn = operand(kind, major, mode, rows, base, base_offset=offset)
    picture = operand_view(drawn, {"k": 1}, rows=(0, rows))
    chunk = 16 // drawn.element_bytes
    seen: set[tuple[int, int]] = set()
    for panel in picture.panels:
        for cell in panel.cells:
            r, k = int(panel.row_heads[cell.row]), int(panel.column_heads[cell.column])
            first = address(drawn, mode, base + 32, r, k)
            assert cell.lines[0] == str(first), (r, k)
            assert cell.value == first // 4 % 32
            elements = [(r + each, k) if major == "MN" else (r, k + each) for each in range(chunk)]
            elements = [each for each in elements if each[0] < rows]
            assert [address(drawn, mode, base + 32, *each) - first for each in elements] == [
                each * drawn.element_bytes for each in range(len(elements))
            ]
            assert not seen & set(elements)
            seen |= set(elements)
            wanted = [base + drawn.element_bytes * (each[0] * 4 * drawn.columns + drawn.columns + each[1])
                      for each in elements]  # fmt: skip
            found = [address(drawn, mode, base + 32, *each) for each in elements]
            assert cell.marked == (found != wanted)
            assert cell.lines[1:] == (
                (f"({wanted[0]})" if found[0] != wanted[0] else "(in part)",) if cell.marked else ()
            )
    assert len(seen) == rows * drawn.columns


def test_a_cell_that_is_wrong_in_part_says_so() -> None:
    """Without a swizzle 16 bytes of a row lie together; this tile has them in two places."""
    drawn = operand("f16", "K", "none", 8)
    spec_tile = Spec.from_text(
        json.dumps({
            "swzverify": 1,
            "target": "sm_90a",
            "tiles": {"T": {"element": "f16", "layout": "(8,(4,2,8)):(8,(1,64,128))", "base": 0}},
            "claims": [{"injective": "T"}],
        })
    ).cases[0].tiles["T"]  # fmt: skip
    torn = Operand(
        "B", drawn.instruction, drawn.target, drawn.role, drawn.major, drawn.descriptor, drawn.start, spec_tile,
        drawn.at, loops=drawn.loops,
    )  # fmt: skip
    cell = operand_view(torn).panels[0].cells[0]
    assert cell.marked
    assert cell.lines == ("0", "(in part)")


def test_rows_are_those_of_whole_atoms() -> None:
    drawn = operand("f16", "K", "128B", 96)
    assert [panel.title for panel in operand_view(drawn, rows=(9, 17)).panels] == ["rows 8 to 15", "rows 16 to 23"]
    assert len(operand_view(drawn, most_rows=20).panels) == 2
    assert "The picture shows rows 0 to 15 of 96." in operand_view(drawn, most_rows=20).captions[1]
    # an atom of 128 bytes along the rows is drawn whole
    along = operand_view(operand("f16", "MN", "128B", 96), most_rows=20)
    assert [panel.title for panel in along.panels] == ["rows 0 to 63, k 0 to 7", "rows 0 to 63, k 8 to 15"]


@pytest.mark.parametrize(
    ("at", "rows", "said"),
    [
        ({"j": 1}, None, "operand B has no variable 'j'"),
        ({"k": 4}, None, "operand B has no iteration at k = 4"),
        ({"base": 16}, None, "operand B has no iteration at base = 16"),
        ({}, (90, 97), "rows 90:97 are not inside 0:96"),
        ({}, (5, 5), "rows 5:5 are not inside 0:96"),
    ],
)
def test_what_is_not_there_is_refused(at: dict[str, int], rows: tuple[int, int] | None, said: str) -> None:
    with pytest.raises(SwzError, match="SWZ581") as found:
        operand_view(operand("f16", "K", "128B", 96), at, rows)
    assert said in str(found.value)
