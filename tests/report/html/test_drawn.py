"""What the pages of real runs draw: the library's pictures say what `access_cost` says, and the page
of the whole library stays small.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from swzverify.apps.cli import main
from swzverify.apps.options.prove import Settings
from swzverify.apps.run.run import run_specs
from swzverify.claims.cost_claim import CostClaim
from swzverify.explain.pictures import Picture
from swzverify.hardware import BANK_WORD_BYTES, BANKS, AccessCost, Instruction, access_cost
from swzverify.report.html.page import render_html
from swzverify.report.matrix import matrix
from swzverify.report.result import ClaimResult, Report
from swzverify.spec import load_spec
from tests.report.html.reading import Element, read
from tests.report.html.test_page import harmless
from tests.scan.texts import SKEWED, strided, text_of

ROOT = Path(__file__).parents[3]
MOST_BYTES = 2_000_000


@pytest.mark.parametrize(
    ("part", "claims", "tables", "pictures"),
    [(slice(5, None, 8), 80, 1, 4), pytest.param(slice(None), 900, 3, 50, marks=pytest.mark.nightly)],
)
def test_the_page_of_the_library_is_small_and_safe_and_its_pictures_are_right(
    part: slice, claims: int, tables: int, pictures: int
) -> None:
    """One test, since each process of the tests would prove the library for its own one."""
    files = sorted(str(path) for path in (ROOT / "specs").rglob("*.swz.yaml"))
    report = run_specs(files[part], Settings(jobs=1, pictures=True))
    assert len(report.results) > claims
    is_small_and_safe(report, tables)
    has_the_case_of_the_table_beside_each_picture(report, pictures)


def is_small_and_safe(report: Report, least: int) -> None:
    text = render_html(report)
    assert len(text.encode("utf-8")) < MOST_BYTES
    page = read(text)
    harmless(page)
    assert "left out" not in page.text
    claims = page.find("details", "claim")
    assert sum(int(each.attributes.get("data-count", "1")) for each in claims) == len(report.results)
    tables = [found for found in grouped(report).values() if matrix(found, least=1) is not None]
    assert len(page.find("table", "costs")) == len(tables) >= least


def by_bank(instruction: Instruction, cost: AccessCost, addresses: list[int | None]) -> dict[int, int]:
    """How many words of each bank the worst group needs, counted by this test."""
    worst = max(cost.groups, key=lambda group: group.wavefronts)
    words: dict[int, list[tuple[int, int]]] = {}
    for lane in worst.lanes:
        address = addresses[lane]
        assert address is not None
        for word in range(address // BANK_WORD_BYTES, address // BANK_WORD_BYTES + instruction.words):
            key = (word, lane if instruction.counts_equal_words else 0)
            words.setdefault(word % BANKS, []).append(key)
    return {bank: len(set(keys)) for bank, keys in words.items()}


def held_against_the_table(result: ClaimResult, claim: CostClaim) -> None:
    """A picture against the addresses in the table beside it."""
    found, picture = result.verdict.counterexample, result.picture
    assert found is not None
    assert picture is not None
    access = claim.access
    place = found.columns.index("address")
    addresses = [row.cells[place] for row in found.rows]
    cost = access_cost(access.instruction, addresses, access.target)
    (panel,) = picture.panels
    most = max(group.wavefronts for group in cost.groups)
    assert len(panel.row_heads) == most
    assert f"{cost.wavefronts} wavefront" in picture.title
    if not access.instruction.by_octets:
        heights: dict[int, int] = {}
        for cell in panel.cells:
            heights[cell.column] = heights.get(cell.column, 0) + 1
        assert heights == by_bank(access.instruction, cost, addresses)
        for cell in panel.cells:
            for lane in cell.lanes:
                first = addresses[lane] // BANK_WORD_BYTES
                assert (cell.column - first) % BANKS < access.instruction.words


def has_the_case_of_the_table_beside_each_picture(report: Report, least: int) -> None:
    drawn = 0
    for spec, results in grouped(report).items():
        claims = {each.id: each.claim for each in load_spec(spec).claims}
        for result in results:
            claim = claims[result.id]
            if result.picture is None:
                continue
            assert isinstance(claim, CostClaim)
            held_against_the_table(result, claim)
            drawn += 1
    refuted = [
        result
        for result in report.results
        if result.verdict.measure is not None and result.verdict.counterexample is not None
    ]
    assert drawn == len(refuted) > least


def grouped(report: Report) -> dict[str, list[ClaimResult]]:
    found: dict[str, list[ClaimResult]] = {}
    for result in report.results:
        found.setdefault(result.spec, []).append(result)
    return found


def test_without_pictures_there_are_none() -> None:
    spec = str(ROOT / "specs" / "basics" / "atomics.swz.yaml")
    plain, drawn = (run_specs([spec], Settings(pictures=pictures)) for pictures in (False, True))
    assert [result.picture for result in plain.results] == [None] * len(plain.results)
    assert any(result.picture for result in drawn.results)


@pytest.fixture
def ptx(tmp_path: Path) -> str:
    path = tmp_path / "k.ptx"
    path.write_text(text_of(".loc 1 7 3\n" + strided(8) + SKEWED) + '\n.file 1 "k.cu"\n', encoding="utf-8")
    return str(path)


def page_of(*words: str) -> Element:
    result = CliRunner().invoke(main, words)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return read(result.stdout)


def test_a_scan_draws_the_conflict_of_compiled_code(ptx: str) -> None:
    page = page_of("scan", ptx, "--block", "64", "--format", "html")
    harmless(page)
    claims = [each for each in page.find("details", "claim") if each.attributes["data-kind"] == "bank_conflicts"]
    first = next(each for each in claims if "2-way conflict" in each.text)
    (panel,) = first.find("table", "panel")
    assert len(panel.find("tbody")[0].find("tr")) == 2
    (table,) = first.find("table", "lanes")
    heads = [each.text for each in table.find("th")]
    rows = [[each.text for each in row.find("td")] for row in table.find("tbody")[0].find("tr")]
    banks = {row[heads.index("lane")]: int(row[heads.index("bank")]) for row in rows}
    columns: dict[str, set[int]] = {}
    for line in panel.find("tbody")[0].find("tr"):
        column = 0
        for cell in line.find("td"):
            for lane in cell.attributes.get("data-lanes", "").split():
                columns.setdefault(lane, set()).add(column)
            column += int(cell.attributes.get("colspan", "1"))
    assert columns == {lane: {bank} for lane, bank in banks.items()}
    assert "No warp instruction has a bank conflict." in page.text
    assert "every access was listed" in page.find("header")[0].text


def test_prove_draws_and_no_other_format_asks_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = """\
swzverify: 1
target: sm_90
tiles: {A: {element: f32, layout: "(32,32):(32,1)"}}
accesses: {column: {tile: A, instruction: ld.shared.b32, threads: 32, coord: [lane, 0]}}
claims:
  - conflict_free: column
"""
    Path("a.swz.yaml").write_text(text, encoding="utf-8")
    page = page_of("prove", "a.swz.yaml", "--format", "html")
    (figure,) = page.find("figure")
    assert len(figure.find("td", "x")) == 31  # each word but the first of the bank
    seen: list[Picture | None] = []
    monkeypatch.setattr("swzverify.apps.run.case_picture.case_picture", lambda *_: seen.append(None))
    for form in ("text", "json", "sarif"):
        CliRunner().invoke(main, ["prove", "a.swz.yaml", "--format", form])
    assert seen == []
    CliRunner().invoke(main, ["prove", "a.swz.yaml", "--report", "html=o.html"])
    assert seen == [None]
