"""`compiled:` of an operand: what the code reads through its descriptors, against specs that state them."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from click.testing import CliRunner

from swzverify.apps.cli import main
from swzverify.claims import Delivers
from swzverify.claims.operand_points import OperandPoints
from swzverify.claims.verdict import Outcome
from swzverify.prover import prove
from swzverify.spec import Spec, SpecError, load_spec
from swzverify.subjects import Operand
from swzverify.subjects.operand import MN, K
from tests.nightly import share
from tests.scan.tensor_programs import Tensor
from tests.scan.test_operand_stages import STAGE_BYTES, Draft
from tests.scan.test_operands import F16, SUMS, high, make, text

builder: Any = import_module("swzverify.spec.build_compiled_operand")
reader: Any = import_module("swzverify.compiled.scan.stated_operand")

BITS = high(16, 1024, "128B")
"""A descriptor with the 128B swizzle, and 1024 bytes from 8 rows to the next 8."""
WGMMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16"
NAMES = ("A", "B")


def ring(
    bits: Sequence[int] = (BITS, BITS),
    stages: tuple[int, int] = (16384, 1024),
    steps: Sequence[int] = (0, 32, 64, 96),
    count: int = 3,
    group: int = 8192,
    flags: str = "0, 0",
    align: int = 1024,
) -> str:
    """Two of three warp groups multiply what is in a ring of stages: A is 128 x 64, B is 8 x 64.

    Each warp group has 64 rows of A. A begins at byte 0 of `smem`, B at byte 49152.
    """
    lines = [
        ".version 8.3",
        ".target sm_90a",
        ".address_size 64",
        f".shared .align {align} .b8 smem[90000];",
        ".entry k(.param .u32 n, .param .u32 m)",
        "{",
        ".reg .pred %p<5>; .reg .b32 %r<40>; .reg .f32 %f<5>; .reg .b64 %rd<40>;",
        "mov.u32 %r1, smem; mov.u32 %r2, %tid.x; shr.u32 %r3, %r2, 7; setp.eq.u32 %p1, %r3, 0;",
        f"@%p1 bra DONE; add.u32 %r3, %r3, -1; mul.lo.u32 %r3, %r3, {group};",
        "ld.param.u32 %r4, [n]; mov.u32 %r5, 0; mov.u32 %r6, 0;",
        "LOOP:",
        f"mad.lo.u32 %r7, %r5, {stages[0]}, %r1; add.u32 %r7, %r7, %r3;",
        f"mad.lo.u32 %r8, %r5, {stages[1]}, %r1; add.u32 %r8, %r8, 49152;",
    ]
    for step in steps:
        for register, of in ((1, 7), (2, 8)):
            lines += [f"add.u32 %r9, %r{of}, {step};", make(register, "%r9", bits[register - 1]).strip()]
        lines.append(f"{WGMMA} {{%f1, %f2, %f3, %f4}}, %rd1, %rd2, %p2, 1, 1, {flags};")
    lines += [
        f"add.u32 %r5, %r5, 1; setp.eq.u32 %p3, %r5, {count}; selp.b32 %r5, 0, %r5, %p3;",
        "add.u32 %r6, %r6, 1; setp.lt.u32 %p4, %r6, %r4; @%p4 bra LOOP;",
        "DONE: ret;",
        "}",
    ]
    return "\n".join(lines)


def lines_of(code: str, opcode: str = WGMMA) -> list[int]:
    return [at for at, line in enumerate(code.split("\n"), 1) if line.startswith(opcode)]


TILES = """swzverify: 1
target: sm_90a
memories: {smem: {bytes: 90000, align: 1024}}
tiles:
  sA: {element: bf16, tma: {swizzle: 128B, box: [128, 64]}, base: {in: smem}, stages: 3}
  sB: {element: bf16, tma: {swizzle: 128B, box: [8, 64]}, base: {in: smem, offset: 49152}, stages: 3}
