"""Explanations as text: the statements by sections, formulas below each other, matrices as tables."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from swzverify.errors import graphic
from swzverify.explanations import Explanation, Statement
from swzverify.explanations.statements import BankBit, Explained, Matrix, TileBankBit
from swzverify.report.explain_sections import sections
from swzverify.report.explain_words import sentence

FILE_COLUMNS = 110


def render_explanations_text(explained: Explained, columns: int = FILE_COLUMNS) -> str:
    """The explanations one below the other, in lines of at most so many columns where words allow."""
    case = ", ".join(f"{name} = {value}" for name, value in explained.case.items())
    parts = [f"The case {case}"] if case else []
    parts += ["\n".join(_lines(each, columns)) for each in explained.explanations]
    return "\n\n".join(_graphic(part) for part in parts) + "\n"


def _graphic(text: str) -> str:
    """Lines without characters that act on a terminal."""
    return "\n".join(map(graphic, text.split("\n")))


def _lines(explanation: Explanation, columns: int) -> Iterator[str]:
    yield explanation.heading
    for title, statements in sections(explanation):
        yield ""
        yield title
        for statement in statements:
            yield from _statement(statement, columns)


def _statement(statement: Statement, columns: int) -> Iterator[str]:
    if isinstance(statement, BankBit | TileBankBit):
        yield f"    {statement}"
        return
    yield from textwrap.wrap(
        sentence(statement), columns, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
    )
    if isinstance(statement, Matrix):
        yield from _matrix(statement)


def _matrix(matrix: Matrix) -> Iterator[str]:
    """A row per bank bit; a column's variable stands above its first bit."""
    columns = matrix.columns
    variables, numbers, last = "", "", ""
    rows = [""] * len(matrix.entries)
    for place, bit in enumerate(columns):
        new = bit.whole != last
        width = 3 if not new else 3 + bool(last)
        if new:
            # a long name gets the room that it needs
            count = sum(1 for other in columns if other.whole == bit.whole)
            width = max(width, 3 + len(bit.whole) - 3 * count + 1)
            variables = variables.ljust(len(numbers) + width - len(str(bit.bit))) + bit.whole
        numbers += str(bit.bit).rjust(width)
        for index, row in enumerate(matrix.entries):
            rows[index] += ("1" if row[place] else ".").rjust(width)
        last = bit.whole
    yield f"    {'':7}{variables}"
    yield f"    {'':7}{numbers}"
    for index, row in enumerate(rows):
        yield f"    bank[{index}]{row}{'  ^ 1' if matrix.constants[index] else ''}"
