"""The statement of a certificate, read without trust from the JSON that `claim_write` makes.

What is read here is a claim that has a meaning; whether it is true is for the rest of the recheck
to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod
from typing import TypeVar

from swzrecheck.c_text import names_of, read_expression
from swzrecheck.c_value import VALUE_MAX, VALUE_MIN
from swzrecheck.claim import (
    ADDRESS_LIMIT_BYTES,
    THREAD_NAMES,
    Access,
    Base,
    Claim,
    IndexMap,
    ListedLoop,
    Loop,
    Operand,
    Placing,
    Swizzle,
    Tile,
    Unknown,
)
from swzrecheck.compiled import KernelAccess, Listing
from swzrecheck.errors import CertificateError
from swzrecheck.kernel_file import read_kernel
from swzrecheck.kinds import KINDS
from swzrecheck.listing_file import read_listing
from swzrecheck.operand_file import read_operand
from swzrecheck.reader import MAX_NUMBER, Reader, is_list, is_number
from swzrecheck.warp_rule import ALONE, MERGED, warp_rule

MAX_THREADS = 1024
MAX_LISTED = 1024
"""Values of a loop that lists them."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,4095}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,4095}")
_ROLES = ("tile", "access", "map", "listing", "kernel", "operand")
_TAKEN = THREAD_NAMES | {"stage", "base", "min", "max"}
_IN_MAPS = frozenset({"base", "stage", "min", "max"})
_IN_OPERANDS = frozenset({"base", "min", "max"})
Found = TypeVar("Found", Tile, Access, IndexMap, Listing, KernelAccess, Operand)


def read_claim(reader: Reader) -> Claim:
    """The claim in an object.

    Raises:
        CertificateError: SWZ604, with the place of what has no meaning, or is named by nothing.
    """
    kind = reader.text("kind")
    form = KINDS.get(kind)
    if form is None:
        raise reader.refuse("kind", f"one of {', '.join(KINDS)}")
    of = tuple(_reference(reader, text) for text in reader.texts("of"))
    wanted = form.roles[: len(of)]
    if not len(form.roles) - form.optional <= len(of) <= len(form.roles):
        raise reader.refuse("of", f"what {kind} is about")
    if any(role not in roles for (role, _), roles in zip(of, wanted, strict=True)):
        raise reader.refuse("of", f"what {kind} is about: {', '.join(' or '.join(roles) for roles in wanted)}")
    numbers = {name: reader.number(name, least) for name, least in form.numbers}
    for name, least in form.perhaps:
        numbers |= reader.number_if_there(name, least)
    claim = Claim(
        kind,
        of,
        numbers,
        _by_name(reader, "tiles", _tile),
        _by_name(reader, "accesses", _access),
        _by_name(reader, "maps", _map),
        _by_name(reader, "listings", read_listing) if is_about("listing", form.roles) else {},
        _by_name(reader, "kernels", read_kernel) if is_about("kernel", form.roles) else {},
        _by_name(reader, "operands", _operand) if any(role == "operand" for role, _ in of) else {},
    )
    reader.done()
    _check_named(reader, claim)
    return claim


def _reference(reader: Reader, text: str) -> tuple[str, str]:
    role, _, name = text.partition(" ")
    if role not in _ROLES or not _NAME.fullmatch(name):
        raise reader.refuse("of", f"one of {', '.join(_ROLES)} and a name")
    return role, name


def is_about(role: str, roles: Sequence[Sequence[str]]) -> bool:
    """Whether a kind of claim is about subjects of a role; only then a statement has some."""
    return any(role in each for each in roles)


def _by_name(reader: Reader, field: str, read: Callable[[Reader], Found]) -> Mapping[str, Found]:
    found: dict[str, Found] = {}
    for item in reader.readers(field):
        one = read(item)
        item.done()
        if one.name in found:
            raise reader.refuse(field, f"one of the name {one.name}")
        found[one.name] = one
    return found


