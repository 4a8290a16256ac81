"""The numbers of another tool: the examples of Faial, with what its own tests expect of it.

Faial (https://gitlab.com/umb-svl/faial, MIT) bounds the bank conflicts and the uncoalesced accesses of
CUDA kernels from their source. Its `examples/bc/test.ml` has a number for each example. With the metric
`bc` this is the number of wavefronts beyond the first that one warp takes for an access, summed over
accesses and over the trips of loops. With `ua` it is the number of 32-byte sectors.

The numbers are facts from that file, as of commit c29bf3398e35db1b8c896db0d098495feb15ac76 (January
2025; default block: 1,024 threads). Rows from its fork ArberSephirotheca/faial-subgroup, as of commit
00ca1337de7870ddd4d0890261e3ca50b0976ba7, say so. The kernels are our own: each has the index of an
example, in a few lines of Python that are compiled to PTX here. The array has all of dynamic shared
memory, so that no thread leaves it.

The interpreter of PTX in `tests/ptx_oracle` shares no code with the scan and runs each kernel. Where a
number differs from Faial's, it decides which number is right, and the row has the reason.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from swzverify.claims.verdict import Outcome
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import Given, ScannedAccess, decide, price, split
from swzverify.ir.expr import TRUE
from swzverify.prover import Options, prove
from swzverify.report.scan import ScannedFile
from swzverify.report.scan_spec import scan_spec
from swzverify.spec.load import parse_spec
from tests.ptx_oracle import Access, Buffer, run_kernel
from tests.scan.whole import scan_module

Block = tuple[int, int, int]

PARAMETERS = ("n", "m", "a", "b")
SMEM = 227 * 1024
"""All the dynamic shared memory that a block can have: 1,024 threads, 32 words apart, need 128 KiB."""
OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add.s32",
    ast.Sub: "sub.s32",
    ast.Mult: "mul.lo.s32",
    ast.FloorDiv: "div.s32",
    ast.LShift: "shl.b32",
    ast.RShift: "shr.s32",
}
COMPARISONS: dict[type[ast.AST], str] = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}
MEMORY = {"f32": ("st.shared.b32", "%v", 4), "f64": ("st.shared.b64", "%d9", 8), "s16": ("ld.shared.u16", "%h1", 2)}


class Compiler:
    """Python statements to PTX.

    `x`, `y`, `z` are the thread's coordinates, `n`, `m`, `a`, `b` parameters. `first` is the first word
    of a buffer, `data` the word of each thread. `f32[i]` accesses element i of shared memory.
    """

    def __init__(self, code: str) -> None:
        self.lines: list[str] = []
        self.used = 0
        self.variables = {"x": "%x", "y": "%y", "z": "%z", "first": "%f", "data": "%v"} | {
            name: f"%{name}" for name in PARAMETERS
        }
        for statement in ast.parse(code).body:
            self.statement(statement)

    def new(self, letter: str) -> str:
        self.used += 1
        return f"%{letter}{self.used}"

    def emit(self, line: str) -> None:
        self.lines.append(line)

    def value(self, node: ast.expr) -> str:
        match node:
            case ast.Name(name):
                return self.variables[name]
            case ast.Constant(int(number)):
                return str(number)
            case ast.BinOp(left, operator, right):
                first, second, result = self.value(left), self.value(right), self.new("r")
                self.emit(f"{OPERATORS[type(operator)]} {result}, {first}, {second};")
                return result
            case _:
                raise TypeError(ast.dump(node))

    def condition(self, node: ast.expr) -> str:
        result = self.new("p")
        match node:
            case ast.Compare(left, [operator], [right]):
                first, second = self.value(left), self.value(right)
                self.emit(f"setp.{COMPARISONS[type(operator)]}.s32 {result}, {first}, {second};")
            case ast.BoolOp(ast.And(), [left, right]):
                first, second = self.condition(left), self.condition(right)
                self.emit(f"and.pred {result}, {first}, {second};")
            case _:
                raise TypeError(ast.dump(node))
        return result

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign([ast.Name(name)], value):
                source = self.value(value)
                register = self.variables.setdefault(name, self.new("r"))
                self.emit(f"mov.b32 {register}, {source};")
            case ast.Expr(ast.Subscript(ast.Name(kind), index)):
                instruction, register, width = MEMORY[kind]
                at = self.new("r")
                self.emit(f"mad.lo.s32 {at}, {self.value(index)}, {width}, %s;")
                loads = instruction.startswith("ld")
                self.emit(f"{instruction} {register}, [{at}];" if loads else f"{instruction} [{at}], {register};")
            case ast.If(test, body, other):
                self.branch(test, body, other, again=False)
            case ast.While(test, body, []):
                self.branch(test, body, [], again=True)
            case _:
                raise TypeError(ast.dump(node))

    def branch(self, test: ast.expr, body: list[ast.stmt], other: list[ast.stmt], *, again: bool) -> None:
        begin, beyond, end = self.new("L")[1:], self.new("L")[1:], self.new("L")[1:]
        self.emit(f"{begin}:")
        self.emit(f"@!{self.condition(test)} bra {beyond};")
        for each in body:
            self.statement(each)
        self.emit(f"bra {begin if again else end};")
        self.emit(f"{beyond}:")
        for each in other:
            self.statement(each)
        self.emit(f"{end}:")


def compiled(code: str) -> str:
    """A kernel whose threads run this code."""
    inputs = "".join(f"ld.param.u32 %{name}, [{name}];\n" for name in PARAMETERS)
    return (
        ".version 8.3\n.target sm_90\n.address_size 64\n.extern .shared .align 16 .b8 s[];\n.entry k("
        + "".join(f".param .u32 {name}, " for name in PARAMETERS)
        + ".param .u64 q) {\n.reg .pred %p<99>; .reg .b16 %h<9>; .reg .b32 %r<99>; .reg .b64 %d<10>;\n"
        + f".reg .b32 %x, %y, %z, %s, %f, %v, {', '.join('%' + name for name in PARAMETERS)};\n"
        + "mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %z, %tid.z; mov.u32 %s, s; mov.b64 %d9, 0;\n"
        + inputs
        + "ld.param.u64 %d1, [q]; ld.global.u32 %f, [%d1];\n"
        + "mul.wide.u32 %d2, %x, 4; add.u64 %d1, %d1, %d2; ld.global.u32 %v, [%d1];\n"
        + "\n".join(Compiler(code).lines)
        + "\nret; }\n"
    )


def scanned(code: str, block: Block, *values: str) -> list[ScannedAccess]:
    module = read_module(compiled(code), "k.ptx")
    return scan_module(module, block, "k", "sm_90", Given(values), SMEM)


def ran(code: str, block: Block, numbers: dict[str, int], fill: str = "iota") -> list[Access]:
    """What the interpreter sees of each access."""
    values = [numbers.get(name, 0) for name in PARAMETERS]
    result = run_kernel(compiled(code), "k", block, (1,), SMEM, [*values, Buffer(4096, fill)])
    assert not result.error, result.error
    assert not result.violations
    return list(result.by_line().values())


@dataclass(frozen=True)
class Row:
    """A kernel, and the conflicts of each of its accesses: words beyond the first in one bank."""

    file: str
    code: str
    block: Block
    theirs: tuple[int, ...]
    """Faial's number. It is one sum, or a number for each access if Faial has several."""
    ours: tuple[int, ...] = ()
    """The conflicts of each access, if Faial's number is one sum or if ours differ."""
    why: str = ""
    """Why Faial's number and ours differ."""
    n: tuple[int, ...] = (0,)
    """Values of `n` for the interpreter. The scan gets a single one, too, if the code reads n."""

    @property
    def conflicts(self) -> tuple[int, ...]:
        return self.ours or self.theirs

    @property
    def reads(self) -> set[str]:
        """What the code reads but for coordinates."""
        return set(re.findall(r"\b(?:n|first)\b", self.code))

    @property
    def values(self) -> tuple[str, ...]:
        return (f"n={self.n[0]}",) if "n" in self.reads and len(self.n) == 1 else ()


