"""What claims give besides verdicts and tables: measures, alignments to try, loops of two accesses,
and refusals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from swzverify.claims import ConflictFree, Covers, Equivalent, InBounds, Outcome, Permutation, Wavefronts
from swzverify.claims.access_points import access_scope
from swzverify.claims.common_base import common_origins, open_alignment, origin_text, related
from swzverify.claims.cost_claim import cost_at, measured
from swzverify.claims.goal import Goal, Plan
from swzverify.claims.tile_points import address_span, base_values
from swzverify.claims.verdict import OF_CLAIMS, Counterexample, Row, Verdict, WarpMeasure
from swzverify.engines.obligations import Always
from swzverify.errors import SwzError
from swzverify.hardware import find_instruction, find_target
from swzverify.ir.c_parse import parse
from swzverify.ir.expr import TRUE
from swzverify.layout import Layout
from swzverify.prover import Options, prove
from swzverify.subjects import Access, AlignedBase, Base, FixedBase, IndexMap, Loop, Memory, MemoryBase, Tile
from swzverify.subjects.memory import Origin
from tests.claims.edges import claims

PROVED, REFUTED = Outcome.PROVED, Outcome.REFUTED
THREAD_NAMES = ("tid_", "threadIdx.", "blockDim.")


def bare(address: str, loops: tuple[Loop, ...] = (), instruction: str = "ld.shared.b32", **fields: object) -> Access:
    return Access(
        str(fields.pop("name", "bare")),
        find_instruction(instruction),
        find_target("sm_90"),
        (32,),
        loops,
        address=parse(address),
        **fields,  # type: ignore[arg-type]  # Access's own fields
    )


def access(name: str) -> Access:
    claim = claims()[f"conflict_free: {name}"]
    assert isinstance(claim, ConflictFree)
    return claim.access


@pytest.mark.parametrize(
    ("name", "point", "wanted"),
    [
        # two lanes per bank, b32: one group; iteration 1 of i in 0..1
        ("clash", {"warp": 1, "i": 1}, WarpMeasure(1, 1, {"warp": 1, "i": 1})),
        ("clash", {"warp": 0, "i": 1}, WarpMeasure(2, 1, {"warp": 0, "i": 1})),
        # eight lanes at 32 banks' distance: two groups of four words in one bank
        ("pile", {"warp": 1, "base": 0}, WarpMeasure(8, 2, {"warp": 1, "base": 16})),
        ("counts", {"warp": 0}, WarpMeasure(4, 1, {"warp": 0})),
        # i = 2, j = 1: misaligned; j = 0: 32 lanes of eight bytes side by side
        ("stepped", {"warp": 0, "i": 0, "j": 1}, None),
        ("stepped", {"warp": 0, "i": 0, "j": 0}, WarpMeasure(2, 2, {"warp": 0, "i": 2, "j": 0})),
    ],
)
def test_measures(name: str, point: dict[str, int], wanted: WarpMeasure | None) -> None:
    found = measured(access(name), {**point, "lane": 7})
    assert found == wanted
    if found is not None:
        assert dict(found.where) == dict(wanted.where)  # type: ignore[union-attr]


@pytest.mark.parametrize("block", [(8, 5, 3), (24, 5), (120,)])
@pytest.mark.parametrize("name", ["tid", "lane", "warp", *(f"{of}{axis}" for of in THREAD_NAMES for axis in "xyz")])
def test_lanes_read_every_name_of_a_thread(name: str, block: tuple[int, ...]) -> None:
    """Threads in their order, x fastest; the last of four warps ends with 24 lanes, and no other
    thread is there.
    """
    sizes = (*block, 1, 1)[:3]
    if name[-1] in "yz" and "xyz".index(name[-1]) >= len(block):
        with pytest.raises(SwzError, match="SWZ307"):
            replace(bare("tid", instruction="ld.shared.b8"), block=block, address=parse(name))
        return
    threads = [(x, y, z) for z in range(sizes[2]) for y in range(sizes[1]) for x in range(sizes[0])]
    read = replace(bare("tid", instruction="ld.shared.b8"), block=block, address=parse(name))
    for warp in range(4):
        records = read.lanes_at({"warp": warp})
        assert [record.lane for record in records] == list(range(32))
        found = [record.address_bytes for record in records]
        assert found[24:] == [None] * 8 if warp == 3 else None not in found
        for lane, address in enumerate(found[: 24 if warp == 3 else 32]):
            tid = 32 * warp + lane
            own = {"tid": tid, "lane": lane, "warp": warp}
            for index, axis in enumerate("xyz"):
                own |= {f"tid_{axis}": threads[tid][index], f"threadIdx.{axis}": threads[tid][index]}
                own[f"blockDim.{axis}"] = sizes[index]
            assert address == own[name]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_lanes_whose_addresses_do_not_count_have_none(count: int) -> None:
    rows = bare("lane*16", instruction=f"ldmatrix.x{count}").lanes_at({"warp": 0})
    assert [row.address_bytes for row in rows] == [16 * at if at < 8 * count else None for at in range(32)]


def test_a_point_that_leaves_out_a_variable_has_it_at_0() -> None:
    where = (parse("warp"), parse("lane % 8"))
    read = replace(
        bare("lane", instruction="ld.shared.b16"),
        block=(64,),
        address=None,
        tile=tile(FixedBase(0), stages=2),
        coord=where,
    )
    assert [node.name for node in read.free] == ["warp", "stage"]
    assert read.lanes_at({}) == read.lanes_at({"warp": 0, "stage": 0})
    others = [read.lanes_at(point) for point in ({}, {"warp": 1}, {"stage": 1}, {"warp": 1, "stage": 1})]
    assert [lanes[3].address_bytes for lanes in others] == [6, 22, 70, 86]


def test_measure_of_a_copy_of_16_bytes() -> None:
    claim = claims()["wavefronts: {access: copies, at_most: 32}"]
    assert isinstance(claim, Wavefronts)
    found = measured(claim.access, {"warp": 0, "base": 3})
    assert found == WarpMeasure(32, 4, {"warp": 0, "base": 48})


def test_nothing_is_measured_where_no_lane_is_on() -> None:
    nobody = bare("tid*4", predicate=parse("tid > 40"))
    assert cost_at(nobody, {"warp": 0}) is None
    assert measured(nobody, {"warp": 0}) is None


def tile(base: Base, name: str = "T", **fields: int) -> Tile:
    return Tile(name, 16, Layout((4, 8), (8, 1)), base=base, **fields)


SMEM, OTHER, ROM = Memory("smem", 4096, 64), Memory("other", 4096, 64), Memory("rom", 4096, None, 256)


@pytest.mark.parametrize(
    ("first", "other", "known"),
    [
        (FixedBase(0), FixedBase(64), True),
        (FixedBase(0), MemoryBase(ROM, 32), True),
        (MemoryBase(SMEM, 0), MemoryBase(SMEM, 64), True),
        (MemoryBase(SMEM, 0), MemoryBase(OTHER, 0), False),
        (FixedBase(0), AlignedBase(64), False),
        (AlignedBase(64), AlignedBase(64), False),
        (MemoryBase(SMEM, 0), AlignedBase(64), False),
        (MemoryBase(SMEM, 0), FixedBase(0), False),
    ],
)
def test_related(first: Base, other: Base, known: bool) -> None:
    assert related(first, other) is known
    assert related(other, first) is known


@pytest.mark.parametrize(
    ("first", "other", "align", "places", "text", "open_align"),
    [
        (FixedBase(8), FixedBase(64), 32, ((8, 1, 1), (64, 1, 1)), "base 8", None),
        (FixedBase(8), MemoryBase(ROM, 32), 1, ((8, 1, 1), (288, 1, 1)), "base 8", None),
        (
            AlignedBase(64),
            AlignedBase(128),
            1,
            ((0, 128, 1 << 17), (0, 128, 1 << 17)),
            "any common base that is a multiple of 128",
            128,
        ),
        (
            AlignedBase(64),
            AlignedBase(32),
            4096,
            ((0, 4096, 1 << 12), (0, 4096, 1 << 12)),
            "any common base that is a multiple of 4096",
            64,
        ),
        (
            MemoryBase(SMEM, 16),
            MemoryBase(SMEM, 96),
            256,
            ((16, 256, 1 << 16), (96, 256, 1 << 16)),
            "any common base that is a multiple of 256 plus 16",
            64,
        ),
    ],
)
def test_common_origins(
    first: Base,
    other: Base,
    align: int,
    places: tuple[tuple[int, int, int], tuple[int, int, int]],
    text: str,
    open_align: int | None,
) -> None:
    found = common_origins(first, other, align)
    assert found == tuple(Origin(*place) for place in places)
    assert origin_text(found[0]) == text
    assert open_alignment(first, other) == open_align


@pytest.mark.parametrize(
    ("count", "unit", "period", "wanted"), [(9, 4, 64, 9), (99, 4, 64, 16), (99, 64, 16, 1), (99, 6, 4, 2)]
)
def test_base_values(count: int, unit: int, period: int, wanted: int) -> None:
    """The fewest first values that reach every residue that any value reaches."""
    assert base_values(Origin(0, unit, count), period) == wanted
    reached = {i * unit % period for i in range(wanted)}
    assert reached == {i * unit % period for i in range(count)}
    assert wanted == 1 or reached != {i * unit % period for i in range(wanted - 1)}


def test_address_span() -> None:
    assert address_span(None) == 1
    assert address_span(tile(AlignedBase(64))) == 1
    spans = {}
    for name in ("torn", "ring", "cute", "pinned"):
        claim = claims()[f"injective: {name}"] if name != "cute" else claims()["bijective: cute"]
        spans[name] = address_span(claim.tile)  # type: ignore[union-attr]
    assert spans == {"torn": 512, "ring": 512, "cute": 1, "pinned": 128}


# --- equivalent: loops, alignments ---

TWO, THREE = Loop("i", 0, 2), Loop("j", 0, 3)


def test_loops_in_another_order_are_the_same_loops() -> None:
    first = bare("tid*4 + i*128 + j*256", (TWO, THREE))
    turned = bare("tid*4 + i*128 + j*256", (THREE, TWO), name="turned")
    late = bare("tid*4 + i*128 + j*256 + (j == 2)*4", (THREE, TWO), name="late")
    assert prove(Equivalent(first, turned)).outcome is PROVED
    verdict = prove(Equivalent(first, late))
    assert verdict.outcome is REFUTED
    assert verdict.counterexample is not None
    assert verdict.counterexample.binding["j"] == 2


@pytest.mark.parametrize("addresses", [("tid*4 + i*4", "tid*4 + i*8"), ("tid*4 + i*8", "tid*4 + i*4")])
def test_unbounded_loops_run_while_both_are_defined(addresses: tuple[str, str]) -> None:
    """They part at the second value; and they range over every iteration that either of them has."""
    loop = Loop("i", 8, None, 4)
    first, other = (bare(address, (loop,), name=address) for address in addresses)
    verdict = prove(Equivalent(first, other))
    assert verdict.outcome is REFUTED
    assert verdict.counterexample is not None
    assert verdict.counterexample.binding["i"] % 4 == 0
    for goal in Equivalent(first, other).plan().goals:
        (node,) = [node for node in goal.obligation.domain.variables if node.name == "i"]  # type: ignore[union-attr]
        # 8 + 4 * (limit - 1) is the last value of i for which tid*4 + i*4 stays below 2^32 in every
        # thread
        assert node.limit == ((1 << 32) - 1 - 31 * 4) // 4 // 4 - 2 + 1


def test_alignments_to_try() -> None:
    same = Tile("same", 16, Layout((4, 8), (8, 1)), base=AlignedBase(64))
    assert Equivalent(same, tile(AlignedBase(256))).alignments() == tuple(1 << log for log in range(9, 21))
    assert Equivalent(same, same).alignments()[0] == 128
    assert Equivalent(tile(FixedBase(0)), tile(FixedBase(64))).alignments() == ()
    assert Equivalent(tile(AlignedBase(1 << 20)), same).alignments() == ()
    assert Equivalent(tile(AlignedBase(1 << 19)), same).alignments() == (1 << 20,)
    assert Equivalent(same, Tile("long", 16, Layout((8, 8), (8, 1)))).alignments() == ()
    still = IndexMap("still", (("x", 4),), (parse("x"),))
    moving = IndexMap("moving", (("x", 4),), (parse("x + base"),))
    assert Equivalent(still, still).alignments() == ()
    assert Equivalent(still, moving).alignments() == tuple(1 << log for log in range(1, 21))
    assert Equivalent(moving, moving).scope() == "every point of moving, any common base that is a multiple of 1"
    assert Equivalent(still, still).scope() == "every point of still"
    assert Equivalent(moving, still).scope() == "every point of moving, any common base that is a multiple of 1"


@pytest.mark.parametrize("swap", [False, True])
def test_smallest_alignment_is_named(swap: bool) -> None:
    """`(a + a / 64 % 4 * 16)` is `a` where the common base is a multiple of 256 and the tile within
    64 bytes.
    """
    flat = tile(AlignedBase(64), "flat")
    bent = IndexMap("bent", (("r", 4), ("c", 8)), (parse("base + r*16 + c*2 + base / 64 % 4 * 16"),))
    verdict = prove(Equivalent(bent, flat) if swap else Equivalent(flat, bent))
    assert verdict.outcome is REFUTED
    assert verdict.reason == "they are equal for every base that is a multiple of 256, and for no smaller power of two"


def test_bounds_that_nobody_says() -> None:
    """A bare access that does not say how many bytes it may touch has no bounds to be in; none at
    all are bounds.
    """
    with pytest.raises(SwzError, match="access bare is a bare address: nothing says what its bounds are") as caught:
        InBounds(bare("0", instruction="ld.shared.u8"))
    assert caught.value.code == "SWZ105"
    assert "give the access" in caught.value.hint
    verdict = prove(InBounds(bare("0", instruction="ld.shared.u8", bytes=0)), options=Options(every_engine=True))
    assert verdict.outcome is REFUTED
    assert verdict.counterexample is not None
    assert verdict.counterexample.note == "lane 0 touches 1 bytes at address 0, outside its 0 bytes"
    assert prove(InBounds(bare("0", instruction="ld.shared.u8", bytes=1))).outcome is PROVED
    assert prove(InBounds(bare("1", instruction="ld.shared.u8", bytes=1))).outcome is REFUTED


def test_both_fixed_bases_are_named() -> None:
    """A comparison of two places says where each lies; of one common place, once."""
    tiles = [fixed(base) for base in (FixedBase(1024), FixedBase(2048))]
    assert Equivalent(*tiles).scope() == "every coordinate, one: base 1024; other: base 2048"
    assert Equivalent(tiles[1], tiles[0]).scope() == "every coordinate, other: base 2048; one: base 1024"
    assert Equivalent(tiles[0], tiles[0]).scope() == "every coordinate, base 1024"
    here = bare("tid*4", base=FixedBase(64), name="here")
    assert Equivalent(here, bare("tid*4 + 64", name="there")).scope() == (
        "the warp, ld.shared.b32, here: base 64; there: base 0"
    )
    placed = [bare("tid*4", base=MemoryBase(SMEM, offset), name=f"at{offset}") for offset in (0, 16)]
    assert Equivalent(*placed).scope() == (
        "the warp, ld.shared.b32, at0: any common base that is a multiple of 64; "
        "at16: any common base that is a multiple of 64 plus 16"
    )


def fixed(base: FixedBase) -> Tile:
    return tile(base, "one" if base == FixedBase(1024) else "other")


def test_scopes_of_bare_accesses() -> None:
    """A base is named where there is one; whole warps need no count of threads."""
    plain = bare("tid*4")
    assert access_scope(plain, hardware=False) == "the warp, ld.shared.b32"
    assert access_scope(plain, hardware=True) == "the warp, ld.shared.b32 on sm_90 (measured)"
    fixed = bare("tid*4", base=FixedBase(64))
    assert access_scope(fixed, hardware=False) == "the warp, base 64, ld.shared.b32"
    assert access_scope(fixed, hardware=False, base=False) == "the warp, ld.shared.b32"
    assert access_scope(bare("tid*4", base=AlignedBase(64)), hardware=False).split(", ")[1] == (
        "any base that is a multiple of 64"
    )


@pytest.mark.parametrize("instruction", ["cp.async.4", "cp.async.8", "cp.async.16", "cp.async.ca.16"])
def test_scope_of_a_copy_s_cost_names_its_condition(instruction: str) -> None:
    copies = bare("tid*16", instruction=instruction)
    said = f"the warp, {instruction}"
    who = {"cp.async.4": "group of 32 lanes", "cp.async.8": "group of 16 lanes"}.get(instruction, "octet")
    assumed = f"assuming that each {who} reads one 128-byte line in order"
    assert access_scope(copies, hardware=False) == said
    assert access_scope(copies, hardware=True) == f"{said} on sm_90 (measured), {assumed}"


def test_scope_names_a_stage_where_there_are_several() -> None:
    rest = "any base that is a multiple of 64, ld.shared.b32"
    one, two = (replace(onto(tile(AlignedBase(64), stages=n)), stage=parse("0")) for n in (1, 2))
    assert access_scope(one, hardware=False) == f"the warp, 16 threads, {rest}"
    assert access_scope(two, hardware=False) == f"the warp, 16 threads, stage 0, {rest}"


def test_defaults_of_what_reports_read() -> None:
    assert Plan() == Plan((), (), TRUE, "")
    assert Row((1,)).marked is False
    assert Row((1,), "x").marked is True
    assert Counterexample({}, "note") == Counterexample({}, "note", (), ())
    verdict = Verdict(Outcome.UNKNOWN, "scope")
    assert (verdict.engines, verdict.evidence, verdict.reason, verdict.measure) == ((), "", "", None)
    assert (verdict.counterexample, verdict.time_ms, verdict.notes) == (None, 0.0, ())
    assert [outcome.value for outcome in OF_CLAIMS] == ["proved", "refuted", "unknown", "vacuous", "error"]
    assert Goal(claims()["injective: torn"].plan().goals[0].obligation).what == ""


# --- what is refused, and what is not ---

IN_STAGES = tile(AlignedBase(64), "staged", stages=2)


def onto(which: Tile, name: str = "X") -> Access:
    return Access(
        name,
        find_instruction("ld.shared.b32"),
        find_target("sm_90"),
        (16,),
        tile=which,
        coord=(parse("tid / 4"), parse("tid % 4 * 2")),
    )


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: Covers(onto(tile(AlignedBase(64), "U")), IN_STAGES),
            "SWZ105: covers: X goes to tile U, and U or staged has stages\n  say what it covers of U itself",
        ),
        (
            lambda: Covers(onto(IN_STAGES), tile(AlignedBase(64), "U")),
            "SWZ105: covers: X goes to tile staged, and staged or U has stages\n  say what it covers of staged itself",
        ),
        (
            lambda: Equivalent(onto(IN_STAGES), IN_STAGES),
            "SWZ105: equivalent: X and staged are of different kinds\n"
            "  compare two tiles, two accesses, two maps, or a tile and a map",
        ),
        (
            lambda: Equivalent(
                IndexMap("m", (("r", 4), ("c", 8)), (parse("base"),), base=AlignedBase(64)), tile(FixedBase(0))
            ),
            "SWZ105: equivalent: map m has a `base:` other than tile T's, which counts here\n"
            "  leave the map's `base:` out",
        ),
        (
            lambda: Permutation(IndexMap("m", (("x", 4),), (parse("x"), parse("x")), (4,))),
            "SWZ105: map m has 2 values, `onto` 1 extents",
        ),
    ],
)
def test_refused(make: Callable[[], object], said: str) -> None:
    with pytest.raises(SwzError) as caught:
        make()
    assert str(caught.value) == said


def test_maps_must_be_defined_where_the_tile_lies() -> None:
    """2^(base / 2^20) is defined for every base below 2^24; the tile's go on to 17 * 2^20 further."""
    index = IndexMap("m", (("r", 4), ("c", 8)), (parse("base + 0 * (1 << (base >> 20))"),))
    far = tile(MemoryBase(Memory("far", 1 << 26, 1 << 20), 17 << 20))
    for make in (lambda: Equivalent(index, far), lambda: Equivalent(far, index)):
        with pytest.raises(SwzError) as caught:
            make()
        assert caught.value.code == "SWZ304"


