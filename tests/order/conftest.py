"""Small PTX kernels on races, and their verdicts."""

from __future__ import annotations

from typing import Any

from swzverify.compiled.order.verdict import KernelRaces
from swzverify.compiled.ptx import Module, read_module
from swzverify.compiled.scan.given import Given
from swzverify.compiled.scan.races import races_of

HEAD = """.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n, .param .u64 in) {
.reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
.shared .align 16 .b8 s[4096];
.shared .align 16 .b8 t[4096];
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 2;
mov.u32 %r3, s;
add.u32 %r4, %r3, %r2;
xor.b32 %r5, %r2, 4;
add.u32 %r6, %r3, %r5;
ld.param.u32 %r7, [n];
ld.param.u64 %rd1, [in];
"""
"""`%r1` is the thread, `%r4` the address of its word in `s`, `%r6` that of its neighbour, `%r7` is n."""


def module_of(body: str) -> Module:
    """A module with one kernel."""
    return read_module(HEAD + body + "\nret;\n}\n", "k.ptx")


def races_in(
    text: str, block: tuple[int, int, int] = (64, 1, 1), given: Given | None = None, **how: Any
) -> KernelRaces:
    """The verdict on the first kernel of a text."""
    module = read_module(text, "k.ptx")
    return races_of(module, module.functions[0], given or Given(), block=block, **how)


def races(body: str, threads: int = 64, *, given: Given | None = None, lockstep: bool = False) -> KernelRaces:
    """The verdict on a kernel of one such body."""
    return races_in(f"{HEAD}{body}\nret;\n}}\n", (threads, 1, 1), given, lockstep=lockstep)
