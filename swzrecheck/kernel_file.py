"""The accesses of kernels in a certificate's statement, read without trust."""

from __future__ import annotations

import re
from math import prod
from typing import Final

from swzrecheck.compiled import KernelAccess, OpenValue
from swzrecheck.errors import CertificateError
from swzrecheck.program import Program, reachable
from swzrecheck.reader import Reader
from swzrecheck.statement import read_program
from swzrecheck.warp_rule import ALONE, LANES, warp_rule

COORDINATES: Final = ("tid.x", "tid.y", "tid.z")
LANE_ID: Final = "laneid"
ADDRESS_BITS: Final = 32
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,4095}")
_OPEN = re.compile(r"v(0|[1-9][0-9]{0,5})")
_MOST_THREADS: Final = 1024
_AXES: Final = 3


def read_kernel(reader: Reader) -> KernelAccess:
    """An access of a kernel.

    Raises:
        CertificateError: SWZ604, with the place of what has no meaning.
    """
    access = KernelAccess(
        name=reader.text("name"),
        kernel=reader.text("kernel"),
        line=reader.number("line", 1),
        text=reader.text("text"),
        instruction=reader.text("instruction"),
        block=reader.extents("block"),
        given=reader.texts("given"),
        values=tuple(_open(item) for item in reader.readers("values")),
        program=reader.texts("program"),
        address=reader.number("address"),
        guard=reader.number("guard"),
        facts=reader.number("facts"),
    )
    if not _NAME.fullmatch(access.name):
        raise reader.refuse("name", "a name")
    if len(access.block) != _AXES or prod(access.block) > _MOST_THREADS:
        raise reader.refuse("block", f"three extents, at most {_MOST_THREADS} threads together,")
    try:
        rule = warp_rule(access.instruction)
        program = read_program(access.program)
    except ValueError as error:
        raise CertificateError("SWZ604", f"{reader.place}.instruction: {error}") from None
    except CertificateError as error:
        raise CertificateError("SWZ604", f"{reader.place}.program: {error.message}", text=error.text) from None
    if rule.sectors or access.instruction.endswith(ALONE):
        raise reader.refuse("instruction", "an instruction of shared memory")
    _check_lines(reader, access, program)
    return access


def _open(reader: Reader) -> OpenValue:
    name, own = reader.text("name"), reader.number("own")
    if not _OPEN.fullmatch(name) or own > 1:
        raise reader.refuse("name", "v and a number, and 0 or 1 for `own`,")
    found = OpenValue(name, reader.text("words"), bool(own))
    reader.done()
    return found


def _check_lines(reader: Reader, access: KernelAccess, program: Program) -> None:
    """Check that the lines have the widths of their roles, and that all of them are used."""
    for field, place, width in (
        ("address", access.address, ADDRESS_BITS),
        ("guard", access.guard, 1),
        ("facts", access.facts, 1),
    ):
        if place >= len(program) or program[place].width != width:
            raise reader.refuse(field, f"a line of {width} bits")
    if len(reachable(program, (access.address, access.guard, access.facts))) < len(program):
        raise reader.refuse("program", "no line that is not used")
    limits = {**dict(zip(COORDINATES, access.block, strict=True)), LANE_ID: LANES}
    read = [line for line in program if line.operator == "var"]
    if any(line.number < limits.get(line.name, 1) for line in read):
        raise reader.refuse("program", "coordinates that reach as far as the block")
    names = [each.name for each in access.values]
    if len(set(names)) < len(names) or {line.name for line in read} - limits.keys() != set(names):
        raise reader.refuse("values", "each value that the program reads, once")
