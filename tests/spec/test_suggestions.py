"""What a spec says to the mistakes of a CUDA engineer: what the message must name, and what it must
not, since the nearest name has another meaning.
"""

from __future__ import annotations

import pytest

from swzverify.hardware import INSTRUCTIONS, TARGETS, find_instruction, find_target
from swzverify.spec import SpecError, parse_spec
from swzverify.spec.elements import ELEMENT_BITS

HEAD = "swzverify: 1\n"

# instruction: what the message must say, what it must not say
INSTRUCTION = {
    "red.shared.add.f32": ("those of 32-bit integers: add, min", "did you mean"),
    "atom.shared.add.f32": ("state st.shared.b32, and claim what asks for no cost", "atom.shared.add.u32"),
    "atom.shared.add.f16x2": ("state st.shared.b32", "did you mean"),
    "atom.shared.add.noftz.f16": ("state st.shared.b16", "did you mean"),
    "atom.shared.add.u64": ("state st.shared.b64", "did you mean"),
    "atom.shared.cas.b128": ("state st.shared.v2.b64", "did you mean"),
    "atom.shared.cas.b32": ("cas were not measured", "write atom.shared.add.u32"),
    "atom.shared.add": ("it has no type", "not measured"),
    "atom.add.u32": ("write .shared behind atom or red", "not measured"),
    "red.shared.max.f32": ("were not measured", "ld.shared"),
    "red.add.shared.u32": ("write red.shared.add.u32", "not measured"),
    "atom.shared.cta.add.s32": ("write atom.shared.add.s32", "not measured"),
    "red.add.shared::cta.u32": ("write red.shared.add.u32", "not measured"),
    "red.add.shared::cluster.u32": ("another block's", "write red"),
    "atom.shared.xor.u32": ("write atom.shared.xor.b32", "not measured"),
    "atom.cas.shared.b32": ("cas were not measured", "write atom"),
    "atomicAdd": ("write atom.shared.add.u32", "ld.shared"),
    "atomicCAS": ("cas were not measured", "write atom"),
    "LDS": ("write ld.shared.b32", "did you mean"),
    "LDS.U8": ("write ld.shared.b8", "did you mean"),
    "LDS.64": ("write ld.shared.v2.b32", "did you mean"),
    "LDS.U.128": ("write ld.shared.v4.b32", "did you mean"),
    "lds128": ("write ld.shared.v4.b32", "known are"),
    "STS.64": ("write st.shared.v2.b32", "ld.shared"),
    "STS.99": ("write st.shared with the width", "ld.shared"),
    "LDSM.16.M88.4": ("write ldmatrix.x4", ".trans"),
    "LDSM.16.MT88.2": ("write ldmatrix.x2.trans", "x4"),
    "LDSM.16.M88": ("write ldmatrix.x1", "x4"),
    "STSM": ("write stmatrix.x1, .x2 or .x4", "ldmatrix"),
    "SM75_U32x4_LDSM_N": ("write ldmatrix.x4", ".trans"),
    "SM75_U16x8_LDSM_T": ("write ldmatrix.x4.trans", "x2"),
    "SM90_U32x2_STSM_N": ("write stmatrix.x2", ".trans"),
    "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>": ("write cp.async.16", "bulk"),
    "LDGSTS.E.BYPASS.128": ("write cp.async.16", "cp.async.ca.16"),
    "LDGSTS.E.128": ("write cp.async.ca.16", "write cp.async.16"),
    "LDGSTS.E.64": ("write cp.async.8", "16"),
    "LDGSTS.E": ("write cp.async.4", "16"),
    "LDGSTS": ("write cp.async.4, .8 or .16", "did you mean"),
    "ATOMS.ADD": ("write atom.shared.add.u32", "not measured"),
    "ATOMS.CAS.64": ("state st.shared.b64", "write atom"),
    "ATOMS.POPC.INC.32": ("not measured", "write atom"),
    "UTMALDG.2D": ("a bulk copy (TMA)", "cp.async.16"),
    "cp.async.bulk": ("a bulk copy (TMA)", "cp.async.8"),
    "cp.async.bulk.tensor.2d.shared::cluster.global": ("a bulk copy (TMA)", "cp.async.8"),
    "tma": ("`tma: {swizzle: 128B, box: [64, 64]}`", "did you mean"),
    "cp.async.bulk.wait_group": ("moves no elements", "TMA"),
    "cp.async.wait_group": ("moves no elements", "cp.async.4"),
    "cp.async": ("how many bytes", "did you mean"),
    "cp.async.12": ("cp.async copies 4, 8 or 16", "did you mean"),
    "cp.async.128": ("write cp.async.16 for 128 bits", "cp.async.8"),
    "wgmma.mma_async": ("read through descriptors", "known are"),
    "wgmma.fence": ("moves no elements", "descriptors"),
    "tcgen05.mma": ("read through descriptors", "known are"),
    "tcgen05.ld": ("tensor memory", "fills its registers"),
    "wmma.load": ("the compiler's choice", "known are"),
    "wmma.mma.sync": ("works on registers", "compiler's choice"),
    "mma.sync.aligned.m16n8k16": ("works on registers", "known are"),
    "movmatrix": ("works on registers", "stmatrix"),
    "shfl.sync.down.b32": ("works on registers", "did you mean"),
    "__syncthreads": ("moves no elements", "known are"),
    "mbarrier.try_wait": ("moves no elements", "known are"),
    "ld.global.v4.f64": ("256 bits per lane", "did you mean"),
    "LD.GLOBAL.F32": ("did you mean 'ld.global.f32'?", "shared"),
    "ld.global.f31": ("known are ld.global.b8", "shared"),
    "ld.local.b32": ("it touches local memory", "did you mean"),
    "ld.const.b32": ("it touches constant memory", "did you mean"),
    "red.global.add.u32": ("it touches global memory", "write atom"),
    "LDG.E.128": ("write ld.global or st.global with the width", "ld.shared"),
    "ld.f32": ("which memory it touches", "did you mean"),
    "ld.share.v4.f32": ("write ld.shared.v4.f32", "b32"),
    "st.smem.b32": ("write st.shared.b32", "ld.shared"),
    "ld.shared": ("it does not say what it moves", "b8"),
    "ld.shared.v4": ("write the type: ld.shared.v4.b32", "b64"),
    "ld.shared.128": ("write ld.shared.v4.b32", "b8"),
    "ld.shared.float4": ("write ld.shared.v4.b32", "b64"),
    "ld.shared.v3.b32": ("vectors of 2 and 4", "did you mean"),
    "ld.shared.e4m3": ("write ld.shared.b8", "b64"),
    "ld.shared.u8x4": ("PTX has no ld of the type .u8x4", "did you mean"),
    "float4": ("ld.shared.v4.b32 for a load", "known are"),
    "half2": ("ld.shared.b32 for a load", "known are"),
    "ldmatrix": ("ldmatrix moves 1, 2 or 4", "did you mean"),
    "ldmatrix.x3": ("there is no .x3", "did you mean"),
    "ldmatrix.x8.trans": ("there is no .x8", "did you mean"),
    "ldmatrix.trans.x4": ("write ldmatrix.x4.trans", "did you mean"),
    "ldmatrix.x2.transpose": ("write ldmatrix.x2.trans", "x4"),
    "ldmatrix.sync.x4": ("write ldmatrix.x4", "trans"),
    "ld.matrix.x4": ("write ldmatrix.x4", "which memory"),
    "stmatrix.x4.b8": ("was not measured", "did you mean"),
    "ldmatrix.m16n16.x1": ("was not measured", "did you mean"),
    "ldmatirx.x4": ("did you mean 'ldmatrix.x4'?", "trans"),
    "LD.SHARED.V4.F32": ("did you mean 'ld.shared.v4.f32'?", "b32"),
    "mapa": ("another block's", "known are"),
    "st.async": ("another block's", "did you mean"),
    "load": ("known are ld.shared.b8", "did you mean"),
}