operands:
"""
KEYS: dict[str, dict[str, str]] = {
    "A": {
        "for": "{s: 3, wg: 2, k: 4}",
        "compiled": "{file: k.ptx, line: LINES, over: k, stages: s, groups: wg}",
        "reads": "{tile: sA, at: [wg*64, k*16], stage: s}",
    },
    "B": {
        "for": "{s: 3, k: 4}",
        "compiled": "{file: k.ptx, line: LINES, over: k, stages: s}",
        "reads": "{tile: sB, at: [0, k*16], stage: s}",
    },
}
STATED = {
    "A": "{start: s*16384 + wg*8192 + k*32, sbo: 1024, swizzle: 128B, base: {in: smem}}",
    "B": "{start: 49152 + s*1024 + k*32, sbo: 1024, swizzle: 128B, base: {in: smem}}",
}


def spec_of(folder: Path, code: str, names: Sequence[str] = NAMES, claims: str = "standard", **changes: str) -> Path:
    """A spec of the ring's operands; `changes` are keys of each of them, empty for a key that is left out."""
    (folder / "k.ptx").write_text(code)
    body = TILES
    for name in names:
        own = {
            "instruction": "wgmma.m64n8k16.bf16",
            "role": name,
            "threads": "384",
            "base": "{in: smem}",
            **KEYS[name],
            **changes,
        }
        body += f"  {name}:\n" + "".join(f"    {key}: {value}\n" for key, value in own.items() if value)
    path = folder / "k.swz.yaml"
    path.write_text(
        body.replace("LINES", str(lines if len(lines := lines_of(code)) > 1 else lines[0])) + f"claims: {claims}\n"
    )
    return path


def outcomes(path: Path, *, only: Sequence[str] = ()) -> dict[str, str]:
    """The verdicts on operands, by the kind and the subjects."""
    found: dict[str, str] = {}
    for each in load_spec(path).claims:
        if isinstance(each.claim.subjects[0], Operand) and (not only or each.kind in only):
            found[f"{each.kind} {each.subject}"] = prove(each.claim).outcome.value
    return found


def operand_of(spec: Spec, name: str) -> Operand:
    return spec.cases[0].operands[name]


# ---- what the code computes


def test_operands_are_those_that_a_spec_states(tmp_path: Path) -> None:
    path = spec_of(tmp_path, ring())
    read = {name: operand_of(load_spec(path), name) for name in NAMES}
    assert set(outcomes(path).values()) == {"proved"}
    assert read["A"].start.text == "s*16384 + wg*8192 + k*32"
    text_of = path.read_text()
    for name in NAMES:
        (line,) = (each for each in text_of.split("\n") if "compiled:" in each and KEYS[name]["compiled"][-12:] in each)
        text_of = text_of.replace(line, f"    descriptor: {STATED[name]}")
    path.write_text(text_of.replace("    threads: 384\n", "").replace("    base: {in: smem}\n", ""))
    stated = load_spec(path)
    for name in NAMES:
        own = operand_of(stated, name)
        assert own.code is None
        assert own.descriptor == read[name].descriptor
        every = [range(loop.count or 0) for loop in own.loops]
        for point in product(*every):
            values = dict(zip((loop.name for loop in own.loops), point, strict=True))
            assert own.start.at(values) == read[name].start.at(values)


def test_steps_that_are_no_sum_of_multiples_are_listed(tmp_path: Path) -> None:
    code = ring(steps=(0, 64, 96, 32))
    path = spec_of(
        tmp_path, code, ["A"], reads='{tile: sA, at: [wg*64, "(k == 1 ? 2 : k == 2 ? 3 : k/3)*16"], stage: s}'
    )
    assert "?" in operand_of(load_spec(path), "A").start.text
    assert outcomes(path)["delivers A"] == "proved"
    assert outcomes(spec_of(tmp_path, code, ["A"]))["delivers A"] == "refuted"


def test_loops_have_any_values(tmp_path: Path) -> None:
    loops = "{s: [0, 2, 5], wg: {start: 3, stop: 5}, k: {start: 16, stop: 80, step: 16}}"
    reads = "{tile: sA, at: [(wg - 3)*64, k - 16], stage: s/2}"
    assert outcomes(spec_of(tmp_path, ring(), ["A"], reads=reads, **{"for": loops}))["delivers A"] == "proved"
    reads = "{tile: sA, at: [(wg - 3)*64, k - 16], stage: (s == 2) + (s == 5)*2}"
    assert outcomes(spec_of(tmp_path, ring(), ["A"], reads=reads, **{"for": loops}))["delivers A"] == "proved"


