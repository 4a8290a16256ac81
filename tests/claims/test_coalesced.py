"""`coalesced`, case by case: each way in which a count of sectors, or what is read of a spec, could be
wrong. `tests/differential` has random specs of the same.
"""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from swzverify.claims import Coalesced, Verdict
from swzverify.claims.verdict import Outcome
from swzverify.engines.crowd import crowd
from swzverify.hardware import GLOBAL_INSTRUCTIONS, sector_cost
from swzverify.prover import Options, prove
from swzverify.spec import SpecError
from swzverify.spec.load import parse_spec
from swzverify.subjects import AlignedBase, FixedBase

ALL = Options(every_engine=True)
ROW = "{instruction: ld.global.f32, threads: 32, base: {align: 256}, address: tid*4}"


def spec(access: str, claim: str) -> str:
    return f"swzverify: 1\naccesses:\n  x: {access}\nclaims:\n  - {claim}\n"


def judged(access: str, claim: str = "coalesced: x") -> Verdict:
    """The verdict by every engine that applies: they must agree, or it is an error."""
    (found,) = parse_spec(spec(access, claim), path="a.yaml").claims
    return prove(found.claim, options=ALL)


def refusal(access: str, claim: str, more: str = "") -> tuple[str, str]:
    with pytest.raises(SpecError) as found:
        parse_spec(spec(access, claim) + more, path="a.yaml")
    (problem,) = found.value.problems
    return problem.code, problem.message


def exactly(access: str, sectors: int) -> None:
    """That the worst warp instruction touches so many sectors: one fewer is refuted."""
    most = judged(access, f"coalesced: {{access: x, at_most: {sectors}}}")
    assert most.outcome is Outcome.PROVED, most
    if sectors > 1:
        less = judged(access, f"coalesced: {{access: x, at_most: {sectors - 1}}}")
        assert less.outcome is Outcome.REFUTED, less
        assert less.sectors is not None
        assert less.sectors.sectors >= sectors if less.sectors.exact else less.sectors.sectors > sectors - 1


def of(**parts: object) -> str:
    given = {"instruction": "ld.global.f32", "threads": 32, "base": "{align: 256}", "address": "tid*4"} | parts
    return "{" + ", ".join(f"{key}: {value}" for key, value in given.items() if value is not None) + "}"


@pytest.mark.parametrize(
    ("access", "sectors", "is_least"),
    [
        (of(), 4, True),
        (of(instruction="ld.global.b8", address="tid"), 1, True),
        (of(instruction="st.global.v4.f32", address="tid*16"), 16, True),
        # lanes in one sector count once
        (of(address="0"), 1, True),
        (of(address="lane/8*32 + lane%8/2*4"), 4, True),
        (of(address="lane/2*4"), 2, True),
        (of(instruction="ld.global.v4.f32", address="lane/2*16"), 8, True),
        # lanes in any order
        (of(address="(lane*5 + 3)%32*4"), 4, True),
        (of(address="(31 - lane)*4"), 4, True),
        (of(address="(lane ^ 21)*4"), 4, True),
        # strides
        (of(address="tid*8"), 8, False),
        (of(address="tid*128"), 32, False),
        (of(instruction="st.global.v4.f32", address="tid*32"), 32, False),
        (of(instruction="st.global.v4.f32", address="tid*64"), 32, False),
        # lanes that take no part
        (of(**{"if": "lane < 16"}), 2, True),
        (of(**{"if": "lane < 17"}), 3, True),
        (of(**{"if": "lane % 2 == 0"}), 4, False),
        (of(**{"if": "lane == 5"}), 1, True),
        (of(**{"if": "lane == 5"}, address="lane*4 + (lane != 5)*4096"), 1, True),
        (of(threads=20), 3, True),
        (of(threads=40, address="warp*4096 + lane*4"), 4, True),
        (of(threads=40, address="tid/32*8 + lane*(4 + warp*28)"), 8, False),
        # one warp, one iteration, one constant breaks it
        (of(threads=96, address="tid*4 + (warp == 2)*4"), 5, False),
        (of(**{"for": "{i: 9}"}, address="tid*4 + (i == 8)*16"), 5, False),
        (of(**{"for": "{i: 9}", "assume": "['i < 8']"}, address="tid*4 + (i == 8)*16"), 4, True),
        (of(**{"for": "{i: any}"}, address="tid*4 + i*128"), 4, True),
        (of(**{"for": "{i: 40}"}, address="tid*4 + i*4"), 5, False),
        (of(**{"for": "{i: [1, 4, 6]}"}, address="tid*4*i"), 24, False),
        # walks
        (of(**{"for": "{i: 5}"}, address=None, walk="{start: tid*4, step: 128}"), 4, True),
        (of(**{"for": "{i: 5}"}, address=None, walk="{start: tid*4, step: 16}"), 5, False),
        (of(**{"for": "{i: 3}"}, address=None, walk="{start: tid*4, xor: 64}"), 4, True),
        # data
        (of(lanes="{b: 8}", address="(lane/8*8 + b)*4"), 4, True),
        (of(lanes="{b: 9}", address="(lane/8*8 + b)*4"), 5, False),
        (of(lanes="{b: 64}", address="b*4"), 8, False),
        (of(lanes="{b: {bits: 20}}", address="b*4"), 32, False),
        (of(lanes="{b: 2}", **{"if": "b == 0"}), 4, False),
        (of(lanes="{b: 2}", **{"if": "b == 0 && lane < 8"}), 1, True),
    ],
)
def test_the_worst_warp_instruction(access: str, sectors: int, is_least: bool) -> None:
    exactly(access, sectors)
    assert judged(access).outcome is (Outcome.PROVED if is_least else Outcome.REFUTED)


