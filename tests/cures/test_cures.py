"""What would make a refuted cost hold: nothing is said that does not, and the nearest is."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from swzverify.claims import Outcome
from swzverify.claims.cost_claim import CostClaim
from swzverify.prover import Options, prove
from swzverify.search.costs import cost
from swzverify.search.cures import Cure, Surroundings, find, find_cures
from swzverify.search.cures.cure import Candidate
from swzverify.search.cures.work import Work
from swzverify.spec import Spec, SpecError, parse_spec
from swzverify.subjects import FixedBase, MemoryBase, Tile
from tests.nightly import share
from tests.oracle import brute_force
from tests.oracle.oracle_errors import OracleAmbiguousError, OracleError

HEAD = "swzverify: 1\ntarget: sm_90\n"
COLUMN = "{tile: A, instruction: ld.shared.b32, threads: 32, coord: [lane, 0]}"
ROWS = "{tile: A, instruction: ldmatrix.x4, threads: 32, coord: [lane%16, lane/16*8]}"


def spec_of(tile: str, accesses: str, claims: str, before: str = "") -> Spec:
    return parse_spec(f"{HEAD}{before}tiles: {{A: {tile}}}\naccesses: {accesses}\nclaims: {claims}\n", path="a.yaml")


def cures_of(spec: Spec, index: int = 0, options: Options | None = None) -> tuple[Cure, ...]:
    claim = spec.claims[index].claim
    assert isinstance(claim, CostClaim)
    case = spec.cases[0]
    beside = Surroundings([each.claim for each in spec.claims], tuple(case.accesses.values()), spec.tma_tiles)
    return find_cures(claim, beside, options)


def changes(*arguments: object, **more: object) -> list[str]:
    return [cure.change for cure in cures_of(spec_of(*arguments, **more))]


SQUARE = '{element: f32, layout: "(32,32):(32,1)"}'
HALFS = '{element: f16, layout: "(64,64):(64,1)"}'


def test_a_column_of_floats():
    pad, swizzle = cures_of(spec_of(SQUARE, f"{{c: {COLUMN}}}", "[conflict_free: c]"))
    assert pad.change.startswith("pad 1 after every 32 elements, layout (32,32):(33,1), pitch 33 words instead of 32")
    assert (pad.gives, pad.also) == ("1 wavefront (minimum 1)", "124 bytes more")
    assert (swizzle.change, swizzle.also) == ("Swizzle<5,0,5> on element offsets", "")


def test_a_pad_keeps_vectors_aligned():
    pad, swizzle = changes(HALFS, f"{{r: {ROWS}}}", "[conflict_free: r]")
    assert "pad 8 after every 64 elements (a multiple of 8 keeps vectors of 16 bytes aligned)" in pad
    assert "pitch 36 words instead of 32 (rows 4 banks apart)" in pad
    assert swizzle == "Swizzle<3,3,3> on element offsets"


def test_a_bound_needs_less_than_freedom():
    found = changes(SQUARE, f"{{c: {COLUMN}}}", "[wavefronts: {access: c, at_most: 4}]")
    assert "Swizzle<3,0,5> on element offsets" in found


def test_the_smallest_alignment():
    swizzle = "swizzle: {bits: 3, base: 4, shift: 3, on: address}"
    tile = f'{{element: f16, layout: "(64,64):(64,1)", {swizzle}, base: {{align: 16}}}}'
    access = "{r: {tile: A, instruction: ld.shared.b32, threads: 32, coord: [0, lane*2]}}"
    assert changes(tile, access, "[conflict_free: r]")[0] == "base at a multiple of 128 bytes instead of 16"


def test_a_bare_access_is_only_aligned():
    access = "{r: {instruction: ld.shared.b32, threads: 32, base: {align: 4}, address: lane*128}}"
    spec = parse_spec(f"{HEAD}accesses: {access}\nclaims: [conflict_free: r]\n", path="a.yaml")
    assert cures_of(spec) == ()


def test_another_access_must_not_get_worse():
    both = f"{{c: {COLUMN}, r: {{tile: A, instruction: ld.shared.v4.b32, threads: 32, coord: [lane/8, lane%8*4]}}}}"
    found = changes(SQUARE, both, "[{conflict_free: c}, {conflict_free: r}]")
    assert all("pad 1 " not in change for change in found), "rows of 33 words misalign the other one's vectors"
    assert all("Swizzle<5,0," not in change for change in found), "it would take its vectors apart"


@pytest.mark.parametrize("bound", ["32", "any"])
def test_a_diagonal_beside_a_column_forbids_a_pad_of_one(bound):
    """With rows of 33 words the diagonal has lanes 0 and 16 in one bank; it has a bank a lane now."""
    diagonal = f"{{tile: A, instruction: ld.shared.b32, threads: 32, for: {{i: {bound}}}, coord: [(lane+i)%32, lane]}}"
    spec = spec_of(SQUARE, f"{{c: {COLUMN}, d: {diagonal}}}", "[{conflict_free: c}, {conflict_free: d}]")
    assert prove(spec.claims[1].claim).outcome is Outcome.PROVED
    found = [cure.change for cure in cures_of(spec)]
    assert not any(change.startswith("pad 1 ") or change.startswith("Swizzle<5,0,5>") for change in found)


def test_vectors_that_are_claimed_stay_whole():
    alone = changes(SQUARE, f"{{c: {COLUMN}}}", "[{wavefronts: {access: c, at_most: 4}}]")
    claimed = changes(
        SQUARE, f"{{c: {COLUMN}}}", "[{wavefronts: {access: c, at_most: 4}}, {contiguous: {tile: A, elements: 4}}]"
    )
    assert "Swizzle<3,0,5> on element offsets" in alone
    assert "Swizzle<3,2,3> on element offsets" in claimed
    assert next(change for change in claimed if change.startswith("pad")).startswith("pad 4 ")


def test_what_holds_no_longer_is_said():
    pad, swizzle = cures_of(spec_of(SQUARE, f"{{c: {COLUMN}}}", "[{conflict_free: c}, {bijective: A}]"))
    assert pad.also == "124 bytes more; no longer holds: bijective A"
    assert swizzle.also == ""


def test_a_tile_that_does_not_fit_is_not_padded():
    memory = "memories: {m: {bytes: 4096, align: 128}}\n"
    tile = SQUARE.replace("}", ", base: {in: m}}")
    found = changes(tile, f"{{c: {COLUMN}}}", "[{conflict_free: c}]", memory)
    assert [change.split("<")[0] for change in found] == ["Swizzle"]


def test_a_tma_box_stays_as_it_is():
    access = "{c: {tile: A, instruction: ld.shared.b32, threads: 32, coord: [lane, 0]}}"
    assert changes("{element: f32, tma: {swizzle: none, box: [32, 32]}}", access, "[{conflict_free: c}]") == []


def test_stages_grow_together():
    tile = '{element: f32, layout: "(32,32):(32,1)", stages: {count: 3, pitch: 4096}}'
    pad, _ = cures_of(spec_of(tile, f"{{c: {COLUMN}}}", "[{conflict_free: c}, {disjoint: A}]"))
    assert "pad 1" in pad.change
    assert int(pad.also.split()[0]) >= 3 * 124


def test_what_cannot_be_enumerated_is_proved_all_the_same():
    access = COLUMN.replace("coord: [lane, 0]", "for: {i: any}, coord: [lane, i % 32]")
    assert changes(SQUARE, f"{{c: {access}}}", "[{conflict_free: c}]")[0].startswith("pad 1 ")


def test_no_proof_no_cure(monkeypatch):
    """A planted mistake: prices that find everything free of conflicts. The engines do not."""
    arguments = (SQUARE, f"{{c: {COLUMN}}}", "[{conflict_free: c}]")
    right = changes(*arguments)
    monkeypatch.setattr(Work, "price", lambda *_: None)
    assert set(changes(*arguments)) <= set(right)
    monkeypatch.setattr(Work, "proves", lambda *_: False)
    assert changes(*arguments) == []


def test_an_engine_that_knows_nothing_gives_no_cure(monkeypatch):
    real = find.Work.verdict

    def unknown(work: Work, claim):
        verdict = real(work, claim)
        object.__setattr__(verdict, "outcome", Outcome.UNKNOWN)
        return verdict

    monkeypatch.setattr(find.Work, "verdict", unknown)
    assert changes(SQUARE, f"{{c: {COLUMN}}}", "[{conflict_free: c}]") == []


def test_the_claim_itself_has_to_be_proved(monkeypatch):
    """A planted mistake: everything is proved but the claim that was refuted."""
    real = find.Work.verdict

    def undecided(work: Work, claim):
        verdict = real(work, claim)
        return replace(verdict, outcome=Outcome.UNKNOWN) if isinstance(claim, CostClaim) else verdict

    monkeypatch.setattr(find.Work, "verdict", undecided)
    assert changes(SQUARE, f"{{c: {COLUMN}}}", "[conflict_free: c]") == []


@pytest.mark.parametrize("name", ["candidates", "lanes", "proofs"])
def test_the_budget_ends_the_search(monkeypatch, name):
    monkeypatch.setattr(find.Work, "within", staticmethod(lambda options, **_: Work(options, **{name: 0})))
    assert changes(SQUARE, f"{{c: {COLUMN}}}", "[{conflict_free: c}]") == []


def tile_dict(tile: Tile) -> dict[str, object]:
    """A tile as a spec states it."""
    found: dict[str, object] = {"bits": tile.element_bits, "layout": str(tile.layout), "bytes": tile.allocation_bytes}
    if tile.swizzle is not None:
        swizzle = tile.swizzle
        found["swizzle"] = {
            "bits": swizzle.bits,
            "base": swizzle.base,
            "shift": swizzle.shift,
            "on": tile.swizzle_on,
        }
    if isinstance(tile.base, FixedBase):
        found["base"] = tile.base.address_bytes
    elif isinstance(tile.base, MemoryBase):
        found["base"] = {"in": tile.base.memory.name, "offset": tile.base.offset_bytes}
    else:
        found["base"] = {"align": tile.base.align_bytes}
    found["stages"] = {"count": tile.stages, "pitch": tile.pitch_bytes}
    return found


def draw(seed: int) -> dict[str, Any]:
    """A spec with two accesses to a tile, one of which often has conflicts."""
    rng = random.Random(seed)
    bits = rng.choice((8, 16, 32, 64))
    rows, columns = rng.choice((8, 16, 32, 64)), rng.choice((8, 16, 32, 48, 64))
    wide = rng.choice((4, 8, 16))
    names = {4: "ld.shared.b32", 8: "ld.shared.b64", 16: "ld.shared.v4.b32"}
    vector = max(1, 8 * wide // bits)
    coords = [
        [f"lane % {rows}", f"(lane / {rows} * {vector}) % {columns}"],
        [f"(lane * 2 + warp) % {rows}", "0"],
        [f"(lane / 4) % {rows}", f"(lane % 4 * {vector}) % {columns}"],
        [f"(lane * {vector} / {columns}) % {rows}", f"(lane * {vector}) % {columns}"],
        [f"(lane + k) % {rows}", f"(k * {vector}) % {columns}"],
    ]
    accesses = {
        name: {
            "tile": "A",
            "instruction": names[wide],
            "threads": rng.choice((32, 64)),
            "for": {"k": rng.choice((1, 3))},
            "coord": rng.choice(coords),
        }
        for name in ("one", "two")
    }
    tile: dict[str, Any] = {"bits": bits, "layout": f"({rows},{columns}):({columns},1)"}
    if rng.random() < 0.4:
        on = rng.choice(("offset", "address"))
        tile["swizzle"] = {"bits": rng.choice((1, 2)), "base": 4, "shift": rng.choice((2, 3)), "on": on}
    tile["base"] = {"align": rng.choice((16, 128, 1024))}
    claims = [{"conflict_free": "one"}, {"wavefronts": {"access": "two", "at_most": rng.choice((1, 2, 4, 8))}}]
    return {"swzverify": 1, "tiles": {"A": tile}, "accesses": accesses, "claims": claims}


def said(stated: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[CostClaim, Candidate]]:
    """The cures of a spec's refuted claims, as candidates."""
    try:
        spec = parse_spec(json.dumps(stated), path="random.swz.yaml")
    except SpecError:
        return
    real = find._cure
    kept: list[Candidate] = []

    def keeping(claim, beside, candidate, work, refuted):
        cure = real(claim, beside, candidate, work, refuted)
        kept.append(candidate)
        return cure

    with monkeypatch.context() as patch:
        patch.setattr(find, "_cure", keeping)
        for index, claim in enumerate(spec.claims):
            if isinstance(claim.claim, CostClaim) and prove(claim.claim).outcome is Outcome.REFUTED:
                kept.clear()
                cures_of(spec, index)
                for candidate in kept:
                    yield claim.claim, candidate