BLOCK = "shared memory belongs to one block"
LOOPED = "a loop variable is stated in `for`"
EXPRESSION = {
    "blockIdx.x*4": (BLOCK, "blockDim"),
    "blockIdx*4": (BLOCK, "blockIdx.y"),
    "blockidx.x": (BLOCK, "threadIdx"),
    "gridIdx.x": (BLOCK, "threadIdx"),
    "bid": (BLOCK, "did you mean"),
    "ctaid": (BLOCK, "did you mean"),
    "%ctaid.x": (BLOCK, "did you mean"),
    "block": (BLOCK, "blockDim"),
    "gridDim.x": ("the grid's size is that of a launch", "blockDim"),
    "gridDim": ("the grid's size is that of a launch", "gridDim.y"),
    "clusterIdx.x": ("one block's own shared memory", "threadIdx"),
    "cluster_ctarank": ("one block's own shared memory", "known names"),
    "warpSize*4": ("write 32", "did you mean"),
    "threads*4": ("write the number of threads", "threadIdx"),
    "blockDim_x": ("did you mean 'blockDim.x'?", "tid"),
    "wid*4": ("did you mean 'warp'?", "'tid'"),
    "warpIdx.x": ("did you mean 'warp'?", "threadIdx"),
    "laneid": ("did you mean 'lane'?", "tid"),
    "%laneid": ("did you mean 'lane'?", "operand"),
    "%tid.x": ("did you mean 'tid_x'?", "operand"),
    "thread_id": ("did you mean 'tid'?", "tid_z"),
    "tidx*4": ("did you mean 'tid_x'?", "tid_y"),
    "ty": ("did you mean 'tid_y'?", "tid_x"),
    "threadidx.x": ("did you mean 'threadIdx.x'?", "blockDim"),
    "tid_w": ("axes are x, y and z", "did you mean"),
    "warpgroup_idx": ("write tid/128", "did you mean"),
    "smem + tid": ("addresses count from `base`", "known names"),
    "base + tid": ("addresses count from `base`", "known names"),
    "stage*4": ("an access has the key `stage`", "known names"),
    "smid": ("when the kernel runs", "did you mean"),
    "true": ("write 1", "did you mean"),
    "k*4": (LOOPED, "did you mean"),
    "(tid ^ 1 << d)*4": ("stop: 32, times: 2", "did you mean"),
    "pow(2, tid)": ("a power of two is 1 << n", "min and max"),
    "abs(tid)": ("write x < 0 ? -x : x", "min and max"),
    "ceil_div(tid, 4)": ("write (a + b - 1) / b", "min and max"),
    "mod(tid, 4)": ("write a % b", "did you mean"),
    "__popc(tid)": ("write out what it computes", "min and max"),
    "swizzle(tid)": ("give the tile a `swizzle`", "min and max"),
    "__cvta_generic_to_shared(tid)": ("leave the pointer out", "min and max"),
    "__shfl_sync(tid)": ("that lane's expression", "min and max"),
    "mim(tid, 4)": ("did you mean 'min'?", "max"),
}

