"""Certificates of accesses in loops over listed values: rechecked from the values themselves, and
not confirmed once a value is another one.
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
tiles: {A: {element: f32, layout: "(8,32):(32,1)"}}
accesses:
  a: {instruction: ld.shared.b32, threads: 64, for: {s: [1, 3, 9, 33]}, address: tid*s*4, bytes: 8320}
  b: {instruction: ld.shared.b32, threads: 64, for: {s: [33, 9, 3, 1]}, address: s*4*tid}
  d: {tile: A, instruction: st.shared.b32, threads: 32, for: {r: [0, 1, 2, 3, 4, 5, 7, 14]}, coord: [r % 8, lane]}
claims:
  - aligned: a
  - in_bounds: a
  - conflict_free: a
  - equivalent: [a, b]
  - covers: {access: d}
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The certificates of this spec, of which each test gets a copy."""
    place = tmp_path_factory.mktemp("listed_loops")
    (place / "small.swz.yaml").write_text(SPEC)
    arguments = ["prove", str(place / "small.swz.yaml"), "--certificates", str(place / "certs"), "-j", "1"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return place / "certs"


def test_every_claim_is_rechecked(folder: Folder) -> None:
    statements = [folder.judged(kind, "bitwuzla") for kind in ("aligned", "in_bounds", "conflict_free", "covers")]
    assert {one.status for one in statements} == {Status.RECHECKED}
    data = json.loads(folder.file("aligned").read_text())
    assert data["claim"]["accesses"][0]["loops"] == [{"name": "s", "values": [1, 3, 9, 33]}]
    assert folder.recheck().exit_code == 0


def values(*found: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        data["claim"]["accesses"][0]["loops"][0]["values"] = list(found)

    return change


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("conflict_free", (1, 3, 9, 32)),
        ("conflict_free", (1, 2, 9, 33)),
        ("in_bounds", (1, 3, 9, 34)),
        ("equivalent", (1, 3, 9)),
        ("equivalent", (1, 3, 9, 35)),
        ("covers", (0, 1, 2, 3, 4, 5, 7, 15)),
        ("covers", (0, 1, 2, 3, 4, 5, 7)),
        ("aligned", (33, 1, 3, 9)),
        ("aligned", (1, 1, 3, 9)),
        ("aligned", (1,)),
        ("aligned", ()),
        ("aligned", (1, "3")),
        ("aligned", (1, True, 3)),
        ("aligned", (1, 2.5, 3)),
        ("aligned", (1, 3, 2**32)),
        ("aligned", (1, 3, None)),
    ],
)
def test_no_other_values_are_confirmed(folder: Folder, kind: str, found: tuple[object, ...]) -> None:
    assert forged(folder, kind, values(*found)).status is not Status.RECHECKED


def test_a_loop_has_one_form(folder: Folder) -> None:
    def both(data: dict[str, Any]) -> None:
        data["claim"]["accesses"][0]["loops"][0]["stop"] = 4

    assert forged(folder, "aligned", both).status is not Status.RECHECKED