LINE, SQUARE = (1024, 1, 1), (32, 32, 1)
STRIDES = {2: 1, 4: 3, 6: 1, 8: 7, 10: 1, 12: 3, 14: 1, 16: 15, 18: 1, 20: 3, 22: 1, 24: 7, 26: 1, 28: 3, 30: 1, 32: 31}
FIRST_WARP = "Faial evaluates the threads 0 to 31 alone; in other warps 32 lanes take the second branch, 4 to a bank"
ROWS = (
    *(Row(f"{stride}tid.cu", f"f32[{stride} * x]", LINE, (number,)) for stride, number in STRIDES.items()),
    Row("2tid.cu, all three", "f32[n * x]\nf32[2 * y]\nf32[2 * z]", LINE, (1,), (1, 0, 0), n=(2,)),
    Row("assume.cu", "f32[n * x]", LINE, (1,), n=(2,)),
    Row("tidx-tidy.cu 16x16", "f32[17 * x + y]", (16, 16, 1), (1,)),
    Row("tidx-tidy.cu 32x32", "f32[17 * x + y]", SQUARE, (0,)),
    Row("ifs-1.cu of one warp", "if x <= 16: f32[10 + 2 * x]\nelse: f32[4 * x]", (32, 1, 1), (1, 1)),
    Row("ifs-1.cu", "if x <= 16: f32[10 + 2 * x]\nelse: f32[4 * x]", LINE, (1, 1), (1, 3), FIRST_WARP),
    Row("ifs-2.cu", "if n < 4: f32[10 + 2 * x]\nelse: f32[4 * x]", LINE, (1, 3), n=(3, 4)),
    Row(
        "ifs-3.cu of the fork",
        "if x <= 16 and n < 4: f32[10 + 2 * x]\nelse: f32[4 * x]",
        (32, 1, 1),
        (1, 1),
        (1, 3),
        "with n >= 4 all 32 lanes take the second branch, 4 to a bank",
        n=(3, 4),
    ),
    Row(
        "ifs-4.cu of the fork",
        "if x <= 16 and first < 4: f32[10 + 2 * x]\nelse: f32[4 * x]",
        LINE,
        (1, 1),
        (1, 3),
        FIRST_WARP,
    ),
    Row(
        "rsh-unsigned-wrap.cu of the fork",
        "f32[16 * x]",
        LINE,
        (31,),
        (15,),
        "31 is the bound of any index; a comment in the test says that the true number is 15",
    ),
    # Faial's file lists these four with the words in the worst bank, one more than here, but does not run them.
    *(
        Row(f"{file}.cu {block[1]} rows", code, block, numbers)
        for block in ((32, 1, 1), SQUARE)
        for file, code, numbers in (
            ("setRowReadRow", "f32[32 * y + x]\nf32[32 * y + x]", (0, 0)),
            ("setColReadCol", "f32[32 * x + y]\nf32[32 * x + y]", (31, 31)),
            ("setRowReadCol", "f32[32 * y + x]\nf32[32 * x + y]", (0, 31)),
            ("setRowReadColPad", "f32[33 * y + x]\nf32[33 * x + y]", (0, 0)),
        )
    ),
    # These four are not in the list of tests. The numbers stand in comments of the examples.
    Row("2tid-racuda-1.cu", "f32[2 * y]", (1, 32, 1), (1,)),
    Row("2tid-racuda-2.cu", "f32[x + 2 * y]\nf32[x * y]", (1, 32, 1), (1,), (1, 0)),
    Row("2tid-racuda-3.cu", "f32[x + 2 * y]", (1, 32, 1), (1,)),
    Row(
        "types-1.cu",
        "s16[16 * x]\nf64[x]",
        LINE,
        (7, 1),
        (7, 0),
        "the comment counts the second wavefront of 32 different doubles, but 256 bytes need two",
    ),
)
"""Accesses without loops, but for an index whose factor is unknown."""


