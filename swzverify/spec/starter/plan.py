"""What a starter spec holds: the tile, the instruction's access, a second one, the claims.

The swizzle that it suggests frees the columns of a row-major tile of bank conflicts, and keeps vectors whole.

Source: docs/theorems.md, `universal-mended`: with rows of X bytes and vectors of V = 4, 8 or 16
bytes, both powers of two, V <= X, the swizzle with B = log2(min(128, X) / V), M = log2 of a
vector's elements and S = log2(max(128, X) / V) is legal and a column of vectors has no conflicts.
It keeps vectors whole (`swizzle-vectors`), and elements in their row's own blocks of min(128, X)
bytes (`swizzle-blocks-smallest`), so that any number of rows fills its allocation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from swzverify.errors import SwzError
from swzverify.hardware import (
    BANK_PERIOD_BYTES,
    BANK_WORD_BYTES,
    LANES,
    MOST_BLOCK_THREADS,
    Instruction,
    Kind,
    find_instruction,
    find_target,
    require,
)
from swzverify.layout import Swizzle, parse_swizzle
from swzverify.spec.elements import element_bits
from swzverify.spec.starter.accesses import Lanes, by_columns, by_matrices, by_rows, vector_elements

_AUTOMATIC_THREADS = (128, 64, 32)


@dataclass(frozen=True, slots=True)
class PlannedAccess:
    """An access of the spec; `purpose` is its comment."""

    name: str
    instruction: str
    threads: int
    lanes: Lanes
    purpose: str


@dataclass(frozen=True, slots=True)
class PlannedClaim:
    """A claim as the spec has it, `kind: argument`; `meaning` is its comment."""

    kind: str
    argument: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole starter spec, without the outcomes of its claims.

    Attributes:
        options: The options of the command.
        element_bits: The size of an element.
        instruction: The name of the instruction in the table.
        swizzle: The swizzle, if there is one.
        swizzle_why: The reason for it.
        accesses: The access of the instruction, and the one that goes with it.
        claims: The claims.
    """

    options: StarterOptions
    element_bits: int
    instruction: str
    swizzle: Swizzle | None
    swizzle_why: str
    accesses: tuple[PlannedAccess, PlannedAccess]
    claims: tuple[PlannedClaim, ...]


def make_plan(options: StarterOptions) -> Plan:
    """What these options come to.

    Raises:
        SwzError: SWZ105 for an unknown element type, SWZ200 and SWZ210 for a text that is no swizzle,
            SWZ401 to SWZ403 for an unknown instruction or target, SWZ524 for an instruction that does
            not go with the elements or the rows, SWZ525 for threads that cannot share the tile, SWZ526
            if no swizzle is known for the rows.

    >>> plan = make_plan(StarterOptions())
    >>> str(plan.swizzle), [access.name for access in plan.accesses], plan.accesses[0].lanes.row
    ('Swizzle<3,3,3>', ['read_A', 'write_A'], 'warp*16 + lane%16')
    """
    bits = element_bits(options.element)
    instruction = find_instruction(options.instruction)
    require(find_target(options.target), instruction)
    vector = _vector(options, instruction, bits)
    other = _companion(options, instruction, bits)
    other_vector = vector_elements(other, bits) or 1
    threads, lanes, other_lanes = _share(options, instruction, other, vector, other_vector)
    swizzle, why = _swizzle(options, instruction, bits)
    reads = instruction.kind.loads
    name = "read_A" if reads else "add_A" if instruction.kind is Kind.ATOMIC else "write_A"
    other_name = "write_A" if reads else "read_A"
    accesses = (
        PlannedAccess(name, instruction.name, threads, lanes, _purpose(instruction, vector, lanes)),
        PlannedAccess(other_name, other.name, threads, other_lanes, _purpose(other, other_vector, other_lanes)),
    )
    claims = _claims(options, accesses, max(vector, other_vector))
    return Plan(options, bits, instruction.name, swizzle, why, accesses, claims)


