"""The parts of `python -m tests.gpu.parted_lanes` that need no device."""

from __future__ import annotations

import re

from tests.gpu.parted_lanes import MORE, free_kernels, kernels_with_more, program, text_of
from tests.scan.test_partings import around, spin
from tests.scan.texts import text_of as ptx_of

PAGE = f"""==PROF== Connected
"Kernel Name","k3",
"Address","Source","Instructions Executed","{MORE}"
"0x10","LDG R1, [R2]","4","9"
"0x20","LDS R1, [R2]","4","0"
"Kernel Name","k4",
"Address","Source","Instructions Executed","{MORE}"
"0x20","LDS R1, [R2]","4","3"
"""


def test_half_of_the_kernels_load_volatile_words() -> None:
    assert ["volatile" in text_of(seed) for seed in range(4)] == [True, False, True, False]


def test_some_kernels_have_a_loop_in_a_loop() -> None:
    counts = [len(re.findall(r"int i\d+", text_of(seed))) for seed in range(40)]
    assert {1, 2, 3} <= set(counts)


def test_each_kernel_is_launched() -> None:
    text = program(range(3, 6))
    assert [name in text for name in ("k3<<<1, 64>>>", "k4<<<1, 64>>>", "k5<<<1, 64>>>")] == [True] * 3


def test_loads_with_more_wavefronts_are_found() -> None:
    assert kernels_with_more(PAGE) == {"k4"}


def test_kernels_whose_loads_are_free() -> None:
    plain = spin("ld.shared.u32 %r11, [%r3];")
    assert free_kernels(ptx_of(plain)) == {"k"}
    assert around(spin()) == "unknown"
    assert (
        free_kernels(ptx_of(f"{plain} shl.b32 %r20, %r1, 7; add.u32 %r20, %r20, %r3; ld.shared.u32 %r30, [%r20];"))
        == set()
    )