def held(row: Row) -> list[ScannedAccess]:
    """What the scan finds, after its comparison with the row."""
    found = scanned(row.code, row.block, *row.values)
    expected = [("conflict" if number else "free", number + 1, False) for number in row.conflicts]
    assert [(d.verdict.value, d.ways, d.at_least) for d in (each.decision for each in found)] == expected
    return found


def by_file(rows: tuple[Any, ...]) -> Any:
    return pytest.mark.parametrize("row", rows, ids=[row.file.replace(" ", "_") for row in rows])


@by_file(ROWS)
def test_the_scan_has_the_number(row: Row) -> None:
    held(row)


@by_file(ROWS)
def test_the_interpreter_has_the_number(row: Row) -> None:
    fills = ("iota", "u32") if "first" in row.reads else ("iota",)
    launches = [ran(row.code, row.block, {"n": n}, fill) for n in row.n for fill in fills]
    worst = [max(access.ways for access in accesses) for accesses in zip(*launches, strict=True)]
    assert worst == [number + 1 for number in row.conflicts]


@by_file(ROWS)
def test_a_number_that_differs_from_faials_has_a_reason(row: Row) -> None:
    same = row.ours == () or (len(row.theirs) == 1 and row.theirs[0] == sum(row.ours))
    assert same == (row.why == "")