OTHERS = {
    "tile key dtype": ("tiles: {A: {«dtype»: f16}}", "did you mean 'element'?", "stages"),
    "tile key size": ("tiles: {A: {«size»: 3}}", "extents stand in the layout", "did you mean"),
    "tile key pad": ("tiles: {A: {«pad»: 3}}", "it stands in the layout", "did you mean"),
    "tile key align": ("tiles: {A: {«align»: 3}}", "`base: {align: 1024}`", "did you mean"),
    "access key mask": ("accesses: {r: {«mask»: 3}}", "did you mean 'if'?", "base"),
    "access key loop": ("accesses: {r: {«loop»: 3}}", "did you mean 'for'?", "'block'"),
    "access key grid": ("accesses: {r: {«grid»: 3}}", BLOCK, "did you mean"),
    "access key step": ("accesses: {r: {«step»: 3}}", "it stands in the loop", "did you mean"),
    "access key warps": ("accesses: {r: {«warps»: 4}}", "a warp has 32", "did you mean"),
    "loop key mul": ("accesses: {r: {for: {s: {start: 1, stop: 8, «mul»: 2}}}}", "did you mean 'times'?", "'stop'"),
    "loop key end": ("accesses: {r: {for: {s: {start: 1, «end»: 8}}}}", "did you mean 'stop'?", "'step'"),
    "loop key stp": ("accesses: {r: {for: {s: {stop: 8, «stp»: 2}}}}", "did you mean 'stop' or 'step'?", "times"),
    "claim surjective": ("claims: [{«surjective»: A}]", "no claim is that alone", "did you mean"),
    "claim coalescing": ("claims: [{«coalescing»: A}]", "did you mean 'coalesced'?", "covers"),
    "claim no_race": ("claims: [{«no_race»: A}]", "did you mean 'race_free'?", "covers"),
    "claim bank_conflicts": ("claims: [{«bank_conflicts»: A}]", "did you mean 'conflict_free'?", "'covers'"),
    "claim unaligned": ("claims: [{«unaligned»: A}]", "`expect: refuted`", "did you mean"),
    "order row_major": ("tiles: {A: {bits: 8, layout: {shape: [8, 8], order: row_major}}}", "mean 'row'?", "'col'?"),
    "order column_major": ("tiles: {A: {bits: 8, layout: {shape: [8], order: column_major}}}", "mean 'col'?", "'row'?"),
    "swizzle on bytes": (
        "tiles: {A: {bits: 8, layout: '64:1', swizzle: {bits: 1, base: 1, shift: 1, on: bytes}}}",
        "did you mean 'address'?",
        "'offset'?",
    ),
    "expect fail": (
        "tiles: {A: {bits: 8, layout: '8:1'}}\nclaims: [{injective: A, expect: fail}]",
        "did you mean 'refuted'?",
        "'proved'?",
    ),
    "expect false": (
        "tiles: {A: {bits: 8, layout: '8:1'}}\nclaims: [{injective: A, expect: false}]",
        "did you mean 'refuted'?",
        "'proved'?",
    ),
    "target hopper": ("target: hopper", "did you mean 'sm_90'?", "known are"),
    "target ampere": ("target: ampere", "'sm_80' (A100) or 'sm_86'", "sm_90"),
    "target sm_91": ("target: sm_91", "known are sm_70", "did you mean"),
    "target sm_9": ("target: sm_9", "known are sm_70", "did you mean"),
    "target compute_86": ("target: compute_86", "did you mean 'sm_86'?", "known are"),
    "element s32": ("tiles: {A: {element: s32, layout: '8:1'}}", "did you mean 'i32'?", "'u32'"),
    "element b16": ("tiles: {A: {element: b16, layout: '8:1'}}", "`bits: 16`", "did you mean"),
    "element e2m1": ("tiles: {A: {element: e2m1, layout: '8:1'}}", "did you mean 'f4'?", "'f8e5m2'"),
    "element float4": ("tiles: {A: {element: float4, layout: '8:1'}}", "an element is one value", "did you mean"),
    "element f17": ("tiles: {A: {element: f17, layout: '8:1'}}", "`bits: n`", "did you mean"),
    "tma 256B": ("tiles: {A: {element: f16, tma: {swizzle: 256B, box: [8, 64]}}}", "one of none", "did you mean"),
    "tma SWIZZLE_64B": (
        "tiles: {A: {element: f16, tma: {swizzle: SWIZZLE_64B, box: [8, 64]}}}",
        "did you mean '64B'?",
        "128B",
    ),
    "swizzle 128B": ("tiles: {A: {element: f16, layout: '(8,64):(64,1)', swizzle: 128B}}", "the tile's `tma`", "32B"),
    "tile of another number": (
        "tiles: {A1: {element: f16, layout: '8:1'}}\nclaims: [{injective: A2}]",
        "known: A1",
        "did you",
    ),
}


