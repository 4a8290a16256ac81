"""What is derived from a statement is what the claim means: the brute-force oracle judges the same
specs.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from swzrecheck.claim import Claim
from swzrecheck.claim_file import read_claim
from swzrecheck.claim_write import claim_data
from swzrecheck.draft import MeaninglessError, UntrueError
from swzrecheck.encode import Part, UnwrittenError, finished, parts
from swzrecheck.kinds import goals_of
from swzrecheck.program import Builder
from swzrecheck.propose import possible_point
from swzrecheck.reader import Reader
from swzrecheck.smtlib import script
from swzrecheck.solvers import SolverAnswer, ask
from swzrecheck.statement import Statement
from swzrecheck.vacuity import conditions_of
from swzrecheck.witnesses import CHECKERS, find_witness
from swzverify.certificates.make import describe
from swzverify.claims import Bijective, Contiguous, Disjoint, Equivalent
from swzverify.errors import SwzError
from swzverify.layout import Layout, Swizzle
from swzverify.spec import SpecError, load_spec
from swzverify.spec.load import parse_spec
from swzverify.subjects import AlignedBase, FixedBase, Memory, MemoryBase, Tile
from tests.certificates.as_spec import truth
from tests.differential.comparison import as_yaml
from tests.nightly import counts, share
from tests.oracle.brute_force import OracleAmbiguousError, OracleError, judge
from tests.oracle.random_specs import lane_spec, random_spec
from tests.oracle.yaml_values import Spec

pytest.importorskip("bitwuzla")
ROOT = Path(__file__).resolve().parents[2]
SPECS = 8
FIRST_SEED = 700_000


def verdict(claim: Claim) -> str:
    """A statement judged from what is derived of it alone, by a solver; a witness may agree with it
    only.
    """
    try:
        goals = goals_of(claim)
    except UntrueError:
        return "refuted"
    except MeaninglessError:
        return "vacuous"
    if goals.exists is not None and not is_possible(goals.exists):
        return "vacuous"
    holds = True
    for asked in goals.asked:
        try:
            answers = {ask("bitwuzla", script(part), 60) for part in parts(asked.statement)}
        except UnwrittenError:
            return "unwritten"
        assert SolverAnswer.UNKNOWN not in answers
        good = answers <= {SolverAnswer.UNSAT}
        assert good or asked.what != "defined", "the front end let an undefined expression pass"
        found = find_witness(asked.statement)
        if found is not None:
            assert good, f"a {found[0]} witness of something false"
            CHECKERS[found[0]](asked.statement, json.loads(json.dumps(found[1])))
        holds = holds and good
    return "proved" if holds else "refuted"


def is_possible(statement: Statement) -> bool:
    conditions = conditions_of(statement)
    if possible_point(statement.program, conditions) is not None:
        return True
    out, program = Builder(), statement.program
    values = {p: out.var(x.name, x.number, x.width) for p, x in enumerate(program) if x.operator == "var"}
    root = out.all(out.copy(program, conditions, values))
    return ask("bitwuzla", script(Part("it is possible", finished(out, root))), 60) is SolverAnswer.SAT


def through_a_file(claim: Claim) -> Claim:
    """The statement as a certificate holds it."""
    again = read_claim(Reader(json.loads(json.dumps(claim_data(claim))), "claim"))
    assert again == claim
    return again


@pytest.mark.parametrize("first", share(range(FIRST_SEED, FIRST_SEED + 8 * SPECS, SPECS), 8))
@pytest.mark.parametrize("draw", [random_spec, lane_spec], ids=["all themes", "values of the lanes' own"])
def test_random_specs_have_the_oracles_verdicts(draw: Callable[[random.Random], Spec], first: int) -> None:
    """The oracle reads the spec by itself: what the front end reads is copied into the statement
    rightly too.
    """
    tally: Counter[str] = Counter()
    for seed in range(first, first + SPECS):
        spec = draw(random.Random(seed))
        try:
            judged = judge(spec)
            claims = parse_spec(as_yaml(spec), path="random.swz.yaml").claims
        except (OracleError, OracleAmbiguousError, SpecError):
            continue
        told: defaultdict[tuple[object, ...], list[str]] = defaultdict(list)
        for one in judged:
            told[one.kind, one.subject_kind, one.subject, one.case].append(one.verdict)
        varied = {name for name, _ in judged[0].case} if judged else set[str]()
        for claim in claims:
            stated = through_a_file(describe(claim.claim))
            # A covering is one of the access alone to the oracle.
            of = stated.of[:1] if claim.kind == "covers" else stated.of
            roles, names = (", ".join(each[side] for each in of) for side in (0, 1))
            case = tuple((name, value) for name, value in claim.case.items() if name in varied)
            alike = told[claim.kind, roles, names, case]
            wanted = alike.pop(0) if len(alike) > 1 else alike[0]
            found = verdict(stated)
            assert found in (wanted, "unwritten"), (seed, claim.id, found)
            tally[found] += 1
    assert min(tally["proved"], tally["refuted"]) > SPECS // 4, tally


@pytest.mark.parametrize("count", counts(6, 20))
def test_statements_read_as_specs_have_the_same_verdicts(count: int) -> None:
    """The other way: a statement written as a spec, as the tests of forgeries have it."""
    seen = 0
    for seed in range(FIRST_SEED, FIRST_SEED + count):
        try:
            claims = parse_spec(as_yaml(random_spec(random.Random(seed))), path="random.swz.yaml").claims
        except SpecError:
            continue
        for claim in claims:
            stated = describe(claim.claim)
            told = truth(claim_data(stated))
            seen += told in ("proved", "refuted")
            assert told == "none" or verdict(stated) in (told, "unwritten"), (seed, claim.id)
    assert seen > count


@pytest.mark.nightly
@pytest.mark.parametrize("family", ["basics", "data", "transpose", "padding", "published", "tma"])
def test_what_the_library_refutes_cannot_be_shown(family: str) -> None:
    refuted = 0
    for path in sorted((ROOT / "specs" / family).glob("*.yaml")):
        for claim in load_spec(str(path)).claims:
            if claim.expected == "refuted":
                refuted += 1
                assert verdict(describe(claim.claim)) == "refuted", claim.id
    assert refuted or family == "tma"


# --- bases and swizzles that the random specs have seldom ------------------------------------------------------------


def tile(name: str = "A", **more: object) -> Tile:
    given: dict[str, object] = {"element_bits": 16, "layout": Layout((8, 64), (64, 1)), "swizzle": Swizzle(3, 3, 3)}
    return Tile(name, **{**given, **more})  # type: ignore[arg-type]


def test_address_swizzles_count_in_elements_or_in_bytes() -> None:
    """By the strided sum under a swizzle where elements move as a whole; else by whole positions."""
    whole = tile(swizzle=Swizzle(3, 4, 3), swizzle_on="address", base=AlignedBase(128))
    odd = tile(swizzle=Swizzle(3, 4, 3), swizzle_on="address", base=FixedBase(1025))
    torn = tile(swizzle=Swizzle(1, 0, 3), swizzle_on="address", base=AlignedBase(128))
    outer = [bool(goals_of(describe(Bijective(one))).asked[0].statement.outer) for one in (whole, odd, torn)]  # type: ignore[union-attr]
    assert outer == [True, False, False]
    for one in (whole, odd, torn):
        stated = describe(Bijective(one))
        assert verdict(stated) == truth(claim_data(stated))


def test_bases_in_one_memory_and_in_two() -> None:
    smem, other = Memory("smem", 1 << 16), Memory("other", 1 << 16)
    first = tile("A", base=MemoryBase(smem, 0))
    for base, wanted in (
        (MemoryBase(smem, 1024), "proved"),
        (MemoryBase(smem, 1023), "refuted"),
        (MemoryBase(other, 1024), "refuted"),
        (FixedBase(4096), "refuted"),
    ):
        stated = through_a_file(describe(Disjoint(first, tile("B", base=base))))
        assert verdict(stated) == wanted == truth(claim_data(stated)), base


def test_equality_on_addresses_needs_the_larger_alignment() -> None:
    pointer = {"swizzle_on": "address", "swizzle": Swizzle(3, 4, 3)}
    for align, wanted in ((1024, "proved"), (512, "refuted")):
        pair = tile("A", base=AlignedBase(align)), tile("B", base=AlignedBase(128), **pointer)
        stated = through_a_file(describe(Equivalent(*pair)))
        assert verdict(stated) == wanted


def test_vectors_along_another_mode() -> None:
    assert verdict(describe(Contiguous(tile(), 8))) == "proved"
    assert verdict(describe(Contiguous(tile(), 8, mode=0))) == "refuted"
    assert verdict(describe(Contiguous(tile(swizzle=Swizzle(3, 2, 3)), 8))) == "refuted"


def test_vectors_on_addresses_are_aligned_in_bytes() -> None:
    for align, wanted in ((16, "proved"), (8, "refuted")):
        pointer = tile(swizzle=Swizzle(1, 4, 3), swizzle_on="address", base=AlignedBase(align))
        stated = describe(Contiguous(pointer, 8))
        assert verdict(stated) == wanted == truth(claim_data(stated))


def test_which_stage_covers_which_is_not_said() -> None:
    """An access that runs in the stages of one tile says nothing of those of another."""
    text = (
        "swzverify: 1\ntarget: sm_90\ntiles:\n"
        '  A: {element: f32, layout: "32:1"}\n  B: {element: f32, layout: "32:1"}\n'
        "accesses:\n  X: {tile: A, instruction: st.shared.b32, threads: 32, coord: [tid]}\n"
        "claims:\n  - covers: {access: X, tile: B}\n"
    )
    stated = describe(parse_spec(text, path="x.yaml").claims[0].claim)
    assert verdict(stated) == "proved"
    staged = {name: replace(one, stages=2, pitch=1024) for name, one in stated.tiles.items()}
    for name in "AB":
        tiles = {**stated.tiles, name: staged[name]}
        with pytest.raises(MeaninglessError, match="which stage"):
            goals_of(replace(stated, tiles=tiles))


def test_two_subjects_of_one_name_cannot_be_stated() -> None:
    with pytest.raises(SwzError, match="SWZ607"):
        describe(Equivalent(tile("A"), tile("A", swizzle=None)))
