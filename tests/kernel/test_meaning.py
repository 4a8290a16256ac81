"""What opcodes compute: expressions against plain integers, and against an independent interpreter
whose answers a GPU gave.
"""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from swzverify.compiled.kernel import OpaqueLeaf
from swzverify.compiled.kernel.evaluate import evaluate as evaluate_instruction
from swzverify.compiled.kernel.flow import FlowError
from swzverify.compiled.kernel.opcodes import operation
from swzverify.compiled.kernel.slices import Slices, Steps
from swzverify.compiled.ptx import Instruction, read_module
from swzverify.compiled.trial.plain import plain
from swzverify.ir import expr
from swzverify.ir.evaluate import evaluate
from tests.ptx_oracle import Buffer, launch
from tests.ptx_oracle.case_list import all_cases, text_of
from tests.ptx_oracle.case_list import inputs as chip_inputs

INTEGERS = [f"{letter}{width}" for letter in "us" for width in (16, 32, 64)]
RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge")
OF_FLOATS = ("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")


def spelled() -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    found += [(f"{n}.{k}", 2) for n in ("add", "sub", "mul.lo", "min", "max", "div", "rem", "add.cc") for k in INTEGERS]
    found += [(f"{n}.{k}", 3) for n in ("mad.lo", "sad") for k in INTEGERS]
    small = [k for k in INTEGERS if "64" not in k]
    found += [(f"mul.{part}.{k}", 2) for part in ("hi", "wide") for k in small]
    found += [(f"mad.{part}.{k}", 3) for part in ("hi", "wide") for k in small]
    found += [(f"mul24.{part}.{k}", 2) for part in ("lo", "hi") for k in ("u32", "s32")]
    found += [(f"mad24.lo.{k}", 3) for k in ("u32", "s32")]
    found += [(f"{n}.s{w}", 1) for n in ("abs", "neg") for w in (16, 32, 64)]
    found += [(f"{n}.{k}", 2) for n in ("and", "or", "xor") for k in ("pred", "b16", "b32", "b64")]
    found += [(f"not.{k}", 1) for k in ("pred", "b16", "b32", "b64")]
    found += [(f"cnot.b{w}", 1) for w in (16, 32, 64)]
    found += [(f"shl.b{w}", 2) for w in (16, 32, 64)]
    found += [(f"shr.{k}", 2) for k in (*INTEGERS, "b16", "b32", "b64")]
    found += [(f"shf.{way}.{mode}.b32", 3) for way in "lr" for mode in ("wrap", "clamp")]
    found += [(f"bfe.{letter}{w}", 3) for letter in "us" for w in (32, 64)]
    found += [(f"bfi.b{w}", 4) for w in (32, 64)]
    found += [(f"bfind{mode}.{a}{w}", 1) for mode in ("", ".shiftamt") for a in "us" for w in (32, 64)]
    found += [(f"{n}.b{w}", 1) for n in ("popc", "clz", "brev") for w in (32, 64)]
    found += [("prmt.b32", 3), ("lop3.b32", 4)]
    found += [(f"setp.{r}.{k}", 2) for r in RELATIONS for k in INTEGERS]
    found += [(f"setp.{r}.u{w}", 2) for r in ("lo", "ls", "hi", "hs") for w in (16, 32, 64)]
    found += [(f"setp.{r}.b{w}", 2) for r in ("eq", "ne") for w in (16, 32, 64)]
    found += [(f"setp.{r}.{c}.{k}", 3) for r in ("lt", "ne") for c in ("and", "or", "xor") for k in ("s32", "u64")]
    found += [(f"set.{r}.{d}.{k}", 2) for r in RELATIONS for d in ("u32", "s32", "f32") for k in ("s32", "u16")]
    found += [("set.lt.or.u32.s32", 3), ("set.lt.xor.f32.s64", 3)]
    found += [(f"setp.{r}.{k}", 2) for r in (*RELATIONS, *OF_FLOATS) for k in ("f16", "bf16", "f32", "f64")]
    found += [(f"setp.{r}.ftz.{k}", 2) for r in (*RELATIONS, "neu", "gtu") for k in ("f16", "f32")]
    found += [("setp.lt.or.ftz.f32", 3), ("setp.geu.xor.f64", 3)]
    found += [(f"set.{r}.{d}.f32", 2) for r in ("gt", "neu", "nan") for d in ("u32", "s32", "f32")]
    found += [("set.le.and.ftz.u32.f32", 3)]
    found += [(f"selp.{k}", 3) for k in ("b16", "u32", "s64", "f32")]
    found += [(f"slct.{k}.s32", 3) for k in ("b16", "u32", "s64", "f32")]
    every = [f"{letter}{width}" for letter in "us" for width in (8, 16, 32, 64)]
    found += [(f"cvt.{a}.{b}", 1) for a, b in product(every, every)]
    found += [(f"mov.{k}", 1) for k in ("pred", "b16", "u32", "s64", "f32")]
    found += [
        (f"{n}.{m}.{k}", 2) for n, k in (("szext", "u32"), ("szext", "s32"), ("bmsk", "b32")) for m in ("wrap", "clamp")
    ]
    return found


