"""Start addresses of operands whose stage goes through nested loops: random loops, run in plain Python."""

import random
from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import product
from typing import Any, TypeAlias
from unittest import mock

import pytest

from swzverify.compiled.scan import ScannedOperand, operand_fields
from tests.nightly import share
from tests.scan.test_operands import F16, SUMS, high, make, scan, text

descriptors: Any = import_module("swzverify.compiled.kernel.descriptors")
threads: Any = import_module("swzverify.compiled.kernel.lanes")
reachable: Any = import_module("swzverify.compiled.kernel.reachable")

STAGE_BYTES = 2048
PARAMS = ".param .u32 n, .param .u32 m, .param .u32 f"
Step: TypeAlias = Callable[[int, int], int]
_HIGH = "mul.wide.u32 %rd9, %r10, {}; shr.u64 %rd9, %rd9, {}; cvt.u32.u64 %r12, %rd9;"
_QUOTIENTS = {
    3: _HIGH.format(2863311531, 33),
    5: _HIGH.format(3435973837, 34),
    6: "mul.hi.u32 %r12, %r10, 2863311531; shr.u32 %r12, %r12, 2;",
    7: _HIGH.format(613566757, 32)
    + "sub.u32 %r11, %r10, %r12; shr.u32 %r11, %r11, 1; add.u32 %r12, %r11, %r12; shr.u32 %r12, %r12, 2;",
}
REMAINDERS = {
    divisor: f"{words} mul.lo.u32 %r12, %r12, {divisor}; sub.u32 %r10, %r10, %r12;"
    for divisor, words in _QUOTIENTS.items()
} | {4: "and.b32 %r10, %r10, 3;"}
"""How nvcc takes %r10 modulo a number."""


