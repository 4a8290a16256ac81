"""Arrays of one name in the module, in a function, in the kernel and in a block of it are several."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from swzverify.compiled.kernel.symbols import Symbols
from swzverify.compiled.ptx import SymbolRef, read_module
from tests.kernel.texts import TOP
from tests.nightly import share
from tests.ptx_oracle import launch
from tests.scan.whole import scan_module

THREADS = 64


@dataclass(frozen=True)
class Drawn:
    """A kernel that reads a word per thread of one of two arrays, and whether all of these exist."""

    text: str
    is_inside: bool


def drawn(seed: int) -> Drawn:
    """Four arrays of at most two names; each thread takes one of two that a condition chooses."""
    source = random.Random(seed)
    sizes = [4 * source.choice((16, 17, 33, 64, 65, 100, 200, 2048)) for _ in range(4)]
    names = [source.choice("st") for _ in range(4)]
    of_module, of_function, of_kernel, of_block = (
        f".shared .align {source.choice((4, 4, 16, 128))} .b8 {name}[{size}];"
        for name, size in zip(names, sizes, strict=True)
    )
    function = ".func (.reg .b32 %out) f{0}() {{ {1} mov.u32 %out, {2}; ret; }}\n"
    text = f"{TOP}{of_module}\n{function.format(0, '', names[0])}{function.format(1, of_function, names[1])}"
    text += f".entry k() {{ .reg .pred %p<9>; .reg .b32 %r<60>; {of_kernel} mov.u32 %r1, %tid.x;\n"
    text += f"call (%r10), f0; call (%r11), f1; mov.u32 %r12, {names[2]}; {{ {of_block} mov.u32 %r13, {names[3]}; }}\n"
    text += "call (%r14), f1;\n"
    sizes.append(sizes[1])  # a function has its array once, however often it is called
    first, second = source.choice(((0, 2), source.sample(range(5), 2)))
    step, bound, more = source.choice((4, 4, 4, 8, 12)), source.choice((5, 16, 32, 40)), source.choice((0, 0, 4, 128))
    if source.random() < 0.5:
        choice, picks = f"setp.lt.u32 %p1, %r1, {bound};", [thread < bound for thread in range(THREADS)]
    else:
        choice = "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;"
        picks = [thread % 2 == 0 for thread in range(THREADS)]
    text += f"{choice} selp.b32 %r3, %r1{first}, %r1{second}, %p1; mad.lo.u32 %r3, %r1, {step}, %r3;\n"
    text += f"ld.shared.u32 %r4, [%r3+{more}]; ret; }}"
    ends = [thread * step + more + 4 for thread in range(THREADS)]
    inside = [end <= sizes[first if pick else second] for end, pick in zip(ends, picks, strict=True)]
    return Drawn(text, all(inside))


def held(seed: int) -> Counter[str]:
    """The verdicts on a kernel, held against a launch and against what was drawn."""
    kernel = drawn(seed)
    (found,) = scan_module(read_module(kernel.text, "k.ptx"), (THREADS, 1, 1))
    result = launch(kernel.text, "k", [1], (THREADS, 1, 1), 0, [], 1, strict=False)
    (access,) = result.accesses
    decision, bounds = found.decision, found.in_bounds.verdict.value
    if decision.verdict == "free":
        assert access.ways <= 1, (seed, access.ways)
    if decision.verdict == "conflict" and not decision.is_for_some:
        assert access.ways >= 2, seed
    if decision.verdict == "conflict" and not decision.at_least:
        assert access.ways <= (decision.ways or 0), (seed, access.ways)
    assert bounds != "proved" or kernel.is_inside, seed
    assert bounds != "refuted" or not kernel.is_inside, seed
    return Counter({decision.verdict.value: 1, bounds: 1})


def held_all(seeds: Iterable[int]) -> Counter[str]:
    return sum(map(held, seeds), Counter[str]())


@pytest.mark.parametrize("start", share(range(0, 60, 20), 3))
def test_arrays_of_one_name(start: int) -> None:
    total = held_all(range(start, start + 20))
    assert min(total["proved"], total["refuted"], total["depends"]) > 0


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(60, 1060, 50))
def test_many_arrays_of_one_name(start: int) -> None:
    held_all(range(start, start + 50))


def test_an_array_of_the_kernel_that_hides_one_of_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """Taken for one array, no lanes of both would meet in a bank."""
    text = f"{TOP}.shared .align 4 .b8 s[64]; .func (.reg .b32 %out) f() {{ mov.u32 %out, s; ret; }}"
    text += ".entry k() { .reg .pred %p<9>; .reg .b32 %r<60>; .shared .align 4 .b8 s[8192]; mov.u32 %r1, %tid.x;"
    text += "call (%r2), f; mov.u32 %r3, s; setp.lt.u32 %p1, %r1, 16; selp.b32 %r5, %r2, %r3, %p1;"
    text += "mad.lo.u32 %r5, %r1, 4, %r5; ld.shared.u32 %r6, [%r5]; ret; }"
    module = read_module(text, "k.ptx")
    (found,) = scan_module(module, (32, 1, 1))
    assert (found.decision.verdict, found.in_bounds.verdict) == ("depends", "proved")
    monkeypatch.setattr(Symbols, "_label", by_name_alone)
    (wrong,) = scan_module(module, (32, 1, 1))
    assert (wrong.decision.verdict, wrong.in_bounds.verdict) == ("free", "refuted")


def by_name_alone(_: Symbols, name: SymbolRef) -> str:
    return f"{name.name}:{name.scope}" if name.scope > 1 else name.name


def test_names_without_their_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Symbols, "_label", by_name_alone)
    with pytest.raises(AssertionError):
        held_all(range(20, 40))