@by_file(tuple(row for row in ROWS if not row.reads))
def test_prove_has_the_number_too(row: Row) -> None:
    """The claims that the scan writes, of all accesses; the prover shares no code with it."""
    text = scan_spec([ScannedFile("k.ptx", tuple(held(row)), {})], "sm_90")
    claims = parse_spec(text, path="k.swz.yaml").claims
    outcomes = [prove(each.claim, options=Options(rlimit=20_000_000)).outcome for each in claims]
    assert outcomes == [Outcome.PROVED] * len(outcomes)
    assert len(outcomes) >= len(set(row.code.splitlines()))


def test_an_unknown_factor_of_each_thread() -> None:
    """unkn-tid.cu: 31. The scan finds a conflict and gives no bound; with the factor 32 the 31 are reached."""
    (found,) = scanned("f32[data * x]", LINE)
    assert (found.decision.verdict.value, found.decision.at_least) == ("conflict", True)
    assert 1 <= (found.decision.ways or 0) - 1 <= 31
    (access,) = ran("f32[n * x]", LINE, {"n": 32})
    assert access.ways - 1 == 31


# ---- loops: sums over the trips


@dataclass(frozen=True)
class Loop:
    """A kernel with loops, and the sum over all trips of one warp."""

    file: str
    code: str
    theirs: str
    """Faial's number, or its formula of the parameters."""
    each: tuple[int, ...] = (1,)
    """The conflicts of each access in its worst trip."""
    numbers: tuple[tuple[int, ...], ...] = ((),)
    """Values of the parameters, in the order of PARAMETERS."""
    less: str = "0"
    """Faial's number minus the right one. Below 0, Faial's number is no upper bound."""
    why: str = ""
    """Why the two differ."""

    def value(self, formula: str, numbers: tuple[int, ...]) -> int:
        """A formula of the parameters."""
        return eval(formula, {"log2": log2, **dict(zip(PARAMETERS, numbers, strict=False))})  # noqa: S307


def log2(number: int) -> int:
    """The logarithm, rounded down."""
    return number.bit_length() - 1