class Draft:
    """A kernel as PTX and as Python: `s` in %r10 is the stage, `f` in %r22 a parameter with flags."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.labels = 0
        self.first = self.draw.choice((0, 0, 0, 1, 2))
        self.before, self.inside, self.after = (self.steps() for _ in range(3))
        self.reads_after = self.draw.random() < 0.3
        self.is_nested = self.draw.random() < 0.8

    def steps(self) -> list[tuple[str, Step]]:
        """Some changes of the stage, with what they do."""
        return [self.step() for _ in range(self.draw.choice((0, 1, 1, 2)))]

    def step(self) -> tuple[str, Step]:
        """One change."""
        count, kind = self.draw.choice((2, 3, 4, 7)), self.draw.randrange(8)
        self.labels += 1
        at = self.labels
        wrap = f"add.u32 %r11, %r10, 1; setp.eq.u32 %p1, %r10, {count - 1}; selp.b32 %r10, 0, %r11, %p1;"
        if kind < 2:
            return wrap, lambda s, _: 0 if s == count - 1 else (s + 1) % 2**32
        if kind == 2:
            words = f"setp.eq.u32 %p1, %r10, {count}; @%p1 bra A{at}; add.u32 %r10, %r10, 1; bra B{at};"
            return words + f"A{at}: mov.u32 %r10, 0; B{at}:", lambda s, _: 0 if s == count else (s + 1) % 2**32
        if kind == 3:
            return "xor.b32 %r10, %r10, 1;", lambda s, _: s ^ 1
        if kind == 4:
            words = f"and.b32 %r12, %r22, {1 << at % 3}; setp.eq.u32 %p1, %r12, 0; @%p1 bra C{at}; {wrap} C{at}:"
            return words, lambda s, f: s if not f & (1 << at % 3) else 0 if s == count - 1 else (s + 1) % 2**32
        if kind == 5:
            return f"add.u32 %r10, %r10, {count}; and.b32 %r10, %r10, 7;", lambda s, _: (s + count) & 7
        # Nobody knows the parameter.
        divisor = self.draw.choice(tuple(REMAINDERS))
        return "add.u32 %r10, %r10, %r22;" + REMAINDERS[divisor], lambda s, f: (s + f) % 2**32 % divisor

    @property
    def ptx(self) -> str:
        """The kernel; each read is a `wgmma` whose A begins at the stage."""
        read = f"mul.lo.u32 %r13, %r10, {STAGE_BYTES}; add.u32 %r13, %r13, %r1;" + make(
            1, "%r13", high(sbo=256, mode="32B")
        )
        read += make(2, "%r1", high()) + f"{F16} {SUMS}, %rd1, %rd2, %p1, 1, 1, 0, 0;"
        inner = f"{_words(self.before)} {read} {_words(self.inside)}"
        if self.is_nested:
            inner = (
                f"{_words(self.before)} mov.u32 %r15, 0; I: setp.ge.u32 %p2, %r15, %r21; @%p2 bra J;"
                f"{read} {_words(self.inside)} add.u32 %r15, %r15, 1; bra I; J:"
            )
        if self.reads_after:
            inner += read
        head = "ld.param.u32 %r20, [n]; ld.param.u32 %r21, [m]; ld.param.u32 %r22, [f];"
        body = (
            f"{head} mov.u32 %r10, {self.first}; mov.u32 %r14, 0; O: setp.ge.u32 %p3, %r14, %r20; @%p3 bra P;"
            f"{inner} {_words(self.after)} add.u32 %r14, %r14, 1; bra O; P:"
        )
        return text(body, ".shared .align 1024 .b8 tile[65536];", PARAMS)

    def starts(self, n: int, m: int, f: int) -> tuple[set[int], set[int]]:
        """The stages in which the first read begins, and the second one, for some parameters."""
        first, second, s = set[int](), set[int](), self.first
        for _ in range(n):
            s = _run(self.before, s, f)
            for _ in range(m if self.is_nested else 1):
                first.add(s)
                s = _run(self.inside, s, f)
            if self.reads_after:
                second.add(s)
            s = _run(self.after, s, f)
        return first, second


def _words(steps: Iterable[tuple[str, Step]]) -> str:
    return " ".join(words for words, _ in steps)


def _run(steps: Iterable[tuple[str, Step]], s: int, f: int) -> int:
    for _, step in steps:
        s = step(s, f)
    return s


def numbers_in(operand: ScannedOperand) -> set[int] | None:
    """The stages that a start names; None if it names none."""
    start = operand.fields.start
    if start is None or "@" in start:
        return None
    words = start.removeprefix("tile").removeprefix(" + ").strip("{}")
    return {int(each) // STAGE_BYTES for each in words.split(", ")} if words else {0}


def check(seeds: Iterable[int]) -> int:
    """No start is left out; how many operands have known ones."""
    known = 0
    for seed in seeds:
        draft = Draft(seed)
        really: tuple[set[int], set[int]] = set(), set()
        for n, m, f in product((1, 2, 3, 9), (0, 1, 2, 3, 9), range(8)):
            for mine, more in zip(really, draft.starts(n, m, f), strict=True):
                mine.update(more)
        found = [each for each in scan(draft.ptx) if each.fields.role == "A"]
        for each, places in zip(found, really, strict=False):
            told = numbers_in(each)
            if told is not None:
                known += 1
                assert places <= told, (seed, each.line, places, told, draft.ptx)
    return known


@pytest.mark.parametrize("seed", share(range(0, 400, 8), 16))
def test_every_start_that_occurs_is_among_those_that_are_named(seed: int) -> None:
    check(range(seed, seed + 8))


def test_some_starts_are_named() -> None:
    assert check(range(16)) > 1


# ---- a pipeline, and mistakes


def pipeline(count: int = 3, fields: str = "") -> str:
    """A persistent kernel: the stage goes on through tiles, and starts anew after the last stage."""
    draft = Draft(0)
    wrap = f"setp.eq.u32 %p1, %r10, {count}; selp.b32 %r10, 0, %r10, %p1;"
    draft.first, draft.is_nested, draft.reads_after = 0, True, False
    draft.before, draft.after = [], []
    draft.inside = [("add.u32 %r10, %r10, 1;" + wrap + fields, lambda s, _: (s + 1) % count)]
    return draft.ptx


def test_a_stage_goes_on_through_an_outer_loop() -> None:
    a, b = scan(pipeline())
    assert (a.fields.start, a.fields.unknown) == ("tile + {0, 2048, 4096}", {})
    assert a.claim("in_bounds").verdict == "proved"
    assert b.fields.start == "tile"


def test_stages_without_a_bound_are_unknown() -> None:
    a, _ = scan(pipeline(fields="add.u32 %r10, %r10, %r22;"))
    assert "changes from trip to trip" in a.fields.unknown["start"]


def test_a_stage_goes_on_by_a_remainder_of_what_is_not_known() -> None:
    """CUTLASS's persistent kernels add the trips of a tile, and take the sum modulo the number of stages."""
    for divisor, step in REMAINDERS.items():
        ptx = pipeline(1 << 31).replace("add.u32 %r14", f"add.u32 %r10, %r10, %r22; {step} add.u32 %r14")
        start = f"tile + {{{', '.join(str(2048 * each) for each in range(divisor))}}}"
        assert scan(ptx.replace("add.u32 %r10, %r10, 1;", ""))[0].fields.start == start


