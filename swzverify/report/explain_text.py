"""Explanations as text: the statements by sections, formulas below each other, matrices as tables."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from itertools import groupby

from swzverify.core.words import binding_text
from swzverify.errors import graphic
from swzverify.explain.explanations import Explanation, Statement
from swzverify.explain.explanations.statements import BankBit, Explained, Matrix, TileBankBit
from swzverify.report.explain_words import sections, sentence

FILE_COLUMNS = 110
_VALUE = re.compile(r"(\w+) = (-?\w+)")
"""What stays on one line: `warp = 0`."""


def render_explanations_text(explained: Explained, columns: int = FILE_COLUMNS) -> str:
    """The explanations one below the other, in lines of at most so many columns where words allow."""
    case = binding_text(explained.case)
    parts = [f"The case {case}"] if case else []
    parts += ["\n".join(_lines(each, columns)) for each in explained.explanations]
    return "\n".join(map(graphic, "\n\n".join(parts).split("\n"))) + "\n"


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
    whole = _VALUE.sub("\\1\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}\\2", sentence(statement))
    wrapped = textwrap.wrap(whole, columns, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    yield from (line.replace("\N{NO-BREAK SPACE}", " ") for line in wrapped)
    if isinstance(statement, Matrix):
        yield from matrix_lines(statement)


def matrix_lines(matrix: Matrix) -> Iterator[str]:
    """A row per bank bit; a column's variable stands above its first bit."""
    lines = ["", "", *(f"bank[{index}]" for index in range(len(matrix.entries)))]
    lines = [line.ljust(len("bank[0]")) for line in lines]
    at = 0
    for name, group in groupby(matrix.columns, lambda bit: bit.whole):
        bits = [*group]
        cells = [
            [name],
            [str(bit.bit) for bit in bits],
            *([".1"[entry] for entry in row[at : at + len(bits)]] for row in matrix.entries),
        ]
        blocks = ["".join(cell.ljust(3) for cell in row).rstrip() for row in cells]
        width = max(map(len, blocks))
        lines = [f"{line}   {block.ljust(width)}" for line, block in zip(lines, blocks, strict=True)]
        at += len(bits)
    ends = ["", "", *("  ^ 1" if constant else "" for constant in matrix.constants)]
    yield from (f"    {line}{end}".rstrip() for line, end in zip(lines, ends, strict=True))