def test_two_maps_at_any_address() -> None:
    """They agree at even addresses only."""
    verdict = prove(claims()["equivalent: [level, paired]"])
    assert verdict.reason == "they are equal for every base that is a multiple of 2, and for no smaller power of two"


def test_not_refused() -> None:
    """The tile's own access may have stages, another tile's may not; a map may name the tile's
    base, or none.
    """
    assert prove(Covers(onto(IN_STAGES), IN_STAGES)).outcome is PROVED
    assert prove(Covers(onto(tile(AlignedBase(64), "U")), tile(AlignedBase(128)))).outcome is PROVED
    for base in (None, AlignedBase(64)):
        index = IndexMap("m", (("r", 4), ("c", 8)), (parse("base + r*16 + c*2"),), base=base)
        assert prove(Equivalent(tile(AlignedBase(64)), index)).outcome is PROVED
        assert prove(Equivalent(index, tile(AlignedBase(64)))).outcome is PROVED
    # Two maps keep their own bases, and are compared at a common one.
    one, two = (IndexMap("m", (("x", 4),), (parse("base + x"),), base=AlignedBase(n)) for n in (64, 128))
    assert prove(Equivalent(one, two)).outcome is PROVED
    assert Equivalent(one, two).scope() == "every point of m, any common base that is a multiple of 128"
    # Shapes that differ are refuted for that, wherever the two lie.
    long = Tile("long", 16, Layout((8, 8), (8, 1)), base=FixedBase(0))
    assert prove(Equivalent(tile(AlignedBase(64)), long)).outcome is REFUTED