def test_states_that_are_only_possible_refute_nothing() -> None:
    """Whether the last of these stages occurs depends on a parameter that nobody knows."""
    small = pipeline().replace("tile[65536]", "tile[5000]")
    a, _ = scan(small)
    assert a.fields.start == "tile + {0, 2048, 4096}"
    assert a.claim("in_bounds").verdict == "unknown"


def test_registers_that_change_together_have_few_values_together() -> None:
    """The distance is carried beside the stage, as compilers do after strength reduction."""
    fields = "add.u32 %r16, %r16, 2048; setp.eq.u32 %p1, %r10, 0; selp.b32 %r16, 0, %r16, %p1;"
    ptx = pipeline(fields=fields).replace("mul.lo.u32 %r13, %r10, 2048", "mov.u32 %r13, %r16")
    a, _ = scan(ptx.replace("mov.u32 %r10, 0;", "mov.u32 %r10, 0; mov.u32 %r16, 0;", 1))
    assert a.fields.start == "tile + {0, 2048, 4096}"


def of_groups(step: str) -> ScannedOperand:
    """Operand A of a kernel of three warp groups, of which two read."""
    body = f"mov.u32 %r7, %tid.x; {step} add.u32 %r6, %r1, %r8;" + make(1, "%r6", high()) + make(2, "%r1", high())
    body += f"setp.lt.u32 %p2, %r7, 128; @%p2 bra E; {F16} {SUMS}, %rd1, %rd2, %p1, 1, 1, 0, 0; E:"
    return scan(text(body), (384, 1, 1))[0]


def check_groups() -> None:
    """A descriptor is one for all lanes of a warp group."""
    assert of_groups("shr.u32 %r8, %r7, 7; shl.b32 %r8, %r8, 11;").fields.unknown == {}
    # (threadIdx.x - 128) / 128 rounds to 0: it is two numbers in the group that does not read.
    less_128 = "add.s32 %r8, %r7, -128; shr.s32 %r9, %r8, 31; shr.u32 %r9, %r9, 25; add.s32 %r8, %r8, %r9;"
    assert of_groups(less_128 + "shr.s32 %r8, %r8, 7; shl.b32 %r8, %r8, 11;").fields.unknown == {}
    # Each lane leaves the loop when a word that it loads says so.
    trips = "mul.wide.u32 %rd8, %r7, 4; ld.global.u32 %r9, [%rd8]; mov.u32 %r8, 0; X: add.u32 %r8, %r8, 2048;"
    trips += "setp.lt.u32 %p3, %r8, %r9; @%p3 bra X;"
    of_warps = "shr.u32 %r8, %r7, 5;" + trips.replace("%rd8, %r7", "%rd8, %r8", 1)
    of_groups_ = "shr.u32 %r8, %r7, 7;" + trips.replace("%rd8, %r7", "%rd8, %r8", 1)
    assert of_groups(of_groups_).fields.unknown == {}
    for step in ("shr.u32 %r8, %r7, 6; shl.b32 %r8, %r8, 11;", "and.b32 %r8, %r7, 64;", trips, of_warps):
        assert of_groups(step).fields.unknown["start"] == "it may differ within a warp group"