SOME = ((1,), (2,), (7,), (40,))
DOUBLED = ((2,), (3,), (64,), (65,), (1025,))
OFF_BY_ONE = "Faial counts one trip too few: a counter that doubles from 1 to below n makes 1 + floor(log2(n - 1))"
PARTING = "lanes leave the loop at different trips; Faial takes all lanes for each trip that some lane makes"
BODY = "f32[2 * x]"


def loop(start: str, test: str, step: str, body: str = BODY) -> str:
    lines = body.replace("\n", "\n    ")
    return f"{start}\nwhile {test}:\n    {lines}\n    {step}"


def nested(start: str, test: str, step: str, first: str = "i < n", last: str = "i = i + 1") -> str:
    return loop("i = 0", first, last, loop(start, test, step))


LOOPS = (
    Loop("loops-1.cu", loop("i = 0", "i < n", "i = i + 1"), "n", numbers=SOME),
    Loop(
        "loops-1-step-plus.cu",
        loop("i = n", "i <= m", "i = i + a"),
        "(m - n) // a + 1",
        numbers=((2, 33, 5), (0, 0, 1), (3, 40, 40)),
    ),
    Loop(
        "loops-1-step-minus.cu",
        loop("i = m", "i >= n", "i = i - a"),
        "(m - n) // a + 1",
        numbers=((2, 33, 5), (0, 0, 1), (3, 40, 40)),
    ),
    Loop("loops-1-step-minus.cu, its own values", loop("i = 33", "i >= 2", "i = i - 5"), "7"),
    Loop(
        "loops-1-bitwise.cu",
        loop("i = 0", "i < (n << m)", "i = i + 1"),
        "n << m",
        numbers=((1, 0), (3, 2), (5, 4)),
    ),
    Loop("loops-1-minus.cu", loop("i = n", "i >= 0", "i = i - 1"), "n + 1", numbers=SOME),
    Loop(
        "loops-1-multiple.cu",
        loop("i = 0", "i < 1", "i = i + 1", "f32[2 * x]\nf32[4 * x]\nf32[8 * x]"),
        "11",
        each=(1, 3, 7),
    ),
    Loop("loops-1-div.cu", loop("i = 512", "i >= 1", "i = i // 2"), "9", less="-1", why=OFF_BY_ONE),
    Loop("loops-1-rsh.cu", loop("i = 512", "i >= 1", "i = i >> 1"), "9", less="-1", why=OFF_BY_ONE),
    Loop("loops-1-pow.cu", loop("i = 1", "i < 512", "i = i * 2"), "8", less="-1", why=OFF_BY_ONE),
    Loop("loops-1-pow-2.cu", loop("i = 1", "i < 1024", "i = i * 2"), "9", less="-1", why=OFF_BY_ONE),
    Loop(
        "loops-1-pow-unknown-bound.cu",
        loop("i = 1", "i < n", "i = i * 2"),
        "log2(n - 1)",
        numbers=DOUBLED,
        less="-1",
        why=OFF_BY_ONE,
    ),
    Loop(
        "loops-1-pow-unknown-bound.cu, its own value",
        loop("i = 1", "i < 1025", "i = i * 2"),
        "10",
        less="-1",
        why=OFF_BY_ONE,
    ),
    Loop(
        "loops-1-tid-lb.cu",
        loop("i = x", "i < 1024", "i = i + 1"),
        "1024",
        less="16",
        why=PARTING + "; the last 16 trips have no two lanes 16 apart",
    ),
    Loop(
        "loops-1-tid-ub.cu",
        loop("i = 0", "i < x", "i = i + 1"),
        "31",
        less="16",
        why=PARTING,
    ),
    Loop(
        "loops-1-tid-ub-var.cu",
        loop("i = 0", "i < x + n", "i = i + 1"),
        "31 + n",
        numbers=((0,), (1,), (9,)),
        less="16",
        why=PARTING,
    ),
    Loop("loops-nested-2.cu", nested("j = i", "j < n", "j = j + 1"), "n * (n + 1) // 2", numbers=SOME),
    Loop("loops-nested-2-ind.cu", nested("j = 0", "j < n", "j = j + 1"), "n * n", numbers=SOME),
    Loop(
        "loops-nested-2-pow.cu",
        nested("j = 1", "j < n", "j = j * 2"),
        "n * log2(n - 1)",
        numbers=((2,), (3,), (17,)),
        less="-n",
        why=OFF_BY_ONE,
    ),
    Loop(
        "loops-nested-2-ind-step.cu",
        nested("j = i", "j < m", "j = j + b", last="i = i + a"),
        "sum((m - 1 - i * a) // b + 1 for i in range((n - 1) // a + 1))",
        numbers=((1, 1, 1, 1), (5, 9, 2, 3), (12, 12, 5, 1)),
    ),
)
"""Accesses in loops, but for the two indices that a loop multiplies."""