SPELLED = spelled()


def numbers(widths: tuple[int, ...], count: int) -> list[list[int]]:
    """Rows of numbers of these widths: edges, and numbers of any size."""
    draw = random.Random(repr(widths))
    edges = [edges_of(width) for width in widths]

    def one(at: int) -> int:
        return draw.choice(edges[at]) if draw.random() < 0.6 else draw.getrandbits(draw.randint(1, widths[at]))

    return [[one(at) for at in range(len(widths))] for _ in range(count)]


def edges_of(width: int) -> list[int]:
    edges = {0, 1, 2, 3, (1 << width) - 1, (1 << width) - 2, 1 << (width - 1), (1 << (width - 1)) - 1}
    # Infinities, numbers that are none, and the smallest normal numbers of 16, 32 and 64 bits.
    edges |= {0x7C00, 0x7F80, 0x400, 0x7F800000, 0x7F800001, 0xFFC00000, 0x800000, 0x3F800000, 0xBF800000, 0x7FF << 52}
    edges |= {each for each in (15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 0x3210, 0xFEDC) if each < 1 << width}
    return sorted(each for each in edges if each < 1 << width)


def through_expressions(opcode: str, values: list[int]) -> tuple[int, ...] | None:
    """The values through variables, so that nothing is folded; None where it is undefined."""
    found = operation(opcode, len(values))
    assert found is not None, opcode
    names = [expr.var(f"v{at}", 1 << width) for at, width in enumerate(found.sources)]
    constant_last = opcode.startswith("lop3")
    inputs: list[expr.Expr] = [*names]
    if constant_last:
        inputs[-1] = expr.const(values[-1], 32)
    point = {f"v{at}": value for at, value in enumerate(values)}
    if found.undefined is not None and any(evaluate(each, point) for each in found.undefined(tuple(inputs))):
        return None
    built = found.build(tuple(inputs))
    assert built is not None
    assert tuple(each.width for each in built) == found.results
    folded = found.build(tuple(expr.const(value, width) for value, width in zip(values, found.sources, strict=True)))
    assert folded is not None
    answer = tuple(evaluate(each, point) for each in built)
    assert tuple(evaluate(each, {}) for each in folded) == answer
    return answer


@pytest.mark.parametrize(("opcode", "count"), SPELLED, ids=[each[0] for each in SPELLED])
def test_expressions_and_plain_integers_agree(opcode: str, count: int) -> None:
    found = operation(opcode, count)
    assert found is not None
    for values in numbers(found.sources, 40):
        assert (values, through_expressions(opcode, values)) == (values, plain(opcode, values))


LETTERS = {1: "p", 16: "h", 32: "r", 64: "d"}
TOP = ".version 8.3\n.target sm_90\n.address_size 64\n"
LANES = 64


def inputs() -> np.ndarray:
    """Rows of four numbers: edges, small ones and random ones."""
    source = np.random.default_rng(5)
    rows = source.integers(0, 1 << 63, (LANES, 4), np.uint64) * 2 + source.integers(0, 2, (LANES, 4), np.uint64)
    edges = [
        0,
        1,
        31,
        32,
        33,
        63,
        64,
        0x7FFF,
        0x8000,
        0xFFFF,
        0x7FFFFFFF,
        0x80000000,
        0xFFFFFFFF,
        1 << 63,
        (1 << 64) - 1,
    ]
    rows[:24] = source.choice(np.array(edges, np.uint64), (24, 4))
    rows[24:40, 1:] = source.integers(0, 40, (16, 3), np.uint64)
    return rows


def kernel_of(opcode: str, count: int) -> str:
    """A kernel that applies an opcode to the numbers of each lane and stores its results."""
    found = operation(opcode, count)
    assert found is not None
    body, names = [], []
    for at, width in enumerate(found.sources):
        if opcode.startswith("lop3") and at == 3:
            names.append("0x6A")
            continue
        register = LETTERS.get(width, "h")
        names.append(f"%{register}{at + 1}")
        body.append(f"ld.global.u64 %d{at + 1}, [%in+{8 * at}];")
        if width == 1:
            body.append(f"and.b64 %d9, %d{at + 1}, 1; setp.ne.u64 %p{at + 1}, %d9, 0;")
        elif width < 64:
            body.append(f"cvt.u{max(width, 16)}.u64 %{register}{at + 1}, %d{at + 1};")
    results = found.results if opcode.startswith("setp") else found.results[:1]
    puts = [f"%{LETTERS.get(width, 'h')}{at + 5}" for at, width in enumerate(results)]
    body.append(f"{opcode} {'|'.join(puts)}, {', '.join(names)};")
    for at, width in enumerate(results):
        if width == 1:
            body.append(f"selp.u64 %d8, 1, 0, %p{at + 5};")
        elif width == 64:
            body.append(f"mov.b64 %d8, %d{at + 5};")
        else:
            body.append(f"cvt.u64.u{max(width, 16)} %d8, %{LETTERS.get(width, 'h')}{at + 5};")
        body.append(f"st.global.u64 [%out+{8 * at}], %d8;")
    return (
        TOP
        + ".visible .entry k(.param .u64 a, .param .u64 b) { .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<99>;"
        + " .reg .b64 %d<99>, %in, %out; ld.param.u64 %in, [a]; ld.param.u64 %out, [b]; mov.u32 %r90, %tid.x;"
        + " mul.wide.u32 %d90, %r90, 32; add.u64 %in, %in, %d90; mul.wide.u32 %d91, %r90, 16; add.u64 %out, %out, %d91;"
        + "\n".join(body)
        + " ret; }"
    )


