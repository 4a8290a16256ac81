"""From the prover's subjects to the statement of a certificate: a plain copy of what was read.

This is the only part between a spec and a recheck that must be trusted; docs/certificates.md, "What a
recheck believes".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from swzrecheck import claim as st
from swzrecheck import compiled
from swzverify.claims import Claim, Delivers
from swzverify.claims.form import role_of
from swzverify.errors import SwzError
from swzverify.ir.c_formula import CFormula
from swzverify.subjects import (
    Access,
    AlignedBase,
    Base,
    FixedBase,
    IndexMap,
    Listing,
    Memory,
    MemoryBase,
    OffsetMap,
    Operand,
    Phase,
    Tile,
)
from swzverify.subjects.listed_loop import AnyLoop, ListedLoop

Stated = TypeVar("Stated", st.Tile, st.Access, st.IndexMap, compiled.Listing, st.Operand)


def describe(claim: Claim) -> st.Claim:
    """The statement of a claim.

    Raises:
        SwzError: SWZ607 for two subjects of one role and name, which a statement cannot tell apart, for
            an access that was moved, for a fragment, and for an order of K that two operands share.
    """
    tiles, accesses, maps = dict[str, st.Tile](), dict[str, st.Access](), dict[str, st.IndexMap]()
    listings, operands = dict[str, compiled.Listing](), dict[str, st.Operand]()
    if isinstance(claim, Delivers) and claim.second is not None:
        raise SwzError("SWZ607", "no certificate can state this: an order of K that two operands share")
    for subject in claim.subjects:
        if isinstance(subject, Phase):
            raise SwzError("SWZ607", f"no certificate can state this: the order of accesses in phase {subject.name}")
        if isinstance(subject, Access) and isinstance(claim, Delivers):
            raise SwzError("SWZ607", f"no certificate can state this: the fragment of access {subject.name}")
        if isinstance(subject, Access):
            _add(accesses, _access(subject))
            subject = subject.tile  # noqa: PLW2901 - its tile is part of the statement
        if isinstance(subject, Operand):
            _add(operands, _operand(subject))
            subject = subject.tile  # noqa: PLW2901 - as above
        if isinstance(subject, Listing):
            _add(listings, _listing(subject))
            continue
        if isinstance(subject, Tile):
            _add(tiles, _tile(subject))
        elif subject is not None:
            _add(maps, _map(subject))
    of = tuple((role_of(subject).value, subject.name) for subject in claim.subjects)
    return st.Claim(claim.kind, of, claim.numbers, tiles, accesses, maps, listings, operands=operands)


def _add(found: dict[str, Stated], one: Stated) -> None:
    if found.setdefault(one.name, one) != one:
        raise SwzError("SWZ607", f"no certificate can state this: two different subjects have the name {one.name!r}")


def _base(base: Base) -> st.Base:
    match base:
        case FixedBase(address_bytes=address):
            return st.Base(address, 0)
        case AlignedBase(align_bytes=align):
            return st.Base(0, align)
        case MemoryBase(memory=Memory(base_bytes=None) as memory, offset_bytes=offset):
            return st.Base(offset, memory.alignment_bytes, memory.name)
        case MemoryBase(memory=memory, offset_bytes=offset):
            return st.Base((memory.base_bytes or 0) + offset, 0, memory.name)


def _tile(tile: Tile) -> st.Tile:
    found = tile.swizzle
    on_address = tile.swizzle_on == "address"
    return st.Tile(
        name=tile.name,
        element_bits=tile.element_bits,
        modes=() if isinstance(tile.layout, OffsetMap) else tuple(mode.leaves for mode in tile.layout.modes),
        swizzle=None if found is None else st.Swizzle(found.bits, found.base, found.shift, on_address),
        base=_base(tile.base),
        stages=tile.stages,
        allocation=tile.allocation_bytes,
        pitch=tile.pitch_bytes if tile.stages > 1 else 0,
        placing=_placing(tile.layout) if isinstance(tile.layout, OffsetMap) else None,
    )


def _placing(layout: OffsetMap) -> st.Placing:
    index = layout.index
    constants = _constants(index.constants, index.value)
    return st.Placing(index.over, layout.value.text, "bytes" if layout.in_bytes else "elements", constants)


def _access(access: Access) -> st.Access:
    if access.place is not None:
        raise SwzError("SWZ607", f"no certificate can state this: access {access.name} was moved to another base")
    single = (access.stage, access.address, access.predicate)
    read = (*access.coord, *access.assume, *(each for each in single if each is not None))
    return st.Access(
        name=access.name,
        instruction=access.instruction.name,
        block=access.block,
        loops=tuple(_loop(loop) for loop in access.loops),
        constants=_constants(access.constants, read),
        tile="" if access.tile is None else access.tile.name,
        coord=tuple(each.text for each in access.coord),
        stage=None if access.stage is None else access.stage.text,
        address=None if access.address is None else access.address.text,
        base=st.Base(0, 0) if access.tile is not None else _base(access.base),
        bytes=None if access.tile is not None else access.bytes,
        predicate=None if access.predicate is None else access.predicate.text,
        assume=tuple(each.text for each in access.assume),
        unknowns=tuple(st.Unknown(each.name, each.start, each.stop, each.step) for each in access.read_unknowns),
    )


def _loop(loop: AnyLoop) -> st.Loop | st.ListedLoop:
    if isinstance(loop, ListedLoop):
        return st.ListedLoop(loop.name, loop.values)
    return st.Loop(loop.name, loop.start, loop.stop, loop.step)


def _map(index: IndexMap) -> st.IndexMap:
    constants = _constants(index.constants, index.value)
    texts = tuple(each.text for each in index.value)
    base = None if index.base is None else _base(index.base)
    return st.IndexMap(index.name, index.over, texts, index.onto, constants, base)


def _operand(operand: Operand) -> st.Operand:
    fields, stage = operand.descriptor, operand.stage
    read = (operand.start, *operand.at, *(each for each in (stage,) if each is not None))
    return st.Operand(
        name=operand.name,
        instruction=operand.instruction.name,
        role=operand.role.value,
        major=operand.major.value,
        lbo=fields.lbo_bytes,
        sbo=fields.sbo_bytes,
        swizzle=fields.swizzle.value,
        base_offset=fields.base_offset,
        start=operand.start.text,
        base=_base(operand.own_base),
        tile=operand.tile.name,
        at=tuple(each.text for each in operand.at),
        stage=None if stage is None else stage.text,
        modes=operand.modes,
        loops=tuple(_loop(loop) for loop in operand.loops),
        constants=_constants(operand.constants, read),
    )


def _listing(listing: Listing) -> compiled.Listing:
    lines = tuple(
        compiled.Line(
            work=each.work.value,
            reads=tuple((read.register, read.slot or 0, read.reuse) for read in each.reads),
            writes=each.writes,
            predicated=each.predicated,
            joined=each.joined,
            yields=each.yields,
        )
        for each in listing.instructions
    )
    return compiled.Listing(listing.name, listing.target, lines)


def _constants(constants: Mapping[str, int], read: Sequence[CFormula]) -> dict[str, int]:
    """The constants that some expression reads."""
    names = frozenset[str]().union(*(each.names for each in read))
    return {name: value for name, value in constants.items() if name in names}
