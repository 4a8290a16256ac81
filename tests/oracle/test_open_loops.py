"""Loops marked `any`, by hand: which iterations exist, what is judged in them, and what stands for
all of them.
"""

from __future__ import annotations

import pytest

from .brute_force import Judgement, OracleAmbiguousError, OracleError, judge
from .judgement import Verdict
from .one_claim import only
from .yaml_values import Spec, Yaml

# k*4294967295 stays in the range for k = 0 and 1, k*2147483647 for k = 0, 1 and 2.
TWO, THREE = "k*4294967295", "k*2147483647"
OPEN: dict[str, Yaml] = {"instruction": "ld.shared.b32", "threads": 32, "for": {"k": "any"}, "address": "tid*4"}
RING: dict[str, Yaml] = {"element": "f32", "layout": "(32,1):(1,1)", "stages": 2}
IN_RING: dict[str, Yaml] = {"instruction": "ld.shared.b32", "threads": 32, "for": {"k": "any"}, "tile": "T"}


def judged(kind: str, access: dict[str, Yaml]) -> Judgement:
    return only({"tiles": {"T": RING}, "accesses": {"X": access}, "claims": [{kind: "X"}]})


# Each with a lane that is active in the one iteration that `if:` picks, if that exists.
EXISTS: list[tuple[str, str, bool]] = [
    ("(31 - tid)*k % 32*4", "k == 3000000000", False),  # thread 0: 31*3000000000
    ("(31 - tid)*k % 32*4", "k == 138547332", True),  # 31*138547332 = 4294967292
    ("(31 - tid)*k % 32*4", "k == 138547333", False),
    ("tid*4 + k%8*128", "k == 4294967295", True),
    ("tid*4 + 0*(k + 1)", "k == 4294967294", True),
    ("tid*4 + 0*(k + 1)", "k == 4294967295", False),
    # Of threads that are not active, and with a factor of 0.
    ("tid*4 + 0*(tid*k*1000000)", "tid == 0 && k == 138", True),
    ("tid*4 + 0*(tid*k*1000000)", "tid == 0 && k == 139", False),
    ("tid*4 + 0*((tid == 17)*k*1000000)", "tid == 3 && k == 4294", True),
    ("tid*4 + 0*((tid == 17)*k*1000000)", "tid == 3 && k == 4295", False),
    # The lower end, -2^31, and values that come into the range late.
    ("tid*4 + 0*(k - 3000000000)", "k == 852516351", False),
    ("tid*4 + 0*(k - 3000000000)", "k == 852516352", True),
    ("tid*4 + 0*-k", "k == 2147483648", True),
    ("tid*4 + 0*-k", "k == 2147483649", False),
    ("tid*4 + 0*~k", "k == 2147483647", True),
    ("tid*4 + 0*~k", "k == 2147483648", False),
    ("tid*4 + 0*((tid - 31)*k)", "k == 69273666", True),  # -31*69273666 = -2147483646
    ("tid*4 + 0*((tid - 31)*k)", "k == 69273667", False),
    ("tid*4 + 0*(k << 31)", "k == 1", True),
    ("tid*4 + 0*(k << 31)", "k == 2", False),
    # What wavers about the limit.
    ("tid*4 + 0*(k*16 + k%5*9)", "k == 268435453", True),  # 4294967248 + 27
    ("tid*4 + 0*(k*16 + k%5*9)", "k == 268435454", False),  # 4294967264 + 36
    ("tid*4 + 0*(k*16 + k%5*9)", "k == 268435455", True),  # 4294967280 + 0
]


@pytest.mark.parametrize(("address", "condition", "exists"), EXISTS)
def test_which_iteration_exists(address: str, condition: str, exists: bool) -> None:
    found = judged("aligned", {**OPEN, "address": address, "if": condition})
    assert found.verdict == ("proved" if exists else "vacuous")


