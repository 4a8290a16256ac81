"""Random specs in which several subjects have one name, and lists that state a part of `standard`."""

from __future__ import annotations

from .random_parts import Draft, element
from .yaml_values import Yaml


def equal_names(draft: Draft) -> None:
    """Two names, each of several subjects, and claims that say which one they mean."""
    rng = draft.rng
    names = [draft.fresh("A"), draft.fresh("B")]
    sections = rng.choice((("tile", "access"), ("tile", "access", "map"), ("tile", "map"), ("access", "map")))
    in_memory = draft.chance(0.4)
    for at, name in enumerate(names):
        own = sections if at == 0 or draft.chance(0.7) else ("tile", "access", "map")
        if in_memory and "tile" in own:
            draft.memories[name] = {"bytes": 100_000, "align": rng.choice((128, 1024))}
        _add_subjects(draft, name, own, name if in_memory else None)
    _add_claims(draft, names)
    if draft.chance(0.3) and "standard" not in draft.claims:
        draft.claims.insert(rng.randrange(len(draft.claims) + 1), "standard")
    if draft.chance(0.1) and names[0] in draft.tiles and names[0] in draft.accesses:
        # Which one? The spec must say.
        draft.claim("in_bounds", names[0])


def _add_subjects(draft: Draft, name: str, sections: tuple[str, ...], place: str | None) -> None:
    rng = draft.rng
    rows, columns = rng.choice((16, 32)), 8
    if "tile" in sections:
        tile = element(draft, 16)
        tile["layout"] = rng.choice(
            (
                f"({rows},{columns}):({columns},1)",
                f"({rows},{columns}):({columns - 1},1)",
                {"shape": [rows, columns], "pad": 8},
            )
        )
        if draft.chance(0.3):
            tile["swizzle"] = rng.choice(("Swizzle<1,2,2>", "Swizzle<1,3,3>"))
        if draft.chance(0.5):
            tile["stages"] = rng.choice((2, {"count": 2, "pitch": rng.choice((128, 1024))}))
        if place:
            tile["base"] = {"in": place, "offset": rng.choice((0, 128))}
        draft.tiles[name] = tile
    if "access" in sections:
        access: dict[str, Yaml] = {"instruction": rng.choice(("ld.shared.b32", "st.shared.b16")), "threads": 32}
        if "tile" in sections and draft.chance(0.7):
            access |= {"tile": name, "coord": [f"tid%{rng.choice((16, rows))}", rng.choice(("0", "2", "tid/16*2"))]}
            if "stages" in draft.tiles[name]:  # type: ignore[operator]  # a mapping, as drawn above
                access |= {"stage": rng.choice((0, "tid%2"))} if draft.chance(0.4) else {}
        else:
            access |= {"address": rng.choice(("tid*4", "tid*8", "tid*4 + 2")), "bytes": rng.choice((128, 256))}
        draft.accesses[name] = access
    if "map" in sections:
        value = rng.choice((f"x ^ {rng.randrange(16)}", "x*3%16", "x*2%16", "15 - x", "x/2*2 + x%2"))
        draft.maps[name] = {"over": {"x": 16}, "value": [value], "onto": [16]}


def _add_claims(draft: Draft, names: list[str]) -> None:
    rng = draft.rng
    pair: list[Yaml] = [*names] if draft.chance(0.5) else [*reversed(names)]
    claims: list[Yaml] = []
    for name in names:
        tile, access = draft.tiles.get(name), draft.accesses.get(name)
        if isinstance(tile, dict):
            kinds = ["injective", "bijective", "in_bounds"] + ["disjoint"] * ("stages" in tile)
            claims += [{kind: {"tile": name}} for kind in rng.sample(kinds, 2)]
            claims.append({"contiguous": {"tile": name, "elements": rng.choice((2, 4, 8))}})
        if isinstance(access, dict):
            claims += [{kind: {"access": name}} for kind in rng.sample(["aligned", "in_bounds", "conflict_free"], 2)]
            claims.append({"wavefronts": {"access": name, "at_most": rng.choice((1, 2, 4))}})
            if access.get("tile") == name:
                covered: dict[str, Yaml] = {"access": name, "tile": name} if draft.chance(0.5) else {"access": name}
                claims.append({"covers": covered})
        if name in draft.maps:
            claims.append({"permutation": {"map": name}})
    if all(name in draft.maps for name in names):
        claims.append({"equivalent": {"maps": pair}})
    bare = [name for name in names if isinstance(a := draft.accesses.get(name), dict) and "tile" not in a]
    if len(bare) == len(names):
        claims.append({"equivalent": {"accesses": pair}})
    stages = [tile.get("stages", 1) for name in names if isinstance(tile := draft.tiles.get(name), dict)]
    if len(stages) == len(names) and draft.memories.keys().isdisjoint(names):
        claims.append({"disjoint": {"tiles": pair}})
        if stages[0] == stages[1]:
            claims.append({"equivalent": {"tiles": pair}})
    draft.claims += rng.sample(claims, min(len(claims), rng.choice((3, 4, 5))))


def standard_beside(draft: Draft) -> None:
    """A tile and accesses with `standard`, of which the list states a part itself; sometimes of one
    name.
    """
    rng = draft.rng
    name = draft.fresh("A")
    same = draft.chance(0.5)
    access = name if same else draft.fresh("X")
    _add_subjects(draft, name, ("tile", "access") if same else ("tile",), None)
    if not same:
        draft.accesses[access] = {
            "tile": name,
            "instruction": rng.choice(("ld.shared.b32", "ld.shared.b16")),
            "threads": rng.choice((32, 16, 48)),
            "coord": [rng.choice(("tid%16", "tid", "tid/2")), rng.choice(("0", "tid%4*2", "1"))],
        }
    stated = [("injective", "tile"), ("in_bounds", "tile"), ("aligned", "access"), ("conflict_free", "access")]
    drawn = draft.accesses[access]
    if isinstance(drawn, dict) and ("tile" in drawn or "bytes" in drawn):
        stated += [("in_bounds", "access")] * 2
    claims: list[Yaml] = []
    for kind, sort in rng.sample(sorted(set(stated)), rng.choice((1, 2, 3))):
        subject = name if sort == "tile" else access
        claims.append({kind: {sort: subject} if same or draft.chance(0.5) else subject})
    if draft.chance(0.4):
        claims.append({"bijective": {"tile": name}})
    claims.insert(rng.randrange(len(claims) + 1), "standard")
    if "standard" not in draft.claims:
        draft.claims += claims
