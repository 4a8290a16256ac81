"""Claims that state the same in several files are judged once, and told as if each had been judged.

What could go wrong, each with its test: a claim that takes the verdict of another one that only looks
like it; cures of another file's surroundings; memory that grows with the number of files.
"""

from __future__ import annotations

import json
import random
import re
import shutil
from functools import cache
from pathlib import Path

import pytest

from swzverify.apps.options.prove import Settings
from swzverify.apps.run import one, reading
from swzverify.apps.run.run import run_specs
from swzverify.report.json import document
from swzverify.spec import SpecError, parse_spec
from tests.differential.comparison import as_yaml, drawn

SPEC = """\
swzverify: 1
target: sm_90
tiles:
  A: {element: f32, layout: {shape: [32, 32], order: row, pad: 0}}
accesses:
  column: {tile: A, instruction: ld.shared.b32, threads: 32, coord: [lane, 3]}
claims:
  - injective: A
  - conflict_free: column
"""
OTHERS = {
    "pad": ("pad: 0", "pad: 1"),
    "element": ("f32", "f64"),
    "coordinate": ("[lane, 3]", "[3, lane]"),
    "threads": ("threads: 32", "threads: 1"),
    "target": ("sm_90", "sm_80"),
    "base": ("pad: 0}", "pad: 0}, base: {align: 2048}"),
}
KEYS = ("file", r'"\x66ile"')
"""How a spec may write the key for another file."""
LIBRARY = Path(__file__).parents[2] / "specs" / "basics"


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The claims that the prover is asked about, by kind."""
    asked: list[str] = []
    judge = one.judge

    def counted(claim, options):
        asked.append(claim.kind)
        return judge(claim, options=options)

    monkeypatch.setattr(one, "judge", counted)
    return asked


def told(files: list[str], jobs: int = 1) -> list[dict[str, object]]:
    """What a report says of each claim, but for the file's name and the time."""
    found = json.loads(json.dumps(document(run_specs(files, Settings(jobs=jobs)))))["claims"]
    for claim in found:
        claim["id"] = claim["id"].partition("::")[2]
        del claim["time_ms"], claim["spec"]
    return found


def by_one_and_all(files: list[str]) -> tuple[list[object], list[object]]:
    """What is told of each file alone, and in one run."""
    return [claim for file in files for claim in told([file])], [*told(files)]


