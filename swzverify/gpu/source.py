"""CUDA source of the kernels, from the expressions' C reading: the GPU evaluates what was proved.

All kernels have the parameters of `SIGNATURE`. Values that travel are *tokens*: numbers that tell
every byte of every lane (or element) from all others. A byte holds 8 bits only, so a kernel runs
once a `pass`, with bits 8 * pass and up of each token; together the passes tell which lane's which
byte lies where. Token 0 stands for "never written".

`window` is the model's address of the first byte of the block's shared memory, a multiple of 1024,
so that banks and swizzles of absolute addresses are the model's. An address outside it is never
touched: it shows in `places`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod

from swzverify.gpu.asm import is_transposed, matrix_count, register_words, statement
from swzverify.gpu.cuda import cuda_text
from swzverify.hardware import LANES, Instruction
from swzverify.hardware.instructions import Kind
from swzverify.ir import integers as ints
from swzverify.ir.c_source import c_identifier, c_locals, c_type
from swzverify.ir.expr import Var, variables
from swzverify.subjects import Access, IndexMap, Tile
from swzverify.subjects.loop import LANE, WARP
from swzverify.subjects.memory import Origin

NOWHERE = (1 << 64) - 1
"""The place of a lane that takes no part."""
ALIGNMENT_BYTES = 1024
SIGNATURE = (
    "const uint64_t* rows, uint32_t row_count, uint64_t base, uint64_t window, uint32_t window_bytes, uint32_t pass, "
    "uint32_t touch, uint64_t* places, uint32_t* values, uint8_t* image, uint8_t* source"
)

PRELUDE = cuda_text("prelude.cuh")
TOKENS = cuda_text("tokens.cuh")


def access_kernel(name: str, access: Access) -> str:
    """A kernel in which a block runs an access at every row, one row after the other.

    `rows` has the values of `row_variables` in the expressions' own count. Of a load `values` gets
    four registers a lane and row, of everything else `image` gets the shared memory at the end.
    """
    lowered = access.lowered
    place = lowered.position.bits
    row_names = row_variables(access)
    body = c_locals(place, lowered.active)
    used = variables(place, lowered.active)
    text = [f'extern "C" __global__ void {name}({SIGNATURE}) {{', *_entry(access.instruction)]
    text += ["    for (uint32_t row = 0; row < row_count; ++row) {"]
    text += [f"        {line}" for line in _row_locals(used, row_names, access.origin)]
    text += [f"        {line}" for line in body.declarations]
    text += [f"        const uint64_t place = {body.values[0]};"]
    text += [f"        const bool active = {body.values[1]} != 0;"]
    text += [f"        {line}" for line in _lane_steps(access.instruction, access.unit_bits)]
    text += ["        __syncthreads();", "    }", *_exit(), "}"]
    return "\n".join(text) + "\n"


def row_variables(access: Access) -> tuple[Var, ...]:
    """The variables of a row: loops and stage, in the order of the access's variables."""
    return tuple(node for node in access.free if node.name not in (WARP, access.origin.name))


def tile_kernel(name: str, tile: Tile, coords: Sequence[Var], stage: Var | None, place: Origin) -> str:
    """A kernel that puts every element of every stage at its place, in colexicographic order."""
    values = [ints.variable(node) for node in coords]
    where = tile.lower_position(values, ints.integer(0) if stage is None else ints.variable(stage), place).bits
    used = set(variables(where))
    element_bytes = tile.element_bits // 8
    text = [f'extern "C" __global__ void {name}({SIGNATURE}) {{', *_entry(None)]
    count = tile.size * tile.stages
    text += [f"    for (uint32_t element = threadIdx.x; element < {count}u; element += blockDim.x) {{"]
    extents = [*zip(coords, tile.extents, strict=True), *([] if stage is None else [(stage, tile.stages)])]
    text += _digits("element", extents, used)
    text += [f"        {_base_local(node)}" for node in used if node is place.variable]
    body = c_locals(where)
    text += [f"        {line}" for line in body.declarations]
    text += [f"        const uint64_t place = {body.values[0]};", "        if (pass == 0) places[element] = place;"]
    if element_bytes:
        text += [
            f"        if (touch && place >= window && place - window + {element_bytes} <= window_bytes)",
            f"            for (uint32_t b = 0; b < {element_bytes}; ++b)",
            f"                shared[place - window + b] = token_byte(element * {element_bytes}ull + b + 1, pass);",
        ]
    text += ["    }", "    __syncthreads();", *_exit(), "}"]
    return "\n".join(text) + "\n"


def map_kernel(name: str, index: IndexMap, place: Origin | None) -> str:
    """A kernel that evaluates an index map at every point of its box, first variable fastest."""
    roots = [value.bits for value in index.lower(place)]
    used = set(variables(*roots))
    count = prod(extent for _, extent in index.over)
    text = [f'extern "C" __global__ void {name}({SIGNATURE}) {{']
    text += [f"    for (uint32_t point = threadIdx.x; point < {count}u; point += blockDim.x) {{"]
    text += _digits("point", [(node, node.limit) for node in index.variables], used)
    text += [f"        {_base_local(node)}" for node in used if place is not None and node is place.variable]
    body = c_locals(*roots)
    text += [f"        {line}" for line in body.declarations]
    text += [f"        places[point * {len(roots)}u + {i}u] = {value};" for i, value in enumerate(body.values)]
    return "\n".join([*text, "    }", "}"]) + "\n"


TMA_KERNEL = cuda_text("tma.cuh")