@pytest.mark.parametrize(
    ("base", "sectors"),
    [
        ("{align: 256}", 4),
        ("{align: 32}", 4),
        ("{align: 16}", 5),
        ("{align: 8}", 5),
        (None, 5),
        ("0", 4),
        ("4", 5),
        ("28", 5),
        ("32", 4),
        ("16777184", 4),
    ],
)
def test_where_the_array_begins(base: str | None, sectors: int) -> None:
    exactly(of(base=base), sectors)
    assert judged(of(base=base)).outcome is (Outcome.PROVED if sectors == 4 else Outcome.REFUTED)


@pytest.mark.parametrize("name", GLOBAL_INSTRUCTIONS)
def test_without_a_base_it_is_any_multiple_of_the_width(name: str) -> None:
    width = GLOBAL_INSTRUCTIONS[name].width_bytes
    access = of(instruction=name, base=None, address=f"tid*{width}")
    (found,) = parse_spec(spec(access, "aligned: x"), path="a.yaml").claims
    assert prove(found.claim, options=ALL).outcome is Outcome.PROVED
    (of_x,) = found.claim.subjects
    assert of_x.base == AlignedBase(width)  # type: ignore[union-attr]
    if name in ("ld.global.b32", "st.global.v4.b32"):
        exactly(access, width + 1)
    (said,) = parse_spec(spec(of(instruction=name, base=0, address=f"tid*{width}"), "aligned: x"), path="a.yaml").claims
    assert said.claim.subjects[0].base == FixedBase(0)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "access",
    [
        of(instruction="ld.global.v4.f32", base="{align: 4}", address="tid*16"),
        of(instruction="ld.global.v4.f32", address="tid*16 + 8"),
        of(instruction="st.global.b64", address="tid*12"),
        of(base="2"),
        of(**{"for": "{i: 8}"}, address="tid*4 + (i == 7 && lane == 31)*2"),
        of(lanes="{b: 4}", address="tid*4 + b"),
    ],
)
def test_a_misaligned_lane_refutes_every_bound(access: str) -> None:
    """Its bytes could lie in two sectors: it faults before anything is counted."""
    for claim in ("coalesced: x", "coalesced: {access: x, at_most: 31}", "coalesced: {access: x, at_most: 99}"):
        found = judged(access, claim)
        assert found.outcome is Outcome.REFUTED
        assert "faults" in found.reason
        assert found.sectors is None