SHAPES: list[tuple[Callable[[], Equivalent], str]] = [
    (
        lambda: Equivalent(tile(FixedBase(0)), Tile("long", 16, Layout((8, 8), (8, 1)))),
        "T has the extents (4, 8), long has (8, 8)",
    ),
    (lambda: Equivalent(tile(AlignedBase(64)), IN_STAGES), "T has 1 stages, staged has 2"),
    (
        lambda: Equivalent(
            bare("tid*4"),
            Access("half", find_instruction("ld.shared.b32"), find_target("sm_90"), (16,), address=parse("tid*4")),
        ),
        "bare has 32 threads, half has 16",
    ),
    (
        lambda: Equivalent(bare("tid*4", (TWO,)), bare("tid*4", (Loop("i", 0, 3),), name="more")),
        "bare and more have different loops",
    ),
    (
        lambda: Equivalent(bare("tid*4", (TWO,)), bare("tid*4", (Loop("i", 1, 3),), name="later")),
        "bare and later have different loops",
    ),
    (
        lambda: Equivalent(bare("tid*4", (TWO,)), bare("tid*4", (Loop("i", 0, 4, 2),), name="wider")),
        "bare and wider have different loops",
    ),
    (
        lambda: Equivalent(onto(IN_STAGES), onto(tile(AlignedBase(64), stages=3), "Y")),
        "X runs in 2 stages, Y in 3",
    ),
    (
        lambda: Equivalent(IndexMap("m", (("x", 4),), (parse("x"),)), IndexMap("n", (("x", 5),), (parse("x"),))),
        "the maps go m from [4] to 1 values, n from [5] to 1 values",
    ),
    (
        lambda: Equivalent(IndexMap("m", (("r", 4), ("c", 8)), (parse("r"), parse("c"))), tile(AlignedBase(64))),
        "map m goes over (4, 8) to 2 values, T has (4, 8)",
    ),
    (
        lambda: Equivalent(tile(AlignedBase(64)), IndexMap("m", (("r", 8), ("c", 4)), (parse("r"),))),
        "map m goes over (8, 4) to 1 values, T has (4, 8)",
    ),
]


