"""The obligation as a certificate states it: six kinds over a program, and their text.

The meanings are those of docs/semantics.md and docs/certificates.md. A place is the number of a
line of the program.

The text: a first line `swzverify obligation 1`, a line a program line (`operator width
operands...`, with a constant's value, a variable's limit and quoted name, or the lowest bit of an
extract), an empty line, and a line a field.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias, cast

from swzrecheck.errors import CertificateError
from swzrecheck.program import Operation, Program, check_operation, reachable

HEAD = "swzverify obligation 1"
MAX_LINES = 200_000


@dataclass(frozen=True, slots=True)
class Always:
    """`holds` is 1 wherever `assumption` is."""

    program: Program
    variables: tuple[int, ...]
    assumption: int
    holds: int


@dataclass(frozen=True, slots=True)
class Injective:
    """Points that differ in `distinct` and agree in `shared` have disjoint ranges of `extent` units.

    Attributes:
        program: The program of all expressions.
        shared: The variables that both points share.
        distinct: The variables in which the points differ.
        assumption: The condition on both points.
        inner: The start of a range, or the value that `outer` maps to it.
        extent: The length of a range.
        outer: A variable x and an image of it, or nothing.
    """

    program: Program
    shared: tuple[int, ...]
    distinct: tuple[int, ...]
    assumption: int
    inner: int
    extent: int
    outer: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Apart:
    """No range of the first family meets one of the second where `condition` holds.

    Attributes:
        program: The program of all expressions.
        shared: The variables that both families share.
        first: The variables of the first family.
        first_position: The start of its ranges.
        first_extent: The length of its ranges.
        second: The variables of the second family.
        second_position: The start of its ranges.
        second_extent: The length of its ranges.
        condition: The condition on the variables.
    """

    program: Program
    shared: tuple[int, ...]
    first: tuple[int, ...]
    first_position: int
    first_extent: int
    second: tuple[int, ...]
    second_position: int
    second_extent: int
    condition: int


@dataclass(frozen=True, slots=True)
class Cost:
    """Every warp instruction is aligned and takes at most `at_most` wavefronts.

    Without a number, it has no bank conflict. In global memory it is sectors; without a number, as many
    as its active lanes' bytes fill.

    Attributes:
        program: The program of all expressions.
        lane: The variable of the lane.
        free: The other variables.
        assumption: The condition on them.
        address: The byte address of the lane.
        active: Whether the lane is active.
        instruction: The name of the instruction.
        at_most: The number, or nothing.
    """

    program: Program
    lane: int
    free: tuple[int, ...]
    assumption: int
    address: int
    active: int
    instruction: str
    at_most: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GatherCost:
    """A cost where each lane has its own value of each of `own`, for every choice of them.

    Attributes:
        program: The program of all expressions.
        lane: The variable of the lane.
        free: The other variables that lanes share.
        own: The variables of which each lane has its own value.
        assumption: The condition on the variables.
        address: The byte address of the lane.
        active: Whether the lane is active.
        instruction: The name of the instruction.
        at_most: The number, or nothing.
    """

    program: Program
    lane: int
    free: tuple[int, ...]
    own: tuple[int, ...]
    assumption: int
    address: int
    active: int
    instruction: str
    at_most: tuple[int, ...]

    @staticmethod
    def of(cost: Cost, own: tuple[int, ...]) -> GatherCost:
        """The cost, over every choice."""
        parts = (cost.assumption, cost.address, cost.active, cost.instruction, cost.at_most)
        return GatherCost(cost.program, cost.lane, cost.free, own, *parts)


@dataclass(frozen=True, slots=True)
class Covers:
    """Ranges of exactly `times` active points meet each element's range, at each `shared`.

    Attributes:
        program: The program of all expressions.
        shared: The variables that points and elements share.
        points: The variables of the points.
        assumption: The condition on the points.
        address: The start of a point's range.
        active: Whether the point is active.
        reach: The length of a point's range.
        elements: The variables of the elements.
        position: The start of an element's range.
        extent: The length of an element's range.
        times: The number of points.
    """

    program: Program
    shared: tuple[int, ...]
    points: tuple[int, ...]
    assumption: int
    address: int
    active: int
    reach: int
    elements: tuple[int, ...]
    position: int
    extent: int
    times: int


Statement: TypeAlias = Always | Injective | Apart | Cost | GatherCost | Covers

KINDS: Mapping[str, type[Statement]] = {
    "always": Always,
    "injective": Injective,
    "apart": Apart,
    "cost": Cost,
    "gather_cost": GatherCost,
    "covers": Covers,
}
_VARIABLES = ("variables", "shared", "distinct", "first", "second", "free", "own", "points", "elements")
_BITS = ("assumption", "holds", "condition", "active")
_PLACES = (*_BITS, "inner", "first_position", "second_position", "lane", "address", "position")


INNER_VALUE = "inner value"
"""The variable of an outer map."""
_NAME = re.compile(rf"[A-Za-z_][A-Za-z0-9_.]*|{INNER_VALUE}")


def check_names(program: Sequence[Operation]) -> None:
    """Refuse, by ValueError, a name that the encoding may use, or that two variables have."""
    names = [line.name for line in program if line.operator == "var"]
    strange = [name for name in names if not _NAME.fullmatch(name)]
    if strange:
        raise ValueError(f"a variable cannot be called {strange[0]!r}")
    if len(set(names)) != len(names):
        raise ValueError("one name for two variables")


def kind_of(statement: Statement) -> str:
    """The name of a statement's kind."""
    return next(name for name, kind in KINDS.items() if isinstance(statement, kind))