def _check_named(reader: Reader, claim: Claim) -> None:
    """Check that the statement has everything that it names, and nothing else."""
    used: dict[str, set[str]] = {role: set() for role in _ROLES}
    for role, name in claim.of:
        used[role].add(name)
    used["tile"] |= {operand.tile for operand in claim.operands.values()}
    used["tile"] |= {access.tile for access in claim.accesses.values() if access.tile}
    for role, field, there in (
        ("tile", "tiles", claim.tiles),
        ("access", "accesses", claim.accesses),
        ("map", "maps", claim.maps),
        ("listing", "listings", claim.listings),
        ("kernel", "kernels", claim.kernels),
        ("operand", "operands", claim.operands),
    ):
        if used[role] != set(there):
            raise reader.refuse(field, f"what the claim names ({', '.join(sorted(used[role])) or 'nothing'})")
    for access in claim.accesses.values():
        tile = claim.tile_of(access)
        if tile is not None and len(access.coord) != len(tile.extents):
            raise reader.refuse("accesses", f"one coordinate per mode of tile {access.tile}")
        if tile is not None and tile.placing is None and 8 * warp_rule(access.instruction).width_bytes > tile.run_bits:
            raise reader.refuse("accesses", f"an instruction as wide as what lies side by side in {tile.name}")
    bases = [tile.base for tile in claim.tiles.values()] + [access.base for access in claim.accesses.values()]
    for operand in claim.operands.values():
        tile = claim.tiles[operand.tile]
        if tile.element_bits != 8 * operand.element_bytes or len(tile.extents) != 2:
            raise reader.refuse("operands", f"elements of {8 * operand.element_bytes} bits in two modes")
        if operand.stage is None and tile.stages > 1:
            raise reader.refuse("operands", "a stage of the tile")
    bases += [operand.base for operand in claim.operands.values()]
    bases += [index.base for index in claim.maps.values() if index.base is not None]
    for base in bases:
        if base.memory and any(other.memory == base.memory and other.align != base.align for other in bases):
            raise reader.refuse("tiles", f"one alignment of memory {base.memory}")


def _name(reader: Reader, field: str, form: re.Pattern[str] = _NAME) -> str:
    name = reader.text(field)
    if not form.fullmatch(name):
        raise reader.refuse(field, "a name")
    return name


def _base(reader: Reader) -> Base:
    base = Base(reader.number("start"), reader.number("align"), reader.text("memory"))
    if base.memory and not _NAME.fullmatch(base.memory):
        raise reader.refuse("memory", "a name or nothing")
    if base.align & (base.align - 1) or base.align > ADDRESS_LIMIT_BYTES:
        raise reader.refuse("align", "a power of two up to 2^24, or 0,")
    if base.align and base.start and not base.memory:
        raise reader.refuse("start", "0, where the base is any multiple of `align`,")
    reader.done()
    return base


def _tile(reader: Reader) -> Tile:
    tile = Tile(
        name=_name(reader, "name"),
        element_bits=reader.number("element_bits", 1),
        modes=_modes(reader),
        swizzle=_swizzle(reader),
        base=_base(reader.reader("base")),
        stages=reader.number("stages", 1),
        allocation=reader.number("allocation", 1),
        pitch=reader.number("pitch"),
        placing=_placing(reader),
    )
    if bool(tile.modes) == (tile.placing is not None):
        raise reader.refuse("placing", "modes, or a placing, not both,")
    if tile.placing is not None and tile.swizzle is not None:
        raise reader.refuse("swizzle", "none beside a placing")
    if tile.counts_bytes and tile.element_bits % 8:
        raise reader.refuse("placing", "one in elements, since these are no whole bytes,")
    if tile.stages == 1 and tile.pitch:
        raise reader.refuse("pitch", "0, where there is one stage,")
    if tile.swizzle is not None and tile.swizzle.on_address and tile.element_bits % 8:
        raise reader.refuse("swizzle", "none of addresses, since elements are no whole bytes,")
    return tile