@pytest.mark.parametrize(("make", "said"), SHAPES)
def test_shapes_that_differ(make: Callable[[], Equivalent], said: str) -> None:
    claim = make()
    (fact,) = claim.plan().facts
    assert (fact.holds, fact.note) == (False, said)
    assert not claim.plan().goals
    verdict = prove(claim)
    assert (verdict.outcome, verdict.reason, verdict.engines) == (REFUTED, said, ("arithmetic",))


@pytest.mark.parametrize("stages", [2, 3])
def test_an_access_in_every_stage_against_one_in_one_stage(stages: int) -> None:
    """One of them has no stages to choose from: they are compared in all stages of the other."""
    staged = onto(tile(AlignedBase(64), stages=stages))
    first, chosen = onto(tile(AlignedBase(64)), "first"), replace(staged, name="chosen", stage=parse("0"))
    plain = bare("tid/4*16 + tid%4*4", base=AlignedBase(64))
    plain = replace(plain, block=(16,))
    pairs = [(staged, one) for one in (first, chosen, plain)]
    for claim in (Equivalent(*pair) for one, two in pairs for pair in ((one, two), (two, one))):
        plan = claim.plan()
        assert plan.facts == ()
        (goal,) = plan.goals
        assert isinstance(goal.obligation, Always)
        assert {node.name: node.limit for node in goal.obligation.domain.variables}["stage"] == stages
        assert prove(claim).outcome is not PROVED