def test_lines_come_from_a_line_of_the_source(tmp_path: Path) -> None:
    code = ring().replace(".address_size 64", '.address_size 64\n.file 1 "k.cu"').replace(WGMMA, f".loc 1 7 3\n{WGMMA}")
    compiled = "{file: k.ptx, source: 7, over: k, stages: s}"
    assert outcomes(spec_of(tmp_path, code, ["B"], compiled=compiled))["delivers B"] == "proved"
    path = spec_of(tmp_path, code, ["B"], compiled=compiled.replace("7", "8"))
    assert "no wgmma.m64n8k16.bf16 with operand B in shared memory from line 8" in problem(path)


def test_other_claims_and_commands(tmp_path: Path) -> None:
    path = spec_of(tmp_path, ring(), claims="[disjoint: A, disjoint: [A, B], delivers: [A, B], standard]")
    assert set(outcomes(path).values()) == {"proved"}
    (claim, *_) = load_spec(path).claims
    lines = lines_of(ring())
    assert f"as lines {lines[0]}, {lines[1]}, {lines[2]} and {lines[3]} of k.ptx compute" in claim.claim.scope()
    assert claim.notes == (
        f"A is read from k.ptx, lines {', '.join(map(str, lines))}",
        "assumed of the code: shared arrays lie below byte 233472 of the shared window",
    )
    assert claim.code[0].places == (1, 2, 3, 4)
    shown = CliRunner().invoke(main, ["show", str(path), "--operand", "A", "--rows", "0:8"])
    assert "Each element is read where the tile has it." in shown.output
    found = CliRunner().invoke(main, ["synth", str(path), "--family", "descriptor", "--operand", "A"])
    assert (found.exit_code, "s*16384 + wg*8192 + k*32" in found.output) == (0, True)


def test_a_rounded_array_begins_where_it_is_rounded_to(tmp_path: Path) -> None:
    up = "mov.u32 %r1, smem; add.u32 %r1, %r1, 1023; and.b32 %r1, %r1, -1024;"
    code = ring(align=16).replace("mov.u32 %r1, smem;", up)
    assert outcomes(spec_of(tmp_path, code))["delivers A"] == "proved"
    assert "smem is at a multiple of 16 only, and `base` says 1024" in problem(spec_of(tmp_path, ring(align=16)))
    assert "1000 is none" in problem(spec_of(tmp_path, code, base="1000"))


def test_the_memory_says_the_size_of_dynamic_memory(tmp_path: Path) -> None:
    """A step of a K tile is added to the whole descriptor: without a size it might carry into other fields."""
    code = ring(steps=(0,)).replace(".shared .align 1024 .b8 smem[90000]", ".extern .shared .align 1024 .b8 smem[]")
    code = code.replace(f"{WGMMA} ", f"add.s64 %rd1, %rd1, 2048;\n{WGMMA} ")
    own = {"for": "{s: 3, wg: 2}", "compiled": "{file: k.ptx, line: LINES, stages: s, groups: wg}"}
    reads = "{tile: sA, at: [wg*64, 0], stage: s}"
    path = spec_of(tmp_path, code.replace(".b32 %r1, smem", "%r1, smem"), ["A"], reads=reads, **own)
    assert outcomes(path)["delivers A"] == "refuted"
    assert "size of smem" in problem(spec_of(tmp_path, code, ["A"], reads=reads, base="{align: 1024}", **own))


# ---- planted mistakes of the kernel


def changed(**fields: Any) -> Sequence[int]:
    return (high(**{"lbo": 16, "sbo": 1024, "mode": "128B", **fields}), BITS)


