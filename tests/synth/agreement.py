"""Whether the search says of a problem what brute force says."""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.errors import SwzError
from swzverify.search.synth.problem import Form, Problem, Variant
from swzverify.search.synth.search import Member
from swzverify.search.synth.solution import Solution, find
from swzverify.spec import SpecError, parse_spec
from tests.synth import oracle
from tests.synth.puzzles import Puzzle


@dataclass(frozen=True)
class Compared:
    """What came of a problem: `differs` says in words where the two do not agree; `skipped` is a
    problem that is none. `impossible` where no member is free of conflicts.
    """

    differs: str = ""
    skipped: str = ""
    impossible: bool = False


def problem_of(puzzle: Puzzle) -> Problem:
    """The problem as the package sees it. Errors: `SpecError`."""
    case = parse_spec(puzzle.text()).cases[0]
    variant = Variant(case.tiles["A"], dict(case.accesses), Form(dense=True), puzzle.room, case.weights)
    return Problem(puzzle.family, (variant,), "address" if puzzle.on == "address" else "offset")


def compare(puzzle: Puzzle, found: Solution | None = None) -> Compared:
    """The search against brute force; `found` stands in for the search where it is planted."""
    try:
        problem = problem_of(puzzle)
    except SpecError as error:
        return Compared(skipped=error.problems[0].message)
    wanted = oracle.solve(puzzle)
    try:
        found = find(problem, every=True) if found is None else found
    except SwzError as error:
        if error.code != "SWZ563":
            raise
        return Compared(differs="" if wanted is None else f"refused, and brute force has {wanted.best[0]}")
    if wanted is None:
        return Compared(differs=f"brute force has no member, the search {found.answer}")
    return Compared(_difference(found, wanted), impossible=bool(wanted.score[0]))


def _difference(found: Solution, wanted: oracle.Found) -> str:
    answer = found.answer
    score = (int(answer.score.conflicted), answer.score.wavefronts, answer.score.conflicts, answer.score.bytes)
    if score != wanted.score:
        return f"score {score}, by brute force {wanted.score}"
    if (answer.wavefronts, answer.conflicts) != (wanted.wavefronts, wanted.conflicts):
        return f"costs {answer.wavefronts} {answer.conflicts}, by brute force {wanted.wavefronts} {wanted.conflicts}"
    members = [_choice(member) for member in found.members]
    expected = [(each.pad, each.swizzle, each.mode) for each in wanted.best]
    if found.problem.family == "swizzle":
        expected = [(0, swizzle, mode) for _, swizzle, mode in expected]
    if members != expected:
        return f"answers {members}, by brute force {expected}"
    if found.looked_at != wanted.members:
        return f"{found.looked_at} members, by brute force {wanted.members}"
    core = () if found.reason is None else tuple(int(name[1:]) for name in found.reason.core)
    if bool(core) != bool(wanted.score[0]) or (core and core not in wanted.cores):
        return f"core {core}, by brute force {wanted.cores}"
    return ""


def _choice(member: Member) -> tuple[int, tuple[int, int, int] | None, str]:
    swizzle = member.swizzle
    triple = None if swizzle is None else (swizzle.bits, swizzle.base, swizzle.shift)
    return member.pad_elements, triple, "" if member.mode is None else member.mode.value