def variables_of(statement: Statement) -> tuple[int, ...]:
    """The places of all variables of a statement, without the `x` of an outer map."""
    found = [place for name in _VARIABLES for place in getattr(statement, name, ())]
    return tuple(found) if not isinstance(statement, Cost | GatherCost) else (statement.lane, *found)


def roots_of(statement: Statement) -> tuple[int, ...]:
    """The places of all expressions of a statement."""
    return tuple(getattr(statement, name) for name in _PLACES if hasattr(statement, name))


def write_statement(statement: Statement) -> str:
    """The text of a statement.

    >>> x = Operation("var", 3, number=8, name="x")
    >>> print(write_statement(Always((x, Operation("=", 1, (0, 0))), (0,), 1, 1)), end="")
    swzverify obligation 1
    0 var 3 8 "x"
    1 = 1 0 0
    <BLANKLINE>
    kind always
    variables 0
    assumption 1
    holds 1
    """
    lines = [HEAD, *write_program(statement.program), ""]
    lines.append(f"kind {kind_of(statement)}")
    for item in fields(statement)[1:]:
        value: object = getattr(statement, item.name)
        parts = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
        lines.append(" ".join([item.name, *map(json.dumps, parts)]))
    return "\n".join(lines) + "\n"


def write_program(program: Sequence[Operation]) -> tuple[str, ...]:
    """The lines of a program, each with its place in front."""
    return tuple(f"{place} {_line_text(line)}" for place, line in enumerate(program))


def _line_text(line: Operation) -> str:
    if line.operator == "var":
        return f"var {line.width} {line.number} {json.dumps(line.name)}"
    if line.operator == "const":
        return f"const {line.width} {line.number}"
    if line.operator == "extract":
        return f"extract {line.width} {line.operands[0]} {line.number}"
    return " ".join([line.operator, str(line.width), *map(str, line.operands)])


def read_statement(text: str) -> Statement:
    """The statement of a text.

    Raises:
        CertificateError: SWZ605, with the line, for anything that `write_statement` would not have
            written.
    """
    lines = text.split("\n")
    if lines[0] != HEAD:
        raise _broken(1, lines[0], f"an obligation begins with {HEAD!r}")
    if "" not in lines or lines[-1] != "":
        raise _broken(len(lines), lines[-1], "the text breaks off")
    end = lines.index("")
    statement = _read_fields(read_program(lines[1:end], 2), lines[end + 1 : -1], end + 2)
    if write_statement(statement) != text:
        raise _broken(1, lines[0], "the text is not in its one normal form")
    return statement


def read_program(lines: Sequence[str], first: int = 1) -> Program:
    """The program of some lines; `first` is the number of the first one in messages.

    Raises:
        CertificateError: SWZ605, with the line.
    """
    program: list[Operation] = []
    for number, line in enumerate(lines, start=first):
        try:
            operation = _read_line(line, len(program))
            check_operation(operation, program)
            program.append(operation)
        except (ValueError, IndexError, RecursionError) as error:
            raise _broken(number, line, str(error)) from None
        if len(program) > MAX_LINES:
            raise _broken(number, line, f"more than {MAX_LINES} lines")
    try:
        check_names(program)
    except ValueError as error:
        raise _broken(first, lines[0], str(error)) from None
    return tuple(program)


