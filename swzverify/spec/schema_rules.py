"""What a JSON Schema says beyond the types of keys: bounds, taken names, keys that go together.

The numbers are those that `build` and `limits` check by. A place is `Model.key`, with `[]` for a
mapping's entries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from swzverify.claims import claim_types
from swzverify.hardware import LANES, MOST_BLOCK_THREADS
from swzverify.layout.source_text import MAX_CHARACTERS
from swzverify.spec.build import MAX_CASES
from swzverify.spec.build_tile import MAX_ELEMENT_BITS, MAX_STAGES
from swzverify.spec.limits import MAX_CONSTANTS, MAX_EXPRESSIONS, MAX_LETS, MAX_VARIABLES
from swzverify.spec.source import MAX_INTEGER, MIN_INTEGER
from swzverify.subjects.descriptor import ADDRESS_LIMIT, CHUNK_BYTES
from swzverify.subjects.listed_loop import MAX_LISTED
from swzverify.subjects.loop import NOT_FOR_MAPS, RESERVED_NAMES
from swzverify.subjects.memory import ADDRESS_LIMIT_BYTES
from swzverify.subjects.operand import NOT_FOR_OPERANDS
from swzverify.subjects.phase import MAX_PENDING
from swzverify.subjects.role import MAX_ARRIVALS, MAX_BYTES, MAX_NAMED, MAX_OBJECTS

Schema: TypeAlias = dict[str, object]

_ADDRESS = (0, ADDRESS_LIMIT_BYTES - 1)

EVERY_INTEGER = (MIN_INTEGER, MAX_INTEGER)
"""What an integer of a spec may be wherever nothing narrower is said."""

BOUNDS: Mapping[str, tuple[int, int]] = {
    "MemoryPart.bytes": (1, MAX_INTEGER),
    "MemoryPart.align": (1, MAX_INTEGER),
    "MemoryPart.base": _ADDRESS,
    "MemoryBasePart.offset": (0, MAX_INTEGER),
    "DenseLayoutPart.shape": (1, MAX_INTEGER),
    "DenseLayoutPart.pad": (0, MAX_INTEGER),
    "SwizzlePart.bits": (0, MAX_INTEGER),
    "SwizzlePart.base": (0, MAX_INTEGER),
    "TmaPart.box": (1, MAX_INTEGER),
    "TilePart.shape": (1, MAX_INTEGER),
    "TilePart.shape[]": (1, MAX_INTEGER),
    "StagesPart.count": (1, MAX_STAGES),
    "StagesPart.pitch": (0, MAX_INTEGER),
    "TilePart.bits": (1, MAX_ELEMENT_BITS),
    "TilePart.base": _ADDRESS,
    "TilePart.stages": (1, MAX_STAGES),
    "TilePart.bytes": (1, MAX_INTEGER),
    "LoopPart.step": (1, MAX_INTEGER),
    "LoopPart.times": (2, MAX_INTEGER),
    "LaneRangePart.step": (1, MAX_INTEGER),
    "LaneBitsPart.bits": (1, 32),
    "AxisPart.step": (1, MAX_INTEGER),
    "AxisPart.times": (2, MAX_INTEGER),
    "AccessPart.threads": (1, MOST_BLOCK_THREADS),
    "AccessPart.block": (1, MOST_BLOCK_THREADS),
    "AccessPart.for[]": (0, MAX_INTEGER),
    "AccessPart.for[].items": EVERY_INTEGER,
    "AccessPart.lanes[]": (1, MAX_INTEGER),
    "AccessPart.base": _ADDRESS,
    "AccessPart.bytes": (1, MAX_INTEGER),
    "OperandPart.for[]": (0, MAX_INTEGER),
    "PhasePart.for[]": (0, MAX_INTEGER),
    "WaitPart.wait_group": (0, MAX_PENDING),
    "PhasePart.threads": (1, MOST_BLOCK_THREADS),
    "ArrivePart.bytes": (0, MAX_BYTES),
    "ProductWaitPart.wgmma_wait": (0, MAX_PENDING),
    "BarSyncPart.bar_sync": (0, MAX_NAMED),
    "BarSyncPart.threads": (LANES, MOST_BLOCK_THREADS),
    "BarArrivePart.bar_arrive": (0, MAX_NAMED),
    "BarArrivePart.threads": (LANES, MOST_BLOCK_THREADS),
    "BarrierPart.stages": (1, MAX_OBJECTS),
    "BarrierPart.arrivals": (1, MAX_ARRIVALS),
    "OperandPart.for[].items": EVERY_INTEGER,
    "DescriptorPart.lbo": (0, ADDRESS_LIMIT - CHUNK_BYTES),
    "DescriptorPart.sbo": (0, ADDRESS_LIMIT - CHUNK_BYTES),
    "DescriptorPart.base_offset": (0, 7),
    "DescriptorPart.base": _ADDRESS,
    "MapPart.over[]": (1, MAX_INTEGER),
    "MapPart.onto": (1, MAX_INTEGER),
    "MapPart.base": _ADDRESS,
    **{
        f"{claim.__name__}Argument.{number.name}": (
            number.least,
            number.most if isinstance(number.most, int) else MAX_INTEGER,
        )
        for claim in claim_types().values()
        for number in claim.form.numbers
    },
}
"""The least and the greatest integer; a schema cannot know the value of an expression."""


def _powers(below: int) -> list[int]:
    return [1 << bit for bit in range(below.bit_length()) if 1 << bit <= below]


POWERS_OF_TWO: Mapping[str, list[int]] = {
    "MemoryPart.align": _powers(MAX_INTEGER),  # to 2^24 only where no base is given
    "AlignedBasePart.align": _powers(ADDRESS_LIMIT_BYTES),
}
"""Integers that are powers of two."""

_OF_NAMES = r"[^<>,]*[A-Za-z_][^<>,]*"
_SWIZZLE_NUMBER = rf"(\s*(-?0{{1,9}}|[0-9]{{1,9}})\s*|{_OF_NAMES})"
_SHIFT = rf"(\s*-?[0-9]{{1,9}}\s*|{_OF_NAMES})"

TEXTS: Mapping[str, Schema] = {
    "TilePart.layout": {"minLength": 1, "maxLength": MAX_CHARACTERS},
    "TilePart.swizzle": {
        "pattern": rf"^\s*(Swizzle|Sw|S)\s*<{_SWIZZLE_NUMBER},{_SWIZZLE_NUMBER}(,{_SHIFT})?>\s*(\{{\s*\}})?\s*$"
    },
}
"""What the text of a key is, where it is neither prose nor an expression."""

_FREE_NAMES: Schema = {"propertyNames": {"not": {"enum": sorted(RESERVED_NAMES)}}}

SIZES: Mapping[str, Schema] = {
    "SpecPart.constants": {"maxProperties": MAX_CONSTANTS, **_FREE_NAMES},
    "SpecPart.from_source": _FREE_NAMES,
    "SpecPart.constants[]": {"maxItems": MAX_CASES, "uniqueItems": True},
    "SpecPart.let": {"maxProperties": MAX_LETS, **_FREE_NAMES},
    "AccessPart.let": {"maxProperties": MAX_LETS, **_FREE_NAMES},
    "MapPart.let": {"maxProperties": MAX_LETS, **_FREE_NAMES},
    "AccessPart.for": {"maxProperties": MAX_VARIABLES, **_FREE_NAMES},
    "AccessPart.lanes": {"maxProperties": MAX_VARIABLES, **_FREE_NAMES},
    "AccessPart.for[]": {"maxItems": MAX_LISTED},
    "AccessPart.coord": {"maxItems": MAX_EXPRESSIONS},
    "AccessPart.assume": {"maxItems": MAX_EXPRESSIONS},
    "TilePart.shape": {"propertyNames": {"not": {"enum": sorted(NOT_FOR_MAPS)}}},
    "OperandPart.for": {
        "maxProperties": MAX_VARIABLES,
        "propertyNames": {"not": {"enum": sorted(NOT_FOR_OPERANDS)}},
    },
    "OperandPart.for[]": {"maxItems": MAX_LISTED},
    "MapPart.over": {"maxProperties": MAX_VARIABLES, "propertyNames": {"not": {"enum": sorted(NOT_FOR_MAPS)}}},
    "MapPart.value": {"maxItems": MAX_EXPRESSIONS},
    "MapPart.onto": {"maxItems": MAX_EXPRESSIONS},
}
"""How much a list or mapping holds, and which names are taken."""

ENTRIES: Mapping[str, str] = {
    "SpecPart.constants": "an integer, or the list of the integers that it stands for in turn",
    "SpecPart.from_source": "where a constant is read from: its name in the code, or file and name",
    "SpecPart.let": "an expression of constants, thread names and loop variables",
    "AccessPart.let": "an expression of constants, thread names and loop variables",
    "MapPart.let": "an expression of constants, `base` and the map's variables",
    "SpecPart.memories": "a stretch of shared memory that several tiles lie in",
    "SpecPart.tiles": "a tile in shared memory: `element` or `bits`, and `layout`, `tma` or `shape`",
    "SpecPart.accesses": "what the threads of a block do with one instruction: `coord` in a tile, or an `address`",
    "SpecPart.maps": "an index map: expressions over a box",
    "SpecPart.phases": "the steps of a loop, in order",
    "PhasePart.for": "how many iterations, or `any`",
    "PhasePart.barriers": "the mbarriers of a ring: how many, and the arrivals that complete a phase",
    "PhasePart.roles": "the threads of a role, and their steps in each iteration",
    "RunPart.at": "a number, or the phase's variable plus a number",
    "ProductPart.at": "an expression over the variable of the phase, such as i%4",
    "SpecPart.operands": "what the tensor core reads through a matrix descriptor",
    "OperandPart.for": "how many values from 0, {start: a, stop: b, step: c}, or its values",
    "SpecPart.listings": "a listing of machine code: `text` or `file`",
    "AccessPart.for": "how many values from 0, {start: a, stop: b, step: c}, its values, or `any` for every one from 0",
    "AccessPart.lanes": "how many values from 0, {start: a, stop: b, step: c}, or {bits: n} for any value of n bits",
    "CompiledPart.loops": "the line of the PTX where the loop begins",
    "CompiledPart.parameters": "an integer",
    "CompiledOperandPart.parameters": "an integer",
    "MapPart.over": "how many values from 0",
    "TilePart.shape": "how many values from 0",
    "SweepPart.over": "a list of integers, {start: a, stop: b, step: c}, or {at: a place, values: what is put there}",
    "AxisPart.values": "the number that the axis's constant and `where` read at this value",
}
"""What the entries of a mapping are; their names are the user's own."""


