"""Claims on accesses whose lanes have values of their own: which are refused, and what tables show."""

from __future__ import annotations

import pytest

from swzverify.claims import Aligned, Claim, ConflictFree, Covers, Equivalent, InBounds, Outcome, Wavefronts
from swzverify.errors import SwzError
from swzverify.hardware import access_cost, find_instruction, find_target
from swzverify.ir.c_parse import expression
from swzverify.layout import Layout
from swzverify.prover import Options, prove
from swzverify.subjects import Access, Loop, Tile, Unknown

TILE = Tile("T", 32, Layout((8, 32), (32, 1)))
ROW = Unknown("row", 0, 8)


def access(name: str = "a", *own: Unknown, **more: object) -> Access:
    given: dict[str, object] = {"tile": TILE, "coord": (expression("row"), expression("lane%8"))}
    return Access(
        name,
        find_instruction("ld.shared.b32"),
        find_target("sm_90"),
        (64,),
        unknowns=own or (ROW,),
        **{**given, **more},  # type: ignore[arg-type]
    )


def bare(address: str, *own: Unknown, name: str = "a", **more: object) -> Access:
    return access(name, *own, tile=None, coord=(), address=expression(address), **more)


@pytest.mark.parametrize(
    "claim",
    [ConflictFree(access()), Wavefronts(access(), 3), Wavefronts(bare("row*128"), 7)],
    ids=["no conflict", "three wavefronts", "seven of one bank"],
)
@pytest.mark.parametrize("every", [False, True], ids=["first engine", "every engine"])
def test_the_table_has_the_choice_that_costs_so_much(claim: ConflictFree | Wavefronts, every: bool) -> None:
    verdict = prove(claim, options=Options(every_engine=every))
    found = verdict.counterexample
    assert verdict.outcome is Outcome.REFUTED
    assert found is not None
    rows = [dict(zip(found.columns, row.cells, strict=True)) for row in found.rows]
    assert [row["lane"] for row in rows] == list(range(32))
    addresses: list[int | None] = []
    for row in rows:
        here = {"lane": row["lane"], "row": row["row"]}
        if claim.access.tile is None:
            assert claim.access.address is not None
            address = claim.access.address.at(here)  # type: ignore[arg-type]
        else:
            assert row["coord"] == (row["row"], row["lane"] % 8)  # type: ignore[operator]
            address = TILE.position(row["coord"], stage=0, base=found.binding["base"])  # type: ignore[arg-type]
        assert row["address"] == address
        addresses.append(address)
    cost = access_cost("ld.shared.b32", addresses)
    assert verdict.measure is not None
    assert cost.wavefronts == verdict.measure.wavefronts > (claim.limit or 1)


def test_a_column_does_not_hide_another_one() -> None:
    verdict = prove(ConflictFree(bare("bank*128", Unknown("bank", 0, 2))))
    assert verdict.counterexample is not None
    assert verdict.counterexample.columns == ("lane", "bank of the lane", "address", "word", "bank")


def test_covers_is_refused_where_data_tells_what_is_touched() -> None:
    with pytest.raises(SwzError, match="depends on the data"):
        Covers(access(), TILE)


def test_covers_counts_a_value_that_nothing_reads_once() -> None:
    coord = (expression("i*2 + tid/32"), expression("lane"))
    of = access("a", loops=(Loop("i", 0, 4),), coord=coord)
    assert prove(Covers(of, TILE)).outcome is Outcome.PROVED


def test_an_assumption_on_a_lanes_value_is_refused() -> None:
    with pytest.raises(SwzError, match="an assumption is about iterations"):
        access(assume=(expression("row < 2"),))


def test_a_loop_without_a_bound_is_refused() -> None:
    with pytest.raises(SwzError, match="not modelled together") as caught:
        access(loops=(Loop("k", 0, None),))
    assert caught.value.code == "SWZ206"


@pytest.mark.parametrize(
    ("own", "code"), [((0, 0, 1), "SWZ105"), ((0, 4, 0), "SWZ105"), ((0, 1 << 33, 1), "SWZ107"), ((5, 1, 1), "SWZ105")]
)
def test_ranges_without_a_meaning_are_refused(own: tuple[int, int, int], code: str) -> None:
    with pytest.raises(SwzError) as caught:
        Unknown("b", *own)
    assert caught.value.code == code


OUTCOMES: dict[str, tuple[Claim, Outcome]] = {
    "a negative row of an idle lane": (
        InBounds(access(coord=(expression("row - 1"), expression("lane")), predicate=expression("row > 0"))),
        Outcome.PROVED,
    ),
    "a row outside": (InBounds(access("a", Unknown("row", 0, 9))), Outcome.REFUTED),
    "a last value that a step does not reach": (InBounds(access("a", Unknown("row", 1, 9, 3))), Outcome.PROVED),
    "a value that is misaligned": (Aligned(bare("row*2")), Outcome.REFUTED),
    "a cost of misaligned lanes": (ConflictFree(bare("row*2")), Outcome.REFUTED),
    "no value makes a lane active": (ConflictFree(bare("row*4", predicate=expression("row > 7"))), Outcome.VACUOUS),
    "one value does": (ConflictFree(bare("row*4", predicate=expression("row == 7"))), Outcome.PROVED),
    "the same value in both": (
        Equivalent(bare("row*4 + lane", name="a"), bare("lane + row*4", name="b")),
        Outcome.PROVED,
    ),
    "another range": (
        Equivalent(bare("tid*4", name="a"), bare("tid*4", Unknown("row", 0, 9), name="b")),
        Outcome.REFUTED,
    ),
    "one value that differs": (
        Equivalent(bare("row*4", name="a"), bare("row*4 + (row == 6)", name="b")),
        Outcome.REFUTED,
    ),
    "a value that stands for the iteration": (
        Equivalent(
            bare("i*4", Unknown("row", 0, 2), name="a", loops=(Loop("i", 0, 2),)),
            bare("row*4", Unknown("row", 0, 2), name="b", loops=(Loop("i", 0, 2),)),
        ),
        Outcome.REFUTED,
    ),
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_outcomes(name: str) -> None:
    claim, wanted = OUTCOMES[name]
    for every in (False, True):
        verdict = prove(claim, options=Options(every_engine=every))
        assert verdict.outcome is wanted, verdict.reason


def test_iterations_with_values_of_their_own_are_not_iterations_of_a_loop() -> None:
    """A loop's value is the same in all lanes, and never conflicts here; a lane's own does."""
    with_loop = bare("row*128", Unknown("other", 0, 2), loops=(Loop("row", 0, 8),))
    assert prove(ConflictFree(with_loop)).outcome is Outcome.PROVED
    assert prove(ConflictFree(bare("row*128"))).outcome is Outcome.REFUTED
