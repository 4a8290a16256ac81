"""Specs that the scan writes: the prover, which shares none of the scan's code, proves every claim."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from swzverify.apps.cli import main
from swzverify.claims.verdict import Outcome
from swzverify.compiled.ptx import read_module, read_module_file
from swzverify.compiled.scan import ScannedAccess
from swzverify.compiled.scan.stated import read_accesses, stated_at
from swzverify.compiled.scan.unwrapped import NotWrittenError, unwrapped
from swzverify.ir import c_formula
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import (
    BinaryOperator,
    Comparison,
    Expr,
    binary,
    compare,
    const,
    extend,
    extract,
    ite,
    var,
    variables,
)
from swzverify.prover import Options, prove
from swzverify.report.scan import ScannedFile
from swzverify.report.scan_spec import scan_spec
from swzverify.spec.load import parse_spec
from tests.kernel.programs import program
from tests.kernel.test_programs import SHAPES
from tests.kernel.test_truth import FOLDER, LAUNCHES, needs_truth, path_of
from tests.oracle import c_expr
from tests.scan.texts import strided, text_of
from tests.scan.whole import scan_module

WIDTHS = (1, 5, 8, 31, 32, 64)
NAMES = {f"{name}{width}": f"{name}{width}" for name in "abc" for width in WIDTHS}


def judged(found: list[ScannedAccess]) -> Counter[str]:
    """The verdicts of the claims of the spec that the scan writes."""
    text = scan_spec([ScannedFile("k.ptx", tuple(found), {})], "sm_90")
    return Counter(
        prove(claim.claim, options=Options(rlimit=20_000_000)).outcome.value
        for claim in parse_spec(text, path="k.swz.yaml").claims
    )


def scanned(body: str, shape: tuple[int, int, int] = (64, 1, 1)) -> list[ScannedAccess]:
    return scan_module(read_module(text_of(body), "k.ptx"), shape)


@pytest.mark.parametrize("factor", [4, 8, 12, 128, 132])
@pytest.mark.parametrize(
    "access",
    ["ld.shared.u32 %r30, [%r20];", "ld.shared.v4.u32 {%r30,%r31,%r32,%r33}, [%r20];", "st.shared.u8 [%r20], %h1;"],
)
def test_a_written_access_proves(factor: int, access: str) -> None:
    found = scanned(strided(factor if "v4" not in access else 4 * factor, access))
    assert judged(found) == {"proved": 1}


def test_a_claim_says_what_was_found_and_no_more() -> None:
    """With one wavefront less it is refuted."""
    text = scan_spec([ScannedFile("k.ptx", tuple(scanned(strided(16))), {})], "sm_90")
    assert "at_most: 4" in text
    (claim,) = parse_spec(text.replace("at_most: 4", "at_most: 3"), path="k.swz.yaml").claims
    assert prove(claim.claim).outcome is Outcome.REFUTED


def test_what_is_not_written_stands_there_with_its_reason() -> None:
    text = scan_spec(
        [ScannedFile("k.ptx", tuple(scanned("mul.lo.u32 %r4, %r1, %r2; ld.shared.u32 %r30, [%r4];")), {})], "x"
    )
    assert "not written: " in text
    assert "claims: []" in text


@pytest.mark.parametrize("seed", range(4))
def test_random_kernels(seed: int) -> None:
    found = scan_module(read_module(program(seed), "k.ptx"), SHAPES[seed % len(SHAPES)])
    assert set(judged(found)) <= {"proved", "unknown"}


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(4, 204, 10))
def test_many_random_kernels(start: int) -> None:
    for seed in range(start, start + 10):
        test_random_kernels(seed)


@needs_truth
@pytest.mark.parametrize("kernel", LAUNCHES, ids=[each["kernel"] for each in LAUNCHES])
def test_every_kernel_of_the_truth(kernel: Any) -> None:
    shape = tuple(json.loads((FOLDER / "launches.json").read_text()) and kernel["launches"][0]["block"])
    found = scan_module(read_module_file(str(path_of(kernel))), shape, kernel["mangled"])
    assert set(judged(found)) <= {"proved"}


def test_the_command_writes_a_spec_that_the_command_proves(tmp_path: Path) -> None:
    kernel, spec = tmp_path / "k.ptx", tmp_path / "k.swz.yaml"
    kernel.write_text(text_of(strided(4)))
    run = CliRunner().invoke(main, ["scan", str(kernel), "--block", "64", "--write-spec", str(spec)])
    assert run.exit_code == 0, run.output
    assert "1 of 1 accesses" in run.stderr
    assert CliRunner().invoke(main, ["prove", str(spec)]).exit_code == 0
    again = CliRunner().invoke(main, ["scan", str(kernel), "--block", "64", "--write-spec", str(spec)])
    assert again.exit_code == 0
    spec.write_text("swzverify: 1\n")
    refused = CliRunner().invoke(main, ["scan", str(kernel), "--block", "64", "--write-spec", str(spec)])
    assert (refused.exit_code, "was not written by --write-spec" in refused.stderr) == (2, True)


# ---- expressions as C text


def value_of(text: str, point: dict[str, int]) -> int:
    """The value of a text as the oracle reads it; an error where a number leaves its range."""
    return c_expr.evaluate(c_expr.parse(text), {name: [number] for name, number in point.items()}, 1)[0]


def drawn(draw: Any, width: int, depth: int) -> Expr:
    """A random expression of so many bits."""
    if not depth or draw.random() < 0.15:
        name = draw.choice("abc")
        if draw.random() < 0.4:
            return const(draw.choice((0, 1, 2, 3, 7, (1 << width) - 1, 1 << (width - 1))) % (1 << width), width)
        return extend(var(f"{name}{width}", min(1 << width, {"a": 5, "b": 32, "c": 1000}[name])), width, signed=False)
    kind = draw.random()
    if kind < 0.6:
        operator = draw.choice(list(BinaryOperator))
        right = drawn(draw, width, depth - 1)
        if operator in (BinaryOperator.SHL, BinaryOperator.LSHR, BinaryOperator.ASHR):
            right = const(draw.randrange(width), width)
        return binary(operator, drawn(draw, width, depth - 1), right)
    if kind < 0.7:
        wide = draw.choice([each for each in WIDTHS if each >= width])
        return extract(drawn(draw, wide, depth - 1), draw.randrange(wide - width + 1), width)
    if kind < 0.8 and width > 1:
        return extend(
            drawn(draw, draw.choice([each for each in WIDTHS if each <= width]), depth - 1),
            width,
            signed=draw.random() < 0.5,
        )
    one, two = drawn(draw, width, depth - 1), drawn(draw, width, depth - 1)
    condition = compare(draw.choice(list(Comparison)), one, two)
    return condition if width == 1 else ite(condition, one, two)


def test_random_expressions_mean_the_same_in_c() -> None:
    draw = random.Random(7)
    written = 0
    for _ in range(3000):
        root = drawn(draw, draw.choice(WIDTHS), 4)
        try:
            text = unwrapped(root, NAMES).text
        except NotWrittenError:
            continue
        for _ in range(6):
            point = {each.name: draw.randrange(each.limit) for each in variables(root)}
            assert value_of(text, point) == evaluate(root, point), text
        written += bool(variables(root))
    assert written > 500


@pytest.mark.parametrize(
    ("method", "wrong"),
    [("unsigned", lambda self: self), ("signed", lambda self: self), ("signed", lambda self: self.unsigned())],
    ids=["numbers that do not wrap", "signs that are not looked at", "numbers without a sign"],
)
def test_a_planted_mistake_is_found(method: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"swzverify.compiled.scan.unwrapped._Part.{method}", wrong)
    with pytest.raises(AssertionError):
        test_random_expressions_mean_the_same_in_c()


def test_a_guard_that_is_left_out_where_it_counts_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    body = "setp.lt.u32 %p1, %r1, 5; @%p1 ld.shared.u32 %r30, [%r20];"
    found = scanned(strided(128, body))
    assert judged(found) == {"proved": 1}
    monkeypatch.setattr("swzverify.compiled.scan.written._condition", lambda *_: "")
    assert judged(scanned(strided(128, body))) == {"refuted": 1}


@pytest.mark.parametrize(
    ("root", "said"),
    [
        (binary(BinaryOperator.MUL, var("x", 1 << 32), var("x", 1 << 32)), "range"),
        (var("y", 4), "it reads y"),
        (binary(BinaryOperator.SHL, var("x", 4), var("x", 4)), "a shift by a number"),
        (binary(BinaryOperator.UDIV, var("x", 4), var("x", 4)), "a divisor may be 0"),
        (binary(BinaryOperator.SDIV, var("x", 4), const(1, 2)), "a signed division"),
    ],
)
def test_what_a_spec_cannot_say_is_not_written(root: Expr, said: str) -> None:
    with pytest.raises(NotWrittenError, match=said):
        unwrapped(root, {"x": "x"})


_GUARDS = "".join(
    f"mul.lo.u32 %r10, %r1, {factor}; and.b32 %r10, %r10, 63; setp.eq.u32 %p1, %r10, {factor + 1}; @%p1 bra END;\n"
    for factor in (3, 7)
)


def test_conditions_that_are_too_long_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them is written, and all of them are more than a spec may have: that is a reason, and no error."""
    body = f"{_GUARDS}{strided(8)}\nEND:"
    assert scanned(body)[0].written.condition.count("&&") == 1
    monkeypatch.setattr(c_formula, "MAX_CHARACTERS", 40)
    assert scanned(body)[0].written.reason == "the condition is too long"
    module = read_module(text_of(body), "k.ptx")
    (access,) = read_accesses(module, module.functions[0], (64, 1, 1))
    with pytest.raises(NotWrittenError, match="the condition is too long"):
        stated_at([access], access.site.line, (64, 1, 1))
