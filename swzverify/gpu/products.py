"""CUDA that multiplies by a one-hot matrix: which element does the tensor core read where?

One operand is under test. The other one has a single 1 in each row, so that the product has the
elements of the operand under test, one by one. An element's value is a digit of the number of the place
where it lies; a kernel runs once a `pass`, with another digit, and the passes together tell the place.

Source: PTX ISA 8.7, 9.7.15.5 (wgmma: descriptors, accumulators) and 9.7.14.5 (mma.sync).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from swzverify.gpu.cuda import cuda_text
from swzverify.hardware.fragments import Mma
from swzverify.hardware.tensor_cores import Major, OperandRole, TensorInstruction

DIGIT_BITS: Mapping[str, int] = MappingProxyType(
    {"f16": 8, "bf16": 8, "tf32": 8, "s8": 8, "u8": 8, "e4m3": 4, "e5m2": 3}
)
"""Bits of a digit: all whole numbers of so many bits are exact in the type."""
OTHER_BYTES = 8192
"""Bytes of the one-hot operand: at most 256 rows of 32 bytes."""
ENCODINGS = cuda_text("encodings.cuh")
_INTEGERS = ("s8", "u8")


def passes(element: str, places: int) -> int:
    """How many digits the number of a place needs, if 0 stands for none.

    >>> passes("f16", 255), passes("f16", 256), passes("e5m2", 511)
    (1, 2, 3)
    """
    return max(1, -(-places.bit_length() // DIGIT_BITS[element]))


def wgmma_function(name: str, instruction: TensorInstruction, role: OperandRole, major: Major) -> str:
    """A device function `name(tested, other_at, out)` in which a warp group reads an operand once.

    `tested` is the descriptor, `other_at` the shared address of `OTHER_BYTES` bytes that are free. `out`
    gets the digit of element (r, k) at `r * K + k`.
    """
    n, k, size, element = instruction.n, instruction.k, instruction.element_bytes, instruction.element
    integer = element in _INTEGERS
    kind = "int" if integer else "float"
    is_a = role is OperandRole.A
    other_rows = n if is_a else 64
    turns = max(1, -(-k // other_rows))
    count = n // 2
    registers = ", ".join(f"%{i}" for i in range(count))
    held = ", ".join(f'"+{"r" if integer else "f"}"(d[{i}])' for i in range(count))
    flags = "p" if integer else "p, 1, 1"
    if element in ("f16", "bf16"):
        own = int(major is Major.MN)
        flags += f", {own}, 0" if is_a else f", 0, {own}"
    result = "s32" if integer else "f32"
    opcode = f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.{result}.{element}.{element}"
    both = f"%{count}, %{count + 1}"
    row, column = ("m", f"c + turn * {other_rows}u") if is_a else ("c", "m")
    digit = (1 << DIGIT_BITS[element]) - 1
    return f"""
