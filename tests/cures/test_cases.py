"""A change of a tile is a change in every case of the constants: a cure that breaks another case is said
so, and one that breaks none is found first.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from swzverify.apps.options.prove import Settings
from swzverify.apps.run import cures as run_cures
from swzverify.apps.run.one import run_claim
from swzverify.claims import Outcome
from swzverify.claims.cost_claim import CostClaim
from swzverify.prover import Options, prove
from swzverify.search.cures import Cure, find
from swzverify.search.cures.cure import Candidate
from swzverify.search.cures.work import Work
from swzverify.spec import Spec, SpecError, parse_spec
from tests.cures.test_cures import HEAD, SQUARE, draw
from tests.nightly import found_at
from tests.oracle import brute_force
from tests.oracle.judgement import Judgement
from tests.oracle.oracle_errors import OracleAmbiguousError, OracleError

COLUMN = "tile: A, instruction: ld.shared.b32, threads: 32, coord: ['lane', 'R ? lane : 0']"
"""A column where R is 0. Where it is 1 a diagonal, which no odd pad and no wide swizzle leaves free."""
PAIR = "tile: A, instruction: ld.shared.b32, threads: 32, coord: ['R ? lane/16 : 0', 'R ? lane%16*2 + lane/16 : lane']"
"""Where R is 1 two rows, the even banks of one and the odd ones of the other; a row where it is 0."""
COL_OR_ROW = "tile: A, instruction: ld.shared.b32, threads: 32, coord: ['R ? 0 : lane', 'R ? lane : 0']"


def spec_of(accesses: str, claims: str, tile: str = SQUARE, constants: str = "{R: [0, 1]}") -> Spec:
    text = f"{HEAD}constants: {constants}\ntiles: {{A: {tile}}}\naccesses: {{{accesses}}}\nclaims: [{claims}]\n"
    return parse_spec(text, path="a.yaml")


def cures_of(spec: Spec, index: int = 0) -> tuple[Cure, ...]:
    return run_claim(spec, spec.claims[index], Settings(jobs=1)).result.cures


def test_a_change_that_breaks_another_case_says_so() -> None:
    pad, swizzle = cures_of(spec_of(f"c: {{{COLUMN}}}", "{conflict_free: c}"))
    assert pad.change.startswith("pad 1 ")
    assert pad.also == "124 bytes more; at R = 1: conflict_free c no longer holds"
    assert swizzle.also == "at R = 1: conflict_free c no longer holds"


def test_a_change_that_breaks_no_case_is_nearer() -> None:
    """A pad of 1 takes the fewest bytes; only an even one leaves the other case as it is."""
    accesses = f"c: {{{COL_OR_ROW}}}, d: {{{PAIR}}}"
    claims = "{wavefronts: {access: c, at_most: 4}}, {conflict_free: d}"
    pad, _ = cures_of(spec_of(accesses, claims))
    assert pad.change.startswith("pad 2 ")
    assert "at R" not in pad.also
    alone, _ = cures_of(spec_of(accesses, claims, constants="{R: 0}"))
    assert alone.change.startswith("pad 1 ")


def test_what_may_be_lost_is_said_of_each_case() -> None:
    tile = '{element: f32, layout: "(32,32):(32,1)", bytes: "R ? 8192 : 4096"}'
    (pad, _) = cures_of(spec_of(f"c: {{{COL_OR_ROW}}}", "{conflict_free: c}, {bijective: A}", tile))
    assert "no longer holds: bijective A" in pad.also
    assert "at R" not in pad.also, "it does not hold there now"
    (pad, _) = cures_of(spec_of(f"c: {{{COL_OR_ROW}}}", "{conflict_free: c}, {bijective: A}"))
    assert pad.also.endswith("no longer holds: bijective A; at R = 1: no longer holds: bijective A")


def test_a_tile_that_is_another_one_in_each_case() -> None:
    """The pad is made again to the longer rows; no room is told, too."""
    tile = '{element: f32, layout: "(32,W):(W,1)"}'
    access = "c: {tile: A, instruction: ld.shared.b32, threads: 32, coord: [lane, 0]}"
    found = cures_of(spec_of(access, "{conflict_free: c}, {in_bounds: A}", tile, "{W: [32, 64]}"))
    assert [cure.also for cure in found] == ["124 bytes more", ""]
    pad, _ = cures_of(spec_of(access, "{conflict_free: c}", tile, "{W: [32, 1816]}"))
    assert pad.also.endswith("at W = 1816: A has no room")


def test_cases_of_one_statement_are_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    real = find._in_case

    def seen(case: find.OtherCase, candidate: Candidate, work: Work) -> object:
        tried.append(case.name)
        return real(case, candidate, work)

    monkeypatch.setattr(find, "_in_case", seen)
    cures_of(spec_of(f"c: {{{COLUMN}}}", "{conflict_free: c}", constants="{R: [0, 1], M: [1, 2, 3]}"))
    assert set(tried) == {"R = 1, M = 1"}


def test_many_cases_are_told_in_a_line() -> None:
    access = "c: {tile: A, instruction: ld.shared.b32, threads: 32, coord: [lane, 'R ? (lane + R)%32 : 0']}"
    pad, _ = cures_of(spec_of(access, "{conflict_free: c}", constants="{R: [0, 1, 2, 3, 4, 5]}"))
    told = pad.also.split("; ")[1:]
    assert told[:3] == [f"at R = {number}: conflict_free c no longer holds" for number in (1, 2, 3)]
    assert told[3:] == ["so too in 2 more cases"]


def test_a_budget_that_ends_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "CASE_PROOFS", 0)
    pad, _ = cures_of(spec_of(f"c: {{{COLUMN}}}", "{conflict_free: c}"))
    assert pad.also == "124 bytes more; not decided at R = 1"


# --- random specs with cases ---------------------------------------------------------------------------------------


def drawn(seed: int) -> dict[str, Any]:
    """A spec of the generator's, one of whose numbers has two values."""
    rng = random.Random(seed)
    stated = draw(seed)
    layout = re.fullmatch(r"\((\d+),(\d+)\):\(\d+,1\)", stated["tiles"]["A"]["layout"])
    assert layout is not None
    rows, columns = map(int, layout.groups())
    stated["constants"] = {"N": [0, 1]}
    if rng.random() < 0.4:
        stated["constants"] = {"N": [columns, rng.choice((columns // 2, 2 * columns, columns + 8))]}
        stated["tiles"]["A"]["layout"] = f"({rows},N):(N,1)"
    else:
        one, two = stated["accesses"]["one"], stated["accesses"]["two"]
        both = zip(one["coord"], two["coord"], strict=True)
        for access in (one, two) if rng.random() < 0.5 else (one,):
            access["coord"] = [f"N ? {b} : {a}" for a, b in both] if access is one else access["coord"]
    stated["claims"].append({"aligned": "two"})
    return stated


def with_change(stated: dict[str, Any], change: str) -> dict[str, Any]:
    """The spec as a person changes its text."""
    tile = dict(stated["tiles"]["A"])
    if found := re.match(r"pad (\d+) after every \d+ elements", change):
        rows, stride = re.fullmatch(r"\((\d+),\w+\):\((\w+),1\)", tile["layout"]).groups()  # type: ignore[union-attr]
        columns = re.fullmatch(r"\(\d+,(\w+)\):.*", tile["layout"])[1]  # type: ignore[index]
        tile["layout"] = f"({rows},{columns}):({stride}+{found[1]},1)"
    elif found := re.match(r"Swizzle<(\d+),(\d+),(-?\d+)> on (byte|element)", change):
        bits, base, shift = (int(found[number]) for number in (1, 2, 3))
        on = {"byte": "address", "element": "offset"}[found[4]]
        tile["swizzle"] = {"bits": bits, "base": base, "shift": shift, "on": on}
    else:
        tile["base"] = {"align": int(re.match(r"base at a multiple of (\d+) ", change)[1])}  # type: ignore[index]
    return {**stated, "tiles": {"A": tile}}


def is_worse(old: Judgement, new: Judgement) -> bool:
    """Whether an access takes more wavefronts or has more conflicts than it had."""
    before, after = ((each.wavefronts, each.most_bank_conflicts) for each in (old, new))
    return any(a is not None and b is not None and b > a for a, b in zip(before, after, strict=True))


def wrong_answers(seeds: range, kinds: Counter[str]) -> Iterator[str]:
    """Cures of random specs that break a case without saying so, or say so of one that they do not
    break; `kinds` counts the changes.
    """
    for seed in seeds:
        stated = drawn(seed)
        try:
            spec = parse_spec(json.dumps(stated), path="random.swz.yaml")
            before = brute_force.judge(stated)
        except (SpecError, OracleError, OracleAmbiguousError):
            continue
        for claim in spec.claims:
            if not isinstance(claim.claim, CostClaim) or prove(claim.claim).outcome is not Outcome.REFUTED:
                continue
            for cure in run_claim(spec, claim, Settings(jobs=1)).result.cures:
                try:
                    after = brute_force.judge(with_change(stated, cure.change))
                except OracleAmbiguousError:
                    continue
                except OracleError as error:
                    broken = {f"N = {n}" for n in stated["constants"]["N"] if n != claim.case["N"]}
                    if not any(f"at {name}:" in cure.also for name in broken):
                        yield f"seed {seed}: {cure.text}: {error}"
                    continue
                kinds[cure.change.split()[0].split("<")[0]] += 1
                found = re.findall(r"at N = (\d+): ([^;]*)", cure.also)
                told = {int(name) for name, _ in found}
                perhaps = {int(name) for name, words in found if words.endswith("may cost more")}
                kinds["told"] += bool(told)
                pairs = [(dict(old.case)["N"], old, new) for old, new in zip(before, after, strict=True)]
                lost = {n for n, old, new in pairs if old.verdict == "proved" and new.verdict != "proved"}
                worse = {n for n, old, new in pairs if old.verdict == "refuted" and is_worse(old, new)}
                if not (lost | worse) <= told or told - lost != perhaps:
                    yield f"seed {seed}: {cure.text}: lost {lost}, worse {worse}"


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 24), marks=pytest.mark.nightly)])
def test_the_oracle_confirms_what_is_said_of_other_cases(seeds: range) -> None:
    kinds: Counter[str] = Counter()
    assert not list(wrong_answers(seeds, kinds))
    assert kinds.keys() >= {"pad", "Swizzle", "told"}, kinds


def _own_case_only(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(run_cures, "_cases", lambda *_: {})


def _the_tile_as_it_is_here(patch: pytest.MonkeyPatch) -> None:
    """In another case only claims on the very same tile are looked at."""
    patch.setattr(Candidate, "on", lambda self, _: self)


def _costs_only_by_price(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(find, "_no_worse", lambda *_: True)


@found_at(3, 24)
@pytest.mark.parametrize("plant", [_own_case_only, _the_tile_as_it_is_here, _costs_only_by_price])
def test_a_planted_mistake_is_found(
    monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None], seeds: range
) -> None:
    plant(monkeypatch)
    assert next(wrong_answers(seeds, Counter()), "")


def test_no_options_are_lost() -> None:
    """Beside no other case the search is what it was."""
    spec = spec_of(f"c: {{{COL_OR_ROW}}}", "{conflict_free: c}", constants="{R: 0}")
    claim = spec.claims[0].claim
    assert isinstance(claim, CostClaim)
    assert [each.text for each in find.find_cures(claim, None, Options())] == [
        each.text.replace(" instead of 32;", ";").removesuffix(" instead of 32") for each in cures_of(spec)
    ]
