"""The oracle's door: every claim of a spec judged by enumeration, from docs/semantics.md alone."""

from __future__ import annotations

from dataclasses import dataclass

from . import access_claims, c_expr, operands, pair_claims, phase_steps, phases, sectors, tile_claims
from .accesses import Access, read_access
from .claim_list import Claim, expand_claims, listed_claims
from .judgement import Finding, Judgement
from .lets import read_lets
from .oracle_errors import OracleAmbiguousError, OracleError
from .subjects import IndexMap, Tile, read_cases, read_map, read_memories, read_tile
from .yaml_values import Spec, as_dict, as_str

__all__ = ["Judgement", "OracleAmbiguousError", "OracleError", "expand_claims", "judge"]


@dataclass(frozen=True, slots=True)
class _World:
    """All subjects of a spec in one case."""

    constants: dict[str, int]
    tiles: dict[str, Tile]
    accesses: dict[str, Access]
    maps: dict[str, IndexMap]
    operands: dict[str, operands.Operand]
    phases: dict[str, phase_steps.Phase]


def judge(spec: Spec) -> list[Judgement]:
    """A judgement for every claim, in order, and within a claim for every case of the constants, in
    order.

    `spec` is what YAML gives. Raises OracleError for what the page calls an error (anywhere in the
    spec, in any case), OracleAmbiguousError where the page leaves the verdict open.

    >>> tile = {"element": "f32", "layout": "(2,2):(2,1)"}
    >>> [j.verdict for j in judge({"tiles": {"T": tile}, "claims": [{"bijective": "T"}]})]
    ['proved']
    """
    cases = read_cases(spec)
    worlds = [_read_world(spec, constants) for constants in cases]
    varying = [name for name, value in as_dict(spec.get("constants")).items() if isinstance(value, list)]
    judgements: list[Judgement] = []
    for claim in listed_claims(spec):
        subject = ", ".join(name for _, name in claim.subjects)
        subject_kind = ", ".join(kind for kind, _ in claim.subjects)
        for world in worlds:
            finding = _judge_claim(claim, world)
            case = tuple((name, world.constants[name]) for name in varying)
            judgements.append(
                Judgement(
                    claim.kind,
                    subject,
                    case,
                    finding.verdict,
                    finding.wavefronts,
                    finding.minimum,
                    finding.bank_conflicts,
                    finding.most_bank_conflicts,
                    finding.smallest_base_alignment,
                    subject_kind,
                    finding.slowest,
                    finding.clashing,
                )
            )
    return judgements


def _read_world(spec: Spec, constants: dict[str, int]) -> _World:
    target = as_str(spec.get("target", "sm_90"))
    memories = read_memories(spec, constants)
    lets = read_lets(spec.get("let"), constants)
    tiles = {
        name: read_tile(name, value, memories, constants, target, lets)
        for name, value in as_dict(spec.get("tiles")).items()
    }
    accesses = {
        name: read_access(name, value, tiles, memories, constants, target, lets)
        for name, value in as_dict(spec.get("accesses")).items()
    }
    maps = {name: read_map(name, value, memories, constants, lets) for name, value in as_dict(spec.get("maps")).items()}
    read = {
        name: operands.read_operand(name, value, tiles, memories, constants, target)
        for name, value in as_dict(spec.get("operands")).items()
    }
    written = as_dict(spec.get("accesses"))
    in_time = {
        name: phase_steps.read_phase(name, value, accesses, written, constants)
        for name, value in as_dict(spec.get("phases")).items()
    }
    return _World(constants, tiles, accesses, maps, read, in_time)