__device__ static void {name}(uint64_t tested, uint32_t other_at, uint32_t* out) {{
    const uint32_t thread = threadIdx.x % 128u, lane = thread % 32u;
    const uint64_t other = (uint64_t)((other_at & 0x3ffffu) >> 4) | (uint64_t){other_rows}u << 16 | (uint64_t)8u << 32;
    for (uint32_t turn = 0; turn < {turns}u; ++turn) {{
        for (uint32_t e = thread; e < {other_rows * k}u; e += 128u) {{
            const uint32_t r = e / {k}u, c = e % {k}u;
            const uint32_t at = other_at + r % 8u * 16u + r / 8u * 128u + c * {size}u % 16u;
            put_{element}(at + c * {size}u / 16u * {other_rows * 16}u, c == r + turn * {other_rows}u);
        }}
        asm volatile("fence.proxy.async;" ::: "memory");
        asm volatile("bar.sync 1, 128;" ::: "memory");
        {kind} d[{count}];
        for (uint32_t i = 0; i < {count}u; ++i) d[i] = 0;
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        asm volatile("{{ .reg .pred p; setp.ne.b32 p, %{count + 2}, 0; {opcode} {{{registers}}}, {both}, {flags}; }}"
            : {held} : {'"l"(tested), "l"(other)' if is_a else '"l"(other), "l"(tested)'}, "r"(0));
        asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
        for (uint32_t i = 0; i < {count}u; ++i) {{
            const uint32_t m = thread / 32u * 16u + lane / 4u + i / 2u % 2u * 8u;
            const uint32_t c = i / 4u * 8u + lane % 4u * 2u + i % 2u;
            if ({column} < {k}u) out[{row} * {k}u + {column}] = (uint32_t)(int)d[i] & {digit}u;
        }}
        asm volatile("bar.sync 1, 128;" ::: "memory");
    }}
}}
"""


_ONES: Mapping[str, int] = MappingProxyType(
    {"f16": 0x3C00, "bf16": 0x3F80, "tf32": 0x3F800000, "s8": 1, "u8": 1, "e4m3": 0x38, "e5m2": 0x3C}
)
"""The bits of 1 in each type."""


def mma_capability(mma: Mma) -> int:
    """The least capability that has an `mma.sync`. Source: PTX ISA 8.7, 9.7.14.5, target notes."""
    return 89 if mma.element in ("e4m3", "e5m2") else 80


def mma_function(name: str, mma: Mma, role: OperandRole) -> str:
    """A device function `name(tested, out)` in which a warp multiplies one fragment.

    `tested` has the lane's registers of the fragment. `out` gets the digit of element (r, k) at `r * K + k`.
    """
    is_a, element, k = role is OperandRole.A, mma.element, mma.k
    other = OperandRole.B if is_a else OperandRole.A
    counts = {each: mma.registers(each) for each in OperandRole}
    parts, bits, halves = mma.parts, 8 * mma.element_bytes, mma.halves(other)
    others = mma.rows(other)
    integer = element in _INTEGERS
    kind, result = ("int", "s32") if integer else ("float", "f32")
    results = mma.m * mma.n // 32
    letters = "r" if integer else "f"
    registers = [
        ", ".join(f"%{first + i}" for i in range(count))
        for first, count in (
            (0, results),
            (results, counts[OperandRole.A]),
            (results + counts[OperandRole.A], counts[OperandRole.B]),
        )
    ]
    d, a, b = (f"{{{each}}}" for each in registers)
    held = ", ".join(f'"+{letters}"(d[{i}])' for i in range(results))
    sources = [
        f'"r"({"tested" if (each is OperandRole.A) is is_a else "other"}[{i}])'
        for each in OperandRole
        for i in range(counts[each])
    ]
    row, column = ("m", "c") if is_a else ("c", "m")
    opcode = f"mma.sync.aligned.m{mma.m}n{mma.n}k{k}.row.col.{result}.{element}.{element}.{result}"
    return f"""
__device__ static void {name}(const uint32_t* tested, uint32_t* out) {{
    const uint32_t lane = threadIdx.x % 32u;
    for (uint32_t turn = 0; turn < {-(-k // others)}u; ++turn) {{
        uint32_t other[{counts[other]}];
        for (uint32_t q = 0; q < {counts[other]}u; ++q) {{
            other[q] = 0;
            for (uint32_t p = 0; p < {parts}u; ++p) {{
                const uint32_t r = lane / 4u + q % {halves}u * 8u, c = (q / {halves}u * 4u + lane % 4u) * {parts}u + p;
                if (c == r + turn * {others}u) other[q] |= {_ONES[element]}u << {bits}u * p;
            }}
        }}
        {kind} d[{results}];
        for (uint32_t i = 0; i < {results}u; ++i) d[i] = 0;
#if __CUDA_ARCH__ >= {mma_capability(mma)}0
        asm volatile("{opcode} {d}, {a}, {b}, {d};" : {held} : {", ".join(sources)});
#endif
        for (uint32_t i = 0; i < {results}u; ++i) {{
            const uint32_t m = lane / 4u + i / 2u * 8u, c = lane % 4u * 2u + i % 2u;
            const uint32_t along = {column} + turn * {others}u;
            if (along < {k}u) out[{row} * {k}u + along] = (uint32_t)(int)d[i] & {(1 << DIGIT_BITS[element]) - 1}u;
        }}
    }}
}}
"""