LAST_OUTSIDE = ("in_bounds A", "delivers A", "in_bounds B", "delivers B")


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        (ring(changed(sbo=512)), {"delivers A": "refuted"}),
        (ring(changed(mode="64B")), {"delivers A": "refuted"}),
        (ring(changed(base_offset=1)), {"delivers A": "refuted"}),
        (ring(changed(lbo=4096)), {}),
        (ring(steps=(0, 16, 32, 48)), {"delivers A": "refuted", "delivers B": "refuted"}),
        (ring(steps=(32, 64, 96, 128)), dict.fromkeys(LAST_OUTSIDE, "refuted")),
        (ring(stages=(8192, 1024)), {"delivers A": "unknown", "in_bounds A": "unknown"}),
        (ring(stages=(16384, 2048)), {"delivers B": "unknown", "in_bounds B": "unknown"}),
        (ring(group=4096), {"delivers A": "refuted"}),
    ],
    ids=["sbo", "mode", "base-offset", "lbo-not-read", "step-16", "step-from-1", "stages-A", "stages-B", "group"],
)
def test_mistakes_in_the_kernel_are_found(code: str, wrong: dict[str, str], tmp_path: Path) -> None:
    found = outcomes(spec_of(tmp_path, code))
    assert {key: value for key, value in found.items() if value != "proved"} == wrong
    assert found.keys() == {f"{kind} {name}" for kind, name in product(("aligned", "in_bounds", "delivers"), NAMES)}


def test_a_cure_is_told_and_not_written(tmp_path: Path) -> None:
    path = spec_of(tmp_path, ring(changed(sbo=512)), ["A"], claims="[delivers: A]")
    before = path.read_text()
    found = CliRunner().invoke(main, ["prove", str(path), "--fix"])
    assert "sbo 1024: delivers is proved" in found.output
    assert path.read_text() == before


# ---- start addresses that may never occur

MAYBE = (
    "ld.param.u32 %r20, [n]; setp.lt.u32 %p1, %r20, 5; setp.gt.u32 %p2, %r20, 7; and.pred %p3, %p1, %p2;"
    "selp.b32 %r21, 2048, 0, %p1; selp.b32 %r22, 4096, 0, %p2; selp.b32 %r23, MORE, 0, %p3;"
    "add.u32 %r21, %r21, %r22; add.u32 %r21, %r21, %r23; add.u32 %r21, %r21, %r1;"
)


def maybe(more: int, first: int = 0) -> str:
    """A starts at 0, 2048, 4096 or, in no launch, at 6144 plus `more`: no number is below 5 and above 7."""
    body = MAYBE.replace("MORE", str(more)) + f"add.u32 %r21, %r21, {first};\n"
    body += make(1, "%r21", high(sbo=256, mode="32B")) + make(2, "%r1", high())
    return text(body + f"{F16} {SUMS}, %rd1, %rd2, 1, 1, 1, 0, 0;", params=".param .u32 n")


def maybe_spec(
    folder: Path, code: str, count: int = 4, claims: str = "[delivers: A, in_bounds: A, disjoint: A]"
) -> Path:
    (folder / "k.ptx").write_text(code)
    line = lines_of(code, F16)[0]
    path = folder / "k.swz.yaml"
    path.write_text(
        f"""swzverify: 1
target: sm_90a
tiles: {{T: {{element: f16, tma: {{swizzle: 32B, box: [64, 16]}}, base: {{align: 1024}}, stages: {count}}}}}
operands:
  A:
    instruction: wgmma.m64n8k16.f16
    role: A
    for: {{s: {count}}}
    threads: 128
    compiled: {{file: k.ptx, line: {line}, stages: s}}
    reads: {{tile: T, at: [0, 0], stage: s}}
claims: {claims}
"""
    )
    return path


def check_maybe(folder: Path) -> None:
    """What no launch does refutes nothing; what every start address breaks is refuted."""
    wanted = {
        (0, 0): ("proved", "proved", "proved"),
        (1024, 0): ("unknown", "unknown", "proved"),
        (-1024, 0): ("unknown", "unknown", "unknown"),
        (0, 16): ("refuted", "refuted", "proved"),
    }
    for (more, first), verdicts in wanted.items():
        found = outcomes(maybe_spec(folder, maybe(more, first)))
        assert tuple(found.values()) == verdicts, (more, first)


def test_a_start_that_no_launch_has_refutes_nothing(tmp_path: Path) -> None:
    check_maybe(tmp_path)


def test_the_reason_names_the_start_that_may_not_occur(tmp_path: Path) -> None:
    (claim, *_) = load_spec(maybe_spec(tmp_path, maybe(1024))).claims
    reason = prove(claim.claim).reason
    assert reason.startswith(
        "for s = 3 the code starts 7168 bytes from its base: element (0, 0) lies at 6144 and is read"
    )
    assert reason.endswith("for s = 0, 0 bytes from the base, the claim holds")