@pytest.mark.parametrize("start", share(range(40, -20, -20), 3))
def test_the_oracle_confirms_every_cure(start, monkeypatch):
    kinds: Counter[str] = Counter()
    for seed in range(start, start + 20):
        stated = draw(seed)
        try:
            before = {each.subject: each for each in brute_force.judge(stated)}
        except (OracleError, OracleAmbiguousError):
            continue
        for claim, candidate in said(stated, monkeypatch):
            tiles = {"A": tile_dict(candidate.new)}
            extra = [{"injective": "A"}, {"in_bounds": {"tile": "A"}}, {"aligned": "one"}, {"aligned": "two"}]
            try:
                found = brute_force.judge({**stated, "tiles": tiles, "claims": [*stated["claims"], *extra]})
            except OracleAmbiguousError:
                continue
            costs = {each.subject: each for each in found[:2]}
            assert costs[claim.access.name].verdict == "proved", (seed, candidate.change)
            other = "two" if claim.access.name == "one" else "one"
            assert costs[other].verdict == "proved" or costs[other].wavefronts <= before[other].wavefronts
            assert [each.verdict for each in found[2:4]] == ["proved"] * 2, (seed, candidate.change)
            kinds[candidate.change.split()[0].split("<")[0]] += 1
    assert kinds["pad"] > 2, kinds
    assert kinds["Swizzle"] > 2, kinds


def test_prices_agree_with_what_is_said():
    spec = spec_of(HALFS, f"{{r: {ROWS}}}", "[{conflict_free: r}]")
    assert cost(spec.cases[0].accesses["r"]).wavefronts == 32
    assert all(cure.gives == "4 wavefronts (minimum 4)" for cure in cures_of(spec))
