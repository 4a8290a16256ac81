"""Kernels that no compiler writes: each is read or refused, and nothing else happens."""

from __future__ import annotations

import random

import pytest

from swzverify.compiled.kernel import KernelAccess, accesses
from swzverify.compiled.ptx import PtxError, read_module
from tests.counted import calls_of, forget_everything
from tests.kernel.programs import program
from tests.kernel.texts import TOP
from tests.nightly import share

WORDS = (
    "ld.shared.v4.u32",
    "ld.b128",
    "mov.b64",
    "mov.pred",
    "cvta.shared.u64",
    "cvta.to.shared.u64",
    "setp.lt.s32",
    "lop3.b32",
    "shfl.sync.idx.b32",
    "vote.sync.ballot.b32",
    "activemask.b32",
    "bra",
    "brx.idx",
    "call",
    "ret",
    "cp.async.ca.shared.global",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
    "atom.shared.add.u32",
    "red.shared.add.u32",
    "mbarrier.init.shared.b64",
    "prmt.b32",
    "bfe.u32",
    "div.s32",
    "selp.b32",
    "cvt.u32.u8",
    "strange.op",
    "wgmma.mma_async",
    "tcgen05.mma",
    "st.async.shared::cluster.b32",
    "ld.param.u32",
    "ld.const.u8",
    "isspacep.shared",
    "bar.red.popc.u32",
)


def spoiled(seed: int) -> str:
    source = random.Random(seed)
    lines = program(seed).splitlines()
    for _ in range(source.randint(1, 12)):
        at = source.randrange(12, len(lines))
        opcode, _, rest = lines[at].partition(" ")
        operands = rest.rstrip(";").split(", ")
        kind = source.randrange(5)
        if kind == 0:
            lines[at] = f"{opcode} {', '.join(operands[:-1])};"
        elif kind == 1:
            lines[at] = f"{source.choice(WORDS)} {rest}" if rest else lines[at]
        elif kind == 2:
            source.shuffle(operands)
            lines[at] = f"{opcode} {', '.join(operands)};"
        elif kind == 3:
            lines[at] = lines[source.randrange(12, len(lines))] if not lines[at].endswith(":") else lines[at]
        else:
            vector = f"{{{operands[0]}, {operands[-1]}}}" if rest and "[" not in rest else operands[0]
            lines[at] = f"{opcode} {', '.join([vector, *operands[1:]])};"
    return "\n".join(lines)


@pytest.mark.parametrize("start", share(range(0, 400, 50), 8))
def test_spoiled_kernels_are_read_or_refused(start: int) -> None:
    for seed in range(start, start + 50):
        try:
            module = read_module(spoiled(seed), "k.ptx")
        except PtxError:
            continue
        for function in module.functions:
            for found in accesses(module, function, (32, 2, 1)):
                assert found.address is not None or found.reason
                assert found.who.guard.width == 1
                assert found.address is None or found.address.width == 32


PIECES = (
    "add.u32 %r{1}, %r{0}, %r1; ",
    "@%p{0} add.u32 %r{1}, %r{0}, %r1; ",
    "L{0}: add.u32 %r1, %r1, %r2; setp.lt.u32 %p1, %r1, %r2; @%p1 bra L{0}; ",
    "setp.lt.u32 %p1, %r1, {0}; @%p1 bra L{0}; add.u32 %r1, %r1, 1; L{0}: ",
    "ld.shared.u32 %r{1}, [%r{0}]; ",
)


def work_of(piece: str, count: int) -> int:
    """How many functions are called for the accesses of a kernel of so many pieces, where nothing is remembered."""
    body = "".join(piece.format(at, at + 1) for at in range(2, count))
    text = f"{TOP}.entry k() {{ .reg .pred %p<999>; .reg .b32 %r<999>; mov.u32 %r1, %tid.x;\n{body}"
    module = read_module(text + f"st.shared.u32 [%r1], %r2; st.shared.u32 [%r{count}], %r1; ret; }}", "k.ptx")
    found: list[KernelAccess] = []
    forget_everything()
    calls = calls_of(lambda: found.extend(accesses(module, module.functions[0], (64, 1, 1))))
    assert found
    return calls


@pytest.mark.parametrize("count", [40, pytest.param(200, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("piece", PIECES)
def test_the_work_on_long_kernels_grows_by_at_most_the_square_of_their_length(piece: str, count: int) -> None:
    """Twice the loops in a row take 3.4 times the calls at 40 and 3.8 times at 200; the rest takes less."""
    assert work_of(piece, 2 * count) < 4.5 * work_of(piece, count)