def draft_check(seeds: Sequence[int], folder: Path) -> int:
    """Verdicts on random rings are those of the start addresses that occur when the loops run in plain Python."""
    told, refused = 0, set[str]()
    for seed in seeds:
        draft, draw = Draft(seed), random.Random(seed)
        code = draft.ptx
        really: tuple[set[int], set[int]] = set(), set()
        for n, m, f in product((1, 2, 3, 9), (0, 1, 2, 3, 9), range(8)):
            for mine, more in zip(really, draft.starts(n, m, f), strict=True):
                mine.update(more)
        position = code.index(F16)
        code = code[:position] + "\n" + code[position:]
        for count in (1, 2, 3, 4, 5, 7, 8):
            path = maybe_spec(folder, code, count, "[delivers: A]")
            if draw.random() < 0.4:
                path.write_text(
                    path.read_text().replace(f"stages: {count}}}", f"stages: {{count: {count}, pitch: 3072}}}}")
                )
            try:
                spec = load_spec(path)
            except SpecError as error:
                refused |= {each.code for each in error.problems}
                continue
            told += 1
            operand = operand_of(spec, "A")
            points = OperandPoints(operand)
            right = {
                operand.start.at(operand.binding({"s": at})) // STAGE_BYTES: is_right(points, at) for at in range(count)
            }
            assert really[0] <= right.keys(), seed
            outcome = prove(Delivers(operand)).outcome
            if really[0] and outcome is Outcome.PROVED:
                assert all(right[each] for each in really[0]), seed
            if really[0] and outcome is Outcome.REFUTED:
                assert not all(right[each] for each in really[0]), seed
    assert refused <= {"SWZ553", "SWZ410"}
    return told


def is_right(points: OperandPoints, turn: int) -> bool:
    arrays = {"s": np.asarray([turn]), MN: np.arange(64)[:, None], K: np.arange(16)[None, :]}
    base = np.zeros(1, dtype=np.int64)
    return bool((points.operand.reads(arrays, base) == points.wanted(arrays, base)).all())


@pytest.mark.parametrize("seed", share(range(0, 200, 8), 8))
def test_random_rings(seed: int, tmp_path: Path) -> None:
    draft_check(range(seed, seed + 8), tmp_path)


def test_some_random_rings_are_read(tmp_path: Path) -> None:
    assert draft_check(range(16), tmp_path) > 3


# ---- specs that do not fit the code


def problem(path: Path) -> str:
    with pytest.raises(SpecError) as caught:
        load_spec(path)
    return f"{caught.value.problems[0].code} {caught.value.problems[0].message}"


