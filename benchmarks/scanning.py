"""A scan of compiled code as a user runs it: a kernel of many accesses, how its time grows, memory,
and how long a large text of PTX takes to read.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.library import finish, memory_row
from benchmarks.measure import Effort, Row, require, time_text
from swzverify.compiled.ptx import read_module

MAX_SECONDS, MAX_MEGABYTES, MAX_READ_SECONDS, MAX_GROWTH = 2.0, 500.0, 3.0, 1.2
_HEAD = ".version 8.3\n.target sm_90\n.address_size 64\n"
_BEGIN = """\
.visible .entry kernel{number}(.param .u32 n)
{{
    .reg .b32 %r<12>; .reg .f32 %f<2>;
    .shared .align 16 .b8 tile{number}[49152];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile{number};
    shl.b32 %r3, %r1, 2;
    add.s32 %r4, %r2, %r3;
    and.b32 %r5, %r1, 7;
    shr.u32 %r6, %r1, 3;
    xor.b32 %r7, %r5, %r6;
    shl.b32 %r7, %r7, 4;
    shl.b32 %r8, %r6, 7;
    add.s32 %r9, %r7, %r8;
    add.s32 %r9, %r9, %r2;
    mul.lo.s32 %r10, %r1, 132;
    add.s32 %r10, %r10, %r2;
"""


def _kernel(number: int, accesses: int) -> str:
    """Stores and loads in turn at three addresses: a row, a swizzled one, a padded column."""
    lines: list[str] = []
    for place in range(accesses):
        at = f"[{('%r4', '%r9', '%r10')[place % 3]}+{4 * (place // 3)}]"
        lines.append(f"    ld.shared.f32 %f1, {at};\n" if place % 2 else f"    st.shared.f32 {at}, %f1;\n")
    return f"{_BEGIN.format(number=number)}{''.join(lines)}    ret;\n}}\n"


def rows(effort: Effort) -> list[Row]:
    """A kernel of 1,000 accesses on one process, three times as many, and 7 MB of PTX."""
    accesses = 1000 if effort.repeats > 1 else 30
    kernels = 200 if effort.repeats > 1 else 2
    least, megabytes = _scan(0)
    seconds, megabytes = _scan(accesses)
    longer, _ = _scan(3 * accesses)
    growth = max(longer - least, 0) / max(seconds - least, 1e-3) / 3
    text = _HEAD + "".join(_kernel(number, 1000) for number in range(kernels))
    started = time.perf_counter()
    found = len(read_module(text, "k.ptx").functions)
    reading = time.perf_counter() - started
    require(found == kernels, f"{found} kernels were read instead of {kernels}")
    what = f"scan of a kernel with {accesses} accesses, one process"
    goals = (MAX_SECONDS, MAX_GROWTH, MAX_READ_SECONDS) if effort.repeats > 1 else (None, None, None)
    return [
        Row(f"{what}: wall clock", time_text(seconds), "", seconds, "", goals[0], True, f"< {MAX_SECONDS:g} s"),
        Row(
            f"{what}, against three times as many: time of an access",
            "",
            "",
            growth,
            f"{growth:.2f}",
            goals[1],
            True,
            f"<= {MAX_GROWTH:g}",
        ),
        memory_row(what, megabytes, MAX_MEGABYTES),
        Row(
            f"{len(text) / 1e6:.1f} MB of PTX, read",
            time_text(reading),
            "",
            reading,
            "",
            goals[2],
            True,
            f"< {MAX_READ_SECONDS:g} s",
        ),
    ]


def _scan(accesses: int) -> tuple[float, float]:
    """Wall clock and memory of a scan; of one access where there are to be none, which is the start."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "k.ptx"
        file.write_text(_HEAD + _kernel(0, max(1, accesses)), encoding="utf-8")
        return finish("scan", str(file), "--block", "128", "-j", "1", "--quiet", "--no-suggest")