HIDDEN: list[dict[str, Yaml]] = [
    {"address": "tid*4 + 0*({t})"},
    {"address": "tid < 99 ? tid*4 : {t}"},
    {"address": "tid < 0 ? {t} : tid*4"},
    {"address": "tid*4 + (0 && {t})"},
    {"address": "tid*4 + (1 || {t})*4"},
    {"address": "tid*4 + min(0, {t})"},
    {"address": "tid*4 + ({t} & 0)"},
    {"address": "tid*4 + ({t})*0/7"},
    {"if": "{c} && ({t} || 1)"},
    {"if": "{c} && (tid < 99 || {t})"},
    {"assume": ["{t} >= 0"]},
    {"assume": ["1 || {t}"]},
    {"tile": "T", "coord": ["tid + 0*({t})", 0]},
    {"tile": "T", "coord": ["tid", "0*({t})"]},
    {"tile": "T", "coord": ["tid", 0], "stage": "0*({t})"},
]


@pytest.mark.parametrize("change", HIDDEN)
def test_whatever_leaves_the_range_wherever_removes_the_iteration(change: dict[str, Yaml]) -> None:
    for condition, verdict in (("k == 2", "proved"), ("k == 3", "vacuous")):

        def put(value: Yaml, condition: str = condition) -> Yaml:
            if isinstance(value, list):
                return [put(item) for item in value]
            return value.format(t=THREE, c=condition) if isinstance(value, str) else value

        access = {**OPEN, "if": condition, **{key: put(value) for key, value in change.items()}}
        if "tile" in change:
            del access["address"]
        assert judged("aligned", access).verdict == verdict


def test_an_assumption_that_wavers_about_the_limit() -> None:
    for k, verdict in ((268435453, "proved"), (268435454, "vacuous"), (268435455, "proved")):
        access = {**OPEN, "assume": ["k*16 + k%5*9 >= 0"], "if": f"k == {k}"}
        assert judged("aligned", access).verdict == verdict


def test_every_iteration_exists_without_an_open_loop() -> None:
    access: dict[str, Yaml] = {**OPEN, "for": {"k": 3}, "address": f"tid*4 + 0*({TWO})"}
    with pytest.raises(OracleError, match="leaves") as caught:
        judged("aligned", access)
    assert caught.value.code == "SWZ303"
    assert judged("aligned", {**access, "for": {"k": 2}}).verdict == "proved"
    assert judged("aligned", {**access, "for": {"k": "any"}}).verdict == "proved"
    # An open loop beside it is enough, even one that nothing reads.
    assert judged("aligned", {**access, "for": {"k": 3, "m": "any"}}).verdict == "proved"


UNDEFINED: list[tuple[str, dict[str, Yaml]]] = [
    ("SWZ305", {"address": "tid*4 + 64/(2 - k)*128 + 0*({t})"}),
    ("SWZ305", {"address": "tid*4 + 64%(2 - k)*128 + 0*({t})"}),
    ("SWZ304", {"address": "(tid*4 >> k + 30)*4 + 0*({t})"}),
    ("SWZ304", {"address": "(tid*4 >> 1 - k)*4 + 0*({t})"}),
    ("SWZ306", {"address": "tid*4 + (1 - k)*128 + 0*({t})"}),
    ("SWZ306", {"tile": "T", "coord": ["tid + (1 - k)*32", 0], "stage": "0*({t})"}),
    ("SWZ306", {"tile": "T", "coord": ["tid", 0], "stage": "k + 0*({t})"}),
    ("SWZ306", {"tile": "T", "coord": ["tid", 0], "stage": "1 - k + 0*({t})"}),
]


@pytest.mark.parametrize(("code", "change"), UNDEFINED)
def test_shifts_divisors_and_places_are_judged_where_iterations_exist(code: str, change: dict[str, Yaml]) -> None:
    """Each is defined for k = 0 and 1, and not for k = 2."""

    def access(term: str, **more: Yaml) -> dict[str, Yaml]:
        made = {**OPEN, **{key: _formatted(value, term) for key, value in change.items()}, **more}
        if "tile" in change:
            del made["address"]
        return made

    assert judged("aligned", access(TWO)).verdict == "proved"
    with pytest.raises(OracleError) as caught:
        judged("aligned", access(THREE))
    assert caught.value.code == code
    # An assumption or a predicate excuses places of lanes that do not run, and nothing else.
    for more in ({"assume": ["k < 2"]}, {"if": "k < 2"}):
        if code == "SWZ306":
            assert judged("aligned", access(THREE, **more)).verdict == "proved"
        else:
            with pytest.raises(OracleError):
                judged("aligned", access(THREE, **more))