COMPILED = KEYS["A"]["compiled"]


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"compiled": COMPILED.replace("LINES", "3").replace(", over: k", "")}, "SWZ105 .*loop 'k'"),
        ({"compiled": COMPILED.replace("LINES", "[1, 2, 3, 4]")}, "SWZ553 line 1 of kernel k: no wgmma"),
        ({"instruction": "wgmma.m64n16k16.bf16"}, "SWZ553 .* has wgmma.m64n8k16.bf16, not wgmma.m64n16k16.bf16"),
        ({"instruction": "wgmma.m64n8k16.f16"}, "SWZ553"),
        ({"major": "MN"}, "SWZ553 .*operand A is K-major there"),
        ({"for": "{s: 2, wg: 2, k: 4}"}, "SWZ553 .*may start at 3 offsets.*'s' has 2 values"),
        ({"for": "{s: 4, wg: 2, k: 4}"}, "SWZ553 .*may start at 3 offsets.*'s' has 4 values"),
        ({"for": "{s: 3, wg: 3, k: 4}"}, r"SWZ553 .*runs in warp groups \[1, 2\], and 'wg' has 3 values"),
        ({"for": "{s: 3, wg: 2, k: 3}"}, "SWZ105 4 lines, but the loop 'k' has 3"),
        ({"for": "{s: 3, wg: 2, k: 4, x: 2}"}, "SWZ105 nothing in the code stands for the loop 'x'"),
        ({"compiled": COMPILED.replace(", groups: wg", "")}, "SWZ105 nothing in the code stands for the loop 'wg'"),
        ({"compiled": COMPILED.replace("stages: s", "stages: t")}, "SWZ105 no loop 't'"),
        ({"compiled": COMPILED.replace("stages: s", "stages: k")}, "SWZ105 .*name one loop twice"),
        ({"compiled": COMPILED.replace("file: k", "kernel: other, file: k")}, "SWZ553 .*no kernel 'other'"),
        ({"compiled": COMPILED.replace("over", "array: other, over")}, "SWZ553 .*begins with smem, not other"),
        ({"compiled": COMPILED.replace("LINES", "[17, 17, 18, 19]")}, "SWZ105 line 17 stands there twice"),
        ({"base": "{align: 2048}"}, "SWZ553 smem is at a multiple of 1024 only, and `base` says 2048"),
        ({"base": "512"}, "SWZ553 .*and 512 is none"),
        ({"threads": ""}, "SWZ104 the key 'threads' is missing"),
        ({"block": "[384]"}, "SWZ105 .*`threads` or `block`"),
        ({"threads": "256"}, r"SWZ553 .*runs in warp groups \[1\]"),
        ({"threads": "128"}, "SWZ553 .*no lane makes this access"),
        ({"descriptor": STATED["A"]}, "SWZ105 an operand has `descriptor` or `compiled`, not both"),
        ({"compiled": ""}, "SWZ104 the key 'descriptor' is missing"),
        ({"compiled": "", "descriptor": STATED["A"]}, "SWZ105 `threads` goes with `compiled`"),
    ],
)
def test_specs_that_do_not_fit_are_refused(changes: dict[str, str], wanted: str, tmp_path: Path) -> None:

    found = problem(spec_of(tmp_path, ring(), ["A"], **changes))
    assert re.match(wanted, found), found


def _with_parameter() -> str:
    """A starts 16 bytes further for each one of the parameter."""
    step = "mul.lo.u32 %r3, %r3, 8192;"
    return ring().replace(step, f"{step} ld.param.u32 %r31, [m]; mad.lo.u32 %r3, %r31, 16, %r3;")


@pytest.mark.parametrize(("value", "wanted"), [(0, "proved"), (1, "refuted")])
def test_a_parameter_with_a_value(value: int, wanted: str, tmp_path: Path) -> None:
    compiled = COMPILED.replace("over", f"parameters: {{m: {value}}}, over")
    path = spec_of(tmp_path, _with_parameter(), ["A"], compiled=compiled)
    assert outcomes(path, only=["delivers"]) == {"delivers A": wanted}


@pytest.mark.parametrize(
    ("name", "hint"),
    [("param2", "param0 to param1"), ("param_1", "param0 to param1"), ("M", "param0 to param1")],
)
def test_names_that_are_no_parameter_are_refused(name: str, hint: str, tmp_path: Path) -> None:
    compiled = COMPILED.replace("over", f"parameters: {{m: 0, {name}: 1}}, over")
    with pytest.raises(SpecError) as caught:
        load_spec(spec_of(tmp_path, _with_parameter(), ["A"], compiled=compiled))
    (only,) = caught.value.problems
    assert (only.code, only.message) == ("SWZ551", f"kernel k has no parameter '{name}'")
    assert hint in only.hint


def test_a_misspelt_parameter_has_a_suggestion(tmp_path: Path) -> None:
    code = _with_parameter().replace("u32 m)", "u32 k_strideA)").replace("[m]", "[k_strideA]")
    for name in ("strideA", "k_strideA"):
        compiled = COMPILED.replace("over", f"parameters: {{{name}: 0}}, over")
        assert outcomes(spec_of(tmp_path, code, ["A"], compiled=compiled), only=["delivers"]) == {
            "delivers A": "proved"
        }
    compiled = COMPILED.replace("over", "parameters: {strideB: 0, stride: 0}, over")
    with pytest.raises(SpecError) as caught:
        load_spec(spec_of(tmp_path, code, ["A"], compiled=compiled))
    assert [each.code for each in caught.value.problems] == ["SWZ551", "SWZ551"]
    assert all("did you mean 'strideA'?" in each.hint for each in caught.value.problems)


