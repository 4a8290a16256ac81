"""Operands that tensor copies of several blocks of a cluster fill."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan.delivers import IN_STEP
from swzverify.compiled.scan.given import Given
from swzverify.compiled.scan.operands import ScannedOperand
from tests.nightly import counts
from tests.scan.cluster_programs import PLAIN, Program, holds, planted, right, text
from tests.scan.whole import scan_operands

clusters: Any = import_module("swzverify.compiled.scan.operand_clusters")
fills: Any = import_module("swzverify.compiled.scan.fills")

CLUSTERS = [(2, 1), (1, 2), (2, 2)]
TWO = right((2, 1))
IN_BRANCH = replace(TWO, b=replace(TWO.b, box=16, masks=(3, 3), places=(0, 0), sources=(0, 0)))
"""Each block copies all of B for both, if nothing keeps it from that."""


def scanned(ptx: str, maps: tuple[str, ...], cluster: tuple[int, int, int] | None = None) -> list[ScannedOperand]:
    module = read_module(ptx, "k.ptx")
    return scan_operands(module, module.functions[0], None, Given(tensor_maps=maps, cluster=cluster), None)


def verdicts(ptx: str, maps: tuple[str, ...] = TWO.maps) -> set[str]:
    return {each.claim("delivers").verdict.value for each in scanned(ptx, maps)}


def reasons(ptx: str, maps: tuple[str, ...] = TWO.maps, cluster: tuple[int, int, int] | None = None) -> set[str]:
    return {each.claim("delivers").reason for each in scanned(ptx, maps, cluster)}


def changed(ptx: str, old: str, new: str) -> str:
    assert old in ptx, old
    return ptx.replace(old, new)


def check(program: Program) -> set[str]:
    """No verdict contradicts what the tables say that tiles hold; the verdicts."""
    found = scanned(text(program), program.maps)
    for each in found:
        verdict = each.claim("delivers").verdict
        assert verdict != "proved" or (holds(program, "a") and holds(program, "b")), program
        assert verdict != "refuted" or not holds(program, each.fields.role.lower()), program
    return {each.claim("delivers").verdict.value for each in found}


@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize("is_of_block", [False, True])
def test_right_kernels_are_proved(cluster: tuple[int, int], is_of_block: bool) -> None:
    program = right(cluster, is_of_block=is_of_block)
    assert check(program) == {"proved"}
    assert all(IN_STEP in each.claim("delivers").assumptions for each in scanned(text(program), program.maps))


def check_many(seeds: range) -> None:
    for seed in seeds:
        draw = random.Random(seed)
        program = planted(right(draw.choice(CLUSTERS), is_of_block=draw.random() < 0.5), draw)
        found = check(program)
        assert found == {"proved"} or not (holds(program, "a") and holds(program, "b")), program


@pytest.mark.parametrize("count", counts(25, 600))
def test_verdicts_are_those_of_the_tables(count: int) -> None:
    check_many(range(count))


def with_b(**tables: tuple[int, ...]) -> Program:
    """Two blocks, with other numbers for the copies of B."""
    return replace(TWO, b=replace(TWO.b, **tables))


MISTAKES = {
    "a mask without the other block": with_b(masks=(1, 3)),
    "a mask with the other block alone": with_b(masks=(2, 3)),
    "a mask of other blocks": replace(right((2, 2)), a=replace(right((2, 2)).a, masks=(10, 10, 5, 10))),
    "the halves of a box are exchanged": with_b(sources=(8, 0)),
    "one half twice": with_b(sources=(0, 0)),
    "rows of the own tile": with_b(sources=(0, 8 + 16)),
    "a place inside of the other half": with_b(places=(0, 0)),
    "ranks along the other dimension": replace(right((2, 2)), b=replace(right((2, 2)).b, places=(0, 0, 8, 8))),
    "other columns of K": with_b(columns=(0, 64)),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_found(name: str) -> None:
    program = MISTAKES[name]
    assert not (holds(program, "a") and holds(program, "b"))
    assert check(program).isdisjoint({"proved", "refuted"})


def test_the_message_names_the_block() -> None:
    found = reasons(text(MISTAKES["one half twice"]))
    assert all(each.startswith("in block 0 of the cluster: ") for each in found)
    found = reasons(text(with_b(masks=(3, 1))))
    assert all(each.startswith("in block 1 of the cluster: ") for each in found)
    assert any(each.endswith("bring 128 of its 256 elements") for each in found)
    found = reasons(text(TWO), tuple(each.replace("64x8xbf16,128B", "64x8xbf16,none") for each in TWO.maps))
    assert any(each.endswith(f"and the descriptor 128B, if {IN_STEP}") for each in found)


def test_a_wrong_swizzle_of_the_map_is_found() -> None:
    maps = tuple(each.replace("64x8xbf16,128B", "64x8xbf16,none") for each in TWO.maps)
    assert "proved" not in verdicts(text(TWO), maps)
    assert "refuted" not in verdicts(text(TWO), maps)


OPEN = {
    "rows that memory says": ("COPY: //", "ld.global.u32 %r60, [%rd9]; add.u32 %r31, %r31, %r60; COPY: //"),
    "a mask that memory says": ("COPY: //", "ld.global.u16 %h1, [%rd9]; COPY: //"),
    "a mask of no block": ("COPY: //", "mov.u16 %h1, 0; COPY: //"),
    "a mask of a block that the cluster has not": ("COPY: //", "mov.u16 %h1, 7; COPY: //"),
    "a stage that the rank decides": ("COPY: //", "mov.u32 %r10, %r2; COPY: //"),
    "columns of K that the rank decides": ("COPY: //", "mov.u32 %r11, %r2; COPY: //"),
    "trips that the rank decides": ("COPY: //", "add.u32 %r1, %r1, %r2; COPY: //"),
    "trips that a quotient of the rank decides": (
        "COPY: //",
        "add.u32 %r61, %r2, 1; div.u32 %r1, %r1, %r61; COPY: //",
    ),
    "a destination in another block": (
        "%r30;mad.lo.u32 %r41",
        "%r30; mapa.shared::cluster.u32 %r40, %r40, 1; mad.lo.u32 %r41",
    ),
    "an address in another block that is masked": (
        "COPY: //",
        "mapa.shared::cluster.u32 %r62, %r6, 0; and.b32 %r62, %r62, 0xfefffff8; COPY: //",
    ),
    "a store of one block to another one": (
        "COPY: //",
        "mapa.shared::cluster.u32 %r62, %r5, 0; setp.eq.u32 %p5, %r2, 1; "
        "@%p5 st.shared::cluster.u32 [%r62], %r1; COPY: //",
    ),
    "a store of one block to a place that memory says": (
        "COPY: //",
        "ld.global.u32 %r62, [%rd9]; setp.eq.u32 %p5, %r2, 1; @%p5 st.shared::cluster.u32 [%r62], %r1; COPY: //",
    ),
    "blocks with threads along z": (".reqntid 256", ".reqntid 128, 1, 2"),
    "blocks with a part of a warp group": (".reqntid 256", ".reqntid 288"),
}


@pytest.mark.parametrize("name", OPEN)
def test_what_is_not_followed_is_unknown(name: str) -> None:
    assert verdicts(changed(text(TWO), *OPEN[name])) == {"unknown"}


def test_tiles_that_the_place_in_the_grid_says_may_be_as_many_in_each_block() -> None:
    """A persistent loop goes on while the tile of its own block is there."""
    ptx = changed(text(TWO), "COPY: //", "sub.u32 %r1, %r1, %r8; COPY: //")
    assert verdicts(ptx) == {"proved"}
    (only,) = reasons(changed(text(TWO), *OPEN["trips that the rank decides"]))
    assert only.startswith("the blocks of a cluster may make other trips of the loop at line ")


@pytest.mark.parametrize("is_unrolled", [False, True])
def test_a_branch_may_leave_a_copy_to_one_rank(is_unrolled: bool) -> None:
    """It stands in one section with those before the branch, as if it had a predicate."""
    assert verdicts(text(IN_BRANCH, is_unrolled=is_unrolled, branch="1"), IN_BRANCH.maps) == {"proved"}
    assert verdicts(text(IN_BRANCH, is_unrolled=is_unrolled, branch="2"), IN_BRANCH.maps) == {"unknown"}
    late = changed(text(IN_BRANCH, is_unrolled=is_unrolled, branch="1"), "%r11, 64, %r32", "%r11, 128, %r32")
    assert verdicts(late, IN_BRANCH.maps) == {"unknown"}


def by_place(program: Program, condition: str) -> str:
    """Block 1 of each cluster copies B, which its place in the grid says by a remainder."""
    return changed(text(program, branch="1"), "setp.lt.u32 %p4, %r2, 1;", f"rem.u32 %r64, %r8, 2; {condition}")


ONLY_FOR_ITSELF = replace(IN_BRANCH, b=replace(IN_BRANCH.b, masks=(1, 2)))


def test_a_rank_may_be_a_remainder_of_the_place_in_the_grid() -> None:
    """A block that surely never copies has no part in a fill, whatever is assumed of copies that are left out."""
    of_last = "setp.lt.u32 %p4, %r64, 1;"
    assert verdicts(by_place(IN_BRANCH, of_last), IN_BRANCH.maps) == {"proved"}
    assert verdicts(by_place(ONLY_FOR_ITSELF, of_last), IN_BRANCH.maps) == {"unknown"}


def test_a_remainder_of_the_place_and_the_trip_may_leave_out_a_copy() -> None:
    """Each block copies for itself, in every second trip."""
    every_second = "and.b32 %r65, %r11, 1; setp.ne.u32 %p4, %r64, %r65;"
    ptx = by_place(ONLY_FOR_ITSELF, every_second)
    assert verdicts(ptx, IN_BRANCH.maps) == {"unknown"}
    assert any("the number of a trip alone decides whether it copies" in each for each in reasons(ptx, IN_BRANCH.maps))


def test_branches_that_more_than_the_rank_decides_are_sections_of_their_own() -> None:
    """What memory says may be another thing in each step: then A of one step may stand with B of another one."""
    ptx = text(IN_BRANCH, is_unrolled=True, branch="1")
    loaded = changed(ptx, "setp.lt.u32 %p4, %r2, 1;", "ld.global.u32 %r63, [%rd9]; setp.lt.u32 %p4, %r63, 1;")
    assert verdicts(loaded, IN_BRANCH.maps) == {"unknown"}


def test_a_barrier_before_the_branch_parts_sections() -> None:
    ptx = text(IN_BRANCH, is_unrolled=True, branch="1")
    parted = changed(ptx, "mad.lo.u32 %r40, %r10, 2048", "fence.proxy.async; mad.lo.u32 %r40, %r10, 2048")
    assert verdicts(parted, IN_BRANCH.maps) == {"unknown"}


def test_the_launch_may_say_the_cluster() -> None:
    ptx = text(TWO, has_directive=False)
    (only,) = reasons(ptx)
    assert only.endswith("copies to several blocks of a cluster: --cluster X,Y says how many blocks a cluster has")
    assert only.startswith("line ")
    found = scanned(ptx, TWO.maps, (2, 1, 1))
    assert {each.claim("delivers").verdict.value for each in found} == {"proved"}
    assert all("the launch has clusters of 2,1,1 blocks" in each.claim("delivers").assumptions for each in found)
    other = scanned(text(right((2, 1), is_of_block=True), has_directive=False), TWO.maps, (1, 2, 1))
    assert {each.claim("delivers").verdict.value for each in other} == {"unknown"}


def test_a_copy_to_the_own_block_alone_is_judged_without_assumptions_on_others() -> None:
    alone = Program((1, 1), replace(right((1, 1)).a), right((1, 1)).b)
    found = scanned(text(alone), alone.maps)
    assert {each.claim("delivers").verdict.value for each in found} == {"proved"}
    assert not any(IN_STEP in each.claim("delivers").assumptions for each in found)
    wrong = tuple(each.replace("128B", "none") for each in alone.maps)
    assert "refuted" in verdicts(text(alone), wrong)


# ---- mistakes that are planted in the rules: each lets a wrong kernel through


def test_without_the_masks_a_wrong_one_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = text(MISTAKES["a mask without the other block"])
    of_b = 1 + wrong[: wrong.index("copy of bmap")].count("\n")
    plain: Callable[..., int | None] = clusters.ClusterBlocks._mask

    def mask(self: Any, access: Any, maker: int) -> int | None:
        return 3 if access and access.site.line == of_b else plain(self, access, maker)

    monkeypatch.setattr(clusters.ClusterBlocks, "_mask", mask)
    assert verdicts(wrong) == {"proved"}


def never(*_: object) -> None:
    return None


def test_without_the_trips_of_ranks_they_may_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters.ClusterBlocks, "_parted", never)
    assert verdicts(changed(text(TWO), *OPEN["trips that the rank decides"])) == {"proved"}


def test_without_own_names_registers_of_two_blocks_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    plain: Callable[..., object] = clusters.ClusterBlocks._put

    def put(self: Any, access: Any, rank: int, *_: object) -> object:
        return plain(self, access, rank)

    monkeypatch.setattr(clusters.ClusterBlocks, "_put", put)
    monkeypatch.setattr(fills, "copier_of", never)
    assert verdicts(changed(text(TWO), *OPEN["rows that memory says"])) == {"proved"}


def test_without_copies_of_others_they_are_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only block 0 multiplies, and block 1 copies to it."""
    of_first = changed(text(TWO), "USES: //", "USES: setp.ne.u32 %p6, %r2, 0; @%p6 bra DONE; //")
    assert verdicts(of_first) == {"proved"}
    for place in ("mapa.shared::cluster.u32 %r62, %r5, 0;", "ld.global.u32 %r62, [%rd9];"):
        other = f"setp.eq.u32 %p5, %r2, 1; @%p5 {PLAIN} [%r62], [%rd1, {{%r41, %r21}}], [%r6];"
        copied = changed(of_first, "; // copy of amap", f"; {place} {other}")
        assert verdicts(copied) == {"unknown"}
        with monkeypatch.context() as patched:
            patched.setattr(clusters, "_may_reach_others", never)
            assert verdicts(copied) == {"proved"}


def test_without_sections_in_common_a_branch_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    def apart(_: object, found: Sequence[tuple[int, object, object]]) -> list[object]:
        return [made for _, _, made in found]

    monkeypatch.setattr(clusters.ClusterBlocks, "_in_sections", apart)
    ptx = text(IN_BRANCH, is_unrolled=True, branch="1")
    assert verdicts(ptx, IN_BRANCH.maps) == {"unknown"}
