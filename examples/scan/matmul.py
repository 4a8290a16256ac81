"""A Triton kernel: the product of a tile with a transposed one, and how it is compiled."""

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def matmul(a, b, out, N: tl.constexpr):
    """out = a @ b.T, all of N x N elements."""
    i = tl.arange(0, N)
    place = i[:, None] * N + i[None, :]
    tl.store(out + place, tl.dot(tl.load(a + place), tl.trans(tl.load(b + place))))


def compiled(arch: int = 90, size: int = 64):
    """The kernel as Triton compiles it for a GPU that need not be there."""
    source = ASTSource(
        fn=matmul,
        signature={"a": "*fp16", "b": "*fp16", "out": "*fp32", "N": "constexpr"},
        constexprs={"N": size},
    )
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options={"num_warps": 4})
