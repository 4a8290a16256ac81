"""Instructions without a row: why they have none, and what to write instead.

An engineer may use a name of machine code (SASS), of CUDA C++ or of CuTe, or name an instruction
that takes no address from a lane. The nearest name of the table would be another instruction.

Source: PTX ISA 8.7; CUDA Binary Utilities, Instruction Set Reference; CUTLASS, `include/cute/arch`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from swzverify.errors import SwzError
from swzverify.hardware.kinds import BY_MACHINE, Kind
from swzverify.hardware.spelling import canonical_name

Told: TypeAlias = tuple[str, str]
"""Why there is no row, and the next step."""

ATOMICS: Final = "of atomics the table knows those of 32-bit integers: add, min, max, and, or, xor, exch, inc, dec"
_OPERATIONS: Final = {
    **dict.fromkeys(("add", "min", "max"), ("u32", "s32")),
    **dict.fromkeys(("and", "or", "xor", "exch"), ("b32",)),
    **dict.fromkeys(("inc", "dec"), ("u32",)),
}
"""The atomics that the table knows, and the types that PTX writes for each."""
_ATOMIC_WORDS: Final = frozenset({"shared", "relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys"})
_OTHER_ATOMICS: Final = "those of floats, of 16 or 64 bits, and cas were not measured, so that no cost is known"
_MACHINE: Final = "it is machine code (SASS), and instructions have PTX's names here"
_ELSEWHERE: Final = "state the instruction that goes to shared memory: ld.shared, st.shared, or cp.async for a copy"

_SIZES: Final = {
    "U8": "b8", "S8": "b8", "U16": "b16", "S16": "b16", "": "b32", "32": "b32", "64": "v2.b32", "128": "v4.b32"
}  # fmt: skip
_TYPES_OF_CUDA: Final = {
    "b32": "half2 __half2 nv_bfloat162 __nv_bfloat162 short2 ushort2 char4 uchar4 int uint float unsigned",
    "v2.b32": "float2 int2 uint2 short4 ushort4 double long long1 longlong1 double1",
    "v4.b32": "float4 int4 uint4 double2 longlong2 ulonglong2 uint128_t",
}
_FOR_TYPE: Final = {name: row for row, names in _TYPES_OF_CUDA.items() for name in names.split()}


def unlisted(name: str) -> Told | None:
    """Why an instruction has no row, and the next step; None for an unknown name.

    >>> unlisted("LDS.128")[1]
    'write ld.shared.v4.b32'
    >>> unlisted("shuffle_the_deck") is None
    True
    """
    opcode = name.strip().rstrip(";").partition(" ")[0]
    for pattern, tell in _KINDS:
        if found := re.match(pattern, opcode):
            return tell(found)
    return None


def _tell(reason: str, hint: str) -> Callable[[re.Match[str]], Told]:
    return lambda _: (reason, hint)


def _plain_machine(found: re.Match[str]) -> Told:
    """LDS and STS."""
    words = [word for word in found["rest"].upper().split(".") if word and word != "U"]
    row = _SIZES.get(words[0] if words else "") if len(words) < 2 else None
    opcode = "ld.shared" if found["op"].upper() == "LDS" else "st.shared"
    return _MACHINE, f"write {opcode}.{row}" if row else f"write {opcode} with the width: .b32, .v2.b32 or .v4.b32"


def _matrix_machine(found: re.Match[str]) -> Told:
    """Matrix instructions by the names that nvdisasm prints."""
    opcode = BY_MACHINE[found["op"].upper()].value
    shape = re.fullmatch(r"\.16\.M(T?)88(?:\.([24]))?|()\.X([124])", found["rest"].upper())
    if shape is None:
        return _MACHINE, f"write {opcode}.x1, .x2 or .x4, and .trans behind it where it transposes"
    return _MACHINE, f"write {opcode}.x{shape[2] or shape[4] or 1}{'.trans' if shape[1] else ''}"


def _matrix_cute(found: re.Match[str]) -> Told:
    opcode = BY_MACHINE[found["op"]].value
    count = int(found["count"]) * int(found["bits"]) // 32
    trans = ".trans" if found["way"] == "T" else ""
    return "it is CuTe's name, and instructions have PTX's names here", f"write {opcode}.x{count}{trans}"


def _copy_machine(found: re.Match[str]) -> Told:
    words = found["rest"].upper().split(".")
    if "128" in words:
        return _MACHINE, "write cp.async.16" if "BYPASS" in words else "write cp.async.ca.16"
    if "64" in words:
        return _MACHINE, "write cp.async.8"
    if "E" in words and not {"32", "BYPASS"} & {*words}:
        return _MACHINE, "write cp.async.4"
    return _MACHINE, "write cp.async.4, .8 or .16, or cp.async.ca.16 for 16 bytes that stay in L1 too"


def _atomic_machine(found: re.Match[str]) -> Told:
    rest = found["rest"].upper()
    if re.fullmatch(r"\.(ADD|MIN|MAX|INC|DEC|AND|OR|XOR|EXCH)(\.[SU]32)?", rest):
        return _MACHINE, "write atom.shared.add.u32: every atomic of 32-bit integers costs the same"
    return f"{_MACHINE}; {ATOMICS}; {_OTHER_ATOMICS}", _without_cost("64" if rest.endswith("64") else "32")


def _atomic(found: re.Match[str]) -> Told:
    words = found[0].replace("shared::cta", "shared").split(".")
    if "shared::cluster" in words:
        return _CLUSTER
    if "shared" not in words:
        return (
            f"it does not say that it touches shared memory; {ATOMICS}",
            "write .shared behind atom or red: atom.shared.add.u32",
        )
    if words[-1] in _OPERATIONS:
        return f"it has no type; {ATOMICS}", "write the type: .u32 or .s32, and .b32 of and, or, xor and exch"
    operation = next((word for word in words if word in _OPERATIONS), "")
    if operation and words[-1] in ("b32", "u32", "s32") and not {*words[1:-1]} - _ATOMIC_WORDS - {operation}:
        of = _OPERATIONS[operation]
        right = f"{words[0]}.shared.{operation}.{words[-1] if words[-1] in of else of[0]}"
        return "PTX spells it otherwise", f"write {right}"
    bits = re.search(r"(16|32|64|128)(x2)?$", words[-1])
    return f"{ATOMICS}; {_OTHER_ATOMICS}", _without_cost(str(int(bits[1]) * (2 if bits[2] else 1)) if bits else "32")


def _without_cost(bits: str) -> str:
    """How to state an atomic without a known cost: as a store of the same bytes."""
    row = "v2.b64" if bits == "128" else f"b{bits}"
    return f"state st.shared.{row}, and claim what asks for no cost: aligned, in_bounds, covers"


def _atomic_function(found: re.Match[str]) -> Told:
    if found["op"] == "CAS":
        return f"it is a function of CUDA C++; {ATOMICS}; {_OTHER_ATOMICS}", _without_cost("32")
    return (
        f"it is a function of CUDA C++; {ATOMICS}",
        "for int or unsigned in shared memory write atom.shared.add.u32: they all cost the same",
    )


def _other_space(found: re.Match[str]) -> Told:
    space = found["space"]
    if space == "global" and found[0].startswith(("ld.", "st.")):
        return "it touches global memory, which has no banks", _IN_A_SPEC
    word = {"const": "constant", "param": "parameter"}.get(space, space)
    return f"it touches {word} memory, and swzverify knows shared memory", _ELSEWHERE


def _typed(found: re.Match[str]) -> Told:
    """`ld` or `st` with a state space, vector or type that PTX does not have."""
    from difflib import get_close_matches  # noqa: PLC0415 - only mistakes need it

    opcode, rest = found["op"], [word for word in found["rest"].split(".") if word]
    if not any(word.startswith("shared") for word in rest):
        meant = next((word for word in rest if word in ("smem", "sh") or get_close_matches(word, ("shared",))), "")
        if meant:
            right = ".".join([opcode, *("shared" if word == meant else word for word in rest)])
            known = right if is_spelling(right) else f"{opcode}.shared, then the type: .b32 or .v4.b32"
            return f"PTX calls the state space .shared, not .{meant}", f"write {known}"
        return (
            "it does not say which memory it touches (a generic address)",
            f"write {opcode}.shared, then the type, if the address lies in shared memory",
        )
    place = next(index for index, word in enumerate(rest) if word.startswith("shared"))
    kinds = rest[place + 1 :]
    vector = next((word for word in kinds if re.fullmatch(r"v\d+", word)), "")
    types = [word for word in kinds if word != vector]
    if vector and vector not in ("v2", "v4", "v8"):
        return f"PTX has vectors of 2 and 4 elements, not .{vector}", f"write {opcode}.shared.v2 or .v4, then the type"
    if not types:
        return "it does not say what it moves", f"write the type: {opcode}.shared.{vector + '.' if vector else ''}b32"
    return _type(opcode, vector, types)


def is_spelling(name: str) -> bool:
    """Whether this is a PTX spelling of an instruction of the table.

    >>> is_spelling("ld.shared.v4.f32"), is_spelling("ld.shared.v4.f64")
    (True, False)
    """
    try:
        return canonical_name(name) is not None
    except SwzError:
        return False


def _type(opcode: str, vector: str, types: list[str]) -> Told:
    word = types[0]
    if word in _FOR_TYPE and not vector:
        return f"'{word}' is a type of CUDA C++", f"write {opcode}.shared.{_FOR_TYPE[word]}"
    if not vector and word in ("8", "16", "32", "64", "128"):
        row = {"64": "b64", "128": "v4.b32"}.get(word, f"b{word}")
        return f"PTX has no type .{word}", f"write {opcode}.shared.{row}"
    if re.fullmatch(r"f8\w*|e\dm\d\w*|fp8\w*", word):
        row = f"{vector + '.' if vector else ''}b8"
        return f"PTX moves 8-bit floats as bits, not as .{word}", f"write {opcode}.shared.{row} for one each"
    return (
        f"PTX has no {opcode} of the type .{'.'.join(types)}",
        "types are .b8 .b16 .b32 .b64, and .u .s .f likewise; several in one access: .v2 or .v4 before the type",
    )


def _matrix(found: re.Match[str]) -> Told:
    """Matrix instructions with a name that neither the table nor PTX has."""
    opcode = found["op"].replace(".", "").replace("_", "")
    rest = [word for word in found["rest"].lower().split(".") if word]
    names = f"write {opcode}.x1, .x2 or .x4, and .trans behind it where it transposes"
    counts = [word for word in rest if re.fullmatch(r"x\d+|num\d+", word)]
    shapes = [word for word in rest if re.fullmatch(r"m\d+n\d+", word)]
    types = [word for word in rest if re.fullmatch(r"[bsuf]\d+\w*", word)]
    if any(shape != "m8n8" for shape in shapes) or any(each not in ("b16", "f16") for each in types):
        return f"its shape or type was not measured; of {opcode} .m8n8 of .b16 is known", names
    if not counts:
        return f"it does not say how many matrices it moves: {opcode} moves 1, 2 or 4", names
    if counts[0] not in ("x1", "x2", "x4"):
        return f"{opcode} moves 1, 2 or 4 matrices, and there is no .{counts[0]}", names
    words = {"sync", "aligned", "m8n8", "b16", "f16", "trans", "transpose", "transposed", "t", "shared", counts[0]}
    if len(counts) == 1 and words.issuperset(rest):
        trans = ".trans" if {"trans", "transpose", "transposed", "t"} & {*rest} else ""
        return "PTX spells it otherwise", f"write {opcode}.{counts[0]}{trans}"
    return "PTX spells it otherwise", names


def _copy(found: re.Match[str]) -> Told:
    """`cp.async` that is no spelling of PTX."""
    rest = [word for word in found["rest"].split(".") if word]
    sizes = [word for word in rest if word.isdigit()]
    if sizes:
        wanted = f"it copies {sizes[0]} bytes per lane, and cp.async copies 4, 8 or 16"
        return wanted, "write cp.async.16 for 128 bits" if sizes[0] == "128" else "write cp.async.4, .8 or .16"
    if not rest:
        return "it does not say how many bytes it copies", "write cp.async.4, .8 or .16"
    return "PTX spells it otherwise", "write cp.async.4, .8 or .16, or cp.async.ca.16 for 16 bytes that stay in L1 too"


_TMA: Final = (
    "a bulk copy (TMA) has no addresses of lanes, and its conflicts are not modelled",
    "state the tile that it fills (`tma: {swizzle: 128B, box: [64, 64]}` for a tensor map) and what lanes do with it",
)
_DESCRIPTORS: Final = (
    "tensor cores read through descriptors, not by addresses of lanes, and their conflicts are not modelled",
    "state it in `operands:`, and claim `delivers`",
)
_REGISTERS: Final = (
    "it works on registers and touches no shared memory",
    "leave it out, and state the instruction that fills its registers: ldmatrix or ld.shared",
)
_WMMA: Final = (
    "which lane touches which element in wmma is the compiler's choice",
    "state what it became: ldmatrix or ld.shared; `swzverify scan` reads it from the compiled kernel",
)
_CLUSTER: Final = (
    "distributed shared memory (another block's) is not modelled",
    "state the access to the own block's shared memory, with .shared",
)
_SIGNALS: Final = (
    "it orders or signals, and moves no elements of a tile",
    "leave it out: claims hold in whatever order the accesses run",
)
_CUDA_COPY: Final = (
    "it is a function of CUDA C++",
    "write what it becomes: cp.async.4, .8 or .16, by the bytes that each lane copies",
)
_OTHER_MEMORY: Final = ("it does not touch shared memory, which swzverify knows", _ELSEWHERE)
_IN_A_SPEC: Final = (
    "in a spec, an access with it and an `address:` may be claimed `coalesced`; or state the instruction that goes to "
    "shared memory"
)
_GLOBAL_MACHINE: Final = (
    f"{_MACHINE}; it goes to global memory",
    "in a spec, write ld.global or st.global with the width: .b32, .v2.b32 or .v4.b32",
)
_UNIVERSAL: Final = (
    "it is CuTe's name, and instructions have PTX's names here",
    "write ld.shared or st.shared with the width of the copy: .b32, .v2.b32 or .v4.b32",
)


def _cuda_type(found: re.Match[str]) -> Told:
    row = _FOR_TYPE[found[0]]
    return f"'{found[0]}' is a type of CUDA C++", f"write ld.shared.{row} for a load of it, st.shared.{row} for a store"


_OF_MATRICES = "|".join(kind.machine for kind in Kind if kind.moves_matrices)
_REST = r"(?P<rest>(?:\.[\w:]+)*)$"
_KINDS: Final[tuple[tuple[str, Callable[[re.Match[str]], Told]], ...]] = (
    (rf"(?i:(?P<op>{_OF_MATRICES})){_REST}", _matrix_machine),
    (r"(?i:(?P<op>LDS|STS))(?P<rest>(?:\.\w+)+|\.?\d*)$", _plain_machine),
    (rf"(?i:LDGSTS){_REST}", _copy_machine),
    (rf"(?i:ATOMS){_REST}", _atomic_machine),
    (rf"SM\d+_U(?P<bits>8|16|32)x(?P<count>\d+)_(?P<op>{_OF_MATRICES})_(?P<way>[NT])$", _matrix_cute),
    (r"SM80_CP_ASYNC_CACHEGLOBAL", _tell("it is CuTe's name", "write cp.async.16")),
    (r"SM80_CP_ASYNC_CACHEALWAYS", _tell("it is CuTe's name", "write cp.async.4 or .8, or cp.async.ca.16")),
    (r"UniversalCopy|AutoVectorizingCopy|DefaultCopy", _tell(*_UNIVERSAL)),
    (r"cp\.async\.(?:bulk\.)?(?:wait|commit|mbarrier)", _tell(*_SIGNALS)),
    (r"UTMA|UBLK|SM\d+_TMA|SM90_BULK|(?i:tma)(?:_\w+)?(?:\.|$)|cp\.(?:reduce\.)?async\.bulk", _tell(*_TMA)),
    (rf"cp\.async{_REST}", _copy),
    (r"wgmma\.(?:fence|commit|wait)|tcgen05\.(?:fence|commit|wait|alloc|dealloc|relinq)", _tell(*_SIGNALS)),
    (r"tcgen05\.(?:ld|st|shift)(?:\.|$)", _tell("it moves tensor memory, not shared memory", _ELSEWHERE)),
    (r"(?:wgmma|tcgen05|[HIQBFOD]GMMA|UTC\w+)(?:\.|$)", _tell(*_DESCRIPTORS)),
    (r"wmma\.mma", _tell(*_REGISTERS)),
    (r"wmma(?:\.|$)|load_matrix_sync|store_matrix_sync", _tell(*_WMMA)),
    (r"(?:mma|movmatrix|shfl|vote|match|redux|[HIDFQ]MMA|SHFL|MOVM|prmt)(?:\.|$)|__shfl|mma_sync", _tell(*_REGISTERS)),
    (r"(?:mapa|st\.async|red\.async|multimem|getctarank)(?:\.|$)|(?:ld|st)\.(?:dsmem|dsm)", _tell(*_CLUSTER)),
    (r"st\.bulk(?:\.|$)", _tell(_TMA[0], "state the stores of single lanes only")),
    (r"(?:bar|barrier|mbarrier|fence|membar|griddepcontrol|nanosleep|BAR|SYNCS|DEPBAR)(?:\.|$)", _tell(*_SIGNALS)),
    (r"__sync|__threadfence", _tell(*_SIGNALS)),
    (r"(?:__pipeline_memcpy_async|(?:cuda::)?memcpy_async)", _tell(*_CUDA_COPY)),
    (r"atomic(?P<op>Add|Sub|Min|Max|And|Or|Xor|Exch|Inc|Dec|CAS)\w*$", _atomic_function),
    (r"(?:ld|st|ldu|atom|red|prefetch)(?:\.\w+)*?\.(?P<space>global|local|const|param)(?:[.:]|$)", _other_space),
    (r"__ldg|ldg$|(?:LDG|STG)(?:\.|$)", _tell(*_GLOBAL_MACHINE)),
    (r"prefetchu?(?:\.|$)|(?:LDL|STL|LDC|ATOMG|RED)(?:\.|$)", _tell(*_OTHER_MEMORY)),
    (r"(?:atom|red)(?:\.[\w:]+)*$", _atomic),
    (rf"(?:{'|'.join(sorted(_FOR_TYPE, key=len, reverse=True))})$", _cuda_type),
    (rf"(?P<op>(?:ld|st)[._]?matrix){_REST}", _matrix),
    (rf"(?P<op>ld|st){_REST}", _typed),
)
"""Patterns of names, and what to say about each; the first pattern that fits counts."""