def _entry(instruction: Instruction | None) -> list[str]:
    """Set up shared memory: its own offsets for loads, zeros for everything else."""
    loads = instruction is not None and instruction.kind.loads
    before = "token_byte(o, pass)" if loads else "0"
    return [
        "    extern __shared__ uint8_t raw[];",
        "    const uint32_t begin = shared_begin(raw);",
        "    uint8_t* shared = raw + (begin - (uint32_t)__cvta_generic_to_shared(raw));",
        f"    for (uint32_t o = threadIdx.x; o < window_bytes; o += blockDim.x) shared[o] = {before};",
        *_source_bytes(instruction),
        "    __syncthreads();",
    ]


def _source_bytes(instruction: Instruction | None) -> list[str]:
    """The bytes that copies take from global memory: the tokens of each lane."""
    if instruction is None or instruction.kind is not Kind.CP_ASYNC:
        return []
    width = instruction.width_bytes
    return [
        f"    for (uint64_t o = threadIdx.x; o < (uint64_t)row_count * blockDim.x * {width}u; o += blockDim.x)",
        "        source[o] = token_byte(o + 1, pass);",
        "    __threadfence();",
    ]


def _exit() -> list[str]:
    return ["    for (uint32_t o = threadIdx.x; o < window_bytes; o += blockDim.x) image[o] = shared[o];"]


def _digits(number: str, extents: Sequence[tuple[Var, int]], used: Collection[Var]) -> list[str]:
    """A number's digits in mixed radix, lowest first; a digit that is used gets a local."""
    lines = [f"        uint32_t rest = {number};"]
    for node, extent in extents:
        if node in used:
            lines.append(f"        const {c_type(node.width)} {c_identifier(node.name)} = rest % {extent}u;")
        lines.append(f"        rest /= {extent}u;")
    return lines


def _base_local(node: Var) -> str:
    return f"const {c_type(node.width)} {c_identifier(node.name)} = ({c_type(node.width)})base;"


def _row_locals(used: Sequence[Var], row_names: Sequence[Var], place: Origin) -> list[str]:
    lines: list[str] = []
    for node in used:
        kind, name = c_type(node.width), c_identifier(node.name)
        if node.name == LANE:
            lines.append(f"const {kind} {name} = threadIdx.x % {LANES}u;")
        elif node.name == WARP:
            lines.append(f"const {kind} {name} = threadIdx.x / {LANES}u;")
        elif node is place.variable:
            lines.append(_base_local(node))
        else:
            column = row_names.index(node)
            lines.append(f"const {kind} {name} = ({kind})rows[(uint64_t)row * {len(row_names)}u + {column}u];")
    return lines


def _lane_steps(instruction: Instruction, unit_bits: int) -> list[str]:
    """One lane at one row: tell the place and, where it lies in the window, run the instruction."""
    width = instruction.width_bytes
    byte = "place" if unit_bits == 8 else "place / 8"
    lines = [
        "const uint64_t index = (uint64_t)row * blockDim.x + threadIdx.x;",
        f"if (pass == 0) places[index] = active ? place : {NOWHERE}ull;",
        f"const uint64_t address = {byte};",
        f"const bool inside = active && address >= window && address - window + {width} <= window_bytes;",
        "const uint32_t at = begin + (inside ? (uint32_t)(address - window) : 0u);",
    ]
    if instruction.kind is Kind.CP_ASYNC:
        lines.append(f"const uint8_t* from = source + index * {width}u;")
    else:
        lines += ["uint32_t r[4] = {0, 0, 0, 0};", *_registers(instruction)]
    # The whole warp runs a matrix instruction; of lanes without an address the hardware takes none.
    condition = "touch" if instruction.warp_wide else "touch && inside"
    lines.append(f"if ({condition}) {{ {statement(instruction)} }}")
    if instruction.kind is Kind.CP_ASYNC:
        lines.append('asm volatile("cp.async.wait_all;" ::: "memory");')
    if instruction.kind.loads:
        count = register_words(instruction)
        lines.append(f"for (uint32_t q = 0; q < {count}u; ++q) values[index * {count}u + q] = r[q];")
    return lines


def _registers(instruction: Instruction) -> list[str]:
    """What a lane's registers hold before: the tokens of the bytes to store."""
    width = instruction.width_bytes
    if instruction.kind is Kind.ATOMIC:
        return ["r[1] = 1;"]
    if not instruction.kind.stores:
        return []
    if instruction.kind.moves_matrices:
        return _fragments(instruction)
    return [
        f"for (uint32_t q = 0; q < {instruction.words}u; ++q)",
        f"    r[q] = token_word(index * {width}u + 4u * q + 1, pass);",
    ]


def _fragments(instruction: Instruction) -> list[str]:
    """A lane's registers of the 8x8 matrices whose rows go to the lanes' addresses.

    Register i of lane l holds two elements of matrix i: of row l / 4, columns 2 (l % 4) and the
    next; transposed, of column l / 4, rows 2 (l % 4) and the next. Row j of matrix i goes to the
    address of lane 8 i + j. Source: PTX ISA 8.7, "Warp-level matrix instructions: ldmatrix",
    fragment layout.
    """
    count = matrix_count(instruction)
    first = f"((uint64_t)row * blockDim.x + threadIdx.x / {LANES}u * {LANES}u"
    lane = f"threadIdx.x % {LANES}u"
    if not is_transposed(instruction):
        token = f"{first} + 8u * q + {lane} / 4u) * 16u + 4u * ({lane} % 4u) + 1"
        return [f"for (uint32_t q = 0; q < {count}u; ++q) r[q] = token_word({token}, pass);"]
    half = f"{first} + 8u * q + 2u * ({lane} % 4u) + h) * 16u + 2u * ({lane} / 4u) + 1"
    return [
        f"for (uint32_t q = 0; q < {count}u; ++q)",
        f"    for (uint32_t h = 0; h < 2u; ++h) r[q] |= (token_word({half}, pass) & 0xffffu) << (16u * h);",
    ]
