"""A statement in words: a recheck prints exactly what it judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from swzrecheck.claim import Access, Base, Claim, IndexMap, ListedLoop, Loop, Operand, Placing, Tile
from swzrecheck.compiled import KernelAccess, Line, Listing
from swzrecheck.kinds import sentence_of
from swzrecheck.warp_rule import MERGED


def sentences(claim: Claim) -> tuple[str, ...]:
    """The claim, then each access, tile, map, listing and kernel that it is about."""
    tiles = [_tile(tile) for tile in claim.tiles.values()]
    accesses = [_access(access) for access in claim.accesses.values()]
    maps = [_map(index) for index in claim.maps.values()]
    listings = [_listing(each) for each in claim.listings.values()]
    kernels = [line for each in claim.kernels.values() for line in _kernel(each)]
    operands = [_operand(each) for each in claim.operands.values()]
    return (sentence_of(claim), *operands, *accesses, *tiles, *maps, *listings, *kernels)


def _kernel(access: KernelAccess) -> list[str]:
    """An access of a kernel: where it stands, what is open, and its program."""
    block = " x ".join(map(str, access.block))
    where = f"line {access.line} of {access.kernel}: {_plain(access.text)}"
    parts = [f"kernel {access.name}: {where}; by a block of {block} threads; costs as {access.instruction}"]
    if access.instruction.endswith(MERGED):
        parts.append("trusted: ptxas makes ATOMS.POPC.INC of this atomic, so that lanes of one word count once")
    parts += [f"given: {_plain(text)}" for text in access.given]
    for value in access.values:
        who = "each lane has its own" if value.own else "all lanes of a warp share it"
        parts.append(f"open: {value.name} is {_plain(value.words)}; {who}")
    roles = f"address: line {access.address}; lanes if line {access.guard}; for values for which line {access.facts}"
    program = "; ".join(access.program)
    return [*parts, f"{roles}, of the program {program}"]


def _listing(listing: Listing) -> str:
    lines = [f"{number}: {_line(line)}" for number, line in enumerate(listing.lines, 1)]
    return f"listing {listing.name}, for {listing.target}: {'; '.join(lines)}"


def _line(line: Line) -> str:
    reads = [
        f"R{register}{'.reuse' if marked else ''} in {f'slot {slot}' if slot else 'some slot'}"
        for register, slot, marked in line.reads
    ]
    parts = [line.work, *([f"reads {', '.join(reads)}"] if reads else [])]
    parts += [f"writes {', '.join(f'R{register}' for register in line.writes)}"] if line.writes else []
    parts += ["may not run"] if line.predicated else []
    parts += ["control may come from elsewhere"] if line.joined else []
    parts += ["another warp may follow"] if line.yields else []
    return ", ".join(parts)


def layout_text(tile: Tile) -> str:
    """The layout as CuTe writes it.

    >>> layout_text(Tile("A", 16, (((2, 1), (4, 16)), ((8, 2),)), None, Base(0, 1024), 1, 128, 1024))
    '((2,4),8):((1,16),2)'
    """
    sides = [[[str(leaf[side]) for leaf in mode] for mode in tile.modes] for side in (0, 1)]
    texts = [",".join(mode[0] if len(mode) == 1 else f"({','.join(mode)})" for mode in side) for side in sides]
    return f"({texts[0]}):({texts[1]})"


def _tile(tile: Tile) -> str:
    found = tile.swizzle
    moved = ""
    if found is not None:
        where = "byte addresses" if found.on_address else "element offsets"
        moved = f", Swizzle<{found.bits},{found.base},{found.shift}> on {where}"
    stages = "one stage" if tile.stages == 1 else f"{tile.stages} stages {tile.pitch} bytes apart, each"
    room = f"{stages} of {tile.allocation} bytes"
    at = f"{layout_text(tile)}{moved}" if tile.placing is None else _placing(tile.placing)
    elements = f"elements of {tile.element_bits} bits at {at}"
    return f"tile {tile.name}: {elements}; {room}; {_base(tile.base)}"


def _placing(placing: Placing) -> str:
    over = ", ".join(f"{name} < {extent}" for name, extent in placing.over)
    return ", ".join([f"{_plain(placing.value)} {placing.counts} for {over}", *_constants(placing.constants)])


def _base(base: Base) -> str:
    """Say in words where something begins."""
    if not base.align:
        return f"base {base.start}" + (f" in memory {base.memory}" if base.memory else "")
    multiples = f"any multiple of {base.align} below 2^24"
    return f"base: {base.start} bytes into memory {base.memory} at {multiples}" if base.memory else f"base: {multiples}"


def _access(access: Access) -> str:
    parts = [f"access {access.name}: {access.instruction} by a block of {' x '.join(map(str, access.block))} threads"]
    parts += [_loop(loop) for loop in access.loops]
    parts += [f"{x.name} from {x.start} below {x.stop} in steps of {x.step}, in each lane any" for x in access.unknowns]
    if access.tile:
        stage = "every stage" if access.stage is None else f"stage {_plain(access.stage)}"
        parts.append(f"at [{_list(access.coord)}] of tile {access.tile}, {stage}")
    else:
        size = "" if access.bytes is None else f", {access.bytes} bytes from there on"
        parts.append(f"at address {_plain(access.address or '')} from {_base(access.base)}{size}")
    if access.predicate is not None:
        parts.append(f"lanes if {_plain(access.predicate)}")
    parts += [f"assuming {_plain(text)}" for text in access.assume]
    return "; ".join([*parts, *_constants(access.constants)])


def _loop(loop: Loop | ListedLoop) -> str:
    if isinstance(loop, ListedLoop):
        return f"for {loop.name} in {', '.join(map(str, loop.values))}"
    if loop.stop is None:
        return f"for every {loop.name} >= {loop.start} in steps of {loop.step} where no thread leaves C's range"
    return f"for {loop.name} from {loop.start} below {loop.stop} in steps of {loop.step}"


def _map(index: IndexMap) -> str:
    over = ", ".join(f"{name} < {extent}" for name, extent in index.over)
    onto = "" if index.onto is None else f", onto {' x '.join(map(str, index.onto))}"
    base = [] if index.base is None else [_base(index.base)]
    values = f"map {index.name}: [{_list(index.value)}] for {over}{onto}"
    return "; ".join([values, *base, *_constants(index.constants)])


def _operand(operand: Operand) -> str:
    fields = f"LBO {operand.lbo}, SBO {operand.sbo}, swizzle {operand.swizzle}, base offset {operand.base_offset}"
    stage = "" if operand.stage is None else f", stage {_plain(operand.stage)}"
    parts = [
        f"operand {operand.name}: {operand.role} of {operand.instruction}, {operand.major}-major",
        *(_loop(loop) for loop in operand.loops),
        f"start {_plain(operand.start)} from {_base(operand.base)}, {fields}",
        f"should be [{_list(operand.at)}] on, modes {', '.join(operand.modes)}, of tile {operand.tile}{stage}",
    ]
    return "; ".join([*parts, *_constants(operand.constants)])


def _constants(constants: Mapping[str, int]) -> list[str]:
    found = ", ".join(f"{name} = {value}" for name, value in constants.items())
    return [f"with {found}"] if found else []


def _list(texts: Sequence[str]) -> str:
    return ", ".join(map(_plain, texts))


def _plain(text: str) -> str:
    """Write an expression on one line."""
    return " ".join(text.split())
