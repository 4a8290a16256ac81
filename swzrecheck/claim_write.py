"""The statement of a certificate as JSON, in one way; `claim_file` reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import cast

from swzrecheck.claim import Claim, Swizzle

_KEYS = {"predicate": "if", "unknowns": "lanes", "work": "class"}
"""Keys that are not the names of their fields."""


def claim_data(claim: Claim) -> dict[str, object]:
    """The JSON of a claim."""
    return {
        "kind": claim.kind,
        "of": [f"{role} {name}" for role, name in claim.of],
        **claim.numbers,
        "tiles": _data(tuple(claim.tiles.values())),
        "accesses": _data(tuple(claim.accesses.values())),
        "maps": _data(tuple(claim.maps.values())),
        **({"listings": _data(tuple(claim.listings.values()))} if claim.listings else {}),
        **({"operands": _data(tuple(claim.operands.values()))} if claim.operands else {}),
        **({"kernels": _data(tuple(claim.kernels.values()))} if claim.kernels else {}),
    }


def _data(value: object) -> object:
    """A record as an object with the keys of its fields in their order, and so what they hold."""
    match value:
        case Swizzle(bits, base, shift, on_address):
            return {"bits": bits, "base": base, "shift": shift, "on": "address" if on_address else "offset"}
        case _ if is_dataclass(value):
            return {_KEYS.get(each.name, each.name): _data(getattr(value, each.name)) for each in fields(value)}
        case Mapping():
            return dict(cast("Mapping[object, object]", value))
        case tuple():
            return [_data(each) for each in cast("tuple[object, ...]", value)]
        case bool():
            return int(value)
        case _:
            return value