def _vector(options: StarterOptions, instruction: Instruction, bits: int) -> int:
    """The elements at a lane's address; SWZ524 where element and instruction do not go together."""
    width = instruction.width_bytes
    vector = vector_elements(instruction, bits)
    if vector is None:
        wide = 8 * width < bits
        what = f"half an {options.element}" if wide and 16 * width == bits else f"no whole number of {options.element}"
        fitting = ", ".join(name for name in _FITTING if vector_elements(find_instruction(name), bits))
        hint = f"these do: {fitting}" if fitting else "write such a spec by hand: docs/semantics.md"
        raise SwzError("SWZ524", f"{instruction.name} takes {width} bytes per lane, {what}", hint=hint)
    if options.columns % vector:
        down, up = options.columns // vector * vector, -(-options.columns // vector) * vector
        near = " or ".join(f"{options.rows}x{columns}" for columns in (down, up) if columns)
        message = f"{instruction.name} takes {vector} elements at a time, and a row has {options.columns}"
        raise SwzError("SWZ524", message, hint=f"--tile {near}, or a narrower instruction")
    return vector


_FITTING = ("ld.shared.b8", "ld.shared.b16", "ld.shared.b32", "ld.shared.b64", "ld.shared.v4.b32", "ldmatrix.x4")


def _companion(options: StarterOptions, instruction: Instruction, bits: int) -> Instruction:
    """What fills the tile for a read, or reads it after a write: at most as wide as the vectors."""
    if instruction.kind is Kind.CP_ASYNC:
        whole = options.rows % 16 == 0 and options.columns * bits % 256 == 0
        name = "ldmatrix.x4" if instruction.width_bytes == 16 and bits == 16 and whole else ""
        return find_instruction(name or f"ld.shared.{_suffix(instruction.width_bytes, bits)}")
    opcode = "st" if instruction.kind.loads else "ld"
    width = max(4, instruction.width_bytes)
    while not _fits(width, bits, options.columns, options.columns + options.pad):
        width //= 2
    return find_instruction(f"{opcode}.shared.{_suffix(width, bits)}")


def _fits(width_bytes: int, bits: int, columns: int, pitch: int) -> bool:
    """Whether a lane may take so much: it divides rows and pitch, or is the smallest part."""
    width = 8 * width_bytes
    return width_bytes == 1 or width == bits or not any(size * bits % width for size in (columns, pitch))


def _suffix(width_bytes: int, bits: int) -> str:
    match width_bytes:
        case 16:
            return "v2.b64" if bits == 64 else "v4.b32"
        case 8:
            return "b64" if bits == 64 else "v2.b32"
        case _:
            return f"b{8 * width_bytes}"


def _share(
    options: StarterOptions, instruction: Instruction, other: Instruction, vector: int, other_vector: int
) -> tuple[int, Lanes, Lanes]:
    """The block's threads, and the lanes of both accesses; SWZ525 where there is no even share."""
    wanted = options.threads
    if wanted is not None and (wanted % LANES or not 0 < wanted <= MOST_BLOCK_THREADS):
        message = f"{wanted} threads are no whole warps of a block"
        raise SwzError("SWZ525", message, hint=f"a multiple of {LANES}, at most {MOST_BLOCK_THREADS}")

    def shared(threads: int) -> tuple[int, Lanes, Lanes] | None:
        first = _lanes(options, instruction, vector, threads)
        second = _lanes(options, other, other_vector, threads, companion=instruction.kind is not Kind.CP_ASYNC)
        return None if first is None or second is None else (threads, first, second)

    for threads in (wanted,) if wanted else _AUTOMATIC_THREADS:
        found = shared(threads)
        if found is not None:
            return found
    fitting = [threads for threads in range(LANES, MOST_BLOCK_THREADS + 1, LANES) if shared(threads)]
    shape = f"{options.rows} x {options.columns}"
    if fitting:
        listed = ", ".join(map(str, fitting))
        raise SwzError("SWZ525", f"{wanted} threads cannot share {shape} elements evenly", hint=f"these can: {listed}")
    message = f"a tile of {shape} elements is no whole number of what {instruction.name} takes in a warp"
    raise SwzError("SWZ525", message, hint=_needs(instruction, vector))


