"""Hints for names that an expression does not know: CUDA's own words, or the nearest known name."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from swzverify.errors import nearest

_BLOCK: Final = (
    "shared memory belongs to one block, and a claim holds for every block: leave the block's number out\n"
    "where it does choose a place in shared memory, state the values that it takes: a variable in `for`\n"
    "(for: {block: 8}), or a constant with a list of values; a map has it in `over`"
)
_GRID: Final = "the grid's size is that of a launch: write the number, or give it a name in `constants`"
_CLUSTER: Final = (
    "claims are of one block's own shared memory, in whatever block of a cluster: leave it out\n"
    "where it does choose a place there, state the values that it takes, as a variable in `for`"
)
_SIZE: Final = "write the number of threads, or the constant that says it"
_POINTER: Final = "addresses count from `base`: leave the pointer out, and say where it points by `base`"
_RUN: Final = "it is known when the kernel runs only: state the values that it takes, as a variable in `for`"

_EXPLAINED: Final = (
    (
        r"(?:blockidx?|grididx?|bidx?|ctaid|cta_idx?|block_idx?|program_id|pid)(?:[._]?[xyz])?|cta|block(?:_[xyz])?|b[xyz]",
        _BLOCK,
    ),
    (r"(?:griddim|grid_?dim|gridsize|grid_size|nctaid|grid)(?:[._]?[xyz])?|num_?(?:blocks|ctas)", _GRID),
    (
        r"(?:clusteridx?|clusterdim|cluster_\w+|nclusterid|clusterid|cta_?rank|block_?rank)(?:[._][xyz])?",
        _CLUSTER,
    ),
    (r"warp_?size|wavefront_?size", "a warp has 32 lanes: write 32"),
    (r"warp_?group(?:_?idx?)?|wg_?idx?|wg", "a warpgroup is 128 threads: write tid/128"),
    (r"(?:ntid|blockdim)(?:[._]?[xyz])?|(?:n|num_?)?threads|block_?size|threads_per_block|kthreads", _SIZE),
    (r"smem\w*|shmem\w*|sdata|shared|ptr|smem_?ptr|saddr", _POINTER),
    (r"smid|clock(?:64)?|nsmid", _RUN),
    (r"base|base_?addr(?:ess)?", "addresses count from `base`, which is a key beside them"),
    (r"stage|stage_?idx?|buf|buffer", "an access has the key `stage`; without it every stage is meant"),
    (r"true", "write 1"),
    (r"false", "write 0"),
)
"""Names in small letters, and what is said of them."""

_MEANT: Final = {
    "lane": r"(?:%?lane[._]?idx?|lid|lane_?index|my_?lane)",
    "warp": r"(?:warp[._]?idx?|wid|warp_?index|warp_?num)",
    "tid": r"(?:thread[._]?id|thread|threadid|t_?id|thread_?index|thr_?id|my_?tid|linear_?tid|thr_?idx?|thread_?idx)",
    "tid_x": r"(?:tidx|tx|thread_?idx?_?x|tid\.x|t_x)",
    "tid_y": r"(?:tidy|ty|thread_?idx?_?y|tid\.y|t_y|tidx?_y)",
    "tid_z": r"(?:tidz|tz|thread_?idx?_?z|tid\.z|t_z|tidx?_z)",
    "blockDim.x": r"(?:block_?dim|ntid)[._]?x",
    "blockDim.y": r"(?:block_?dim|ntid)[._]?y",
    "blockDim.z": r"(?:block_?dim|ntid)[._]?z",
    "threadIdx.x": r"thread_?idx?\.x|tid\.x",
    "threadIdx.y": r"thread_?idx?\.y|tid\.y",
    "threadIdx.z": r"thread_?idx?\.z|tid\.z",
}
_AXIS: Final = r"(tid_|threadIdx\.|blockDim\.)\w*"


def name_hint(name: str, known: Collection[str]) -> str:
    """What to do about an unknown name; an empty string if there is nothing to say.

    The hint is the meaning of a CUDA word, or the nearest known name.

    >>> name_hint("laneid", ["lane", "warp", "tid"])
    "did you mean 'lane'?"
    >>> print(name_hint("gridDim.x", ["blockDim.x"]))
    the grid's size is that of a launch: write the number, or give it a name in `constants`
    >>> name_hint("tid_w", ["tid_x", "tid_y", "tid_z"])
    'axes are x, y and z: tid_x, tid_y, tid_z'
    """
    small = name.lower()
    for meant, pattern in _MEANT.items():
        if meant in known and re.fullmatch(pattern, small):
            return f"did you mean '{meant}'?"
    for each, said in _EXPLAINED:
        if re.fullmatch(each, small):
            return said
    if found := re.fullmatch(_AXIS, name):
        axes = [each for each in (f"{found[1]}{axis}" for axis in "xyz") if each in known]
        if axes:
            return f"axes are x, y and z: {', '.join(axes)}"
    return nearest(name, [each for each in known if not _is_other_axis(name, each)])


def _is_other_axis(name: str, known: str) -> bool:
    """Whether a known name is another axis of a thread or block, which would be a wrong hint."""
    return re.fullmatch(_AXIS, known) is not None and (known[-2:] != name[-2:] or known[0] != name[0].lower())


_FUNCTIONS: Final = (
    (r"(?:std::)?f?abs|__usad|labs|iabs", "write x < 0 ? -x : x"),
    (r"pow|exp2|exp2f|powi|ldexp|powf", "a power of two is 1 << n"),
    (r"f?mod|fmodf|rem|remainder", "write a % b"),
    (
        r"floor|floorf|int_div|trunc|floor_div|div",
        "write a / b: it rounds towards zero, which is floor where nothing is negative",
    ),
    (r"ceil_?div|div_?up|round_?up_div|cdiv|div_?ceil|ceildiv", "write (a + b - 1) / b"),
    (r"ceil|ceilf", "write (a + b - 1) / b for the quotient of a and b, rounded up"),
    (r"round_?up|align_?up", "write (a + b - 1) / b * b"),
    (r"clamp", "write min(max(x, low), high)"),
    (r"select|where|if", "write condition ? a : b"),
    (r"xor|__xor", "write a ^ b"),
    (r"__cvta\w*|cast_smem_ptr_to_uint|__\w*to_shared|smem_u32addr|to_shared", _POINTER),
    (r"__shfl\w*", "the value comes from another lane: write that lane's expression"),
    (r"__ldg|ld_?shared|tex\w*", "an expression reads no memory: values of data are stated in `lanes`"),
    (r"get_(?:global|group)_id|cluster_\w+", _BLOCK),
    (r"get_local_id", "write tid_x, tid_y or tid_z"),
    (
        r"__(?:ffs|clz|brev|popc|byte_perm|funnelshift_\w+)(?:ll)?|log2f?|ilog2|bit_length|popcount|countl_zero",
        "write out what it computes, with shifts, & and |; of a number or a constant, write the value",
    ),
    (
        r"swizzle\w*|swz\w*|permuted?|permute_?\w*|get_swizzled\w*",
        "write out what it computes, such as x ^ x/8%8; or give the tile a `swizzle`, and state coordinates",
    ),
)


def function_hint(name: str) -> str:
    """What to write instead of a call, where it is known; else an empty string.

    >>> function_hint("ceil_div")
    'write (a + b - 1) / b'
    """
    small = name.lower()
    return next((said for pattern, said in _FUNCTIONS if re.fullmatch(pattern, small)), "")
