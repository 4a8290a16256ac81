"""The keyword arguments of assertions: what notation does not say, and nobody guesses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from inspect import Parameter, signature
from typing import Literal, TypeAlias, TypedDict, TypeVar, get_args, get_type_hints

from swzverify.errors import SwzError
from swzverify.ir.whole import check_int, whole

Threads: TypeAlias = "int | tuple[int, ...]"
Loops: TypeAlias = "Mapping[str, int | Sequence[int]]"
Expressions: TypeAlias = "Sequence[str | int]"
SwizzleOn: TypeAlias = 'Literal["offset", "address"]'
_Assertion = TypeVar("_Assertion", bound=Callable[..., object])
_Keywords = TypeVar("_Keywords", "OfElements", "OfTwo", "OfAccess")


class Placed(TypedDict, total=False):
    """Where the elements of a layout lie, and the budget of a query; every assertion takes these."""

    element_bits: int | None
    base_align: int | None
    swizzle_on: SwizzleOn | None
    constants: Mapping[str, int] | None
    rlimit: int | None


class OfElements(Placed, total=False):
    """What an assertion on the elements of a layout takes."""

    size: int | None


class OfTwo(Placed, total=False):
    """What a comparison takes."""

    threads: int | None


class OfAccess(Placed, total=False):
    """What an assertion on an access takes."""

    instruction: str | None
    threads: Threads | None
    coord: Expressions | None
    loops: Loops | None
    predicate: str | None
    target: str | None


def takes_keywords(assertion: _Assertion) -> _Assertion:
    """Name each keyword of `**given` in an assertion's signature, for `help`, editors and the reference."""
    stated = signature(assertion)
    own = [each for each in stated.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
    (keywords,) = get_args(get_type_hints(assertion)["given"])
    for name, kind in keywords.__annotations__.items():
        own.append(Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind.__forward_arg__))
    vars(assertion)["__signature__"] = stated.replace(parameters=own)
    return assertion


_HOW: Mapping[str, str] = {
    "element_bits": "the size of an element, such as element_bits=16",
    "base_align": "where the tile begins: any multiple of so many bytes, such as base_align=1024",
    "swizzle_on": 'what the swizzle acts on, swizzle_on="offset" (elements) or swizzle_on="address" (bytes)',
    "instruction": 'the warp instruction, such as instruction="ldmatrix.x4"',
    "threads": "the threads of the block, such as threads=128 or threads=(32, 4); threads=32 is one warp",
    "coord": 'the coordinate that a thread accesses, one C expression per mode, such as coord=["lane", "0"]',
    "size": "how many elements there are, such as size=512",
}

_NUMBERS = ("element_bits", "base_align", "size")
_COORD = 'one C expression or int per mode, such as coord=["lane", 0]'
_KINDS: Sequence[tuple[str, type | tuple[type, ...], str, str]] = (
    ("coord", (list, tuple), "list or tuple", _COORD),
    ("loops", Mapping, "mapping", 'such as loops={"k": range(0, 64, 16)}'),
    ("constants", Mapping, "mapping", 'such as constants={"BM": 64}'),
    ("predicate", str, "text", 'a C condition, such as predicate="tid < 96"'),
    ("instruction", str, "text", 'such as instruction="ldmatrix.x4"'),
    ("target", str, "text", 'such as target="sm_90"'),
)
"""Arguments that are no numbers: their types, in words, and what to give."""


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of an assertion beside its subject; None means not given.

    Attributes:
        element_bits: The size of an element.
        base_align: The alignment of the base.
        swizzle_on: What the swizzle acts on.
        constants: The values of constants.
        size: The number of elements.
        instruction: The instruction.
        threads: The shape of the block.
        coord: The coordinate.
        loops: The loops.
        predicate: The condition under which a lane takes part.
        target: The target.
        rlimit: The budget of Z3.
    """

    element_bits: int | None = None
    base_align: int | None = None
    swizzle_on: SwizzleOn | None = None
    constants: Mapping[str, int] | None = None
    size: int | None = None
    instruction: str | None = None
    threads: Threads | None = None
    coord: Expressions | None = None
    loops: Loops | None = None
    predicate: str | None = None
    target: str | None = None
    rlimit: int | None = None

    @classmethod
    def of(cls, assertion: Callable[..., object], keywords: _Keywords) -> Given:
        """The keywords of a call.

        Raises:
            TypeError: The assertion has no such keyword.
        """
        __tracebackhide__ = True
        for name in keywords:
            if name not in signature(assertion).parameters:
                raise TypeError(f"{assertion.__name__}() got an unexpected keyword argument {name!r}")
        return cls(**keywords)

    def check(self, **others: object) -> None:
        """Refuse arguments of a wrong kind; `others` are numbers that the claim must have.

        Python would bend them: True to 1, "00" to two coordinates, an empty text to what is meant without
        one.

        Raises:
            SwzError: SWZ105.

        >>> Given(coord="00").check()
        Traceback (most recent call last):
        swzverify.errors.SwzError: SWZ105: coord='00' (str) is no list or tuple
          one C expression or int per mode, such as coord=["lane", 0]
        """
        numbers = {name: value for name in _NUMBERS if (value := getattr(self, name)) is not None}
        for name, value in (numbers | others).items():
            check_int(name, value)
        if self.swizzle_on not in (None, "offset", "address"):
            raise SwzError("SWZ105", f"swizzle_on={self.swizzle_on!r}", hint='swizzle_on="offset" or "address"')
        for name, kind, words, hint in _KINDS:
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise SwzError("SWZ105", f"{name}={value!r} ({type(value).__name__}) is no {words}", hint=hint)
        for each in self.coord or ():
            # By type: a bool is an int to isinstance.
            if not isinstance(each, str) and whole(each) is None:
                message = f"coord={self.coord!r}: {each!r} is neither a C expression nor an int"
                raise SwzError("SWZ105", message, hint=_COORD)

    def refuse(self, subject: str, *names: str) -> None:
        """Refuse named arguments that were given: the subject has no use for them.

        Raises:
            SwzError: SWZ803.

        >>> Given(element_bits=16).refuse("a Tile", "element_bits")
        Traceback (most recent call last):
        swzverify.errors.SwzError: SWZ803: element_bits does not go with a Tile
          leave it out
        """
        useless = [name for name in names if getattr(self, name) is not None]
        if useless:
            verb, them = ("does", "it") if len(useless) == 1 else ("do", "them")
            raise SwzError("SWZ803", f"{', '.join(useless)} {verb} not go with {subject}", hint=f"leave {them} out")

    def require(self, subject: str, *names: str) -> None:
        """Refuse a call that lacks one of the named arguments, and say what to give.

        Raises:
            SwzError: SWZ802.

        >>> Given().require("'8:1'", "element_bits")
        Traceback (most recent call last):
        swzverify.errors.SwzError: SWZ802: '8:1' needs element_bits
          give the size of an element, such as element_bits=16
        """
        missing = [name for name in names if getattr(self, name) is None]
        if missing:
            hint = "\n".join(f"give {_HOW[name]}" for name in missing)
            raise SwzError("SWZ802", f"{subject} needs {' and '.join(missing)}", hint=hint)


ALL_NAMES = tuple(field.name for field in fields(Given) if field.name != "rlimit")
"""Every keyword argument that says something of the subject."""
