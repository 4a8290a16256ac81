"""CUDA kernels that multiply what `delivers` is about, from the same expressions that were proved.

Shared memory holds the number of each place, in units of an element. The product with a one-hot matrix
(`products`) tells from which place the tensor core took each element. Source: docs/crosscheck.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from swzverify.claims.fragment_points import ELEMENT, FragmentPoints
from swzverify.claims.operand_points import OperandPoints
from swzverify.gpu.asm import register_words, statement
from swzverify.gpu.products import DIGIT_BITS, OTHER_BYTES, mma_capability, mma_function, wgmma_function
from swzverify.gpu.source import SIGNATURE, row_variables
from swzverify.hardware.instructions import LANES
from swzverify.hardware.tensor_cores import WGMMA_FIELDS
from swzverify.ir.c_source import c_identifier, c_locals, c_type
from swzverify.ir.expr import Expr, Var, variables
from swzverify.subjects import Descriptor
from swzverify.subjects.descriptor import CHUNK_BYTES
from swzverify.subjects.fragment import REGISTER
from swzverify.subjects.loop import LANE, WARP
from swzverify.subjects.operand import MN, K

NO_INSTRUCTION = (1 << 32) - 1
"""What a kernel leaves in `values` if it was compiled for a target without the instruction; no digit."""


def operand_kernel(name: str, points: OperandPoints) -> str:
    """A kernel in which a warp group reads an operand at every row, one row after the other.

    `places` gets where the tile has each element, `values` from where the tensor core takes it. The last
    `OTHER_BYTES` of the window are for the one-hot matrix.
    """
    operand, rows = points.operand, operand_rows(points)
    elements, element, columns = operand.rows * operand.columns, operand.instruction.element, operand.columns
    digit = (1 << DIGIT_BITS[element]) - 1
    return "\n".join(
        [
            wgmma_function(f"{name}_reads", operand.instruction, operand.role, operand.major),
            _function(f"{name}_start", points.start().bits, rows, points.base, ()),
            _function(f"{name}_wanted", points.wanted_address().bits, rows, points.base, (MN, K)),
            f"""extern "C" __global__ void {name}({SIGNATURE}) {{
    extern __shared__ uint8_t raw[];
    const uint32_t begin = shared_begin(raw), other_at = begin + window_bytes - {OTHER_BYTES}u;
    for (uint32_t o = threadIdx.x; o < (window_bytes - {OTHER_BYTES}u) / {operand.element_bytes}u; o += blockDim.x)
        put_{element}(begin + o * {operand.element_bytes}u, (o + 1) >> {DIGIT_BITS[element]}u * pass & {digit}u);
    __syncthreads();
    for (uint32_t row = 0; row < row_count; ++row) {{
        const uint64_t* own = rows + (uint64_t)row * {len(rows)}u;
        const uint64_t first = (uint64_t)row * {elements}u;
        for (uint32_t e = threadIdx.x; pass == 0 && e < {elements}u; e += blockDim.x)
            places[first + e] = {name}_wanted(own, base, e / {columns}u, e % {columns}u);
        const uint32_t start = begin + (uint32_t)({name}_start(own, base) - window);
        const uint64_t tested = (uint64_t)((start & 0x3ffffu) >> 4) | {constant_bits(operand.descriptor):#x}ull;
        if (touch) {name}_reads(tested, other_at, values + first);
        __syncthreads();
    }}
#ifndef __CUDA_ARCH_FEAT_SM90_ALL
    if (touch && threadIdx.x == 0) values[0] = {NO_INSTRUCTION}u;
#endif
}}
""",
        ]
    )


def operand_rows(points: OperandPoints) -> tuple[Var, ...]:
    """The variables of a row: the loops."""
    return points.operand.variables[:-2]


def constant_bits(fields: Descriptor) -> int:
    """The bits of a descriptor but for the start address."""
    mode = WGMMA_FIELDS.modes.index(str(fields.swizzle))
    placed = (
        (WGMMA_FIELDS.lbo, fields.lbo_bytes // CHUNK_BYTES),
        (WGMMA_FIELDS.sbo, fields.sbo_bytes // CHUNK_BYTES),
        (WGMMA_FIELDS.base_offset, fields.base_offset),
        (WGMMA_FIELDS.swizzle, mode),
    )
    return sum(value << first for (first, _), value in placed)


def fragment_kernel(name: str, points: FragmentPoints) -> str:
    """A kernel in which each warp loads at every row, and multiplies each register that it loads by itself.

    `places` gets where the tile has each element that a lane reads. `values` gets, register by register of
    the load, from where `mma.sync` takes each element of the fragment.
    """
    access, mma, role = points.access, points.fragment.mma, points.fragment.role
    rows, base, element = row_variables(access), access.origin.variable, mma.element
    words, lanes, registers = register_words(access.instruction), access.instruction.address_lanes, mma.registers(role)
    digit = (1 << DIGIT_BITS[element]) - 1
    return "\n".join(
        [
            mma_function(f"{name}_reads", mma, role),
            _function(f"{name}_position", access.lowered.position.bits, rows, base, ()),
            _function(f"{name}_register", points.fragment_register().bits, rows, base, (REGISTER,)),
            _function(f"{name}_wanted", points.wanted_position().bits, rows, base, (ELEMENT,)),
            f"""extern "C" __global__ void {name}({SIGNATURE}) {{
    extern __shared__ uint8_t raw[];
    const uint32_t begin = shared_begin(raw), lane = threadIdx.x % {LANES}u;
    for (uint32_t o = threadIdx.x; o < window_bytes / {mma.element_bytes}u; o += blockDim.x)
        put_{element}(begin + o * {mma.element_bytes}u, (o + 1) >> {DIGIT_BITS[element]}u * pass & {digit}u);
    __syncthreads();
    for (uint32_t row = 0; row < row_count; ++row) {{
        const uint64_t* own = rows + (uint64_t)row * {len(rows)}u;
        const uint64_t warp = (uint64_t)row * {access.warps}u + threadIdx.x / {LANES}u;
        for (uint32_t e = 0; pass == 0 && lane < {lanes}u && e < {points.count}u; ++e)
            places[(warp * {lanes}u + lane) * {points.count}u + e] = {name}_wanted(own, base, e);
        if (touch) {{
            const uint32_t at = begin + (lane < {lanes}u ? (uint32_t)({name}_position(own, base) - window) : 0u);
            uint32_t r[4] = {{0, 0, 0, 0}};
            {statement(access.instruction)}
            for (uint32_t q = 0; q < {words}u; ++q) {{
                uint32_t f[{registers}];
                for (uint32_t i = 0; i < {registers}u; ++i) f[i] = i == {name}_register(own, base, q) ? r[q] : 0;
                {name}_reads(f, values + (warp * {words}u + q) * {mma.rows(role) * mma.k}u);
            }}
        }}
        __syncthreads();
    }}
#if __CUDA_ARCH__ < {mma_capability(mma)}0
    if (touch && threadIdx.x == 0) values[0] = {NO_INSTRUCTION}u;
#endif
}}
""",
        ]
    )


def _function(name: str, root: Expr, rows: Sequence[Var], base: Var | None, more: Sequence[str]) -> str:
    """A device function that evaluates an expression; `more` are the variables that its caller knows."""
    names = [node.name for node in rows]
    values = {LANE: f"threadIdx.x % {LANES}u", WARP: f"threadIdx.x / {LANES}u"}
    values |= {each: f"row[{place}]" for place, each in enumerate(names)} | {
        each: f"p{i}" for i, each in enumerate(more)
    }
    if base is not None:
        values[base.name] = "base"
    parameters = "".join(f", uint32_t {values[each]}" for each in more)
    body = c_locals(root)
    lines = [
        f"const {c_type(node.width)} {c_identifier(node.name)} = ({c_type(node.width)})({values[node.name]});"
        for node in variables(root)
    ]
    lines += [*body.declarations, f"return {body.values[0]};"]
    head = f"__device__ static uint64_t {name}(const uint64_t* row, uint64_t base{parameters}) {{"
    return "\n".join([head, *(f"    {line}" for line in lines), "}\n"])