@by_file(LOOPS)
def test_the_worst_trip_of_a_loop(row: Loop) -> None:
    """The scan decides every access, for all values of the parameters."""
    found = [each.decision for each in scanned(row.code, (32, 1, 1))]
    assert [(d.verdict.value, d.ways, d.at_least) for d in found] == [
        ("conflict", number + 1, False) for number in row.each
    ]


@by_file(LOOPS)
def test_the_sum_over_a_loop(row: Loop) -> None:
    """The interpreter counts: Faial's number, or another one with its reason."""
    assert (row.less == "0") == (row.why == "")
    for numbers in row.numbers:
        accesses = ran(row.code, (32, 1, 1), dict(zip(PARAMETERS, numbers, strict=False)))
        sum_of_all = sum(access.wavefronts - access.executions for access in accesses)
        assert [access.ways - 1 for access in accesses] == list(row.each)
        assert row.value(row.theirs, numbers) - sum_of_all == row.value(row.less, numbers)


def test_an_index_that_a_loop_multiplies() -> None:
    """loops-1-tid-var-1.cu: 310, 31 in each of 10 trips. No trip has more than one conflict."""
    code = loop("i = x", "i <= 9", "i = i + 1", "f32[i * x]")
    (found,) = scanned(code, LINE)
    assert (found.decision.verdict.value, found.decision.ways) == ("conflict", 2)
    (access,) = ran(code, LINE, {})
    assert (access.executions, access.wavefronts - access.executions, access.ways) == (10, 3, 2)


def test_an_index_that_a_loop_multiplies_up_to_the_thread() -> None:
    """loops-1-tid-var-2.cu: 31,744, 31 in each of 1,024 trips. Trip 32 has these 31, and trip 1 has none.

    The block has 64 threads: in one of 1,024 threads the index leaves shared memory.
    """
    code = loop("i = 0", "i <= x", "i = i + 1", "f32[i * x]")
    (found,) = scanned(code, (64, 1, 1))
    assert (found.decision.verdict.value, found.decision.ways) == ("conflict", 32)
    (access,) = ran(code, (64, 1, 1), {})
    assert access.ways == 32
    assert access.wavefronts - access.executions < 31 * access.executions


# ---- sectors of global memory, which `prove` judges


@dataclass(frozen=True)
class Sectors:
    """The number of 32-byte sectors that lanes of a warp touch with four bytes each."""

    file: str
    word: str
    """The index, in n and tid."""
    theirs: Callable[[int], int]
    when: str = "1"