def _formatted(value: Yaml, term: str) -> Yaml:
    if isinstance(value, list):
        return [_formatted(item, term) for item in value]
    return value.format(t=term) if isinstance(value, str) else value


def test_a_divisor_with_both_signs_in_iterations_far_apart() -> None:
    sign = "(k < 3000000000 ? 1 : -1)"
    with pytest.raises(OracleError) as caught:
        judged("aligned", {**OPEN, "address": f"tid*4 + 64/{sign}*0"})
    assert caught.value.code == "SWZ305"
    # In the iterations that exist it has one.
    assert judged("aligned", {**OPEN, "address": f"tid*4 + 64/{sign}*0 + 0*(k*2)"}).verdict == "proved"


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("tid*4 + 0*(1 << k%40)", "SWZ304"),
        ("tid*4 + 0*(tid << k%40)", "SWZ304"),
        ("tid*4 + 0*(k - 5000000000)", "SWZ303"),
    ],
)
def test_what_is_undefined_ends_no_iteration(address: str, code: str) -> None:
    with pytest.raises(OracleError) as caught:
        judged("aligned", {**OPEN, "address": address})
    assert caught.value.code == code


def test_a_shift_by_too_much_that_stays_in_the_range_is_an_error() -> None:
    for address in ("tid*4 + 0*(0 << k%40)", "tid*4 >> k", "tid*4 + 64/k"):
        with pytest.raises(OracleError):
            judged("aligned", {**OPEN, "address": address})


def test_what_neither_repeats_nor_ends_is_not_judged() -> None:
    for access in (
        {"address": "tid*4 + k*k%32*4"},
        {"for": {"k": "any", "m": "any"}, "address": "tid*4 + (k + m)%8*4"},
        {"address": "tid*4 + tid%2*k*128"},  # lanes that move apart
        {"tile": "T", "coord": ["tid + tid%2*k*32", 0]},
    ):
        whole = {**OPEN, **access}
        if "tile" in access:
            del whole["address"]
        with pytest.raises(OracleAmbiguousError, match="neither repeats"):
            judged("aligned", whole)


COSTS: list[tuple[str, int, int]] = [
    ("tid*4 + k*128", 1, 0),
    ("tid*4 + k*4", 1, 0),
    ("tid*4*(1 + k%2)", 2, 1),
    ("tid*4*(1 + (k == 4000000000))", 2, 1),
    ("tid*4*(1 + (k > 4000000000)*(k%7 == 5)*31)", 32, 31),
    ("(tid ^ (k & 7))*4", 1, 0),
    ("tid%16*4 + tid/16*128 + k*512", 2, 1),
]


@pytest.mark.parametrize(("address", "wavefronts", "conflicts"), COSTS)
def test_worst_case_of_all_iterations(address: str, wavefronts: int, conflicts: int) -> None:
    found = judged("conflict_free", {**OPEN, "address": address})
    assert (found.wavefronts, found.most_bank_conflicts) == (wavefronts, conflicts)
    assert found.verdict == ("refuted" if conflicts else "proved")


@pytest.mark.parametrize(
    ("instruction", "address", "verdict"),
    [
        # The first and the last iteration that run, 0 and 1073741000, are aligned; every other one
        # between is not.
        ("ld.shared.b32", "tid*4 + k*2", "refuted"),
        ("ld.shared.b32", "tid*4 + k*4", "proved"),
        ("ld.shared.b64", "tid*8 + k*4", "refuted"),
        ("ld.shared.v4.b32", "tid*16 + k%2*16 + k/4*8", "refuted"),
        ("ld.shared.v4.b32", "tid*16 + k%2*16 + k/4*16", "proved"),
    ],
)
def test_alignment_over_all_iterations(instruction: str, address: str, verdict: Verdict) -> None:
    access = {**OPEN, "instruction": instruction, "address": address, "if": "k <= 1073741000"}
    assert judged("aligned", access).verdict == verdict


