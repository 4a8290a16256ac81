"""An operand of the tensor core, read without trust from a statement."""

from __future__ import annotations

import re
from collections.abc import Callable

from swzrecheck.claim import Base, ListedLoop, Loop, Operand
from swzrecheck.reader import Reader

SIZES = {"f16": 2, "bf16": 2, "tf32": 4, "e4m3": 1, "e5m2": 1, "s8": 1, "u8": 1}
"""The bytes of an element of each type."""
_INSTRUCTION = re.compile(r"(wgmma|tcgen05\.mma)\.m(64|128)n(\d{1,3})k(\d{1,2})\.(\w+)")
_MODES = ("none", "32B", "64B", "128B")
MOST = 262_128
"""The most that a field of 14 bits holds, in bytes."""


def read_operand(
    reader: Reader, name: str, base: Callable[[Reader], Base], loop: Callable[[Reader], Loop | ListedLoop]
) -> Operand:
    """The operand in an object, but for its expressions. Errors: SWZ604."""
    instruction, role, major = reader.text("instruction"), reader.text("role"), reader.text("major")
    found = _INSTRUCTION.fullmatch(instruction)
    if found is None or found[5] not in SIZES or int(found[4]) * SIZES[found[5]] != 32 or not 8 <= int(found[3]) <= 256:
        raise reader.refuse("instruction", "a dense one of section 9 of docs/semantics.md")
    if found[1] == "wgmma" and found[2] != "64":
        raise reader.refuse("instruction", "m64")
    if role not in ("A", "B") or major not in ("K", "MN"):
        raise reader.refuse("role", "A or B, K or MN")
    is_known = found[5] in ("f16", "bf16") or (found[1] != "wgmma" and found[5] != "tf32")
    if major == "MN" and not is_known:
        raise reader.refuse("major", "one for which there is a rule")
    lbo, sbo, base_offset = reader.number("lbo"), reader.number("sbo"), reader.number("base_offset")
    mode = reader.text("swizzle")
    if any(each % 16 or each > MOST for each in (lbo, sbo)) or base_offset > 7:
        raise reader.refuse("lbo", "numbers that a descriptor can hold")
    if base_offset and found[1] != "wgmma":
        raise reader.refuse("base_offset", "0")
    if mode not in _MODES:
        raise reader.refuse("swizzle", f"one of {', '.join(_MODES)}")
    operand = Operand(
        name=name,
        instruction=instruction,
        role=role,
        major=major,
        lbo=lbo,
        sbo=sbo,
        swizzle=mode,
        base_offset=base_offset,
        start=reader.text("start"),
        base=base(reader.reader("base")),
        tile=reader.text("tile"),
        at=reader.texts("at"),
        stage=reader.text_or_none("stage"),
        modes=reader.texts("modes"),
        loops=tuple(loop(item) for item in reader.readers("loops")),
        constants=reader.numbers("constants"),
    )
    if sorted(operand.modes) != ["K", "MN"] or len(operand.at) != 2:
        raise reader.refuse("modes", "MN and K, and a coordinate of each,")
    if any(each.is_unbounded for each in operand.loops):
        raise reader.refuse("loops", "loops with a bound")
    return operand
