"""A tile's text is changed, and nothing beside it."""

from __future__ import annotations

import pytest

from swzverify.errors import SwzError
from swzverify.spec.patch import patch_tile

BLOCK = """\
# head
tiles:
  A:            # the operand
    element: f16
    layout:     # rows
      shape: [64, 64]
      pad: 8    # one vector
    swizzle: Swizzle<3,2,3>  # torn
    # before the stages
    stages: 2
  B: {element: f32, layout: "(8,8):(8,1)", swizzle: "Swizzle<1,0,3>", stages: 2}
accesses: {}
"""


@pytest.mark.parametrize(
    ("tile", "changes", "old", "new"),
    [
        ("A", {"layout.pad": "0"}, "pad: 8    # one vector", "pad: 0    # one vector"),
        ("A", {"layout.pad": None}, "      pad: 8    # one vector\n", "      # one vector\n"),
        ("A", {"swizzle": "Swizzle<3,3,3>"}, "Swizzle<3,2,3>  # torn", "Swizzle<3,3,3>  # torn"),
        ("A", {"swizzle": None}, "    swizzle: Swizzle<3,2,3>  # torn\n", "    # torn\n"),
        ("A", {"stages": None}, "    stages: 2\n  B", "  B"),
        ("A", {"bytes": "9216"}, "pad: 8    # one vector\n", "pad: 8    # one vector\n    bytes: 9216\n"),
        ("B", {"swizzle": "Swizzle<2,1,3>"}, '"Swizzle<1,0,3>"', '"Swizzle<2,1,3>"'),
        ("B", {"swizzle": None}, ', swizzle: "Swizzle<1,0,3>"', ""),
        ("B", {"bytes": "256"}, '"(8,8):(8,1)",', '"(8,8):(8,1)", bytes: 256,'),
        (
            "B",
            {"layout": None, "swizzle": None, "tma": "{swizzle: none, box: [8, 8]}"},
            '{element: f32, layout: "(8,8):(8,1)", swizzle: "Swizzle<1,0,3>", stages: 2}',
            "{element: f32, stages: 2, tma: {swizzle: none, box: [8, 8]}}",
        ),
    ],
    ids=lambda value: "" if isinstance(value, str) else ",".join(value),
)
def test_only_that_changes(tile: str, changes: dict[str, str | None], old: str, new: str) -> None:
    assert old in BLOCK
    assert patch_tile(BLOCK, tile, changes) == BLOCK.replace(old, new)


def test_keys_take_the_place_of_others() -> None:
    found = patch_tile(BLOCK, "A", {"layout": None, "swizzle": None, "shape": "[64, 64]", "offset": "i*64 + j"})
    assert "    element: f16\n    shape: [64, 64]\n    offset: i*64 + j\n" in found
    assert "pad" not in found
    for comment in ("# head", "# the operand", "# torn", "# before the stages"):
        assert comment in found


def test_a_text_without_a_last_line_end() -> None:
    text = 'tiles:\n  A:\n    element: f32\n    layout: "(8,8):(8,1)"'
    assert patch_tile(text, "A", {"swizzle": "Swizzle<1,0,3>"}) == f"{text}\n    swizzle: Swizzle<1,0,3>"


def test_characters_beyond_ascii_move_nothing() -> None:
    text = "# größe ≥ \U0001f9ee\ntiles:\n  A:  # 表\n    layout: (8,8):(8,1)  # ✓\n"
    assert patch_tile(text, "A", {"layout": "(8,8):(9,1)"}) == text.replace("(8,1)", "(9,1)")


def test_what_cannot_be_changed() -> None:
    with pytest.raises(SwzError, match="SWZ565"):
        patch_tile(BLOCK, "C", {"stages": "1"})
    with pytest.raises(SwzError, match="SWZ565"):
        patch_tile(BLOCK, "B", {"layout.pad": "1"})
    with pytest.raises(SwzError, match="SWZ565"):
        patch_tile("tiles:\n  A: {swizzle: x, # why\n     stages: 1}\n", "A", {"swizzle": None})