BOUNDS: list[tuple[dict[str, Yaml], Verdict]] = [
    ({"address": "tid*4 + k*128", "bytes": 4096}, "refuted"),  # from k = 32 on
    ({"address": "tid*4 + k*128", "bytes": 4096, "assume": ["k < 32"]}, "proved"),
    ({"address": "tid*4 + k*128", "bytes": 4096, "assume": ["k <= 32"]}, "refuted"),
    ({"address": "tid*4 + k*128", "bytes": 4096, "if": "k*1000 < 32000"}, "proved"),
    ({"address": "tid*4 + k%32*128", "bytes": 4096}, "proved"),
    ({"address": "tid*4 + k%33*128", "bytes": 4096}, "refuted"),
    ({"address": "tid*4 + k*128 + 0*(k*138547332)", "bytes": 4096}, "proved"),  # k = 31 is the last
    ({"address": "tid*4 + k*128 + 0*(k*134217727)", "bytes": 4096}, "refuted"),  # k = 32 is
    ({"address": "tid*4 + (4294967295 - k)*128%4096", "bytes": 4096}, "proved"),  # only late iterations exist
    ({"address": "tid*4 + (4294967295 - k)%32*128", "bytes": 4096}, "proved"),
    ({"address": "tid*4 + (4294967295 - k)%33*128", "bytes": 4096}, "refuted"),
]


@pytest.mark.parametrize(("change", "verdict"), BOUNDS)
def test_in_bounds_over_all_iterations(change: dict[str, Yaml], verdict: Verdict) -> None:
    assert judged("in_bounds", {**OPEN, **change}).verdict == verdict


COVERS: list[tuple[dict[str, Yaml], int]] = [
    ({"if": "k == 3000000000"}, 1),
    ({"if": "k < 3"}, 3),
    ({"if": "k < 1000000"}, 1_000_000),
    ({"assume": ["k < 1000000", "k%4 == 1"]}, 250_000),
    ({"if": "k > 4294967000"}, 295),
    ({"if": f"k >= 0 + 0*({TWO})"}, 2),
    ({"for": {"k": "any", "m": "any"}, "if": f"{TWO} >= 0 && m < 3"}, 6),
    ({"for": {"k": "any", "m": "any"}, "if": f"{TWO} >= 0 && m*2147483647 >= 0"}, 6),
    ({"for": {"m": "any", "k": "any"}, "if": "m%2 == 0 && k == 7", "assume": ["m < 10"]}, 5),
    ({"for": {"k": "any", "i": 3}, "if": "k == i*1000000000"}, 3),
    ({"for": {"k": "any", "i": {"start": 1, "stop": 4}}, "if": "0*(i*k*2147483647) == 0"}, 6),  # 3 + 2 + 1
]


@pytest.mark.parametrize(("change", "times"), COVERS)
def test_covers_counts_every_iteration(change: dict[str, Yaml], times: int) -> None:
    access = {**IN_RING, "coord": ["tid", 0], **change}
    for claimed, verdict in ((times, "proved"), (times + 1, "refuted"), (times - 1, "refuted")):
        claim: Yaml = {"covers": {"access": "X", "times": claimed}}
        assert only({"tiles": {"T": RING}, "accesses": {"X": access}, "claims": [claim]}).verdict == verdict


def test_loops_of_which_one_must_be_known_first() -> None:
    """Where m ends depends on k, which moves on: costs are known, and how often a place is touched
    is not.
    """
    loops: Yaml = {"k": "any", "m": "any"}
    access = {**OPEN, "for": loops, "address": "tid*4 + k*128 + 0*(m*(k%2 + 1)*3000000000)", "bytes": 128}
    assert judged("conflict_free", access).wavefronts == 1
    assert judged("in_bounds", access).verdict == "refuted"
    spec: Spec = {"tiles": {"T": {**RING, "stages": 1, "base": 0}}, "accesses": {"X": access}}
    with pytest.raises(OracleAmbiguousError, match="moves on"):
        judge({**spec, "claims": [{"covers": {"access": "X", "tile": "T"}}]})
    # In k = 3 only m = 0 exists: 2*3000000000 is too much.
    for k, times in ((3, 1), (4, 2)):
        fixed: Yaml = {**access, "address": "tid*4 + 0*(m*(k%2 + 1)*3000000000)", "if": f"k == {k}"}
        claim: Yaml = {"covers": {"access": "X", "tile": "T", "times": times}}
        assert only({**spec, "accesses": {"X": fixed}, "claims": [claim]}).verdict == "proved"


