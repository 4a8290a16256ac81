"""The order in which an explanation is told, and the titles of its parts."""

from __future__ import annotations

from collections.abc import Iterator

from swzverify.explain.explanations import Explanation, Statement
from swzverify.explain.explanations import statements as st

_SECTIONS: dict[str, tuple[type[Statement], ...]] = {
    "What it costs": (st.Cost, st.Limit, st.Unpriced),
    "Why": (st.Rank, st.Kernel, st.Merged, st.Crowd, st.Apart, st.Steps),
    "The bank of a lane's first word": (st.BankBit,),
    "The tile's map": (st.SwizzleBits, st.OneToOne, st.Pitch),
    "The bank of an element": (st.TileBankBit, st.Period),
    "What changes would do to this access": (st.Parameter, st.Change, st.LeastBase, st.BestSwizzle, st.BestPad),
}
_OF = {"access": "The bank of a lane's first word", "tile": "The bank of an element"}


def sections(explanation: Explanation) -> Iterator[tuple[str, list[Statement]]]:
    """The titles with their statements, in the order of the explanation; empty ones are left out."""
    for title, kinds in _SECTIONS.items():
        found = [each for each in explanation.statements if isinstance(each, kinds) or _title(each) == title]
        if found:
            yield title + _start(found), found


def _start(statements: list[Statement]) -> str:
    """The stage of formulas by coordinate, in words."""
    starts = sorted({each.start_bytes for each in statements if isinstance(each, st.TileBankBit | st.Period)})
    return f", in the stage that begins at byte {starts[0]}" if starts else ""


def _title(statement: Statement) -> str:
    return _OF[statement.of] if isinstance(statement, st.Matrix | st.NotLinear) else ""