@pytest.mark.parametrize(("opcode", "count"), SPELLED, ids=[each[0] for each in SPELLED])
def test_the_interpreter_agrees(opcode: str, count: int) -> None:
    found = operation(opcode, count)
    assert found is not None
    rows = inputs()
    given_ = [Buffer(LANES * 32, content=rows), Buffer(LANES * 16)]
    result = launch(kernel_of(opcode, count), "k", [1], [LANES], 0, given_)
    assert not result.error, result.error
    answers = result.buffers[1].view(np.uint64).reshape(LANES, 2).tolist()
    for row, answer in zip(rows.tolist(), answers, strict=True):
        values = [value % (1 << width) for value, width in zip(row, found.sources, strict=False)]
        if opcode.startswith("lop3"):
            values = [*values[:3], 0x6A]
        mine = through_expressions(opcode, values)
        if mine is None:
            continue
        kept = mine if opcode.startswith("setp") else mine[:1]
        width = found.results[0]
        if found.signed and width < 16:
            kept = tuple(expr.to_signed(each, width) % (1 << 16) for each in kept)
        assert (values, kept) == (values, tuple(answer[: len(kept)]))


def test_every_table_of_three_inputs() -> None:
    for code in range(256):
        values = [0x0F0F3C5A, 0x33CC5AF0, 0x5566FF00, code]
        assert through_expressions("lop3.b32", values) == plain("lop3.b32", values)


@pytest.mark.parametrize(
    "opcode",
    ["add.sat.s32", "add.f32", "addc.u32", "mul.hi.u64", "cvt.sat.u8.s32", "cvt.rn.f32.s32", "min.relu.s32",
     "prmt.b32.f4e", "mad.hi.sat.s32", "add.u16x2", "setp.lo.f32", "setp.lt.ftz.f64", "setp.lt.ftz.s32",
     "setp.lt.b32", "lop3.or.b32", "mov.b128"],
)  # fmt: skip
def test_what_is_not_understood_has_no_meaning(opcode: str) -> None:
    assert all(operation(opcode, count) is None or opcode == "setp.lt.b32" for count in range(5))
    if opcode == "setp.lt.b32":
        found = operation(opcode, 2)
        assert found is not None
        assert found.build((expr.const(1, 32), expr.const(2, 32))) is None


def test_what_a_gpu_answered() -> None:
    """The kernels whose answers were recorded on an H200, for all that is computed whole."""
    with np.load(Path(__file__).parent.parent / "ptx_oracle" / "h200_answers.npz") as found:
        answers = found["answers"]
    module = read_module(text_of(all_cases()), "cases.ptx")
    numbers = chip_inputs().view(np.uint64).reshape(-1, 3).tolist()
    compared = 0
    for at, case in enumerate(all_cases()):
        function = module.function(case.name)
        assert function is not None
        try:
            slices = Slices(module, function, None, evaluate_instruction)
        except FlowError:
            continue
        last = next(each for each in reversed(function.instructions) if each.opcode == "st.global.b64")
        value = slices.run(stored(slices, last))
        given_ = [leaf for leaf in expr.variables(value) if isinstance(slices.leaves[leaf], OpaqueLeaf)]
        order_of = {name: int(name.split(": ")[1].split(".")[0]) for name in (leaf.name for leaf in given_)}
        firsts = sorted(each.index for each in function.instructions if each.opcode == "ld.global.b64")[:3]
        if len(given_) != len(expr.variables(value)) or any(place not in firsts for place in order_of.values()):
            continue
        for row, answer in zip(numbers, answers[at].tolist(), strict=True):
            point = {name: row[firsts.index(place)] for name, place in order_of.items()}
            assert (case.body, evaluate(value, point)) == (case.body, answer)
        compared += 1
    assert compared > 250, compared


def stored(slices: Slices, last: Instruction) -> Steps:
    value = yield from slices.read(last.operands[1], 64, last)
    assert value is not None
    return value