def test_covers_of_what_moves_on_is_not_counted() -> None:
    access: Yaml = {**IN_RING, "coord": ["tid + k*32", 0]}
    with pytest.raises(OracleAmbiguousError, match="moves on"):
        judge({"tiles": {"T": RING}, "accesses": {"X": access}, "claims": [{"covers": {"access": "X"}}]})


KM: Yaml = {"k": "any", "m": "any"}
MK: Yaml = {"m": "any", "k": "any"}
EQUIVALENT: list[tuple[dict[str, Yaml], dict[str, Yaml], Verdict]] = [
    (
        {"address": "(lane + k%32*32)*4 + 0*(k*4294967295)"},
        {"address": "(lane*(k<2) + k%32*32)*4"},
        "refuted",  # only the second exists for k >= 2
    ),
    ({"address": f"tid*4 + 0*({TWO})"}, {}, "refuted"),
    ({"address": f"tid*4 + 0*({TWO})"}, {"address": f"tid*4 + 0*({THREE})"}, "refuted"),
    ({"address": f"tid*4 + 0*({TWO})", "if": "k < 2"}, {"if": "k < 2"}, "proved"),
    ({"address": f"tid*4 + 0*({TWO})", "if": "k < 3"}, {"if": "k < 3"}, "refuted"),
    ({"address": f"tid*4 + 0*({TWO})"}, {"assume": ["k <= 1"]}, "proved"),
    ({"address": f"tid*4 + 0*({TWO})"}, {"if": "k == 0 || k == 1"}, "proved"),
    ({"address": f"tid*4 + 0*({TWO})"}, {"address": "tid*4 + 0*(k*3000000000)"}, "proved"),
    # What a thread that never runs leaves the range with.
    ({"if": "tid < 8", "address": "tid*4 + 0*((tid == 31)*k*2)"}, {"if": "tid < 8"}, "refuted"),
    # Both together repeat after 6, and differ in k = 3, 4, 5 only.
    ({"address": "tid*4 + k%2*128"}, {"address": "tid*4 + k%3%2*128"}, "refuted"),
    ({"address": "tid*4 + k%2*128"}, {"address": "tid*4 + k%6%2*128"}, "proved"),
    ({"address": "tid*4 + (k < 3000000000)*4"}, {"address": "tid*4 + (k < 3000000001)*4"}, "refuted"),
    ({"address": "tid*4 + (k < 3000000000)*4"}, {"address": "tid*4 + (k <= 2999999999)*4"}, "proved"),
    ({"address": "tid*4 + k*128"}, {"address": "tid*4 + k*256"}, "refuted"),
    ({"address": "tid*4 + k*128"}, {"address": "tid*4 + k*100 + k*28"}, "proved"),
    ({"address": "tid*4 + k*128"}, {"address": "k*128 + tid*4 + (k == 4000000)*4"}, "refuted"),
    # Loops in any order, and loops that are others.
    ({"for": {"k": "any", "i": 2}, "if": "i < k"}, {"for": {"i": 2, "k": "any"}, "if": "i < k"}, "proved"),
    ({"for": {"k": "any", "i": 2}, "if": "i < k"}, {"for": {"i": 2, "k": "any"}, "if": "k != i"}, "refuted"),
    ({"for": KM, "if": "k < m%4"}, {"for": MK, "if": "k < m%4"}, "proved"),
    ({"for": KM, "if": "k < m%4"}, {"for": MK, "if": "k < m%4 || k == 9"}, "refuted"),
    ({}, {"for": {"k": "any", "m": "any"}}, "refuted"),
    ({}, {"for": {"m": "any"}}, "refuted"),
    ({"if": "k < 4"}, {"for": {"k": 4}}, "refuted"),
    # Nothing runs in either.
    ({"if": "k < 0"}, {"if": "k == 2", "address": f"tid*4 + 0*({TWO})"}, "vacuous"),
]


@pytest.mark.parametrize(("left", "right", "verdict"), EQUIVALENT)
def test_equivalent_in_open_loops(left: dict[str, Yaml], right: dict[str, Yaml], verdict: Verdict) -> None:
    for p, q in ((left, right), (right, left)):
        spec: Spec = {"accesses": {"X": {**OPEN, **p}, "Y": {**OPEN, **q}}, "claims": [{"equivalent": ["X", "Y"]}]}
        assert only(spec).verdict == verdict