def _with(*keys: str) -> Schema:
    """A schema that requires keys with values: an empty key counts as none."""
    return {"required": list(keys), "properties": {key: {"not": {"type": "null"}} for key in keys}}


def _without(*keys: str) -> Schema:
    return {"properties": {key: {"type": "null"} for key in keys}}


def _one_of(first: str, second: str) -> Schema:
    """One of two keys, and an editor's complaint is about the first one missing or being too many."""
    return {"if": _with(second), "then": _without(first), "else": _with(first)}


def _instead(key: str, others: tuple[str, ...], otherwise: Schema) -> Schema:
    """A key that stands in place of others, or else what holds without it."""
    return {"if": _with(key), "then": _without(*others), "else": otherwise}


RULES: Mapping[str, list[Schema]] = {
    "ListingPart": [_one_of("text", "file")],
    "PhasePart": [_one_of("steps", "roles")],
    "TilePart": [
        _one_of("element", "bits"),
        {
            "if": _with("shape"),
            "then": {"allOf": [_one_of("offset", "address"), _without("layout", "tma", "swizzle")]},
            "else": {"allOf": [_one_of("layout", "tma"), _without("offset", "address")]},
        },
        {"if": _with("tma"), "then": _without("swizzle")},
    ],
    "WavefrontsArgument": [_one_of("at_most", "exactly")],
    "CompiledPart": [_one_of("line", "source")],
    "CompiledOperandPart": [_one_of("line", "source")],
    "OperandPart": [
        _one_of("descriptor", "compiled"),
        {
            "if": _with("compiled"),
            "then": _one_of("threads", "block"),
            "else": _without("threads", "block", "base"),
        },
    ],
    "LoopPart": [{"if": _with("times"), "then": _without("step")}],
    "AccessPart": [
        _instead(
            "compiled",
            ("tile", "address", "walk", "coord", "stage", "if", "lanes"),
            _instead("walk", ("tile", "address", "coord", "stage"), _one_of("tile", "address")),
        ),
        _one_of("threads", "block"),
        {"if": _with("tile"), "then": {"allOf": [_with("coord"), _without("base", "bytes")]}},
        {"if": _with("address"), "then": _without("coord", "stage")},
    ],
    "MemoryPart": [
        {
            "if": _with("base"),
            "else": {"properties": {"align": {"anyOf": [{"type": "string"}, {"maximum": ADDRESS_LIMIT_BYTES}]}}},
        },
    ],
}
"""Which keys go together; `if`, `then`, `else` name the wrong key where an editor shows it."""