def in_files(folder: Path, *texts: str) -> list[str]:
    files = [folder / f"{number}.swz.yaml" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    return [str(file) for file in files]


def test_the_same_is_judged_once(tmp_path: Path, judged: list[str]) -> None:
    alone, together = by_one_and_all(in_files(tmp_path, SPEC, SPEC))
    assert alone == together
    assert judged == ["injective", "conflict_free"] * 3


@pytest.mark.parametrize("name", OTHERS)
def test_what_only_looks_the_same_is_judged_anew(tmp_path: Path, judged: list[str], name: str) -> None:
    other = SPEC.replace(*OTHERS[name], 1)
    assert other != SPEC
    alone, together = by_one_and_all(in_files(tmp_path, SPEC, other))
    assert alone == together
    assert judged.count("conflict_free") == 4


def test_a_verdict_of_another_claim_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: claims of one kind count as one."""
    monkeypatch.setattr(one, "likeness", lambda claim, _: claim.kind)
    alone, together = by_one_and_all(in_files(tmp_path, SPEC, SPEC.replace("pad: 0", "pad: 1")))
    assert alone != together


def test_cures_are_of_a_files_own_surroundings(tmp_path: Path) -> None:
    """Beside a claim that a pad breaks, no pad helps."""
    alone, together = by_one_and_all(in_files(tmp_path, SPEC, SPEC + "  - bijective: A\n"))
    assert alone == together
    cures = [claim["cures"] for claim in together if claim["kind"] == "conflict_free"]
    assert cures[0] != cures[1]


@pytest.mark.parametrize(("most", "times"), [(2, 1), (1, 3)])
def test_the_oldest_is_forgotten(
    tmp_path: Path, judged: list[str], monkeypatch: pytest.MonkeyPatch, most: int, times: int
) -> None:
    monkeypatch.setattr(one, "MOST_KNOWN", most)
    told(in_files(tmp_path, SPEC, SPEC, SPEC))
    assert judged == ["injective", "conflict_free"] * times


def test_nothing_of_a_file_is_kept_for_its_identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a key was made of lives as long as the key may be asked for: no other object has its
    identity.
    """
    known = one.Known()
    monkeypatch.setattr(one, "Known", lambda: known)
    told(in_files(tmp_path, SPEC, SPEC))
    assert known.seen
    assert all(id(held) == number for number, (held, _) in known.seen.items())
    known.next_file()
    assert not known.seen
    assert known.cures is None


@cache
def alone_in_the_library(name: str) -> list[dict[str, object]]:
    return told([str(LIBRARY / name)])


@pytest.mark.parametrize("jobs", [1, 2])
def test_copies_of_specs_say_what_each_says(tmp_path: Path, jobs: int) -> None:
    names = sorted(path.name for path in LIBRARY.glob("*.swz.yaml"))
    folders = [Path(shutil.copytree(LIBRARY, tmp_path / copy)) for copy in "ab"]
    copies = [str(folder / name) for name in names for folder in folders]
    found = told(copies, jobs)
    alone = [alone_in_the_library(name) for name in names]
    assert found == [claim for one_spec in alone for claim in [*one_spec, *one_spec]]


def neighbours(seed: int) -> list[str]:
    """A random spec, and specs that differ from it in one number."""
    text = as_yaml(drawn(seed))
    draw = random.Random(seed)
    numbers = [found for found in re.finditer(r"(?<![\w.])\d+(?![\w.])", text) if found.start() > len("swzverify: 1")]
    found = [text]
    for _ in range(4):
        number = draw.choice(numbers)
        other = str(max(0, int(number[0]) + draw.choice((-1, 1, 2))))
        found.append(text[: number.start()] + other + text[number.end() :])
    return [*found, text]


def outcomes(texts: list[str], known: one.Known | None) -> list[tuple[str, str, object]]:
    """What is said of the claims of each spec that is one."""
    settings = Settings(rlimit=2_000_000)
    found: list[tuple[str, str, object]] = []
    for text in texts:
        try:
            spec = parse_spec(text, path="random.swz.yaml")
        except SpecError:
            continue
        mine = one.Known() if known is None else known
        mine.next_file()
        for claim in spec.claims:
            result = one.run_claim(spec, claim, settings, mine).result
            found.append((f"{claim.kind} {claim.subject} {claim.case}", result.verdict.outcome, result.verdict.measure))
    return found


@pytest.mark.parametrize(
    "seeds", [range(40_000, 40_002), pytest.param(range(40_002, 40_006), marks=pytest.mark.nightly)]
)
def test_random_neighbours_keep_their_verdicts(judged: list[str], seeds: range) -> None:
    together = alone = 0
    for seed in seeds:
        texts = neighbours(seed)
        judged.clear()
        known = outcomes(texts, one.Known())
        together += len(judged)
        judged.clear()
        assert known == outcomes(texts, None), seed
        alone += len(judged)
    assert together < alone


@pytest.mark.parametrize(
    "how", ["constants: {ROWS: 16}", *(f"from_source: {{ROWS: {{{key}: rows.h}}}}" for key in KEYS)]
)
def test_a_text_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """Copies in two folders; where the text names a file beside it, the two may differ."""
    names = "rows.h" in how
    read: list[str] = []
    parse = reading.parse_spec

    def counted(text: str, **more):
        read.append(more["path"])
        return parse(text, **more)

    monkeypatch.setattr(reading, "parse_spec", counted)
    files: list[str] = []
    for folder, rows in (("one", 16), ("other", 32)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "rows.h").write_text(f"constexpr int ROWS = {rows};\n")
        text = SPEC.replace("[32, 32]", "[ROWS, 32]")
        files.append(str(tmp_path / folder / "a.swz.yaml"))
        Path(files[-1]).write_text(text.replace("tiles:", f"{how}\ntiles:"))
    alone, together = by_one_and_all(files)
    read.clear()
    report = run_specs(files, Settings())
    assert len(read) == (2 if names else 1)
    assert together == alone
    assert (alone[0] == alone[2]) is not names
    assert [result.id.partition("::")[0] for result in report.results] == [file for file in files for _ in range(2)]
    assert [result.spec for result in report.results] == [file for file in files for _ in range(2)]


def test_contracts_of_one_text_read_constants_of_their_own_file(tmp_path: Path) -> None:
    text = """constexpr int BM = 64;
// swz:begin
// swzverify: 1
// from_source: [BM]
// tiles: {A: {element: f16, layout: "(BM,64):(64,1)"}}
// claims: [{bijective: A}]
// swz:end
"""
    files = [tmp_path / "a.cu", tmp_path / "b.cu"]
    for file in files:
        file.write_text(text)
    notes = [str(result.verdict.notes) for result in run_specs([str(file) for file in files], Settings()).results]
    assert [file.name in said for file, said in zip(files, notes, strict=True)] == [True, True]