def test_lanes_of_a_warp_group_have_one_start() -> None:
    check_groups()


def test_lanes_differ_without_the_shape_of_the_block() -> None:
    body = "mov.u32 %r8, %laneid; shl.b32 %r8, %r8, 11; add.u32 %r6, %r1, %r8;" + make(1, "%r6", high())
    a, b = scan(text(body + make(2, "%r1", high()) + f"{F16} {SUMS}, %rd1, %rd2, %p1, 1, 1, 0, 0;"), None)
    assert a.fields.unknown["start"] == "it may differ within a warp group"
    assert b.fields.start == "tile"


def check_stages_of_groups() -> None:
    """The stage of all lanes of a warp group is one: where it begins, and whether it goes on."""
    begin = "mov.u32 %r7, %tid.x; {} and.b32 %r10, %r7, 1;"
    cell = "mul.wide.u32 %rd8, %r7, 4; ld.global.u32 %r7, [%rd8];"
    for step, is_one in (
        ("shr.u32 %r7, %r7, 7;", True),
        ("shr.u32 %r7, %r7, 5;", False),
        ("", False),
        (cell, False),
        ("mov.u32 %r7, %r22;" + cell, True),
    ):
        ptx = pipeline().replace("mov.u32 %r10, 0;", begin.format(step), 1)
        odd = "mov.u32 %r7, %tid.x; {} and.b32 %r7, %r7, 1; setp.ne.u32 %p3, %r7, 0; @%p3 add.u32 %r10, %r10, 1;"
        for own in (ptx, pipeline().replace("add.u32 %r10, %r10, 1;", odd.format(step))):
            assert own != pipeline()
            a, _ = scan(own, (256, 1, 1))
            assert a.fields.unknown == ({} if is_one else {"start": "it may differ within a warp group"}), step


def test_lanes_of_a_warp_group_have_one_stage() -> None:
    check_stages_of_groups()


def test_warp_groups_that_read_are_named() -> None:
    stage = "mul.lo.u32 %r13, %r10, 2048;"
    more = "mov.u32 %r7, %tid.x; shr.u32 %r8, %r7, 7; shl.b32 %r8, %r8, 14; add.u32 %r13, %r13, %r8;"
    guard = "setp.lt.u32 %p2, %r7, 128; @%p2 ret;"
    ptx = (
        pipeline()
        .replace(stage, stage + more)
        .replace("ld.param.u32 %r20", "mov.u32 %r7, %tid.x;" + guard + "ld.param.u32 %r20")
    )
    a, _ = scan(ptx, (384, 1, 1))
    assert a.fields.start == "tile + {16384, 18432, 20480} in warp group 1, {32768, 34816, 36864} in warp group 2"


def rounded(multiple: int, size: int = 9216) -> ScannedOperand:
    body = f"add.u32 %r6, %r1, {multiple - 1}; and.b32 %r6, %r6, {-multiple & 0xFFFFFFFF};"
    body += make(1, "%r6", high()) + make(2, "%r6", high()) + f"{F16} {SUMS}, %rd1, %rd2, %p1, 1, 1, 0, 0;"
    return scan(text(body, f".shared .align 16 .b8 tile[{size}];"))[0]


