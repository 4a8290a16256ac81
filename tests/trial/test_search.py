"""The search finds launches that go where the first ones do not."""

from __future__ import annotations

from itertools import islice

import pytest

from swzverify.compiled.kernel import inlined
from swzverify.compiled.kernel.arguments import NO_ARGUMENTS
from swzverify.compiled.ptx import Function, Module, read_module
from swzverify.compiled.trial import Launch, Launcher, Search, run
from swzverify.compiled.trial.launch import GRID, ONE_BLOCK, Data, Plan
from swzverify.ir.expr import Comparison, compare, const, var
from tests.kernel.texts import HEAD, TOP

BLOCK = (64, 1, 1)


def kernel(body: str) -> tuple[Module, Function]:
    module = read_module(f"{TOP}{HEAD}{body}\nret; }}", "k.ptx")
    return module, inlined(module, module.functions[0]).function


def search_of(function: Function) -> Search:
    return Search(Launcher(function, BLOCK, 0))


def first_there(body: str, most: int = 200) -> Launch | None:
    """The first launch that comes to the last instruction but one, and what went before it."""
    module, function = kernel(body + "ld.shared.u32 %r50, [%r3]; E:")
    wanted = len(function.instructions) - 2
    search = search_of(function)
    for launch in islice(search, most):
        trial = run(module, function, launch, [wanted], 500)
        search.learn(launch, trial)
        if wanted in trial.seen:
            return launch
    return None


def number(launch: Launch | None) -> int:
    assert launch is not None
    return int.from_bytes(launch.parameters["n"], "little")


@pytest.mark.parametrize("value", [48_611, 3_000_017])
def test_a_number_that_the_kernel_compares(value: int) -> None:
    assert number(first_there(f"setp.ne.u32 %p1, %r2, {value}; @%p1 bra E;")) == value


def test_numbers_one_behind_the_other() -> None:
    two = "setp.lt.u32 %p1, %r2, 70000; @%p1 bra E; setp.gt.u32 %p1, %r2, 70001; @%p1 bra E;"
    assert number(first_there(two)) in (70_000, 70_001)


def test_the_block_of_a_thread_that_the_kernel_compares() -> None:
    mine = "mov.u32 %r4, %ctaid.x; mad.lo.u32 %r4, %r4, 64, %r1; setp.ne.u32 %p1, %r4, 77777; @%p1 bra E;"
    found = first_there(mine)
    assert found is not None
    assert found.place == (77_777 // 64, 0, 0)


def test_a_grid_of_one_block() -> None:
    found = first_there("mov.u32 %r4, %nctaid.x; setp.ne.u32 %p1, %r4, 1; @%p1 bra E;")
    assert found is not None
    assert (found.grid, found.place) == ((1, 1, 1), (0, 0, 0))
    assert "a grid of one block" in found.words


def test_blocks_are_in_the_grid() -> None:
    search = search_of(kernel("setp.lt.u32 %p1, %r2, 70000; @%p1 bra E; E:")[1])
    made = list(islice(search, 300))
    assert {launch.grid for launch in made} == {GRID, ONE_BLOCK}
    assert all(place < size for launch in made for place, size in zip(launch.place, launch.grid, strict=True))


def test_what_is_not_compared_is_not_found() -> None:
    """The product is no number of the kernel's that a parameter may have."""
    assert first_there("mul.lo.u32 %r4, %r2, 747796405; setp.ne.u32 %p1, %r4, 48611; @%p1 bra E;") is None


def test_the_same_launches_every_time() -> None:
    module, function = kernel("setp.ne.u32 %p1, %r2, 48611; @%p1 bra E; E:")
    told: list[list[str]] = []
    for _ in range(2):
        search = search_of(function)
        told.append([])
        for launch in islice(search, 60):
            told[-1].append(f"{launch.number} {launch.words} {launch.buffers}")
            search.learn(launch, run(module, function, launch, (), 500))
    assert told[0] == told[1]
    assert len({each.partition(" ")[2] for each in told[0]}) > 40


def test_conditions_hold_in_all_launches() -> None:
    _, function = kernel("")
    condition = compare(Comparison.ULT, var("n+0:4", 1 << 32), const(100, 32))
    launches = [*islice(Search(Launcher(function, BLOCK, 0, NO_ARGUMENTS, (condition,))), 100)]
    assert len(launches) > 50
    assert max(map(number, launches)) < 100


LOAD = "ld.param.u64 %d1, [q]; mad.wide.u32 %d2, %r1, 4, %d1; ld.global.u32 %r4, [%d2]; "


@pytest.mark.parametrize(
    "asked",
    [
        "setp.ne.u32 %p1, %r4, 48611; @%p1 bra E;",
        "setp.le.u32 %p1, %r4, 48611; @%p1 bra E; setp.gt.u32 %p1, %r4, 48612; @%p1 bra E;",
        "shr.u32 %r4, %r4, 16; and.b32 %r4, %r4, 255; setp.ne.u32 %p1, %r4, 91; @%p1 bra E;",
    ],
)
def test_data_that_the_kernel_compares(asked: str) -> None:
    assert first_there(LOAD + asked) is not None


def test_bytes_of_one_bank_of_words() -> None:
    """All lanes load multiples of 32."""
    some = "and.b32 %r4, %r4, 255; and.b32 %r5, %r4, 31; setp.eq.u32 %p1, %r5, 0; "
    some += "vote.sync.all.pred %p2, %p1, 0xffffffff; @!%p2 bra E; setp.gt.u32 %p1, %r4, 0; "
    assert first_there(LOAD + some + "vote.sync.any.pred %p2, %p1, 0xffffffff; @!%p2 bra E;") is not None


def test_a_pointer_that_is_null() -> None:
    found = first_there("ld.param.u64 %d1, [q]; setp.ne.u64 %p1, %d1, 0; @%p1 bra E; cvta.to.global.u64 %d2, %d1;")
    assert found is not None
    assert found.parameters["q"] == bytes(8)


def test_a_parameter_that_is_read_through_a_register() -> None:
    assert (
        number(first_there("mov.b64 %d3, n; ld.param.u32 %r4, [%d3]; setp.ne.u32 %p1, %r4, 48611; @%p1 bra E;"))
        == 48611
    )


def test_a_part_of_a_structure_that_is_read_through_a_register() -> None:
    text = "entry k(.param .align 8 .b8 box[24]) { .reg .b64 %d<4>; .reg .b32 %r<4>; mov.b64 %d3, box;"
    module = read_module(f"{TOP}.{text} ld.param.u32 %r1, [%d3+8]; ld.param.u64 %d1, [box+16]; ret; }}", "k.ptx")
    made = Launcher(module.functions[0], BLOCK, 0).launch(Plan((77,), (Data.ANY,)), 0)
    assert made is not None
    assert int.from_bytes(made.parameters["box"][8:12], "little") == 77