def _read_line(line: str, place: int) -> Operation:
    words = line.split(" ")
    if len(words) < 3 or words[0] != str(place):
        raise ValueError(f"line {place} of the program should begin with {place}, an operator and a width")
    operator, width = words[1], int(words[2])
    if operator == "var":
        name = json.loads(line.split(" ", 4)[4])
        if not isinstance(name, str):
            raise ValueError("a variable's name is a quoted text")
        return Operation("var", width, number=int(words[3]), name=name)
    numbers = [int(word) for word in words[3:]]
    if operator == "const":
        return Operation("const", width, number=numbers[0])
    if operator == "extract":
        return Operation("extract", width, (numbers[0],), numbers[1])
    return Operation(operator, width, tuple(numbers))


def _read_fields(program: Program, lines: Sequence[str], first: int) -> Statement:
    """The fields after the program, each on its line and in order."""
    words = lines[0].split(" ") if lines else [""]
    if words[0] != "kind" or len(words) != 2 or words[1] not in KINDS:
        raise _broken(first, lines[0] if lines else "", f"expected `kind` and one of {', '.join(KINDS)}")
    kind = KINDS[words[1]]
    values: dict[str, object] = {}
    expected = fields(kind)[1:]
    if len(lines) != len(expected) + 1:
        raise _broken(first, lines[0], f"{words[1]} has {len(expected)} fields, this text {len(lines) - 1}")
    for number, (item, line) in enumerate(zip(expected, lines[1:], strict=True), start=first + 1):
        name, *rest = line.split(" ")
        try:
            parts: tuple[object, ...] = tuple(json.loads(part) for part in rest)
            values[item.name] = _field(program, item.name, str(item.type), name, parts)
        except (ValueError, RecursionError) as error:
            raise _broken(number, line, str(error)) from None
    statement = kind(program, **values)  # type: ignore[arg-type]  # each field was read by its own type
    _check_closed(statement, first)
    return statement


def _field(program: Program, wanted: str, typed: str, name: str, parts: tuple[object, ...]) -> object:
    """One field's value, by its type as the class declares it."""
    if name != wanted:
        raise ValueError(f"expected the field {wanted}")
    if typed == "str":
        if len(parts) != 1 or not isinstance(parts[0], str):
            raise ValueError("expected one quoted text")
        return parts[0]
    numbers = tuple(part for part in parts if isinstance(part, int) and not isinstance(part, bool) and part >= 0)
    if len(numbers) != len(parts) or (typed == "int" and len(numbers) != 1):
        raise ValueError("expected numbers" if typed != "int" else "expected one number")
    if wanted in _VARIABLES or wanted == "lane":
        if any(n >= len(program) or program[n].operator != "var" for n in numbers):
            raise ValueError("expected places of variables")
    elif wanted in _PLACES and numbers[0] >= len(program):
        raise ValueError(f"the program has no line {numbers[0]}")
    if wanted in _BITS and program[numbers[0]].width != 1:
        raise ValueError("expected a place of one bit")
    return numbers[0] if typed == "int" else numbers


def _check_closed(statement: Statement, line: int) -> None:
    """Check that expressions read only the statement's own variables, each in one role."""
    own = variables_of(statement)
    program = statement.program
    used = {place for place in reachable(program, roots_of(statement)) if program[place].operator == "var"}
    if len(set(own)) != len(own) or not used <= set(own):
        raise _broken(line, "", "an expression reads a variable that the obligation does not have")
    if isinstance(statement, Injective) and statement.outer:
        if len(statement.outer) != 2 or max(statement.outer) >= len(program):
            raise _broken(line, "", "`outer` is a variable and its image")
        x, image = statement.outer
        inside = {place for place in reachable(program, [image]) if program[place].operator == "var"}
        whole = program[x].operator == "var" and program[x].number == 1 << program[x].width
        if not inside <= {x} or not whole or x in own or program[x].width != program[statement.inner].width:
            raise _broken(line, "", "the outer map must be of one variable as wide as `inner`")
        if statement.extent != 1:
            raise _broken(line, "", "under an outer map a range has one unit")
    if isinstance(statement, Cost | GatherCost) and (
        program[statement.lane].number != 32 or len(statement.at_most) > 1
    ):
        raise _broken(line, "", "a warp has 32 lanes, and one limit at most")
    lengths = [getattr(statement, name, 1) for name in ("extent", "first_extent", "second_extent", "reach")]
    if min(lengths) < 1:
        raise _broken(line, "", "a range has at least one unit")


def _broken(line: int, text: str, why: str) -> CertificateError:
    shown = text if len(text) <= 80 else text[:77] + "..."
    return CertificateError("SWZ605", f"obligation, line {line}: {why}", text=shown)
