"""Certificates of tiles by expression: rechecked from the expression, and not confirmed once it is
another one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from swzrecheck.recheck import Status
from swzverify.apps.cli import main
from tests.certificates.conftest import Folder
from tests.certificates.forger import forged

pytest.importorskip("bitwuzla")
SPEC = """\
swzverify: 1
constants: {C: 8}
tiles:
  A: {element: f32, shape: {row: 16, c: C}, offset: row*C + (c ^ row%8), stages: 2}
  B: {element: f32, layout: "(16,8):(8,1)", swizzle: "Swizzle<3,0,3>", stages: 2}
  P: {element: f32, shape: [16, 8], address: i*36 + j*4}
accesses:
  a: {tile: A, instruction: ld.shared.b32, threads: 128, coord: [tid/8, tid%8]}
  p: {tile: P, instruction: ld.shared.b32, threads: 32, for: {s: 4}, coord: [lane%16, lane/16 + 2*s]}
  o: {tile: P, instruction: ld.shared.b32, threads: 32, for: {s: any}, coord: [s, lane%8]}
maps:
  m: {over: {r: 16, q: 8}, value: [base + r*36 + q*4]}
claims:
  - bijective: A
  - injective: P
  - in_bounds: P
  - contiguous: {tile: P, elements: 1}
  - disjoint: A
  - equivalent: [A, B]
  - covers: {access: a}
  - conflict_free: a
  - wavefronts: {access: p, at_most: 2}
  - aligned: o
  - equivalent: [P, m]
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The certificates of this spec, of which each test gets a copy."""
    place = tmp_path_factory.mktemp("placings")
    (place / "small.swz.yaml").write_text(SPEC)
    arguments = ["prove", str(place / "small.swz.yaml"), "--certificates", str(place / "certs"), "-j", "1"]
    result = CliRunner().invoke(main, arguments)
    assert "SWZ607" not in result.output
    return place / "certs"


def test_every_claim_is_rechecked(folder: Folder) -> None:
    result = folder.recheck()
    assert result.exit_code == 0, result.output
    data = json.loads(folder.file("injective").read_text())
    [tile] = data["claim"]["tiles"]
    assert tile["placing"] == {
        "over": [["i", 16], ["j", 8]], "value": "i*36 + j*4", "counts": "bytes", "constants": {}
    }  # fmt: skip
    assert tile["modes"] == []


def placing(**fields: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        data["claim"]["tiles"][0]["placing"] |= fields

    return change


def tile(**fields: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        data["claim"]["tiles"][0] |= fields

    return change


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("injective", placing(value="i*36 + j*3")),
        ("injective", placing(value="i*20 + j*4")),
        ("injective", placing(over=[["i", 16], ["j", 10]])),
        ("injective", placing(value="i*36 + j*4 - 4")),
        ("injective", placing(value="i*36 + j*4 + 0/j")),
        ("injective", placing(value="i*36 + j*4 + 0*(1 << i*3)")),
        ("injective", placing(value="(i*36 + j*4)*2147483647")),
        ("injective", placing(value="base + i*36 + j*4")),
        ("injective", placing(value="i*36 + k*4")),
        ("injective", placing(constants={"K": 4})),
        ("injective", placing(over=[["i", 16], ["i", 8]])),
        ("injective", placing(over=[])),
        ("injective", placing(counts="words")),
        ("injective", tile(modes=[[[16, 9]], [[8, 1]]])),
        ("injective", tile(placing=None)),
        ("injective", tile(element_bits=12)),
        ("injective", tile(swizzle={"bits": 1, "base": 0, "shift": 1, "on": "offset"})),
        ("bijective", placing(constants={"C": 9})),
        ("bijective", placing(value="row*C + (c ^ row%8) + 1")),
        ("bijective", placing(counts="bytes")),
        ("disjoint", placing(value="row*C + (c ^ row%8) + 192*(row == 15)")),
        ("covers", placing(value="row*C + (c & 6)")),
        ("in_bounds", placing(value="i*36 + j*4 + 4")),
        ("contiguous", placing(value="i*36 + j*4 + 2")),
        ("aligned", placing(value="i*36 + j*2")),
        ("conflict_free", placing(value="row*32 + c")),
        ("wavefronts", placing(value="i*128 + j*4")),
    ],
)
def test_no_other_expression_is_confirmed(folder: Folder, kind: str, change: Callable[[dict[str, Any]], None]) -> None:
    assert forged(folder, kind, change).status is not Status.RECHECKED


@pytest.mark.parametrize("value", ["j*4 + 36*i", "i*36 + j*4 + 4", "i*40 + j*4", "i*4 + j*64"])
def test_another_true_expression_is_confirmed(folder: Folder, value: str) -> None:
    """The recheck judges what is stated, whatever proved it first."""
    assert forged(folder, "injective", placing(value=value)).status is Status.RECHECKED
