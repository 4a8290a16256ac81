"""Small kernels for tests of the scan."""

from __future__ import annotations

from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import ScannedAccess
from tests.kernel.texts import HEAD, TOP
from tests.scan.whole import scan_module

WHOLE = (64, 1, 1)


def text_of(body: str, outside: str = "") -> str:
    """A kernel with this body: %r1 is tid.x, %r2 a parameter, %r3 the base of 8 KiB."""
    return f"{TOP}{outside}{HEAD}{body}\nret; }}"


def scanned(body: str, shape: BlockShape | None = WHOLE, outside: str = "") -> list[ScannedAccess]:
    """All accesses of such a kernel."""
    module = read_module(text_of(body, outside), "k.ptx")
    function = module.function("k")
    assert function is not None
    assert function.problem is None, function.problem
    return scan_module(module, shape)


def last(body: str, shape: BlockShape | None = WHOLE, outside: str = "") -> ScannedAccess:
    """The last access of such a kernel."""
    return scanned(body, shape, outside)[-1]


def verdict(body: str, shape: BlockShape | None = WHOLE, outside: str = "") -> tuple[str, int | None]:
    """Verdict and ways of the last access."""
    decision = last(body, shape, outside).decision
    return decision.verdict.value, decision.ways


def strided(factor: int, access: str = "ld.shared.u32 %r30, [%r20];") -> str:
    """An access to `base + tid.x * factor`."""
    return f"mad.lo.u32 %r20, %r1, {factor}, %r3; {access}"


SKEWED = "mul.lo.u32 %r10, %r1, %r2; mad.lo.u32 %r20, %r10, 4, %r3; ld.shared.u32 %r30, [%r20];"
"""The word tid.x * n."""
GUARDED = (
    "mul.lo.u32 %r10, %r1, 128; add.u32 %r20, %r3, %r10; setp.lt.u32 %p1, %r1, 5; @!%p1 bra OUT;"
    " ld.shared.u32 %r30, [%r20]; OUT:"
)
"""128 bytes apart, threads 0 to 4."""
DATA = "ld.global.u32 %r10, [%d1]; mad.lo.u32 %r20, %r10, 4, %r3; ld.shared.u32 %r30, [%r20];"
"""The word that data of each lane say."""
