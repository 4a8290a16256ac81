"""Objects whose first phase is completed by the thread that makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import pytest

from swzverify.compiled.order import objects
from tests.order.conftest import HEAD, races
from tests.order.rings import wait
from tests.ptx_oracle import Buffer
from tests.ptx_oracle.races import races_of as launched

Patch = Callable[[pytest.MonkeyPatch], None]


class Freed(NamedTuple):
    """A kernel, and what runs of it show; a kernel that is `free` and not `known` may be called `unknown`."""

    body: str
    verdict: str
    is_known: bool = True


_INIT: Final = (
    ".shared .align 16 .b8 b[16];\nmov.u32 %r10, b;\nand.b32 %r11, %r1, 31;\nand.b32 %r13, %r2, 127;\n"
    "add.u32 %r13, %r13, %r3;\nsetp.eq.u32 %p1, %r1, 0;\nsetp.eq.u32 %p2, %r11, 0;\nsetp.lt.u32 %p3, %r1, 32;\n"
    "@%p1 mbarrier.init.shared::cta.b64 [%r10], 1;\n@%p1 mbarrier.init.shared::cta.b64 [%r10+8], {count};\n"
)
_BLOCK: Final = "bar.sync 0;\n"
_FIRST: Final = "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r10+8]{};\n"
_WRITE: Final = "st.shared.u32 [%r13], %r20;\nbar.warp.sync -1;\n@%p2 mbarrier.arrive.shared::cta.b64 _, [%r10];\n"
_READ: Final = "ld.shared.u32 %r30, [%r13];\nbar.warp.sync -1;\n@%p2 mbarrier.arrive.shared::cta.b64 _, [%r10+8];\n"
_EMPTY: Final = wait("E", "%r10+8", "%r21")
_FULL: Final = wait("F", "%r10", "%r21")


def freed(
    first: str = _FIRST.format("") + _BLOCK,
    write: str = _EMPTY + _WRITE,
    read: str = _FULL + _READ,
    count: int = 1,
) -> str:
    """The first warp writes a word for each lane in three rounds, and the second one reads it and frees it."""
    loop = "mov.u32 %r20, 0;\n{0}:\nand.b32 %r21, %r20, 1;\n{1}add.u32 %r20, %r20, 1;\n" + (
        "setp.lt.u32 %p4, %r20, 3;\n@%p4 bra {0};\n"
    )
    return (
        f"{_INIT.format(count=count)}{first}@!%p3 bra READER;\n{loop.format('A', write)}bra END;\n"
        f"READER:\n{loop.format('B', read)}END:"
    )


_LATE: Final = "xor.b32 %r22, %r21, 1;\n" + wait("E", "%r10+8", "%r22")

KERNELS: Final = {
    "a ring of one stage": Freed(freed(), "free"),
    "behind the meeting": Freed(freed(_BLOCK + _FIRST.format("")), "free", is_known=False),
    "of two arrivals": Freed(
        freed(
            _FIRST.format(", 2") + _BLOCK,
            read=_FULL + _READ.replace("[%r10+8];", "[%r10+8], 2;"),
            count=2,
        ),
        "free",
    ),
    "no first arrival": Freed(freed(_BLOCK), "deadlock"),
    "the parity of the phase behind": Freed(freed(write=_LATE + _WRITE), "deadlock"),
    "the reader does not wait": Freed(freed(read=_READ), "race"),
    "the writer does not wait": Freed(freed(write=_WRITE), "race"),
    "the reader frees the word too early": Freed(
        freed(read=_FULL + _READ.replace("ld.shared.u32 %r30, [%r13];\n", "") + "ld.shared.u32 %r30, [%r13];\n"), "race"
    ),
    "two first arrivals": Freed(freed(_FIRST.format("") * 2 + _BLOCK), "deadlock"),
    "of half the count": Freed(freed(_FIRST.format("") + _BLOCK, count=2), "deadlock"),
    "in a path alone": Freed(
        freed("setp.eq.u32 %p5, %r7, 0;\n@%p5 bra SKIP;\n" + _FIRST.format("") + "SKIP:\n" + _BLOCK),
        "free",
        is_known=False,
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_free_only_if_right(name: str) -> None:
    said, known = races(KERNELS[name].body).verdict.value, KERNELS[name]
    assert said not in ("free", "race-benign") or known.verdict != "race"
    assert said == "free" or known.verdict != "free" or not known.is_known


@pytest.mark.parametrize("name", KERNELS)
def test_runs_say_so_too(name: str) -> None:
    text = f"{HEAD}{KERNELS[name].body}\nret;\n}}\n"
    runs = [
        launched(text, "k", (64,), params=[Buffer(8), 3, Buffer(64)], shuffle=order, steps=4000)
        for order in (None, *range(1, 6))
    ]
    seen = {each.verdict for each in runs}
    wanted = KERNELS[name].verdict
    assert wanted in seen
    assert wanted == "race" or "race" not in seen


# ---- planted mistakes


def _objects_begin_in_their_first_phase(patch: pytest.MonkeyPatch) -> None:
    """The first arrival makes the object, and completes nothing."""

    class Wrong(objects.Barrier):
        """A barrier that forgets its phase."""

        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, 0 if name == "phase" else value)

    patch.setattr(objects, "Barrier", Wrong)


PLANTED: list[tuple[Patch, str]] = [(_objects_begin_in_their_first_phase, "the reader frees the word too early")]
"""Mistakes, each with a kernel that is called free once the mistake is in the code."""


@pytest.mark.parametrize(("plant", "name"), PLANTED, ids=[each.__name__ for each, _ in PLANTED])
def test_planted_mistakes_are_found(plant: Patch, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        test_free_only_if_right(name)