def test_code_that_is_not_known_is_refused(tmp_path: Path) -> None:
    unknown = {
        "SWZ553 .*SBO is no known number": ring().replace(f", {BITS};", ", %rd20;"),
        "may not be 0": ring((BITS | 1 << 46, BITS)),
        "start address is not known": ring().replace("mov.u32 %r5, 0;", "ld.shared.u32 %r5, [%r1];"),
        "different fields": ring().replace(str(BITS), str(high(sbo=512)), 1),
        "is in registers": ring().replace("}, %rd1,", "}, {%r1, %r2, %r3, %r4},").replace("1, 1, 0, 0", "1, 1, 0"),
        "can be many numbers": _with_parameter(),
        "line .* of kernel k": ring().replace("selp.b32 %r5, 0, %r5, %p3;", ""),
    }

    for wanted, code in unknown.items():
        found = problem(spec_of(tmp_path, code, ["A"]))
        assert re.search(wanted, found), found
        assert found.startswith("SWZ553")


def test_warp_groups_of_which_none_is_said(tmp_path: Path) -> None:
    own = {"for": "{s: 3, k: 4}", "compiled": COMPILED.replace(", groups: wg", "")}
    path = spec_of(tmp_path, ring(), ["A"], reads="{tile: sA, at: [0, k*16], stage: s}", **own)
    assert "the start address is not the same in all warp groups" in problem(path)


def test_a_phase_refuses_stages_of_code(tmp_path: Path) -> None:
    path = spec_of(tmp_path, ring(), ["B"], claims="[race_free: main]")
    phase = "phases:\n  main:\n    threads: 384\n    for: {i: any}\n    barriers: {full: {stages: 3, arrivals: 1}}\n"
    phase += "    roles:\n      use:\n        threads: tid >= 128\n        steps:\n"
    phase += "          - {wait: full, stage: i%3, phase: i/3%2}\n          - {wgmma: B, at: {s: i%3}}\n"
    path.write_text(path.read_text().replace("claims:", phase + "claims:"))
    assert "SWZ206 operand B is read from compiled code" in problem(path)


# ---- mistakes that these tests notice


def doubts_nothing() -> AbstractContextManager[Any]:
    return mock.patch.object(OperandPoints, "doubt", return_value="")


def reversed_offsets() -> AbstractContextManager[Any]:
    right = reader._offsets

    def wrong(*arguments: Any) -> Any:
        return {group: numbers[::-1] for group, numbers in right(*arguments).items()}

    return mock.patch.object(reader, "_offsets", wrong)


def one_offset_less() -> AbstractContextManager[Any]:
    right = reader._offsets

    def wrong(*arguments: Any) -> Any:
        return {group: numbers[:-1] for group, numbers in right(*arguments).items()}

    return mock.patch.object(reader, "_offsets", wrong)


@pytest.mark.parametrize("plant", [doubts_nothing, reversed_offsets, one_offset_less])
def test_planted_mistakes_are_noticed(plant: Any, tmp_path: Path) -> None:
    builder._operands.cache_clear()
    with plant(), pytest.raises((AssertionError, SpecError)):
        check_maybe(tmp_path)
    builder._operands.cache_clear()


@pytest.mark.parametrize("at", ["line: LINE", "source: 7"])
@pytest.mark.parametrize(
    ("name", "target"), [("wgmma.m64n64k16.bf16", "sm_90a"), ("tcgen05.mma.m128n64k16.bf16", "sm_100a")]
)
def test_operands_of_blackwell_are_not_read_from_code(name: str, target: str, at: str, tmp_path: Path) -> None:
    """A value of the kernel says the shape of `tcgen05.mma`: the instruction in the code has none."""
    code = Tensor().text.replace(".address_size 64", '.address_size 64\n.file 1 "k.cu"')
    code = code.replace("tcgen05.mma", ".loc 1 7 3\ntcgen05.mma")
    line = lines_of(code, "tcgen05.mma")[0]
    own = {"instruction": name, "threads": "128", "for": "", "reads": "{tile: sA, at: [0, 0], stage: 0}"}
    path = spec_of(tmp_path, ring(), ["A"], compiled=f"{{file: k.ptx, {at.replace('LINE', str(line))}}}", **own)
    path.write_text(path.read_text().replace("sm_90a", target))
    (tmp_path / "k.ptx").write_text(code)
    assert problem(path).startswith("SWZ553 ")
