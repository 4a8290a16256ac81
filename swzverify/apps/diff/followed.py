"""Whether a claim still speaks of the code that it spoke of: constants, compiled kernels, listings.

A claim that no longer follows the code is still true of today's code, but no later change of the
code can break it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from swzverify.apps.diff.change import Aspect, Change
from swzverify.claims.form import Direction
from swzverify.core.words import listed
from swzverify.spec import SpecClaim
from swzverify.spec.build import ReadName
from swzverify.spec.read_code import Argument, ReadCode

_NOTE = "it no longer follows the code"


def no_longer_followed(before: SpecClaim, after: SpecClaim, gone: Collection[str] = ()) -> list[Change]:
    """What the older claim's spec reads from the code, and the newer one's does not or reads elsewhere.

    `gone` are files of the older side that the newer one does not have. A file with the same place
    beside its spec is then the same file, moved. If the old file is still there, the other is a copy.
    """
    return [*_constants(before, after, gone), *_code(before, after, gone)]


def _constants(before: SpecClaim, after: SpecClaim, gone: Collection[str]) -> Iterator[Change]:
    """Constants of `from_source`; what the spec calls a constant may change."""
    kept = {each.name for each in before.read} & {each.name for each in after.read}
    for one in before.read:
        # One that is still read under its name stands for none of another name.
        others = [each for each in after.read if (each.name == one.name if one.name in kept else each.name not in kept)]
        if not any(one.in_code == each.in_code and _same_file(one, each, gone) for each in others):
            now = ", ".join(_place(each) for each in others if each.name == one.name) or "not read from the code"
            yield _weaker(f"constant {one.name}", f"read from {_place(one)}", now, _NOTE)


def _same_file(one: ReadName | ReadCode, other: ReadName | ReadCode, gone: Collection[str]) -> bool:
    return one.file == other.file or (one.beside == other.beside and one.file in gone)


def _place(read: ReadName) -> str:
    return f"{read.in_code} in {read.file}"


def _code(before: SpecClaim, after: SpecClaim, gone: Collection[str]) -> Iterator[Change]:
    """Accesses of compiled kernels, and listings of files."""
    now = {each.subject: each for each in after.code}
    for one in before.code:
        other = now.get(one.subject)
        if other is None:
            yield _weaker(one.subject, f"read from {one.file}", "not read from the code", _NOTE)
        else:
            yield from _elsewhere(one, other, gone)


def _elsewhere(old: ReadCode, new: ReadCode, gone: Collection[str]) -> Iterator[Change]:
    """How a subject is other code, or is required to be less."""
    what = old.subject
    if not _same_file(old, new, gone):
        yield _weaker(f"file of {what}", old.file, new.file, _NOTE)
    if old.stated != new.stated and old.function != new.function:
        yield _weaker(f"function of {what}", old.function, new.function, "it follows other code")
    if (old.places, old.among) != (new.places, new.among) and not (
        old.has_every_instruction and new.has_every_instruction
    ):
        note = "whether it is the same instruction cannot be told"
        yield _weaker(f"instruction of {what}", _places(old), _places(new), note)
    if old.array and old.array != new.array:
        yield _weaker(f"array of {what}", old.array, new.array or "any", "")
    for argument in new.arguments:
        if not any(_same_argument(each, argument) for each in old.arguments):
            now, was = str(argument.value), _value(argument, old)
            yield _weaker(f"parameter {argument.text} of {what}", was, now, "it says nothing of other values")


def _places(code: ReadCode) -> str:
    """Which of a kernel's instructions.

    >>> _places(ReadCode("access a", "k.ptx", "k.ptx", "", "k", (1, 3), 4))
    'number 1 and 3 of 4 in the kernel'
    """
    return f"number {listed(map(str, code.places), 'and')} of {code.among} in the kernel"


def _same_argument(one: Argument, other: Argument) -> bool:
    return one.value == other.value and _same_parameter(one, other)


def _same_parameter(one: Argument, other: Argument) -> bool:
    return one.text == other.text or one.number == other.number >= 0


def _value(argument: Argument, code: ReadCode) -> str:
    """The value that a parameter had."""
    return next((str(each.value) for each in code.arguments if _same_parameter(each, argument)), "any value")


def _weaker(what: str, before: str, after: str, note: str) -> Change:
    return Change(Aspect.STATEMENT, Direction.WEAKER, what, before, after, note)
