"""A certificate's statement as a spec, so that the brute-force oracle, which knows no certificate,
can judge it.
"""

from __future__ import annotations

from typing import Any

from tests.oracle import listings
from tests.oracle.brute_force import OracleAmbiguousError, OracleError, judge

SIDES = {"tile": "tiles", "access": "accesses", "map": "maps", "operand": "operands"}


def truth(claim: dict[str, Any]) -> str:
    """What the oracle says of a statement in JSON; `none` where it is no spec, or too open for the
    page to say.
    """
    if claim.get("listings"):
        return _truth_of_listing(claim)
    try:
        [judgement] = judge(spec_of(claim))
    except (OracleError, OracleAmbiguousError):
        return "none"
    return judgement.verdict


def _truth_of_listing(claim: dict[str, Any]) -> str:
    """The same of a claim on a listing, whose lines need not be those of any text."""
    [listing] = claim["listings"]
    if listing["target"] not in listings.FOUR_BANKS | listings.TWO_BANKS:
        return "none"
    steps = [
        listings.Step(
            line["class"],
            tuple((register, slot or None, bool(marked)) for register, slot, marked in line["reads"]),
            frozenset(line["writes"]),
            not line["predicated"],
            bool(line["yields"]),
            f"L{number}" if line["joined"] and number else "",
        )
        for number, line in enumerate(listing["lines"])
    ]
    found = listings.counted(steps, listing["target"] in listings.FOUR_BANKS)
    return listings.verdict_of(found, claim.get("at_most", 0))


def spec_of(claim: dict[str, Any]) -> dict[str, Any]:
    """The spec with the one claim."""
    memories: dict[str, Any] = {}
    constants: dict[str, int] = {}
    spec: dict[str, Any] = {"target": "sm_90", "memories": memories}
    spec["tiles"] = {tile["name"]: _tile(tile, memories) for tile in claim["tiles"]}
    spec["accesses"] = {access["name"]: _access(access, memories) for access in claim["accesses"]}
    spec["maps"] = {index["name"]: _map(index, memories) for index in claim["maps"]}
    spec["operands"] = {each["name"]: _operand(each, memories) for each in claim.get("operands", ())}
    for holder in (*claim["accesses"], *claim["maps"], *claim.get("operands", ())):
        for name, value in holder["constants"].items():
            if constants.setdefault(name, value) != value:
                raise OracleError("a constant with two values")
    # A name that stands for several subjects is told by its role.
    names = [text.split(" ", 1) for text in claim["of"]]
    for role, name in names:
        if name not in spec[SIDES[role]]:
            raise OracleError("nothing of that name")
    spec["constants"] = {name: [value] for name, value in constants.items()}
    spec["claims"] = [{claim["kind"]: _argument(claim, names)}]
    return spec


def _argument(claim: dict[str, Any], names: list[list[str]]) -> Any:
    roles = dict(names)
    numbers = {name: claim[name] for name in ("elements", "mode", "at_most", "times") if name in claim}
    if claim["kind"] in ("equivalent", "disjoint"):
        # A bare list, unless a name is that of several subjects.
        return [name for _, name in names]
    return {**roles, **numbers}


def _base(base: dict[str, Any], memories: dict[str, Any]) -> Any:
    if base["memory"]:
        placed: dict[str, Any] = {"bytes": 200_000}
        if base["align"]:
            placed["align"] = base["align"]
            memories[base["memory"]] = placed
            return {"in": base["memory"], "offset": base["start"]}
        return base["start"]
    return {"align": base["align"]} if base["align"] else base["start"]


def _operand(operand: dict[str, Any], memories: dict[str, Any]) -> dict[str, Any]:
    fields = {key: operand[key] for key in ("start", "lbo", "sbo", "swizzle", "base_offset")}
    reads = {key: operand[key] for key in ("tile", "at", "modes")}
    if operand["stage"] is not None:
        reads["stage"] = operand["stage"]
    return {
        **{key: operand[key] for key in ("instruction", "role", "major")},
        "for": {loop["name"]: _loop(loop) for loop in operand["loops"]},
        "descriptor": {**fields, "base": _base(operand["base"], memories)},
        "reads": reads,
    }


def _tile(tile: dict[str, Any], memories: dict[str, Any]) -> dict[str, Any]:
    sides = ["(" + ",".join(_mode(mode, side) for mode in tile["modes"]) + ")" for side in (0, 1)]
    found: dict[str, Any] = {
        "bits": tile["element_bits"],
        "layout": ":".join(sides),
        "base": _base(tile["base"], memories),
        "stages": {"count": tile["stages"], "pitch": tile["pitch"]},
        "bytes": tile["allocation"],
    }
    if tile["swizzle"] is not None:
        found["swizzle"] = dict(tile["swizzle"])
    return found


def _mode(leaves: list[list[int]], side: int) -> str:
    texts = [str(leaf[side]) for leaf in leaves]
    return texts[0] if len(texts) == 1 else f"({','.join(texts)})"


def _access(access: dict[str, Any], memories: dict[str, Any]) -> dict[str, Any]:
    loops = {loop["name"]: _loop(loop) for loop in access["loops"]}
    found: dict[str, Any] = {"instruction": access["instruction"], "block": access["block"], "for": loops}
    if access["tile"]:
        found |= {"tile": access["tile"], "coord": access["coord"]}
    else:
        found |= {"address": access["address"], "base": _base(access["base"], memories)}
    for name in ("stage", "bytes", "if"):
        if access[name] is not None:
            found[name] = access[name]
    if access["lanes"]:
        found["lanes"] = {
            each["name"]: {key: each[key] for key in ("start", "stop", "step")} for each in access["lanes"]
        }
    return {**found, "assume": access["assume"]}


def _loop(loop: dict[str, Any]) -> Any:
    if "values" in loop:
        return loop["values"]
    if loop["stop"] is None:
        return "any"
    return {"start": loop["start"], "stop": loop["stop"], "step": loop["step"]}


def _map(index: dict[str, Any], memories: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"over": dict(index["over"]), "value": index["value"]}
    if index["onto"] is not None:
        found["onto"] = index["onto"]
    if index["base"] is not None:
        found["base"] = _base(index["base"], memories)
    return found