def check_rounded() -> None:
    for multiple in (128, 1024):
        assert rounded(multiple).fields.start == f"tile rounded up to {multiple} + 0"
    # 8192 bytes from the next multiple of 1024 on, which is at most 1008 bytes away
    for size, verdict in ((8192 + 1008, "proved"), (8192 + 1007, "unknown")):
        assert rounded(1024, size).claim("in_bounds").verdict == verdict
    down = "and.b32 %r6, %r1, 0xfffffc00;" + make(1, "%r6", high()) + make(2, "%r1", high())
    a, _ = scan(text(down + f"{F16} {SUMS}, %rd1, %rd2, %p1, 1, 1, 0, 0;", ".shared .align 16 .b8 tile[16384];"))
    assert a.fields.unknown == {"start": "it is not tile plus one number for every start of tile"}


def test_a_start_may_be_rounded_up() -> None:
    check_rounded()


def test_an_array_that_fills_the_memory_has_few_places_to_begin() -> None:
    body = make(1, "%r1", high()) + make(2, "%r1", high()) + f"{F16} {SUMS}, %rd1, %rd2, %p1, 1, 1, 0, 0;"
    a, _ = scan(text(body, ".shared .align 1024 .b8 tile[231424];"))
    assert a.fields.start == "tile"


def test_low_bits_of_a_generic_address_are_an_assumption() -> None:
    body = "cvta.shared.u64 %rd5, %rd6; add.s64 %rd5, %rd5, 512; shr.u64 %rd7, %rd5, 4; and.b64 %rd7, %rd7, 16383;"
    body = f"cvt.u64.u32 %rd6, %r1; {body} or.b64 %rd1, %rd7, {high()};" + make(2, "%r1", high())
    a, b = scan(text(body + f"{F16} {SUMS}, %rd1, %rd2, %p1, 1, 1, 0, 0;"))
    assert a.fields.start == "tile + 512"
    assert "shared memory begins at a multiple of 262144 in generic addresses" in a.assumptions
    assert not b.assumptions


def first_trips_only(patch: pytest.MonkeyPatch) -> None:
    right = reachable._States._step

    def wrong(self: Any, header: int, values: Any, *, is_after: bool) -> bool:
        return False if is_after and self._states[header] else right(self, header, values, is_after=is_after)

    patch.setattr(reachable._States, "_step", wrong)


def one_side_only(patch: pytest.MonkeyPatch) -> None:
    right = reachable._decided

    def wrong(value: Any, bit: Any, _: int) -> Any:
        return right(value, bit, 1)

    patch.setattr(reachable, "_decided", wrong)


def the_first_remainder_only(patch: pytest.MonkeyPatch) -> None:
    right = reachable.numbers_of
    patch.setattr(reachable, "numbers_of", lambda node: right(node) if node.width == 1 else [*right(node)][:1])


def one_round_only(patch: pytest.MonkeyPatch) -> None:
    def wrong(self: Any) -> Any:
        for header, of in 2 * [*self._of.items()]:
            self._step(header, tuple(each.before for each in of), is_after=False)
            self._step(header, tuple(each.after for each in of), is_after=True)
        return {header: (self._registers[header], list(states)) for header, states in self._states.items()}

    patch.setattr(reachable._States, "solved", wrong)


@pytest.mark.parametrize("plant", [first_trips_only, one_side_only, the_first_remainder_only, one_round_only])
def test_mistakes_in_states_are_found(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        check(range(24))


def test_mistakes_in_starts_are_found() -> None:
    with mock.patch.object(operand_fields, "is_alike", return_value=True), pytest.raises(KeyError):
        check_groups()
    with mock.patch.object(threads.Threads, "in_groups", lambda self: self), pytest.raises(AssertionError):
        check_stages_of_groups()
    with mock.patch.object(descriptors, "_ROUNDED", ()), pytest.raises(AssertionError):
        check_rounded()
