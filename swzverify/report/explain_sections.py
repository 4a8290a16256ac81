"""The order in which an explanation is told, and the titles of its parts."""

from __future__ import annotations

from collections.abc import Iterator

from swzverify.explanations import Explanation, Statement
from swzverify.explanations.statements import (
    Apart,
    BankBit,
    BestPad,
    BestSwizzle,
    Change,
    Cost,
    Crowd,
    Kernel,
    LeastBase,
    Limit,
    Matrix,
    Merged,
    NotLinear,
    OneToOne,
    Parameter,
    Period,
    Pitch,
    Rank,
    Steps,
    SwizzleBits,
    TileBankBit,
    Unpriced,
)

_SECTIONS: dict[str, tuple[type[Statement], ...]] = {
    "What it costs": (Cost, Limit, Unpriced),
    "Why": (Rank, Kernel, Merged, Crowd, Apart, Steps),
    "The bank of a lane's first word": (BankBit,),
    "The tile's map": (SwizzleBits, OneToOne, Pitch),
    "The bank of an element": (TileBankBit, Period),
    "What changes would do to this access": (Parameter, Change, LeastBase, BestSwizzle, BestPad),
}
_OF = {"access": "The bank of a lane's first word", "tile": "The bank of an element"}


def sections(explanation: Explanation) -> Iterator[tuple[str, list[Statement]]]:
    """The titles with their statements, in the order of the explanation; empty ones are left out."""
    for title, kinds in _SECTIONS.items():
        found = [each for each in explanation.statements if isinstance(each, kinds) or _title(each) == title]
        if found:
            yield title + _start(found), found


def _start(statements: list[Statement]) -> str:
    """Where the stage begins that formulas by coordinate are of."""
    starts = sorted({each.start_bytes for each in statements if isinstance(each, TileBankBit | Period)})
    return f", in the stage that begins at byte {starts[0]}" if starts else ""


def _title(statement: Statement) -> str:
    return _OF[statement.of] if isinstance(statement, Matrix | NotLinear) else ""
