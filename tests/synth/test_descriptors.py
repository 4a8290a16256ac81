"""`synth --family descriptor`: all descriptors that name an operand, against all that the oracle can try."""

import json
import random
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from click.testing import CliRunner

from swzverify.apps.cli import main
from swzverify.hardware.tensor_cores import Family
from swzverify.layout.tma import TmaMode
from swzverify.report.synth_operand import descriptor_bits
from swzverify.search.cures import descriptors as cures
from swzverify.search.synth import descriptors
from swzverify.search.synth.descriptors import FoundDescriptors, find_descriptors
from swzverify.spec import parse_spec
from swzverify.subjects import Descriptor, Operand
from tests.nightly import counts
from tests.oracle.operands import WIDTHS
from tests.oracle.operands import Operand as Rule

MOST = 2048
"""LBO and SBO up to which the oracle tries all."""


def spec(tile: dict[str, Any], start: str = "0", major: str = "K", k: int = 2, more: Any = None) -> dict[str, Any]:
    operand = {
        "instruction": "wgmma.m64n8k16.f16",
        "role": "B",
        "major": major,
        "for": {"k": k},
        "descriptor": {"start": start, "sbo": 128, "lbo": 128, "swizzle": "none"},
        "reads": {"tile": "T", "at": [0, "k*16"], **(more or {})},
    }
    whole = {"swzverify": 1, "target": "sm_90a", "tiles": {"T": tile}, "operands": {"B": operand}}
    return {**whole, "claims": [{"delivers": "B"}]}


def operand_of(whole: dict[str, Any]) -> Operand:
    return parse_spec(json.dumps(whole)).cases[0].operands["B"]


def random_tile(draw: random.Random) -> tuple[dict[str, Any], str]:
    """A tile of 8 x 32 elements of f16 at a fixed address, K-major or not, which often no descriptor names."""
    major = draw.choice(["K", "K", "MN"])
    mode = draw.choice(["none", "32B", "64B", "128B"])
    if draw.random() < 0.4 and major == "K":
        width = {"32B": 16, "64B": 32, "128B": 64}.get(mode, 8)
        layout = f"(8,({width},{max(1, 32 // width)})):({width},(1,{8 * width}))"
    elif major == "K":
        layout = f"(8,(8,4)):({draw.choice([8, 16, 32, 40, 64, 72])},(1,{draw.choice([64, 8, 16, 128])}))"
    else:
        layout = f"(8,32):(1,{draw.choice([8, 16, 32, 64, 9])})"
    bits = {"32B": 1, "64B": 2, "128B": 3}.get(mode)
    tile: dict[str, Any] = {"element": "f16", "layout": layout, "bytes": 8192, "base": {"align": 1024}}
    return tile if bits is None else tile | {"swizzle": swizzle(bits)}, major


def swizzle(bits: int) -> dict[str, Any]:
    return {"bits": bits, "base": 4, "shift": 3, "on": "address"}


def brute(operand: Operand) -> set[tuple[str, int, int]]:
    """Modes with LBO and SBO that read the right elements in both steps of K, as the oracle has it; base offset 0."""
    wanted: list[dict[tuple[int, int], int]] = []
    rows, columns = np.arange(8)[:, None], np.arange(16)[None, :]
    for step in range(2):
        point = {"k": np.asarray([[step]]), "element.mn": rows, "element.k": columns}
        found = np.broadcast_to(operand.wanted(point, np.asarray([[0]])), (8, 16))
        wanted.append({(r, k): int(found[r, k]) for r, k in product(range(8), range(16))})
    nothing: Any = None
    names: set[tuple[str, int, int]] = set()
    for mode, lbo, sbo in product(WIDTHS, range(0, MOST, 16), range(0, MOST, 16)):
        is_mn = operand.major.value == "MN"
        reads_lbo = is_mn or mode == "none"
        if (lbo and not reads_lbo) or (is_mn and mode != "none" and lbo) or (not is_mn and sbo):
            continue  # what eight rows do not reach
        if is_mn and mode == "none" and sbo:
            continue
        rule = Rule("B", 8, 16, 2, is_mn, WIDTHS[mode], lbo, sbo, 0, base=nothing, tile=nothing, k_first=False, runs=())
        good = True
        for of_step in wanted:
            # The swizzle is its own inverse: it reads bits that it does not change.
            start = rule_start(of_step[0, 0], WIDTHS[mode])
            good = start % 16 == 0 and all(rule.read_at(start, *each) == place for each, place in of_step.items())
            if not good:
                break
        if good:
            names.add((mode, lbo, sbo))
    return names


