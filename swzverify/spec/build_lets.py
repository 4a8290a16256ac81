"""From `let:` of a spec, an access or a map to its `Lets`: names, circles and texts are checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from swzverify.ir.c_formula import CFormula
from swzverify.ir.c_parse import expression
from swzverify.spec.lets import Let, Lets, circles, write_out
from swzverify.spec.values import Values
from swzverify.subjects.loop import RESERVED_NAMES


def build_lets(
    entries: Mapping[str, int | str], values: Values, variables: Collection[str] = (), outer: Lets | None = None
) -> Lets:
    """The lets of an access or a map, with those at the top as `outer`; or those at the top themselves.

    What is wrong is noted, and the let is broken. `values` reads the entry, or the spec's top.
    """
    outer = outer or Lets()
    texts: dict[str, CFormula] = {}
    for name, value in entries.items():
        taken = _taken(name, values, variables, outer)
        if taken:
            hint = "one name has one meaning: give the let another name"
            values.fail("SWZ105", f"'{name}' {taken}", values.key("let", name), hint)
            continue
        with values.noted(values.at("let", name)):
            texts[name] = expression(value)
    reads = {name: sorted(text.names & set(entries)) for name, text in texts.items()}
    circular = set[str]()
    for circle in circles(reads):
        circular |= set(circle)
        chain = " -> ".join([*circle, circle[0]])
        hint = "a let may use other lets, but not itself, and not through others either"
        where = values.key("let", circle[0])
        values.fail("SWZ310", f"the let '{circle[0]}' stands for itself: {chain}", where, hint)
    known: dict[str, Let] = dict(outer.known)
    broken = {*outer.broken, *(set(entries) - set(texts)), *circular}
    for name in _inner_first(reads):
        if name not in broken:
            if texts[name].names.isdisjoint(broken):
                with values.noted(values.at("let", name)):
                    known[name] = Let(name, write_out(texts[name], known), values.at("let", name))
            if name not in known:
                broken.add(name)
    return Lets(known, broken)


def _taken(name: str, values: Values, variables: Collection[str], outer: Lets) -> str:
    """What a let's name means already, or nothing."""
    if name in RESERVED_NAMES:
        return "has a meaning of its own in expressions"
    if name in values.constants:
        return "is a constant's name already"
    if name in variables:
        return "is the name of a loop variable or of a lane's value already"
    return "is the name of a let at the top already" if name in outer else ""


def _inner_first(reads: Mapping[str, Collection[str]]) -> list[str]:
    """The names, each after those that it reads; circles in any order."""
    order: dict[str, None] = {}
    for first in reads:
        pending = [first]
        entered: set[str] = set()
        while pending:
            name = pending[-1]
            waiting = [other for other in reads[name] if other in reads and other not in order and other not in entered]
            entered.add(name)
            if waiting:
                pending += waiting
            else:
                order.setdefault(pending.pop())
    return list(order)