def _modes(reader: Reader) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Modes of leaves, each an extent from 1 on and a stride from 0 on."""
    found: list[tuple[tuple[int, int], ...]] = []
    for mode in reader.list("modes"):
        leaves = [_leaf(leaf) for leaf in mode] if is_list(mode) else []
        kept = tuple(leaf for leaf in leaves if leaf is not None)
        if not kept or len(kept) != len(leaves):
            raise reader.refuse("modes", "a list of modes, each a list of [extent, stride],")
        found.append(kept)
    return tuple(found)


def _placing(reader: Reader) -> Placing | None:
    """An expression of the coordinate in place of modes."""
    inner = reader.maybe("placing")
    if inner is None:
        return None
    over, value, counts = _over(inner), inner.text("value"), inner.text("counts")
    constants = inner.numbers("constants")
    inner.done()
    if not over:
        raise inner.refuse("over", "at least one mode")
    if counts not in ("elements", "bytes"):
        raise inner.refuse("counts", "elements or bytes")
    names = [name for name, _ in over]
    _check_names(inner, [*names, *constants], _IN_MAPS)
    read = _check_expressions(inner, [value], frozenset(names).union(constants))
    return Placing(over, value, counts, _all_read(inner, constants, read))


def _over(reader: Reader) -> tuple[tuple[str, int], ...]:
    """A box: its variables with their extents."""
    over: list[tuple[str, int]] = []
    for item in reader.list("over"):
        if not (is_list(item) and len(item) == 2 and isinstance(item[0], str) and is_number(item[1], 1)):
            raise reader.refuse("over", "a list of [variable, extent]")
        over.append((item[0], item[1]))
    return tuple(over)


def _leaf(value: object) -> tuple[int, int] | None:
    if is_list(value) and len(value) == 2:
        extent, stride = value
        if is_number(extent, 1) and is_number(stride):
            return extent, stride
    return None


def _swizzle(reader: Reader) -> Swizzle | None:
    """A swizzle that CuTe allows: what it reads and what it changes do not overlap."""
    inner = reader.maybe("swizzle")
    if inner is None:
        return None
    on = inner.text("on")
    found = Swizzle(inner.number("bits", 1), inner.number("base"), inner.number("shift", -62), on == "address")
    inner.done()
    if on not in ("address", "offset"):
        raise reader.refuse("swizzle", "`on: offset` or `on: address`")
    if abs(found.shift) < found.bits or found.bits + found.base + abs(found.shift) > 62:
        raise reader.refuse("swizzle", "a legal swizzle that ends below bit 62")
    return found


def _access(reader: Reader) -> Access:
    access = Access(
        name=_name(reader, "name"),
        instruction=reader.text("instruction"),
        block=reader.extents("block"),
        loops=tuple(_loop(item) for item in reader.readers("loops")),
        constants=reader.numbers("constants"),
        tile=reader.text("tile"),
        coord=reader.texts("coord"),
        stage=reader.text_or_none("stage"),
        address=reader.text_or_none("address"),
        base=_base(reader.reader("base")),
        bytes=reader.number_or_none("bytes", 1),
        predicate=reader.text_or_none("if"),
        assume=reader.texts("assume"),
        unknowns=tuple(_unknown(item) for item in reader.readers("lanes")),
    )
    try:
        rule = warp_rule(access.instruction)
    except ValueError as error:
        raise CertificateError("SWZ604", f"{reader.place}.instruction: {error}") from None
    if not 1 <= len(access.block) <= 3 or prod(access.block) > MAX_THREADS:
        raise reader.refuse("block", f"one to three extents, at most {MAX_THREADS} threads together,")
    if access.instruction.endswith((ALONE, MERGED)):
        raise reader.refuse("instruction", "one as a spec names it")
    if rule.whole_warps and (access.predicate is not None or access.threads % 32):
        raise reader.refuse("instruction", "one that may run without all 32 lanes")
    if bool(access.tile) == (access.address is not None):
        raise reader.refuse("address", "a tile with coordinates, or an address, not both,")
    at_address = not access.tile and not access.coord and access.stage is None
    at_tile = access.tile and access.bytes is None and access.base == Base(0, 0)
    if not (at_address or at_tile):
        raise reader.refuse("tile", "`coord` and `stage` of a tile, or `base` and `bytes` of an address,")
    if rule.sectors and (access.tile or access.base.memory):
        raise reader.refuse("instruction", "one of shared memory, where a tile or a memory is,")
    loops = [loop.name for loop in access.loops]
    own = [each.name for each in access.unknowns]
    _check_names(reader, [*loops, *own, *access.constants], _TAKEN)
    if own and any(loop.is_unbounded for loop in access.loops):
        raise reader.refuse("lanes", "none beside a loop without a bound")
    single = (access.stage, access.address, access.predicate)
    of_threads = [*access.coord, *(text for text in single if text is not None)]
    read = _check_expressions(reader, of_threads, _threads_of(access).union(loops, own, access.constants))
    read |= _check_expressions(reader, access.assume, frozenset(loops).union(access.constants))
    _all_read(reader, dict.fromkeys(own, 0), read)
    return replace(access, constants=_all_read(reader, access.constants, read))


def _threads_of(access: Access) -> frozenset[str]:
    """The names of a thread: y and z are read only where the block says these extents."""
    missing = "xyz"[len(access.block) :]
    return frozenset(name for name in THREAD_NAMES if name[-2:-1] not in "._" or name[-1] not in missing)


def _loop(reader: Reader) -> Loop | ListedLoop:
    if "values" in reader.data:
        return _listed_loop(reader)
    stop = reader.number_or_none("stop", -MAX_NUMBER)
    loop = Loop(reader.text("name"), reader.number("start", -MAX_NUMBER), stop, reader.number("step", 1))
    reader.done()
    return loop


def _unknown(reader: Reader) -> Unknown:
    name, start, stop = reader.text("name"), reader.number("start", -MAX_NUMBER), reader.number("stop", -MAX_NUMBER)
    found = Unknown(name, start, stop, reader.number("step", 1))
    if found.count < 1:
        raise reader.refuse("stop", "a number above the start")
    reader.done()
    return found


def _listed_loop(reader: Reader) -> ListedLoop:
    stated = reader.list("values")
    values = tuple(item for item in stated if is_number(item, VALUE_MIN) and item <= VALUE_MAX)
    ascend = all(a < b for a, b in pairwise(values))
    loop = ListedLoop(reader.text("name"), values)
    if len(values) != len(stated) or not 2 <= len(values) <= MAX_LISTED or not ascend:
        raise CertificateError(
            "SWZ604", f"{reader.place}.values: two or more integers of C in ascending order are wanted"
        )
    reader.done()
    return loop


def _operand(reader: Reader) -> Operand:
    operand = read_operand(reader, _name(reader, "name"), _base, _loop)
    loops = [loop.name for loop in operand.loops]
    _check_names(reader, [*loops, *operand.constants], _IN_OPERANDS)
    texts = [operand.start, *operand.at, *(text for text in (operand.stage,) if text is not None)]
    read = _check_expressions(reader, texts, frozenset(loops).union(operand.constants))
    return replace(operand, constants=_all_read(reader, operand.constants, read))


def _map(reader: Reader) -> IndexMap:
    over = _over(reader)
    name, value = _name(reader, "name"), reader.texts("value")
    onto = reader.extents_or_none("onto")
    constants, base = reader.numbers("constants"), reader.maybe("base")
    if not over or not value:
        raise reader.refuse("over", "at least one variable, and one value,")
    names = [variable for variable, _ in over]
    _check_names(reader, [*names, *constants], _IN_MAPS)
    read = _check_expressions(reader, value, frozenset(names).union(constants, {"base"}))
    constants = _all_read(reader, constants, read)
    return IndexMap(name, over, value, onto, constants, None if base is None else _base(base))


def _check_names(reader: Reader, names: Sequence[str], taken: frozenset[str]) -> None:
    """Refuse a name that is given twice, or that has another meaning in expressions."""
    for name in names:
        if not _VARIABLE.fullmatch(name) or name in taken or names.count(name) > 1:
            raise CertificateError(
                "SWZ604", f"{reader.place}: {name!r} is no name of its own for a variable or constant"
            )


def _check_expressions(reader: Reader, texts: Sequence[str], known: frozenset[str]) -> set[str]:
    """The names that some expressions read, all of them known."""
    read: set[str] = set()
    for text in texts:
        try:
            read |= names_of(read_expression(text))
        except ValueError as error:
            raise CertificateError("SWZ604", f"{reader.place}: the expression {text[:80]!r}: {error}") from None
    unknown = sorted(read - known)
    if unknown:
        raise CertificateError("SWZ604", f"{reader.place}: nothing says what {unknown[0]!r} is")
    return read


def _all_read(reader: Reader, constants: Mapping[str, int], read: set[str]) -> Mapping[str, int]:
    """The constants; refused where no expression reads one of them: it would say nothing."""
    idle = sorted(set(constants) - read)
    if idle:
        raise CertificateError("SWZ604", f"{reader.place}.constants: no expression reads {idle[0]!r}")
    return constants
