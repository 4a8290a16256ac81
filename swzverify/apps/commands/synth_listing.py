"""What `swzverify synth` finds beside tiles, with the proof.

For a listing these are better reuse marks, order or registers; for an operand the descriptors that
name it, or that none does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import TypeVar

from swzverify.claims import RegisterConflicts
from swzverify.compiled.sass.instructions import rewritten
from swzverify.errors import SwzError, nearest
from swzverify.prover import Options, prove
from swzverify.report.synth_listing import ListingResult
from swzverify.report.synth_operand import OperandResult
from swzverify.search.synth.code.found import Found
from swzverify.search.synth.code.marks import best_marks
from swzverify.search.synth.code.numbers import best_numbers
from swzverify.search.synth.code.order import best_order
from swzverify.search.synth.descriptors import find_descriptors
from swzverify.spec import load_spec
from swzverify.subjects.listing import ListedInstruction, Listing, Work

SEARCHES: Mapping[str, Callable[[Listing], Found]] = {
    "reuse": best_marks,
    "order": best_order,
    "registers": best_numbers,
}
"""The searches, by what they choose of a listing."""


def synthesize_listing(path: str, name: str | None, family: str, rlimit: int | None = None) -> ListingResult:
    """The best listing of a family, with the proof of its conflicts.

    Raises:
        SpecError: The spec cannot be read.
        SwzError: SWZ561 if there is no such listing, SWZ568 for a listing that cannot be searched.
    """
    started = perf_counter()
    spec = load_spec(path)
    listing = named(spec.path, "listing", spec.cases[0].listings, name)
    if listing.most is None:
        why = next(f"line {each.line}: {each.why}" for each in listing.instructions if each.work is Work.UNKNOWN)
        raise SwzError("SWZ568", f"listing {listing.name}, {why}", hint="every instruction has to be understood")
    found = SEARCHES[family](listing)
    options = Options() if rlimit is None else Options(rlimit=rlimit)
    verdict = prove(RegisterConflicts(found.listing, found.price.conflicts), options=options)
    text = _text(listing, found)
    return ListingResult(spec.path, listing.name, family, found, verdict, text, (perf_counter() - started) * 1000)


def _text(given: Listing, found: Found) -> str:
    lines: list[str] = []
    for place, each in zip(found.places, found.listing.instructions, strict=True):
        old = given.instructions[place]
        if each.work is Work.ARITHMETIC:
            marks = [read.reuse for read in each.reads]
            lines.append(f"{rewritten(old.text, _numbers(old, each), marks, len(each.writes))};")
        else:
            lines.append(f"{each.text};")
    return "\n".join(lines) + "\n"


def _numbers(old: ListedInstruction, new: ListedInstruction) -> dict[int, int]:
    pairs = [(one.register, other.register) for one, other in zip(old.reads, new.reads, strict=True)]
    return dict([*pairs, *zip(old.writes, new.writes, strict=True)])


def synthesize_operand(path: str, name: str | None, rlimit: int | None = None) -> list[OperandResult]:
    """The descriptors of an operand, in each case of the constants.

    Raises:
        SpecError: The spec cannot be read.
        SwzError: SWZ561 if there is no such operand.
    """
    spec = load_spec(path)
    options = Options() if rlimit is None else Options(rlimit=rlimit)
    found: list[OperandResult] = []
    for case in spec.cases:
        operand = named(spec.path, "operand", case.operands, name)
        chosen = ", ".join(f"{constant}={value}" for constant, value in case.chosen.items())
        found.append(OperandResult(spec.path, chosen, operand, find_descriptors(operand, options)))
    return found


T = TypeVar("T")


def named(path: str, noun: str, given: Mapping[str, T], name: str | None) -> T:
    """The object with a name, or the only one; `noun` is what it is, and its option.

    Raises:
        SwzError: SWZ561 if there is none, or if several have no name given.
    """
    if name is None and len(given) == 1:
        return next(iter(given.values()))
    if name is not None and name in given:
        return given[name]
    known = f"{noun}s are {', '.join(given) or 'none'}"
    if name is None:
        raise SwzError("SWZ561", f"{path} has {len(given)} {noun}s: which one?", hint=f"--{noun} NAME; {known}")
    raise SwzError("SWZ561", f"{path} has no {noun} '{name}'", hint=nearest(name, given) or known)