def _needs(instruction: Instruction, vector: int) -> str:
    high = 8 if instruction.address_lanes == 8 else 16
    wide = 2 * vector if instruction.address_lanes == 32 else vector
    moves_matrices = instruction.kind.moves_matrices
    return f"rows a multiple of {high}, columns a multiple of {wide}" if moves_matrices else "--tile 64x64"


def _lanes(
    options: StarterOptions, instruction: Instruction, vector: int, threads: int, *, companion: bool = False
) -> Lanes | None:
    rows, columns = options.rows, options.columns
    if instruction.kind.moves_matrices:
        return by_matrices(rows, columns, vector, threads, instruction)
    if companion or instruction.kind is Kind.CP_ASYNC:
        return by_rows(rows, columns, vector, threads)
    return by_columns(rows, columns, vector, threads)


def _swizzle(options: StarterOptions, instruction: Instruction, bits: int) -> tuple[Swizzle | None, str]:
    if options.pad or options.swizzle == "none":
        return None, ""
    if options.swizzle == "auto":
        choice = choose_swizzle(bits, options.columns, instruction.width_bytes)
        return choice.swizzle, choice.why
    return parse_swizzle(options.swizzle), "as asked for"


def _purpose(instruction: Instruction, vector: int, lanes: Lanes) -> str:
    many = f"{vector} elements" if vector > 1 else "one element"
    verb = {
        Kind.LOAD: "reads",
        Kind.STORE: "writes",
        Kind.ATOMIC: "adds to",
        Kind.CP_ASYNC: "copies from global memory",
    }
    match lanes.order:
        case "matrices":
            does = "reads" if instruction.kind.loads else "writes"
            return f"a warp {does} matrices of 8 rows: each lane gives the address of one row of {many}"
        case "columns":
            return f"{verb[instruction.kind]} columns: each lane {many} of a row of its own"
        case "rows":
            return f"{verb[instruction.kind]} row by row: each thread {many}"


def _claims(options: StarterOptions, accesses: tuple[PlannedAccess, ...], vector: int) -> tuple[PlannedClaim, ...]:
    fills = ("injective", "no two elements share a byte (a padded tile has bytes without an element)")
    if not options.pad:
        fills = ("bijective", "no two elements share a byte, and every byte of the tile is some element's")
    claims = [PlannedClaim(fills[0], "A", fills[1])]
    if vector > 1:
        meaning = f"{vector} neighbours of a row stay together, aligned and in order"
        claims.append(PlannedClaim("contiguous", f"{{tile: A, elements: {vector}, mode: 1}}", meaning))
    if options.stages > 1:
        claims.append(PlannedClaim("disjoint", "A", "the stages share no byte"))
    for access in accesses:
        claims += [
            PlannedClaim("aligned", access.name, "every address is a multiple of what a lane takes"),
            PlannedClaim("in_bounds", access.name, "no lane touches anything outside of the tile"),
            PlannedClaim("covers", f"{{access: {access.name}}}", "each element is touched exactly once"),
            PlannedClaim("conflict_free", access.name, "no bank conflicts, whatever the warp, iteration and base"),
        ]
    return tuple(claims)


MAX_EXTENT = 65_536
_TILE = re.compile(r"\s*([1-9][0-9]{0,5})\s*[xX*,]\s*([1-9][0-9]{0,5})\s*")


@dataclass(frozen=True, slots=True)
class StarterOptions:
    """A tile of `rows` x `columns` elements, row after row, and the instruction of interest.

    `swizzle` is `auto`, `none` or a swizzle's notation, and counts only without `pad`, elements
    added to each row; `threads` are those of the block, None for as many as fit; `stages` are
    copies of the tile.
    """

    element: str = "f16"
    rows: int = 64
    columns: int = 64
    instruction: str = "ldmatrix.x4"
    swizzle: str = "auto"
    pad: int = 0
    target: str = "sm_90"
    threads: int | None = None
    stages: int = 1


