"""Small kernels for tests."""

from __future__ import annotations

from swzverify.compiled.kernel import KernelAccess, Leaf, UniformLeaf, accesses
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.ptx import read_module

TOP = ".version 8.3\n.target sm_90\n.address_size 64\n"
HEAD = (
    ".shared .align 16 .b8 s[8192];\n.entry k(.param .u32 n, .param .u64 q) { .reg .pred %p<20>; .reg .b16 %h<9>;"
    " .reg .b32 %r<60>; .reg .b64 %d<20>; mov.u32 %r1, %tid.x; ld.param.u32 %r2, [n]; mov.u32 %r3, s; mov.u32 %r9, 0;\n"
)


def found_in(body: str, shape: BlockShape | None = (64, 1, 1), outside: str = "") -> list[KernelAccess]:
    """The accesses of a kernel with this body: %r1 is tid.x, %r2 a parameter, %r3 the base."""
    module = read_module(f"{TOP}{outside}{HEAD}{body}\nret; }}", "k.ptx")
    function = module.function("k")
    assert function is not None
    assert function.problem is None, function.problem
    return accesses(module, function, shape)


def last(body: str, shape: BlockShape | None = (64, 1, 1), outside: str = "") -> KernelAccess:
    """The last access of such a kernel."""
    return found_in(body, shape, outside)[-1]


def kind(leaf: Leaf) -> str:
    """The kind of a leaf in one word; the address of an array is uniform."""
    return "uniform" if isinstance(leaf, UniformLeaf) else type(leaf).__name__.removesuffix("Leaf").lower()


def own(access: KernelAccess) -> list[str]:
    """What the lanes of an access may have of their own, apart from their coordinates."""
    return [name for leaf in access.leaves if not leaf.uniform and (name := kind(leaf)) != "lane"]