def rule_start(place: int, width: int) -> int:
    mask = {0: 0, 32: 1, 64: 3, 128: 7}[width]
    return place ^ ((place >> 7 & mask) << 4)


def found_names(found: FoundDescriptors) -> set[str]:
    return {str(each.operand.descriptor.swizzle) for each in found.answers if not each.operand.descriptor.base_offset}


def check_random(count: int) -> None:
    """What is found is what the oracle finds; that none is found is what it finds, too."""
    seen: set[bool] = set()
    for seed in range(count):
        tile, major = random_tile(random.Random(seed))
        operand = operand_of(spec(tile, major=major))
        found = find_descriptors(operand)
        expected = brute(operand)
        assert found_names(found) == {mode for mode, _, _ in expected}, (tile, major)
        for each in found.answers:
            fields = each.operand.descriptor
            is_free = fields.base_offset or not fields.reads_lbo(operand.major)
            assert is_free or (str(fields.swizzle), fields.lbo_bytes, fields.sbo_bytes) in expected, (tile, major)
        assert found.is_decided
        seen.add(bool(expected))
    assert seen == {True, False}


@pytest.mark.parametrize("count", counts(10, 100))
def test_all_descriptors_are_those_of_the_oracle(count: int) -> None:
    check_random(count)


def check_panels() -> None:
    """A start that jumps from panel to panel, in stages."""
    tile = {"element": "f16", "layout": "(8,(32,2)):(32,(1,256))", "swizzle": swizzle(2)}
    whole = spec(tile | {"stages": 3, "base": {"align": 1024}}, k=4, more={"stage": "s"})
    whole["operands"]["B"]["for"] = {"s": 3, "k": 4}
    found = find_descriptors(operand_of(whole))
    (answer,) = found.answers
    assert str(answer.operand.start) == "s*1024 + k%2*32 + k/2*512"
    assert [each.is_sure for each in found.refused] == [True] * 3


def test_starts_of_panels_are_expressions() -> None:
    check_panels()


def test_bits_are_those_of_the_manual() -> None:
    bits = descriptor_bits(Family.WGMMA, Descriptor(256, 512, TmaMode.B64, 5))
    assert bits == 16 << 16 | 32 << 32 | 5 << 49 | 2 << 62
    bits = descriptor_bits(Family.TCGEN05, Descriptor(256, 512, TmaMode.B32))
    assert bits == 16 << 16 | 32 << 32 | 1 << 46 | 6 << 61


def run(whole: dict[str, Any], tmp_path: Path, *words: str) -> Any:
    path = tmp_path / "a.swz.yaml"
    path.write_text(json.dumps(whole))
    return CliRunner().invoke(main, ["synth", str(path), *words])


def test_the_command(tmp_path: Path) -> None:
    tile = {"element": "f16", "layout": "(8,64):(64,1)", "swizzle": swizzle(3)}
    shown = run(spec(tile | {"base": {"align": 1024}}, k=4), tmp_path, "--family", "descriptor")
    lines = shown.output.splitlines()
    assert shown.exit_code == 0
    assert "  answer   {start: k*32, sbo: 0, swizzle: 128B}" in lines
    assert any(line.startswith("  ptx      ") for line in lines)
    assert any("no       swizzle none: element " in line for line in lines)
    gap = {"element": "f16", "layout": "(8,64):(68,1)", "base": {"align": 1024}}
    shown = run(spec(gap), tmp_path, "--family", "descriptor", "--operand", "B")
    assert (shown.exit_code, "no descriptor names it" in shown.output) == (1, True)
    for words in (
        ["--operand", "C", "--family", "descriptor"],
        ["--operand", "B"],
        ["--family", "descriptor", "--all"],
    ):
        assert run(spec(tile), tmp_path, *words).exit_code == 2


def test_planted_mistakes_are_found() -> None:
    right = cures.asked_for

    def exchanged(operand: Any, plain: Any) -> Any:
        for each in right(operand, plain):
            yield type(each)(each.sbo_bytes, each.lbo_bytes, each.swizzle, each.base_offset)

    def of_first_step(values: Any, steps: Any) -> int:
        return int(steps[1]) // int(values[1])

    with mock.patch.object(descriptors, "asked_for", exchanged), pytest.raises(AssertionError):
        check_random(10)
    with mock.patch.object(descriptors, "_factor", of_first_step), pytest.raises((AssertionError, ValueError)):
        check_panels()
