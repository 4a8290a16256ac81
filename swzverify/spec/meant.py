"""Hints for unknown keys and claims that are words of other tools, of CUDA or of CuTe.

For these words, the nearest known name would mislead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from swzverify.errors import nearest


def _table(rows: Mapping[str, str]) -> dict[str, str]:
    """The hint of each word; a row has several words and one hint."""
    return {word: said for words, said in rows.items() for word in words.split()}


_ASKED_OF_ALL: Final = _table(
    {
        "grid blockidx block_idx blocks grid_dim griddim": "shared memory belongs to one block, and claims hold for "
        "every block: leave the grid out; `threads` or `block` says how large a block is",
        "cluster cluster_dim": "claims are of one block's own shared memory: leave the cluster out",
        "description comment comments note notes doc name": "write a comment of YAML: `# ...`; the spec has a `title`, "
        "a claim a `because`",
    }
)

_KEYS: Final[Mapping[str, Mapping[str, str]]] = {
    "SpecPart": _table(
        {
            "arch architecture gpu chip sm device compute_capability": "did you mean 'target'?",
            "consts define defines params parameters const": "did you mean 'constants'?",
            "memory smem shared shared_memory": "did you mean 'memories'?",
            "layouts layout tensors tensor buffers buffer": "did you mean 'tiles'? a layout is a tile's key",
            "instructions loads stores reads writes": "did you mean 'accesses'?",
            "asserts assert properties checks check prove expect": "did you mean 'claims'?",
            "version": "the version is the key `swzverify`: `swzverify: 1`",
            "for loops": "a loop stands in the access: `for: {k: 4}`",
        }
    ),
    "TilePart": _table(
        {
            "type dtype element_type elem elt datatype": "did you mean 'element'?",
            "stride strides": "strides stand in the layout: `layout: (64,64):(64,1)`",
            "size dims dim extent extents": "extents stand in the layout, `layout: (64,64):(64,1)`; "
            "the allocation is `bytes`, copies are `stages`",
            "pad padding order": "it stands in the layout: `layout: {shape: [64, 64], order: row, pad: 8}`",
            "align alignment base_align": "it stands in the base: `base: {align: 1024}`",
            "stage num_stages nstages pipeline pipe buffers": "did you mean 'stages'?",
            "memory smem in": "a tile lies in a memory by its base: `base: {in: smem, offset: 0}`",
            "index formula expression expr": "did you mean 'offset'? it counts elements; `address` counts bytes",
            "pitch": "the pitch of stages is `stages: {count: 2, pitch: 8192}`, that of rows a stride of the layout",
            "mode swizzle_mode box": "it stands in `tma`: `tma: {swizzle: 128B, box: [64, 64]}`",
        }
    ),
    "AccessPart": _table(
        {
            "op opcode instr inst ptx asm": "did you mean 'instruction'?",
            "mask predicate when where guard active cond condition": "did you mean 'if'?",
            "loop loops range iterations iter": "did you mean 'for'?",
            "step start stop times": "it stands in the loop: `for: {k: {start: 0, stop: 64, step: 16}}`",
            "index coords coordinate coordinates indices idx at": "did you mean 'coord'?",
            "addr ptr pointer byte_address offset": "did you mean 'address'? it counts bytes from `base`",
            "warps num_warps nwarps": "write threads: a warp has 32",
            "thread nthreads num_threads block_size blocksize": "did you mean 'threads'?",
            "blockdim block_dim": "did you mean 'block'?",
            "dtype type element elem bits width vec vector": "the instruction says the width: ld.shared.v4.b32",
            "layout tensor smem": "did you mean 'tile'? a layout is a tile's key",
            "assert requires require assumption assumptions": "did you mean 'assume'?",
            "data random gather": "values that each lane has of its own are stated in `lanes`",
            "where_ lets vars variables": "did you mean 'let'?",
            "stages buffer": "did you mean 'stage'? the tile has the `stages`",
        }
    ),
    "LoopPart": _table(
        {
            "mul factor ratio multiply mult scale shift shl by double": "did you mean 'times'? each value is so many "
            "times the one before",
            "from begin first init low lo min": "did you mean 'start'?",
            "to end until limit high hi max below": "did you mean 'stop'? it is the first value that is not reached",
            "last": "did you mean 'stop'? it is the first value that is not reached",
            "inc increment stride": "did you mean 'step'?",
            "values list in": "write the list itself: `for: {s: [1, 2, 4]}`",
            "count n iterations trips": "write the number itself: `for: {k: 4}` is 0..3",
        }
    ),
    "MapPart": _table(
        {
            "domain for range box": "did you mean 'over'?",
            "values expr expression index formula coord": "did you mean 'value'?",
            "codomain into to image": "did you mean 'onto'?",
        }
    ),
    "DenseLayoutPart": _table(
        {
            "stride strides": "with strides write CuTe's notation: `layout: (64,64):(72,1)`",
            "padding": "did you mean 'pad'?",
            "major layout": "did you mean 'order'? it is row or col",
            "swizzle": "the swizzle is the tile's key, beside `layout`",
        }
    ),
    "SwizzlePart": _table(
        {
            "b bbits num_bits": "did you mean 'bits'?",
            "m mbase num_base": "did you mean 'base'?",
            "s sshift num_shft num_shift": "did you mean 'shift'?",
        }
    ),
    "MemoryPart": _table({"size": "did you mean 'bytes'?", "alignment": "did you mean 'align'?"}),
    "AlignedBasePart": _table({"alignment": "did you mean 'align'?"}),
}

_CLAIMS: Final = _table(
    {
        "bank_conflict bank_conflicts bank_conflict_free no_conflict no_conflicts no_bank_conflicts conflicts "
        "conflict_free_access conflictfree conflict bankconflict bank-conflict-free conflict-free": "did you mean "
        "'conflict_free'?",
        "cost passes cycles max_wavefronts wavefront": "did you mean 'wavefronts'? {access: NAME, at_most: 4}",
        "unique one_to_one no_alias no_overlap_in_tile": "did you mean 'injective'?",
        "surjective onto": "no claim is that alone: `bijective` says it of a tile with `injective`, `covers` of what "
        "an access touches",
        "overlap non_overlapping no_overlap nonoverlapping no_alias_tiles": "did you mean 'disjoint'? "
        "it is of two tiles",
        "bounds inbounds in_range within oob no_oob": "did you mean 'in_bounds'?",
        "align alignment": "did you mean 'aligned'?",
        "equal equals same equivalence": "did you mean 'equivalent'?",
        "coverage complete full touches": "did you mean 'covers'?",
        "vectorized vectorizable vector": "did you mean 'contiguous'?",
        "coalescing coalesce sectors max_sectors transactions": "did you mean 'coalesced'? it is of accesses to global "
        "memory",
        "race no_race racefree sync synchronized": "did you mean 'race_free'? it is of a phase, which orders accesses",
        "involution invertible": "did you mean 'bijective'? a legal swizzle is its own inverse",
    }
)


def key_hint(part: str, name: str, known: Iterable[str]) -> str:
    """The hint for an unknown key of a model; empty where there is none.

    >>> key_hint("TilePart", "dtype", ["element", "layout"])
    "did you mean 'element'?"
    """
    small = name.lower()
    return _KEYS.get(part, {}).get(small) or _ASKED_OF_ALL.get(small, "") or nearest(name, known)


def claim_hint(name: str, known: Iterable[str]) -> str:
    """The hint for an unknown claim; empty where there is none.

    >>> claim_hint("bank_conflicts", ["conflict_free"])
    "did you mean 'conflict_free'?"
    """
    known = list(known)
    meant = re.sub(r"^(?:is_)?(?:not|non|un)[_-]?", "", name.lower())
    if meant != name.lower() and meant in known:
        return f"a claim says what holds: claim '{meant}', with `expect: refuted` where it must not hold"
    return _CLAIMS.get(name.lower(), "") or nearest(name, known)


_WORDS: Final = {
    "row": ("row_major", "rowmajor", "row-major", "c"),
    "col": ("col_major", "colmajor", "col-major", "column_major", "column-major", "column", "f", "fortran"),
    "offset": ("element", "elements", "index"),
    "address": ("byte", "bytes", "pointer", "ptr"),
    "proved": ("pass", "passes", "true", "holds", "yes", "ok", "success"),
    "refuted": ("fail", "fails", "failed", "false", "violated", "broken", "no", "xfail"),
}


def word_hint(value: str, allowed: Iterable[str]) -> str:
    """Which of the allowed words another one stands for, or the nearest one.

    >>> word_hint("row_major", ["row", "col"]), word_hint("fail", ["proved", "refuted"])
    ("did you mean 'row'?", "did you mean 'refuted'?")
    """
    allowed = list(allowed)
    for word in allowed:
        if value.lower() in _WORDS.get(word, ()):
            return f"did you mean '{word}'?"
    return nearest(value, allowed)