def _judge_claim(claim: Claim, world: _World) -> Finding:
    if {sort for sort, _ in claim.subjects} == {"operand"}:
        named = [world.operands[name] for _, name in claim.subjects]
        return _OF_OPERANDS[claim.kind](*named) if len(named) == 1 else _OF_TWO[claim.kind](*named)
    if claim.kind == "race_free":
        return phases.race_free(world.phases[claim.subjects[0][1]])
    if claim.kind == "reads_what_was_written":
        phase, read, write = (name for _, name in claim.subjects)
        lag = _number(claim, "lag", world) if "lag" in claim.numbers else None
        return phases.reads_what_was_written(world.phases[phase], read, write, lag)
    subjects = [_subject(sort, name, world) for sort, name in claim.subjects]
    match claim.kind, subjects:
        case "injective", [Tile() as tile]:
            return tile_claims.injective(tile)
        case "bijective", [Tile() as tile]:
            return tile_claims.bijective(tile)
        case "in_bounds", [Tile() as tile]:
            return tile_claims.tile_in_bounds(tile)
        case "contiguous", [Tile() as tile]:
            mode = _number(claim, "mode", world) if "mode" in claim.numbers else None
            return tile_claims.contiguous(tile, _number(claim, "elements", world), mode)
        case "disjoint", [Tile() as tile]:
            return tile_claims.stages_disjoint(tile)
        case "aligned", [Access() as access]:
            return access_claims.aligned(access)
        case "in_bounds", [Access() as access]:
            return access_claims.in_bounds(access)
        case "conflict_free", [Access() as access]:
            return access_claims.cost(access, None)
        case "wavefronts", [Access() as access]:
            exactly = "exactly" in claim.numbers
            if exactly == ("at_most" in claim.numbers):
                raise OracleError("wavefronts with two numbers, or none", "SWZ105")
            number = _number(claim, "exactly" if exactly else "at_most", world)
            return access_claims.cost(access, number, exactly=exactly)
        case "coalesced", [Access() as access]:
            bound = _number(claim, "at_most", world) if "at_most" in claim.numbers else None
            if bound is not None and bound < 1:
                raise OracleError("an access touches at least one sector", "SWZ105")
            return sectors.coalesced(access, bound)
        case "covers", [Access() as access]:
            covered = access.tile if claim.covered is None else world.tiles.get(claim.covered)
            if covered is None:
                raise OracleError(f"covers of {access.name!r} by no tile")
            times = _number(claim, "times", world) if "times" in claim.numbers else 1
            return access_claims.covers(access, covered, times)
        case "permutation", [IndexMap() as index_map]:
            return pair_claims.permutation(index_map)
        case _:
            return _judge_pair(claim.kind, subjects)


_OF_OPERANDS = {
    "aligned": operands.aligned,
    "in_bounds": operands.in_bounds,
    "delivers": operands.delivers,
    "disjoint": operands.stages_disjoint,
}
_OF_TWO = {"delivers": operands.delivers_in_one_order, "disjoint": operands.disjoint}


def _number(claim: Claim, key: str, world: _World) -> int:
    return c_expr.constant(claim.numbers[key], world.constants)


def _subject(sort: str, name: str, world: _World) -> Tile | Access | IndexMap:
    section: dict[str, Tile] | dict[str, Access] | dict[str, IndexMap]
    section = {"tile": world.tiles, "access": world.accesses, "map": world.maps}[sort]
    if name not in section:
        raise OracleError(f"no {sort} {name!r}")
    return section[name]


def _judge_pair(kind: str, subjects: list[Tile | Access | IndexMap]) -> Finding:
    match kind, subjects:
        case "disjoint", [Tile() as p, Tile() as q]:
            return pair_claims.disjoint(p, q)
        case "equivalent", [Tile() as p, Tile() as q]:
            return pair_claims.equivalent_tiles(p, q)
        case "equivalent", [Access() as p, Access() as q]:
            if p.instruction.of_global_memory != q.instruction.of_global_memory:
                raise OracleError(f"{p.name} and {q.name} go to different memories", "SWZ409")
            return pair_claims.equivalent_accesses(p, q)
        case "equivalent", [IndexMap() as p, IndexMap() as q]:
            return pair_claims.equivalent_maps(p, q)
        case "equivalent", [Tile() as tile, IndexMap() as index_map] | [
            IndexMap() as index_map,
            Tile() as tile,
        ]:
            return pair_claims.equivalent_tile_and_map(tile, index_map)
        case _:
            raise OracleError(f"{kind} of {[subject.name for subject in subjects]} is no claim")
