"""Tables as text and as HTML, for `print` and for notebooks. What a person wrote is escaped.

>>> print(text_table(("lane", "bank"), [("", (0, 5)), ("x", (10, 5))]))
   lane  bank
      0     5
x    10     5
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeAlias, cast

from swzverify.core.lazy import provided
from swzverify.errors import graphic

Line: TypeAlias = "tuple[str, Sequence[object]]"
"""A line of a table: its mark, empty where it has none, and its cells; None is an empty cell."""


class Printer(Protocol):
    """What IPython hands to `_repr_pretty_`."""

    def text(self, text: str, /) -> None:
        """Add this text."""
        ...


class Shown:
    """What IPython shows as `print` does, not as its `repr`.

    Classes that have it say by `_repr_html_` what notebooks show.
    """

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        """Give each class `_repr_pretty_` of its own.

        IPython takes the first class that has either this method or a `repr` of its own, and each dataclass
        has a `repr`.
        """
        super().__init_subclass__()
        cls._repr_pretty_ = Shown._repr_pretty_

    def _repr_pretty_(self, printer: Printer, cycle: bool) -> None:
        """The text of `print`."""
        del cycle  # nothing here holds itself
        printer.text(str(self))


class Drawn:
    """A value that notebooks show as a picture.

    A class only says that it has a picture. `swzverify.explain.notebook` draws it, and is imported for
    the first picture.
    """

    __slots__ = ()

    def _repr_svg_(self) -> str | None:
        """The picture; None where there is nothing to draw, so that a notebook shows the text."""
        return drawn(self)


def drawn(value: object) -> str | None:
    """The picture of a value as SVG; None where it has none."""
    draw = provided(PICTURE)
    return None if draw is None else cast("str | None", draw(value))


PICTURE = "picture"
"""What is asked for: the package provides it (`lazy`) when it is imported."""
LINES_SHOWN = 32
"""Lines of a table that are shown; a warp has so many lanes."""


def html_text(text: str) -> str:
    r"""Text for HTML, between tags or as an attribute's value: no markup, nothing that acts.

    >>> html_text("<b>\x1b")
    '&lt;b&gt;\ufffd'
    """
    from html import escape  # noqa: PLC0415 - only notebooks show HTML

    return escape("\n".join(map(graphic, text.split("\n"))), quote=True)


def text_table(head: Sequence[str], lines: Sequence[Line]) -> str:
    """A table in columns, the numbers to the right, of at most 32 lines."""
    cut = lines[:LINES_SHOWN]
    rows = [["", *map(graphic, head)], *([graphic(mark), *map(_cell, cells)] for mark, cells in cut)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    marks = max(widths[0], 1)
    told = [
        "  ".join(
            [row[0].ljust(marks), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        ).rstrip()
        for row in rows
    ]
    return "\n".join([*told, *_rest(lines)])


def html_table(head: Sequence[str], lines: Sequence[Line]) -> str:
    """The same as an HTML table, marked lines in bold."""
    top = "".join(f"<th>{html_text(name)}</th>" for name in ("", *head))
    body: list[str] = []
    for mark, cells in lines[:LINES_SHOWN]:
        style = ' style="font-weight: bold"' if mark else ""
        shown = "".join(f"<td>{html_text(text)}</td>" for text in (mark, *map(_cell, cells)))
        body.append(f"<tr{style}>{shown}</tr>")
    rest = "".join(f"<p>{html_text(text)}</p>" for text in _rest(lines))
    return f"<table><thead><tr>{top}</tr></thead><tbody>{''.join(body)}</tbody></table>{rest}"


def html_facts(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """A title, and facts by their names; those without a text are left out.

    >>> html_facts("proved", [("scope", "the warp"), ("reason", "")])
    '<p><strong>proved</strong></p><table><tbody><tr><th>scope</th><td>the warp</td></tr></tbody></table>'
    """
    rows = "".join(f"<tr><th>{html_text(name)}</th><td>{html_text(text)}</td></tr>" for name, text in facts if text)
    table = f"<table><tbody>{rows}</tbody></table>" if rows else ""
    return f"<p><strong>{html_text(title)}</strong></p>{table}"


def text_facts(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """The same as lines of text, the names in one column.

    >>> print(text_facts("proved", [("scope", "the warp"), ("reason", "")]))
    proved
      scope  the warp
    """
    kept = [(name, graphic(" ".join(text.split()))) for name, text in facts if text]
    width = max((len(name) for name, _ in kept), default=0)
    return "\n".join([graphic(title), *(f"  {name.ljust(width)}  {text}" for name, text in kept)])


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return "(" + ", ".join(map(str, value)) + ")"  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return graphic(str(value))


def _rest(lines: Sequence[Line]) -> list[str]:
    more = len(lines) - LINES_SHOWN
    return [f"... {more} more line{'s' if more > 1 else ''}"] if more > 0 else []
