"""The oracle's door: every claim of a spec judged by enumeration, from docs/semantics.md alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from . import access_claims, c_expr, pair_claims, tile_claims
from .accesses import Access, read_access
from .judgement import Finding, Judgement
from .oracle_errors import OracleAmbiguousError, OracleError
from .subjects import IndexMap, Tile, read_cases, read_map, read_memories, read_tile
from .yaml_values import Spec, Yaml, as_dict, as_list, as_str

__all__ = ["Judgement", "OracleAmbiguousError", "OracleError", "expand_claims", "judge"]

KINDS = (
    "injective",
    "bijective",
    "contiguous",
    "aligned",
    "in_bounds",
    "conflict_free",
    "wavefronts",
    "covers",
    "equivalent",
    "disjoint",
    "permutation",
)


@dataclass(frozen=True, slots=True)
class _World:
    """All subjects of a spec in one case."""

    constants: dict[str, int]
    tiles: dict[str, Tile]
    accesses: dict[str, Access]
    maps: dict[str, IndexMap]


def judge(spec: Spec) -> list[Judgement]:
    """A judgement for every claim, in order, and within a claim for every case of the constants, in order.

    `spec` is what YAML gives. Raises OracleError for what the page calls an error (anywhere in the spec, in
    any case), OracleAmbiguousError where the page leaves the verdict open.

    >>> tile = {"element": "f32", "layout": "(2,2):(2,1)"}
    >>> [j.verdict for j in judge({"tiles": {"T": tile}, "claims": [{"bijective": "T"}]})]
    ['proved']
    """
    cases = read_cases(spec)
    worlds = [_read_world(spec, constants) for constants in cases]
    varying = [name for name, value in as_dict(spec.get("constants")).items() if isinstance(value, list)]
    judgements: list[Judgement] = []
    for kind, argument in expand_claims(spec):
        for world in worlds:
            subject, finding = _judge_claim(kind, argument, world)
            case = tuple((name, world.constants[name]) for name in varying)
            judgements.append(
                Judgement(
                    kind,
                    subject,
                    case,
                    finding.verdict,
                    finding.wavefronts,
                    finding.minimum,
                    finding.bank_conflicts,
                    finding.most_bank_conflicts,
                    finding.smallest_base_alignment,
                )
            )
    return judgements


def expand_claims(spec: Spec) -> list[tuple[str, Yaml]]:
    """The claims as (kind, argument), with `standard` written out.

    >>> expand_claims({"tiles": {"T": {}}, "claims": "standard"})
    [('injective', 'T'), ('in_bounds', 'T')]
    """
    claims: list[tuple[str, Yaml]] = []
    for item in as_list(spec.get("claims")):
        if item == "standard":
            claims.extend(_standard(spec))
            continue
        claim = as_dict(item)
        kinds = [kind for kind in KINDS if kind in claim]
        if len(kinds) != 1:
            raise OracleError(f"{item!r} is no claim")
        claims.append((kinds[0], claim[kinds[0]]))
    return claims


def _standard(spec: Spec) -> Iterator[tuple[str, Yaml]]:
    for name in as_dict(spec.get("tiles")):
        yield "injective", name
        yield "in_bounds", name
    for name, value in as_dict(spec.get("accesses")).items():
        yield "aligned", name
        if "tile" in as_dict(value) or "bytes" in as_dict(value):
            yield "in_bounds", name
        yield "conflict_free", name


def _read_world(spec: Spec, constants: dict[str, int]) -> _World:
    target = as_str(spec.get("target", "sm_90"))
    memories = read_memories(spec, constants)
    tiles = {
        name: read_tile(name, value, memories, constants, target) for name, value in as_dict(spec.get("tiles")).items()
    }
    accesses = {
        name: read_access(name, value, tiles, memories, constants)
        for name, value in as_dict(spec.get("accesses")).items()
    }
    maps = {name: read_map(name, value, memories, constants) for name, value in as_dict(spec.get("maps")).items()}
    return _World(constants, tiles, accesses, maps)


def _judge_claim(kind: str, argument: Yaml, world: _World) -> tuple[str, Finding]:
    """The subject in words, and what is found."""
    if kind in ("equivalent", "disjoint") and isinstance(argument, list):
        names = [as_str(name) for name in argument]
        return ", ".join(names), _judge_pair(kind, names, world)
    if kind in ("contiguous", "wavefronts", "covers"):
        return _judge_with_parameters(kind, as_dict(argument), world)
    name = as_str(argument)
    return name, _judge_one(kind, name, world)


def _judge_one(kind: str, name: str, world: _World) -> Finding:
    if name in world.tiles:
        on_tile = {
            "injective": tile_claims.injective,
            "bijective": tile_claims.bijective,
            "in_bounds": tile_claims.tile_in_bounds,
            "disjoint": tile_claims.stages_disjoint,
        }
        if kind in on_tile:
            return on_tile[kind](world.tiles[name])
    if name in world.accesses:
        access = world.accesses[name]
        match kind:
            case "aligned":
                return access_claims.aligned(access)
            case "in_bounds":
                return access_claims.in_bounds(access)
            case "conflict_free":
                return access_claims.cost(access, None)
            case _:
                pass
    if kind == "permutation" and name in world.maps:
        return pair_claims.permutation(world.maps[name])
    raise OracleError(f"{kind} of {name!r} is no claim")


def _judge_with_parameters(kind: str, argument: dict[str, Yaml], world: _World) -> tuple[str, Finding]:
    if kind == "contiguous":
        tile = _tile(argument["tile"], world)
        mode = c_expr.constant(argument["mode"], world.constants) if "mode" in argument else None
        elements = c_expr.constant(argument["elements"], world.constants)
        return tile.name, tile_claims.contiguous(tile, elements, mode)
    access = world.accesses.get(as_str(argument["access"]))
    if access is None:
        raise OracleError(f"no access {argument['access']!r}")
    if kind == "wavefronts":
        return access.name, access_claims.cost(access, c_expr.constant(argument["at_most"], world.constants))
    times = c_expr.constant(argument.get("times", 1), world.constants)
    return access.name, access_claims.covers(access, _tile(argument["tile"], world), times)


def _tile(name: Yaml, world: _World) -> Tile:
    if as_str(name) not in world.tiles:
        raise OracleError(f"no tile {name!r}")
    return world.tiles[as_str(name)]


def _judge_pair(kind: str, names: list[str], world: _World) -> Finding:
    subjects: list[Tile | Access | IndexMap | None] = [
        world.tiles.get(name) or world.accesses.get(name) or world.maps.get(name) for name in names
    ]
    match kind, subjects:
        case "disjoint", [Tile() as p, Tile() as q]:
            return pair_claims.disjoint(p, q)
        case "equivalent", [Tile() as p, Tile() as q]:
            return pair_claims.equivalent_tiles(p, q)
        case "equivalent", [Access() as p, Access() as q]:
            return pair_claims.equivalent_accesses(p, q)
        case "equivalent", [IndexMap() as p, IndexMap() as q]:
            return pair_claims.equivalent_maps(p, q)
        case "equivalent", [Tile() as tile, IndexMap() as index_map] | [
            IndexMap() as index_map,
            Tile() as tile,
        ]:
            return pair_claims.equivalent_tile_and_map(tile, index_map)
        case _:
            raise OracleError(f"{kind} of {names} is no claim")
