"""The names of hardware as JSON Schema: what `find_any_instruction` and `find_target` read.

Patterns are regular expressions of ECMA 262, which JSON Schema has: no named groups, no
look-behind.
"""

from __future__ import annotations

from collections.abc import Iterable

from swzverify.hardware import GLOBAL_INSTRUCTIONS, INSTRUCTIONS, TARGETS
from swzverify.hardware.kinds import MATRIX_OPCODES

_ORDER = r"(\.(weak|volatile|relaxed|acquire|release|acq_rel|mmio|cta|cluster|gpu|sys))*"
_SPACE = r"\.shared(::cta)?"
_UP_TO_32 = r"[bus](8|16|32)|f(16|32)|bf16|f16x2|bf16x2"
_UP_TO_64 = rf"{_UP_TO_32}|[busf]64"
_FROM_GLOBAL = rf"({_SPACE}\.global(\.L2::\w+)*)?"

_VALUES = rf"(b128|({_UP_TO_64})|v2\.({_UP_TO_64})|v4\.({_UP_TO_32}))"
_HINTS = r"(\.L1::(evict_\w+|no_allocate))?(\.L2::evict_\w+)?(\.L2::cache_hint)?(\.L2::(64|128|256)B)?"

_OPCODES = (
    rf"ld{_ORDER}\.global(\.(ca|cg|cs|lu|cv))?(\.nc)?{_HINTS}\.{_VALUES}",
    rf"st{_ORDER}\.global(\.(wb|cg|cs|wt))?{_HINTS}\.{_VALUES}",
    rf"(ld|st){_ORDER}{_SPACE}\.{_VALUES}",
    rf"({'|'.join(MATRIX_OPCODES)})\.sync\.aligned\.m8n8\.x[124](\.trans)?({_SPACE})?\.b16",
    rf"(atom|red){_ORDER}{_SPACE}\.((add|min|max)\.[us]32|(and|or|xor|exch)\.b32|(inc|dec)\.u32)",
    rf"cp\.async\.ca{_FROM_GLOBAL}\.(4|8|16)",
    rf"cp\.async\.cg{_FROM_GLOBAL}\.16",
)
"""Opcodes that any operands may follow. Source: PTX ISA 8.7, as `hardware` reads it."""

_CA_SIZE, _CG_SIZE = r"\s*(4|8|16)\s*", r"\s*(16)?\s*"
_COPIES = (
    rf"cp\.async\.ca{_FROM_GLOBAL} ({_CA_SIZE}|[^,]*,[^,]*,{_CA_SIZE}(,[\s\S]*)?)",
    rf"cp\.async\.cg{_FROM_GLOBAL}( ({_CG_SIZE}|[^,]*,[^,]*(,{_CG_SIZE}(,[\s\S]*)?)?))?",
)
"""Copies whose size is an operand; `.cg` has but one, which may be left out."""

SPELLING = rf"^\s*(({'|'.join(_OPCODES)})(;*| [\s\S]*)|({'|'.join(_COPIES)});*)\s*$"
"""PTX spellings of the instructions, operands allowed."""


def instruction_schema() -> dict[str, object]:
    """An instruction: a name of the table, or a PTX spelling of one.

    >>> import re
    >>> [bool(re.search(SPELLING, name)) for name in ("ld.volatile.shared.v4.f32", "ld.local.f32")]
    [True, False]
    """
    return {"anyOf": [*_named([*INSTRUCTIONS, *GLOBAL_INSTRUCTIONS]), {"type": "string", "pattern": SPELLING}]}


def target_schema() -> dict[str, object]:
    """A target: a name of the table.

    >>> list(target_schema())
    ['anyOf']
    """
    return {"anyOf": _named(TARGETS)}


def _named(names: Iterable[str]) -> list[dict[str, object]]:
    """These names, for an editor to list; blanks around them are read over."""
    listed = list(names)
    either = "|".join(listed).replace(".", r"\.")
    return [{"type": "string", "enum": listed}, {"type": "string", "pattern": rf"^\s*({either})\s*$"}]
