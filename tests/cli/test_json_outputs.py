"""`--format json` on every command that prints a result: one document on standard output, of its schema."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from swzverify.apps.cli import COMMANDS, main
from swzverify.apps.commands import mcp_tools
from swzverify.gpu.calibration import save_calibration
from swzverify.report.crosscheck import CrossReport, render_cross_json
from tests.cli.test_mcp import PTX
from tests.gpu.test_cli import honest
from tests.scan.fill_programs import text as wgmma
from tests.scan.fragment_programs import right
from tests.scan.fragment_programs import text as mma
from tests.scan.test_box_fills import TWO
from tests.scan.texts import text_of

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"
SPEC = """\
swzverify: 1
constants: {P: 0}
tiles:
  T: {element: f32, layout: {shape: [32, 32], pad: P}}
accesses:
  read: {tile: T, instruction: ld.shared.b32, threads: 32, coord: [lane, 0]}
maps:
  order: {over: {bid: 16}, value: [bid/4, bid%4], onto: [4, 4]}
listings:
  rows: {target: sm_52, text: "FFMA R4, R67, R73, R4;"}
claims:
  - bijective: T
  - conflict_free: read
sweep:
  over: {P: [0, 1]}
"""
ARGUMENTS = {
    "calibrate": ["--from", "c.npz"],
    "diff": ["a.swz.yaml", "b.swz.yaml"],
    "explain": ["a.swz.yaml", "--access", "read"],
    "locality": ["a.swz.yaml"],
    "prove": ["a.swz.yaml"],
    "recheck": ["certificates", "--no-solver"],
    "scan": ["k.ptx"],
    "show": ["(8,8)"],
    "sweep": ["a.swz.yaml", "-j", "1"],
    "synth": ["a.swz.yaml"],
    "theorems": ["-k", "universal-mended", "-j", "1"],
}
WITHOUT = {
    "completions": "a shell reads it",
    "crosscheck": "it needs a GPU: its document is checked below",
    "explore": "a browser shows it",
    "init": "it writes a spec",
    "lsp": "it speaks a protocol",
    "mcp": "it speaks a protocol",
    "schema": "it is JSON",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.swz.yaml").write_text(SPEC, "utf-8")
    Path("b.swz.yaml").write_text(SPEC.replace("P: 0", "P: 1"), "utf-8")
    Path("k.ptx").write_text(PTX, "utf-8")
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def checked(text: str) -> dict[str, object]:
    """The one document of a text, which its schema describes."""
    document = json.loads(text)
    name, _, version = document["schema"].removeprefix("swzverify.").partition("/")
    schema = json.loads((SCHEMAS / f"{name}-{version}.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(document)
    assert schema["title"].startswith(f"{document['schema']}: ")
    return document


def test_every_command_is_here() -> None:
    assert set(COMMANDS) == {*ARGUMENTS, *WITHOUT}


@pytest.mark.parametrize("command", ARGUMENTS)
def test_standard_output_is_one_document(command: str, folder: Path) -> None:
    del folder
    if command == "recheck":
        assert run("prove", "b.swz.yaml", "-q", "--certificates", "certificates").exit_code == 1
    if command == "calibrate":
        save_calibration(Path("c.npz"), honest())
    result = run(command, *ARGUMENTS[command], "--format", "json")
    assert result.exit_code in (0, 1, 3), result.output
    checked(result.stdout)


@pytest.mark.parametrize(
    ("text", "options", "counts"),
    [
        (wgmma(TWO), [f"--tensor-map={each}" for each in TWO.maps], (2, 8)),
        (mma(right(random.Random(0))), ["--fragments"], (0, 4)),
        (text_of("cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r3], 16;"), ["--block=64"], (1, 0)),
    ],
    ids=["operands of wgmma", "fragments", "bulk copies"],
)
def test_entries_without_a_verdict_are_of_the_schema(
    text: str, options: list[str], counts: tuple[int, int], folder: Path
) -> None:
    (folder / "k.ptx").write_text(text, "utf-8")
    document = checked(run("scan", "k.ptx", *options, "--format", "json").stdout)
    rows = cast("list[dict[str, object]]", document["accesses"])
    without = ["operand" in each for each in rows if each["verdict"] is None]
    assert (without.count(False), without.count(True)) == counts


def test_the_documents_of_listings_crosschecks_and_costs(folder: Path) -> None:
    del folder
    listing = run("synth", "a.swz.yaml", "--family", "reuse", "--listing", "rows", "--format", "json")
    assert checked(listing.stdout)["listing"] == "rows"
    assert checked(render_cross_json(CrossReport((), None)))["claims"] == []
    assert checked(mcp_tools.cost("a.swz.yaml"))["spec"] == "a.swz.yaml"


def test_every_schema_is_of_a_document() -> None:
    reports = {"report-1", "report-line-1", "spec-1"}  # their tests are in tests/report and tests/editors
    files = {file.name.removesuffix(".schema.json") for file in SCHEMAS.glob("*.json")} - reports
    page = (SCHEMAS.parent / "ci.md").read_text("utf-8")
    assert [name for name in sorted(files) if f"schemas/{name}.schema.json" not in page] == []


@pytest.mark.parametrize(
    "wrong", [lambda each: each.pop("panels"), lambda each: each.update(schema="x"), lambda each: each.update(title=1)]
)
def test_a_schema_refuses_other_documents(wrong: Callable[[dict[str, object]], object]) -> None:
    schema = json.loads((SCHEMAS / "picture-1.schema.json").read_text("utf-8"))
    document = json.loads(run("show", "(8,8)", "--format", "json").stdout)
    wrong(document)
    assert not Draft202012Validator(schema).is_valid(document)
