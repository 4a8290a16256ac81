"""Random kernels whose conflicts have a fix: each fix is applied to the addresses, and the oracle's
price list, which shares no code with swzverify, says what comes of it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest

from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import ScannedAccess, scan_function
from tests.kernel.texts import TOP
from tests.nightly import counts, share
from tests.oracle.hardware import read_instruction, warp_cost

DECLARED = {
    "static": ".shared .align 16 .b8 tile[{bytes}];",
    "aligned to less": ".shared .align 2 .b8 tile[{bytes}];",
    "dynamic": ".extern .shared .align 16 .b8 tile[];",
    "dynamic, aligned to less": ".extern .shared .align 4 .b8 tile[];",
}
HEAD = "\n.entry k()\n{\n.reg .b32 %r<40>;\n"
HEAD += "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, tile;\n"
SHAPES = ((32, 8, 1), (16, 16, 1), (64, 1, 1), (8, 32, 1))
PAD = re.compile(r"pad (\d+) after every (\d+) elements")
SWIZZLE = re.compile(r"Swizzle<(\d+),(\d+),(-?\d+)> on element offsets")
LOADS = {
    4: ("ld.shared.u32 %r10", "ld.shared.b32"),
    8: ("ld.shared.v2.u32 {%r10, %r11}", "ld.shared.v2.b32"),
    16: ("ld.shared.v4.u32 {%r10, %r11, %r12, %r13}", "ld.shared.v4.b32"),
}


@dataclass(frozen=True)
class Made:
    """An access: `x` and `y` are bytes that the coordinates move it by, `first` bytes more."""

    width: int
    x: int
    y: int
    first: int

    def at(self, tid: int, shape: tuple[int, int, int]) -> int:
        return tid % shape[0] * self.x + tid // shape[0] * self.y + self.first


def program(draw: random.Random) -> tuple[list[Made], tuple[int, int, int], int]:
    shape = draw.choice(SHAPES)
    row = draw.choice((64, 128, 132, 144, 256))
    made: list[Made] = []
    for _ in range(draw.randint(1, 3)):
        width = draw.choice((4, 4, 4, 8, 16)) if row % 16 == 0 else 4
        turned = draw.random() < 0.6
        x, y = (row, width) if turned else (width, row)
        made.append(Made(width, x, y, draw.choice((0, 0, row))))
    last = max(each.at(shape[0] * shape[1] - 1, shape) + each.width for each in made)
    return made, shape, -(-last // row) * row


def scanned(made: list[Made], shape: tuple[int, int, int], size: int, declared: str) -> list[ScannedAccess]:
    body = ""
    for each in made:
        body += f"mad.lo.u32 %r4, %r1, {each.x}, %r3; mad.lo.u32 %r4, %r2, {each.y}, %r4;\n"
        body += f"{LOADS[each.width][0]}, [%r4+{each.first}];\n"
    module = read_module(TOP + DECLARED[declared].format(bytes=size) + HEAD + body + "ret;\n}\n", "k.ptx")
    return scan_function(module, module.functions[0], shape, suggest=True)


@cache
def drawn(
    seed: int, declared: str = "static"
) -> tuple[tuple[list[Made], tuple[int, int, int], int], list[ScannedAccess]]:
    """A random kernel and what is said of it: two tests ask for the same ones."""
    made = program(random.Random(seed))
    return made, scanned(*made, declared)


def moved(change: str, element: int) -> Callable[[int], int] | None:
    """Where a fix puts a byte."""
    if found := PAD.match(change):
        pad, row = int(found[1]) * element, int(found[2]) * element
        return lambda at: at // row * (row + pad) + at % row
    if found := SWIZZLE.match(change):
        bits, base, shift = (int(each) for each in found.groups())
        mask = (1 << bits) - 1 << base + max(0, shift)

        def swizzled(at: int) -> int:
            offset = at // element
            picked = offset & mask
            return (offset ^ (picked >> shift if shift > 0 else picked << -shift)) * element + at % element

        return swizzled
    return None


def wavefronts(made: Made, shape: tuple[int, int, int], place: Callable[[int], int]) -> int:
    """The most that a warp takes, in groups that do not join: those of a store of the same width."""
    threads = shape[0] * shape[1]
    name = LOADS[made.width][1].replace("ld", "st")
    worst = 0
    for warp in range(threads // 32):
        addresses = [place(made.at(32 * warp + lane, shape)) for lane in range(32)]
        assert all(each % made.width == 0 for each in addresses)
        worst = max(worst, warp_cost(read_instruction(name), addresses).wavefronts)
    return worst


def is_whole(made: Made, shape: tuple[int, int, int], place: Callable[[int], int]) -> bool:
    """Whether a lane's bytes stay together and in order."""
    begins = [made.at(tid, shape) for tid in range(shape[0] * shape[1])]
    return all(place(each + byte) == place(each) + byte for each in begins for byte in range(made.width))


def bytes_of(made: Made, shape: tuple[int, int, int]) -> int:
    """The first bytes of the array that an access stays in."""
    return max(made.at(tid, shape) for tid in range(shape[0] * shape[1])) + made.width


def check(
    seed: int, place_of: Callable[[str, int], Callable[[int], int] | None] = moved, declared: str = "static"
) -> int:
    """Hold the fixes of a random kernel against the oracle; how many there were."""
    (made, shape, size), found = drawn(seed, declared)
    widest, touched = max(each.width for each in made), max(bytes_of(each, shape) for each in made)
    element = min(each.width for each in made)
    fixes = 0
    for number, access in enumerate(found):
        for cure in access.cures:
            place = place_of(cure.change, element)
            assert place is not None, cure.change
            fixes += 1
            words = DECLARED[declared].split()
            is_less = widest > int(words[words.index(".align") + 1])
            assert (f"declare it with __align__({widest})" in cure.also) == is_less
            assert (f"the first {touched} bytes of tile are read as rows" in cure.also) == ("dynamic" in declared)
            assert ("launch with these bytes more" in cure.also) == ("dynamic" in declared and "pad" in cure.change)
            assert len({place(at) for at in range(size)}) == size, cure
            assert wavefronts(made[number], shape, place) == max(1, made[number].width // 4), cure
            for each in made:
                assert is_whole(each, shape, place), cure
                assert wavefronts(each, shape, place) <= wavefronts(each, shape, lambda at: at), cure
    return fixes


@pytest.mark.parametrize("first", share(range(0, 40, 5), 8))
def test_every_fix_is_one(first: int) -> None:
    assert sum(check(seed) for seed in range(first, first + 5)) >= 1


@pytest.mark.parametrize("count", counts(4, 12))
@pytest.mark.parametrize("declared", [each for each in DECLARED if each != "static"])
def test_every_fix_of_an_array_that_ptx_does_not_fix_is_one(declared: str, count: int) -> None:
    assert sum(check(seed, declared=declared) for seed in range(count)) >= count // 4


def test_a_fix_that_is_none_is_seen() -> None:
    """Planted: pads of one element less, and swizzles by one bit less, than what was proved."""

    def less(change: str, element: int) -> Callable[[int], int] | None:
        change = PAD.sub(lambda found: f"pad {int(found[1]) - 1} after every {found[2]} elements", change)
        change = SWIZZLE.sub(
            lambda found: f"Swizzle<{int(found[1]) - 1},{found[2]},{found[3]}> on element offsets", change
        )
        return moved(change, element)

    seen = 0
    for seed in range(10):
        try:
            check(seed, less)
        except AssertionError:
            seen += 1
    assert seen >= 3