def test_addresses_beyond_32_bits_do_not_wrap() -> None:
    """The largest value of an expression plus the largest base."""
    access = of(base="16777212", address="4294967168 + lane*4")
    exactly(access, 5)
    assert judged(access, "coalesced: {access: x, at_most: 4}").counterexample is not None
    found = judged(access, "coalesced: {access: x, at_most: 4}").counterexample
    assert found is not None
    first, last = (row.cells for row in (found.rows[0], found.rows[31]))
    assert first == (0, 4294967168 + 16777212, (4294967168 + 16777212) // 32)
    assert last == (31, 4294967292 + 16777212, (4294967292 + 16777212) // 32)


def test_the_table_names_each_lanes_sector() -> None:
    found = judged(of(base=4, **{"if": "lane != 1"}))
    assert found.reason == "ld.global.b32 touches 5 sectors of 32 bytes where its lanes need 4"
    table = found.counterexample
    assert table is not None
    assert table.columns == ("lane", "address", "sector")
    assert [row.cells for row in table.rows[:3]] == [(0, 4, 0), (1, None, None), (2, 12, 0)]
    assert [row.mark for row in table.rows[:9]] == ["1", "", "1", "1", "1", "1", "1", "2", "2"]
    assert table.rows[31].mark == "5"
    assert str(found.sectors) == "5 sectors (minimum 4)"


def test_nothing_to_say_is_vacuous() -> None:
    assert judged(of(**{"if": "lane > 31"})).outcome is Outcome.VACUOUS
    assert judged(of(**{"for": "{i: 0}"})).outcome is Outcome.VACUOUS


TILE = 'tiles:\n  T: {element: f32, layout: "(8,32):(32,1)"}\n'
SHARED = "{instruction: ld.shared.f32, threads: 32, address: tid*4}"


@pytest.mark.parametrize(
    ("access", "claim", "more", "said"),
    [
        (ROW, "conflict_free: x", "", "conflict_free is about accesses to shared memory"),
        (ROW, "wavefronts: {access: x, at_most: 4}", "", "wavefronts is about accesses to shared memory"),
        (ROW, "wavefronts: {access: x, exactly: 4}", "", "wavefronts is about accesses to shared memory"),
        (ROW, "covers: {access: x, tile: T}", TILE, "covers is about accesses to shared memory"),
        (SHARED, "coalesced: x", "", "coalesced is about accesses to global memory, and ld.shared.b32"),
        (SHARED, "coalesced: {access: x, at_most: 32}", "", "coalesced is about accesses to global memory"),
        (
            "{instruction: ld.global.f32, tile: T, threads: 32, coord: [0, tid]}",
            "aligned: x",
            TILE,
            "goes to global memory, and a tile is of shared memory",
        ),
        (
            "{instruction: ld.global.f32, threads: 32, base: {in: m, offset: 0}, address: tid*4}",
            "aligned: x",
            "memories:\n  m: {bytes: 4096}\n",
            "a place in a memory is of shared memory",
        ),
        (
            "{instruction: ld.global.f32, threads: 32, compiled: {file: a.ptx, line: 3}}",
            "aligned: x",
            "",
            "`compiled` reads accesses to shared memory",
        ),
    ],
)
def test_the_other_memory_is_refused(access: str, claim: str, more: str, said: str) -> None:
    code, message = refusal(access, claim, more)
    assert code == "SWZ409"
    assert said in message


def test_two_memories_are_not_compared() -> None:
    text = f"swzverify: 1\naccesses:\n  x: {ROW}\n  y: {SHARED}\nclaims:\n  - equivalent: [x, y]\n"
    with pytest.raises(SpecError, match="x goes to global memory, y to shared memory"):
        parse_spec(text, path="a.yaml")
    same = text.replace(SHARED, ROW.replace("tid*4", "(warp*32 + lane) << 2"))
    (found,) = parse_spec(same, path="a.yaml").claims
    assert prove(found.claim).outcome is Outcome.PROVED


@pytest.mark.parametrize("number", ["0", "-1", "1.5", "four"])
def test_a_bound_is_a_whole_number(number: str) -> None:
    assert refusal(ROW, f"coalesced: {{access: x, at_most: {number}}}")[0] in ("SWZ105", "SWZ301")


def test_a_claim_names_an_access() -> None:
    assert refusal(ROW, "coalesced: [x, x]")[0] == "SWZ105"
    assert refusal(ROW, "coalesced: {at_most: 4}")[0] == "SWZ104"
    assert refusal(ROW, "coalesced: y")[0] == "SWZ106"


def test_standard_says_it_of_global_memory() -> None:
    text = f"swzverify: 1\naccesses:\n  x: {ROW}\n  y: {SHARED}\nclaims: standard\n"
    found = [(claim.claim.subject, claim.kind) for claim in parse_spec(text, path="a.yaml").claims]
    assert found == [("x", "aligned"), ("x", "coalesced"), ("y", "aligned"), ("y", "conflict_free")]


def test_what_a_newer_bound_says() -> None:
    def claim(words: str) -> Coalesced:
        (found,) = parse_spec(spec(ROW, words), path="a.yaml").claims
        assert isinstance(found.claim, Coalesced)
        return found.claim

    least, four, five = (claim(f"coalesced: {w}") for w in ("x", "{access: x, at_most: 4}", "{access: x, at_most: 5}"))
    changes = {
        (before.numbers.get("at_most"), after.numbers.get("at_most")): [
            (each.before, each.after, each.direction.value) for each in before.number_changes(after)
        ]
        for before, after in product((least, four, five), repeat=2)
    }
    assert changes[4, 5] == [("4", "5", "weaker")]
    assert changes[5, 4] == [("5", "4", "stronger")]
    assert changes[None, 4] == [("the least", "4", "weaker")]
    assert changes[4, None] == [("4", "the least", "weaker")]
    assert changes[4, 4] == changes[None, None] == []


@pytest.mark.parametrize("width", [4, 16])
def test_the_most_that_lanes_can_choose_is_the_most_of_all_choices(width: int) -> None:
    row = GLOBAL_INSTRUCTIONS["ld.global.b32" if width == 4 else "ld.global.v4.b32"]
    rng = Random(width)
    for _ in range(60):
        few: list[list[int | None]] = []
        for _ in range(rng.randrange(1, 6)):
            options: list[int | None] = sorted({rng.randrange(12) * width for _ in range(rng.randrange(1, 4))})
            few.append([*options, *([None] if rng.random() < 0.4 else [])])
        lanes = [*few, *([[None]] * (32 - len(few)))]
        costs = [
            sector_cost(row, [*choice, *([None] * (32 - len(few)))])
            for choice in product(*few)
            if any(each is not None for each in choice)
        ]
        found = crowd(row, lanes)
        assert found.most_wavefronts == max(cost.sectors for cost in costs)
        assert found.most_conflicts == max(cost.sectors - cost.minimum for cost in costs)
        (choice,) = found.choices
        assert all(each in options for each, options in zip(choice, lanes, strict=True))
        assert sector_cost(row, choice).sectors == found.most_wavefronts
