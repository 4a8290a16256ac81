"""The statement of a certificate as JSON, in one way; `claim_file` reads it."""

from __future__ import annotations

from swzverify.certificates.claim import Access, Base, Claim, IndexMap, Line, ListedLoop, Listing, Loop, Tile


def claim_data(claim: Claim) -> dict[str, object]:
    """The JSON of a claim."""
    return {
        "kind": claim.kind,
        "of": [f"{role} {name}" for role, name in claim.of],
        **claim.numbers,
        "tiles": [_tile_data(tile) for tile in claim.tiles.values()],
        "accesses": [_access_data(access) for access in claim.accesses.values()],
        "maps": [_map_data(index) for index in claim.maps.values()],
        **({"listings": [_listing_data(each) for each in claim.listings.values()]} if claim.listings else {}),
    }


def _listing_data(listing: Listing) -> dict[str, object]:
    return {"name": listing.name, "target": listing.target, "lines": [_line_data(line) for line in listing.lines]}


def _line_data(line: Line) -> dict[str, object]:
    return {
        "class": line.work,
        "reads": [[register, slot, int(marked)] for register, slot, marked in line.reads],
        "writes": list(line.writes),
        "predicated": int(line.predicated),
        "joined": int(line.joined),
        "yields": int(line.yields),
    }


def _base_data(base: Base) -> dict[str, object]:
    return {"start": base.start, "align": base.align, "memory": base.memory}


def _tile_data(tile: Tile) -> dict[str, object]:
    swizzle = tile.swizzle
    placing = tile.placing
    return {
        "name": tile.name,
        "element_bits": tile.element_bits,
        "modes": [[list(leaf) for leaf in mode] for mode in tile.modes],
        "swizzle": None
        if swizzle is None
        else {
            "bits": swizzle.bits,
            "base": swizzle.base,
            "shift": swizzle.shift,
            "on": "address" if swizzle.on_address else "offset",
        },
        "base": _base_data(tile.base),
        "stages": tile.stages,
        "allocation": tile.allocation,
        "pitch": tile.pitch,
        "placing": None
        if placing is None
        else {
            "over": [[name, extent] for name, extent in placing.over],
            "value": placing.value,
            "counts": placing.counts,
            "constants": dict(placing.constants),
        },
    }


def _access_data(access: Access) -> dict[str, object]:
    return {
        "name": access.name,
        "instruction": access.instruction,
        "block": list(access.block),
        "loops": [_loop_data(loop) for loop in access.loops],
        "constants": dict(access.constants),
        "tile": access.tile,
        "coord": list(access.coord),
        "stage": access.stage,
        "address": access.address,
        "base": _base_data(access.base),
        "bytes": access.bytes,
        "if": access.predicate,
        "assume": list(access.assume),
        "lanes": [{"name": x.name, "start": x.start, "stop": x.stop, "step": x.step} for x in access.unknowns],
    }


def _loop_data(loop: Loop | ListedLoop) -> dict[str, object]:
    if isinstance(loop, ListedLoop):
        return {"name": loop.name, "values": list(loop.values)}
    return {"name": loop.name, "start": loop.start, "stop": loop.stop, "step": loop.step}


def _map_data(index: IndexMap) -> dict[str, object]:
    return {
        "name": index.name,
        "over": [[name, extent] for name, extent in index.over],
        "value": list(index.value),
        "onto": None if index.onto is None else list(index.onto),
        "constants": dict(index.constants),
        "base": None if index.base is None else _base_data(index.base),
    }