def parse_tile(text: str) -> tuple[int, int]:
    """The rows and columns of `64x64`.

    Raises:
        SwzError: SWZ523 for any other form, or an extent above 65,536.

    >>> parse_tile("128x32")
    (128, 32)
    >>> parse_tile("128")
    Traceback (most recent call last):
    swzverify.errors.SwzError: SWZ523: '128' is not a tile
      write rows x columns, such as 64x64
    """
    found = _TILE.fullmatch(text)
    if found is None:
        raise SwzError("SWZ523", f"'{text[:40]}' is not a tile", hint="write rows x columns, such as 64x64")
    rows, columns = int(found[1]), int(found[2])
    if max(rows, columns) > MAX_EXTENT:
        message = f"a tile of {rows} x {columns} elements is larger than any shared memory"
        raise SwzError("SWZ523", message, hint=f"{MAX_EXTENT} is the most of either")
    return rows, columns


PERIOD_BITS = 8 * BANK_PERIOD_BYTES
WORD_BITS = 8 * BANK_WORD_BYTES


@dataclass(frozen=True, slots=True)
class Choice:
    """A swizzle of element offsets, or None where the rows need none, and why."""

    swizzle: Swizzle | None
    why: str


def choose_swizzle(element_bits: int, columns: int, width_bytes: int) -> Choice:
    """The swizzle for rows of `columns` elements that are read by columns, `width_bytes` per lane.

    What is narrower than a bank's word moves with its word.

    Raises:
        SwzError: SWZ526 if the rows are no power of two bytes.

    >>> str(choose_swizzle(16, 64, 16).swizzle), str(choose_swizzle(32, 32, 4).swizzle)
    ('Swizzle<3,3,3>', 'Swizzle<5,0,5>')
    >>> choose_swizzle(16, 8, 16).swizzle is None
    True
    """
    unit_bits = max(WORD_BITS, 8 * width_bytes)
    row_bits = element_bits * columns
    if row_bits <= unit_bits:
        return Choice(None, f"rows of {_bytes(row_bits)} need no swizzle: they follow each other bank by bank")
    if row_bits & (row_bits - 1) or unit_bits % element_bits:
        pad = conflict_free_pad(element_bits, columns, width_bytes)
        hint = f"--pad {pad} frees their columns; --swizzle none shows what happens without either"
        message = (
            f"no swizzle is known to serve rows of {columns} elements, {_bytes(row_bits)}: they are no power of two"
        )
        raise SwzError("SWZ526", message, hint=hint)
    base = (unit_bits // element_bits).bit_length() - 1
    bits = (min(PERIOD_BITS, row_bits) // unit_bits).bit_length() - 1
    shift = (max(PERIOD_BITS, row_bits) // unit_bits).bit_length() - 1
    why = f"for columns of {_bytes(unit_bits)} in rows of {_bytes(row_bits)}: theorem universal-mended"
    return Choice(Swizzle(bits, base, shift), why)


def conflict_free_pad(element_bits: int, columns: int, width_bytes: int) -> int:
    """The least pad, in elements, with which a row is an odd number of vectors.

    Then columns of vectors of 4 to 16 bytes have no conflicts (docs/theorems.md, `pitch-free`).

    >>> conflict_free_pad(16, 64, 16), conflict_free_pad(32, 33, 4)
    (8, 0)
    """
    unit_bits = max(WORD_BITS, 8 * width_bytes)
    pad = 0
    while (columns + pad) * element_bits % (2 * unit_bits) != unit_bits:
        pad += 1
        if pad > 2 * unit_bits:  # elements of 6 bits, say, which never fill a vector
            return 0
    return pad


def _bytes(bits: int) -> str:
    return f"{bits // 8} bytes" if bits % 8 == 0 else f"{bits} bits"