def said(text: str) -> str:
    with pytest.raises(SpecError) as caught:
        parse_spec(HEAD + text.replace("«", "").replace("»", ""), path="a.yaml")
    return "\n".join(f"{each.code} {each.message}\n{each.hint}" for each in caught.value.problems)


@pytest.mark.parametrize(("name", "must", "must_not"), [(name, *rest) for name, rest in INSTRUCTION.items()])
def test_instruction(name: str, must: str, must_not: str) -> None:
    message = said(f"accesses: {{r: {{instruction: '{name}', threads: 32, address: tid*4}}}}")
    assert message.startswith("SWZ401 ")
    assert must in message
    assert must_not not in message


@pytest.mark.parametrize(("text", "must", "must_not"), [(name, *rest) for name, rest in EXPRESSION.items()])
def test_name_or_call_in_an_expression(text: str, must: str, must_not: str) -> None:
    message = said(f'accesses: {{r: {{instruction: ld.shared.b32, threads: 32, address: "{text}"}}}}')
    assert message.startswith(("SWZ301 ", "SWZ302 "))
    assert must in message
    hint = message.split("\n", 1)[1]
    assert must_not not in (hint if "known names" not in hint else hint.split("\n", 1)[1])


@pytest.mark.parametrize(("text", "must", "must_not"), OTHERS.values(), ids=OTHERS)
def test_keys_claims_targets_and_elements(text: str, must: str, must_not: str) -> None:
    message = said(text)
    key = text.partition("«")[2].partition("»")[0]
    if key:  # the note of this key alone: what else is missing is told too
        blocks = message.split("SWZ")
        message = next(block for block in blocks if f"'{key}'" in block.split("\n")[0])
        message = message.split("\nallowed here")[0].split("\nclaims: ")[0]
    message = message.split("\nknown: f64")[0] if "bits: n" not in must else message
    assert must in message
    assert must_not not in message


