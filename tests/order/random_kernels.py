"""Random small kernels with and without races of shared memory.

A kernel is a row of fragments, each of which is race free as it is written: a double buffer, a ring
of copies, a tree, a flag, and so on. Then three kernels in four are damaged: a barrier is out,
weakened, moved or guarded, a wait comes one group late, or a fragment slips. The fragments read the
thread, the block and one parameter, so that a few launches show what they do.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.kernel.path_programs import HEAD

from .random_fragments import FRAGMENTS, RaceWriter
from .random_pieces import WARP

BLOCKS = ((64, 1, 1), (64, 1, 1), (32, 1, 1), (16, 4, 1), (96, 1, 1), (40, 1, 1))
NUMBERS = (1, 0, 2, 3, 5, 8, 33, 64)
"""Values of the parameter that bring about nearly every case."""
GRID = 2
MORE = """mov.u32 %r0, %tid.y;
mov.u32 %r8, %ntid.x;
mov.u32 %r7, %tid.x;
mad.lo.u32 %r0, %r0, %r8, %r7;
mov.u32 %r7, %ntid.y;
mul.lo.u32 %r8, %r8, %r7;
shr.u32 %r7, %r0, 5;
"""
"""The linear number of the thread, its warp (%r7) and the threads of the block (%r8)."""


@dataclass(frozen=True)
class Kernel:
    """A random kernel `k` of a parameter `n` and a buffer `source`."""

    seed: int
    text: str
    block: tuple[int, int, int]
    constructs: frozenset[str]


def damage(writer: RaceWriter) -> str:
    """Do something to a line that orders accesses; say what."""
    at = writer.source.choice(writer.syncs)
    line, lines = writer.lines[at], writer.lines
    if not line.startswith(("bar", "cp.async")):
        return "damaged twice"
    ways = ["dropped", "dropped", "dropped", "earlier", "later"]
    if "matrix" not in writer.constructs:
        # Nobody can say what ldmatrix does in a part of a warp.
        ways += ["guarded", "guarded"]
    if line.startswith("bar") and "warp" not in line:
        ways += ["warp only"]
    if "wait_group" in line:
        ways = ["dropped", "a group later", "later"]
    way = writer.source.choice(ways)
    if way == "dropped":
        lines[at] = ""
    elif way == "warp only":
        lines[at] = WARP
    elif way == "guarded":
        lines[at] = f"@{writer.source.choice(('%p1', '%p2'))} {line}"
    elif way == "a group later":
        lines[at] = f"cp.async.wait_group {int(line.split()[1].rstrip(';')) + 1};"
    else:
        to = at + (1 if way == "later" else -1)
        if 0 <= to < len(lines) and not lines[to].endswith(":") and "bra" not in lines[to]:
            lines[at], lines[to] = lines[to], lines[at]
    return f"{line.split()[0].rstrip(';').partition('.popc')[0]} {way}"


def kernel(seed: int) -> Kernel:
    """The random kernel of a seed."""
    source = random.Random(seed)
    writer = RaceWriter(source)
    block = source.choice(BLOCKS)
    writer.put(MORE)
    writer.put(f"setp.lt.u32 %p1, %r5, {source.choice((0, 16, 32))};")
    writer.put("setp.gt.u32 %p2, %r2, 2;")
    bad = source.random()
    writer.slips = 0.5 if bad < 0.25 else 0.0
    writer.write()
    if 0.25 <= bad < 0.8 and writer.syncs:
        for _ in range(source.choice((1, 1, 2))):
            writer.constructs.add(damage(writer))
    # The thread's number is known only behind `MORE`, so what HEAD makes of it comes again.
    again = [line for line in HEAD.splitlines() if "%r0" in line and "%tid" not in line]
    text = HEAD + "\n".join([MORE.rstrip(), *again, *writer.lines[1:]]) + "\nret;\n}\n"
    return Kernel(seed, text, block, frozenset(writer.constructs))


__all__ = ["BLOCKS", "FRAGMENTS", "GRID", "NUMBERS", "Kernel", "kernel"]
