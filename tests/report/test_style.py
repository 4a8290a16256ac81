"""What needs no folding is written without rich: it must be what rich would have written."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from swzverify.report.console import indented, rendered
from swzverify.report.escape import log_lines
from swzverify.report.style import TextStyle

# Wide, zero-width and control characters, blanks at both ends, breaks of every kind.
WORDS = st.text(st.sampled_from("ab [x]\t\n\r\x0b\x0c\x1b\u200b\u0301\u4e2d\U0001f600:"), max_size=60)


def by_rich(block: RenderableType, style: TextStyle) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=style.columns, color_system=None, no_color=True, markup=False, emoji=False)
    console.print(block, crop=False, highlight=False)
    return log_lines("".join(f"{line.rstrip()}\n" for line in stream.getvalue().split("\n")[:-1]))


@given(WORDS, st.integers(0, 8), st.integers(40, 70))
def test_a_line_is_what_rich_makes_of_it(words: str, indent: int, width: int) -> None:
    style = TextStyle(width=width)
    text = Text(words, style="bold", overflow="fold")
    block = indented(text, indent) if indent else text
    assert rendered([block], style) == by_rich(block, style)


@pytest.mark.parametrize("around", [(1, 0, 0, 0), (0, 3, 0, 0), (0, 0, 1, 2)])
def test_padding_on_other_sides_stays_with_rich(around: tuple[int, int, int, int]) -> None:
    block = Padding(Text("x" * 39), around)
    assert rendered([block], TextStyle(width=40)) == by_rich(block, TextStyle(width=40))


@pytest.mark.parametrize("cells", [39, 40, 41])
def test_the_last_column_belongs_to_the_line(cells: int) -> None:
    style = TextStyle(width=40)
    assert rendered([Text("x" * cells, overflow="fold")], style).count("\n") == (2 if cells > 40 else 1)


def test_colours_are_richs() -> None:
    assert "\x1b[1m" in rendered([Text("x", style="bold")], TextStyle(colour=True))