@pytest.mark.parametrize(
    ("step", "hint"),
    {"s": "`times: 2`", "s*2": "`times: 2`", "'*2'": "`times: 2`", "-1": "[64, 32, 16]"}.items(),
)
def test_a_step_that_is_a_doubling_or_goes_down(step: str, hint: str) -> None:
    loop = f"for: {{s: {{start: 1, stop: 64, step: {step}}}}}"
    message = said(f"accesses: {{r: {{instruction: ld.shared.b32, threads: 32, address: s*4, {loop}}}}}")
    assert message.startswith("SWZ105 ")
    assert hint in message


def test_what_doubles_is_read_as_it_is_suggested() -> None:
    for loop in ("{start: 1, stop: 32, times: 2}", "[1, 2, 4, 8, 16]"):
        text = f"accesses: {{r: {{instruction: ld.shared.b32, threads: 32, address: (tid^s)*4, for: {{s: {loop}}}}}}}"
        access = parse_spec(HEAD + text, path="a.yaml").cases[0].accesses["r"]
        assert access.loops[0].count == 5


def test_no_message_stands_for_what_is_known() -> None:
    """A name that is known is read, so that no sentence about it can be said."""
    assert all(find_instruction(name).name == name for name in INSTRUCTIONS)
    assert all(find_target(name).name == name for name in TARGETS)
    for name in ("block", "stage_idx", "wid", "tx", "smem", "true"):
        text = f"accesses: {{r: {{instruction: ld.shared.b32, threads: 32, address: '{name}*4', for: {{{name}: 4}}}}}}"
        assert parse_spec(HEAD + text, path="a.yaml").cases[0].accesses["r"].loops[0].name == name


def test_every_suggested_instruction_exists() -> None:
    import re

    suggested: set[str] = set()
    for name in INSTRUCTION:
        message = said(f"accesses: {{r: {{instruction: '{name}', threads: 32, address: tid*4}}}}")
        hint = message.split("\n", 1)[1]
        if "known are" not in hint:
            suggested |= set(
                re.findall(r"\b(?:(?:ld|st|atom)\.shared\.[\w.]*\w|(?:ld|st)matrix\.x\d(?:\.trans)?)", hint)
            )
    assert len(suggested) > 15
    for each in suggested - {"ld.shared.v2", "st.shared.v2"}:
        assert find_instruction(each)


def test_every_spelling_of_an_element_leads_to_one() -> None:
    from swzverify.spec.elements import _SPELLINGS

    assert _SPELLINGS.keys() == ELEMENT_BITS.keys()
    spellings = [each for every in _SPELLINGS.values() for each in every.split()]
    assert len(spellings) == len(set(spellings))
    assert not set(spellings) & set(ELEMENT_BITS)