SECTORS = (
    Sectors("ua-aligned-1.cu", "32*n + tid", lambda _: 4),
    Sectors("ua-aligned-4.cu", "32*n + tid", lambda _: 2, "tid < 16"),
    Sectors("ua-broadcast.cu", "n", lambda _: 1),
    Sectors("ua-unif-times-tid-1.cu", "n*tid", lambda n: min(4 * n, 32)),
    Sectors("ua-unif-times-tid-2.cu", "32*n*tid", lambda _: 32),
    Sectors("ua-unif-times-tid-3.cu", "n*tid", lambda n: min(4 * n, 16), "tid % 2"),
    Sectors("ua-unif-times-tid-4.cu", "(32*n + n)*tid", lambda n: min(32 + 4 * n, 16), "tid % 2"),
)
"""Numbers and formulas of one n."""
MOST = (
    Sectors("ua-aligned-2.cu", "n + tid", lambda _: 5),
    Sectors("ua-aligned-3.cu", "n + tid", lambda _: 5),
    Sectors("ua-aligned-5.cu", "n + tid", lambda _: 3, "tid < 16"),
)
"""Numbers for the worst n. In ua-aligned-3.cu, n is the y of a warp times a pitch."""


def counted(row: Sectors, n: int) -> int:
    """The sectors, by enumeration."""
    lanes = [tid for tid in range(32) if eval(row.when, {"tid": tid})]  # noqa: S307
    return len({eval(row.word, {"tid": tid, "n": n}) * 4 // 32 for tid in lanes})  # noqa: S307


def coalesced(row: Sectors, begin: int, end: int, most: int) -> str:
    """The prover's verdict, for n from `begin` to below `end`."""
    text = f"""
swzverify: 1
target: sm_90
accesses:
  go:
    instruction: st.global.b32
    threads: 32
    for: {{n: {{start: {begin}, stop: {end}}}}}
    if: {row.when}
    base: {{align: 256}}
    address: ({row.word})*4
claims:
  - coalesced: {{access: go, at_most: {most}}}
"""
    (claim,) = parse_spec(text, path="k.swz.yaml").claims
    return prove(claim.claim, options=Options(rlimit=20_000_000)).outcome.value


@pytest.mark.parametrize("n", range(10))
@by_file(SECTORS)
def test_the_sectors(row: Sectors, n: int) -> None:
    """At most as many as Faial's number, and not one less.

    With n = 0, all lanes of the four `ua-unif-times-tid` touch one word, and so one sector. Faial's
    formulas give 0 (twice), 32 and 16 there: the zeros are too small.
    """
    number = counted(row, n)
    assert number == (1 if n == 0 and "times" in row.file else row.theirs(n))
    assert coalesced(row, n, n + 1, number) == "proved"
    if number > 1:
        assert coalesced(row, n, n + 1, number - 1) == "refuted"


@by_file(MOST)
def test_the_most_sectors(row: Sectors) -> None:
    assert max(counted(row, n) for n in range(64)) == row.theirs(0)
    assert coalesced(row, 0, 64, row.theirs(0)) == "proved"
    assert coalesced(row, 0, 64, row.theirs(0) - 1) == "refuted"


# ---- planted mistakes: rows that find them


@pytest.fixture
def no_memory() -> Iterator[None]:
    """Costs that an unchanged scan computed, and those of a wrong one, are forgotten."""
    price.block_of.cache_clear()
    yield
    price.block_of.cache_clear()


def found_by(file: str) -> None:
    (row,) = [each for each in ROWS if each.file == file]
    held(row)
    pytest.fail(f"{file} does not find the mistake")


@pytest.mark.usefixtures("no_memory")
def test_the_rows_find_groups_of_half_a_warp(monkeypatch: pytest.MonkeyPatch) -> None:
    original: Any = decide.Question

    def wrong(row: Any, *rest: Any) -> Any:
        return original(replace(row, group_lanes=row.group_lanes // 2), *rest)

    monkeypatch.setattr(decide, "Question", wrong)
    with pytest.raises(AssertionError):
        found_by("32tid.cu")


@pytest.mark.usefixtures("no_memory")
def test_the_rows_find_a_guard_that_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    original = split.split

    def wrong(access: Any, address: Any) -> Any:
        return replace(original(access, address), own_guard=TRUE, sure=TRUE)

    monkeypatch.setattr(decide, "split", wrong)
    with pytest.raises(AssertionError):
        found_by("ifs-1.cu of one warp")
