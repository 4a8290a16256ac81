"""docs/architecture.md is true: its layers are pyproject's, its files exist, its lists are what a
search finds.
"""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.docs.blocks import ROOT, blocks_of

PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
PACKAGE = ROOT / "swzverify"

SEARCHES = {
    "the files of a new claim": (r"\bPermutation\b|\"permutation\"", set[str]()),
    "the files of a new claim on specs and kernels": (r"\bInBounds\b|\"in_bounds\"", set[str]()),
    "the files of a new instruction": (r"(?i)stmatrix", set[str]()),
    "the files of a new engine": (r"\bResidues\b", set[str]()),
    "the files of a new PTX opcode": (r"\bbmsk\b", set[str]()),
    "the files of a new order": (r"bar\.warp\.sync", set[str]()),
    "the files of a new option": (r"\"--wave\b|\bwanted\.wave\b", set[str]()),
    "the files of a new command": (r"\bSchemaOptions\b|\bschema_command\b|\"schema\", \"show\"", set[str]()),
    "the files of a new target": (r"sm_120|\(120, ", set[str]()),
    "the files of a new report format": (r"(?i)\bsarif\b|sarif_", set[str]()),
    "the files of a picture of a tile": (r"ownership\(|\"ownership\"", set[str]()),
    "the files of a new format of pictures": (r"\brender_latex\b|`latex`|\"latex\", \"png\"", set[str]()),
}
"""What names an existing one in the package, and the files to touch that do not name it."""

USERS = {
    "the files of a new claim on specs and kernels": {
        "swzverify/spec/build_claims.py",  # `standard` stands for it
        "swzverify/spec/starter/plan.py",  # `swzverify init` claims it
        "swzverify/search/cures/find.py",  # a cure must keep it
        "swzverify/search/synth/proof.py",  # an answer must keep it
        "swzverify/gpu/seen.py",  # a device does not show coordinates
        "swzverify/apps/diff/subjects.py",  # an example in a docstring
        "swzverify/compiled/scan/scanned.py",  # an attribute of its own, for Python users
    }
}
"""Files that name an existing one for an end of their own; a new one changes none of them."""

MOST_FILES = 8
"""Files that a claim on specs and kernels may change, beside its own."""


def block(name: str) -> list[str]:
    (found,) = [each for each in blocks_of(PAGE) if each.mark("not run here") == name]
    return found.text.splitlines()


def files(name: str) -> list[str]:
    return [line.split()[0] for line in block(name)]


def layers() -> dict[str, list[str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = [each for each in project["tool"]["importlinter"]["contracts"] if each["type"] == "layers"]
    return {each["containers"][0]: each["layers"] for each in contracts}


def test_the_layers_are_those_that_are_checked() -> None:
    section = PAGE.split("\n## Layers\n")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == layers().pop("swzverify")


def test_the_layers_of_the_groups_are_those_that_are_checked() -> None:
    inner = {name.removeprefix("swzverify."): rows for name, rows in layers().items() if name != "swzverify"}
    assert block("the layers of the groups") == [f"{name}: {', '.join(rows)}" for name, rows in inner.items()]


def test_a_stranger_sees_the_design_in_one_look() -> None:
    names = {path.name for path in PACKAGE.iterdir()} - {"__init__.py", "__main__.py", "__pycache__"}
    assert len(names) <= 20


@pytest.mark.parametrize("exercise", SEARCHES)
def test_the_files_of_an_exercise_exist(exercise: str) -> None:
    listed = files(exercise)
    assert [name for name in listed if not (ROOT / name).is_file()] == []
    assert len(set(listed)) == len(listed)
    assert all(len(line.split(maxsplit=1)) == 2 for line in block(exercise))


@pytest.mark.parametrize("exercise", SEARCHES)
def test_an_exercise_lists_what_a_search_finds(exercise: str) -> None:
    pattern, unnamed = SEARCHES[exercise]
    sources = sorted(PACKAGE.rglob("*.py"))
    found = {path.relative_to(ROOT).as_posix() for path in sources if re.search(pattern, path.read_text("utf-8"))}
    users = USERS.get(exercise, set[str]())
    assert users <= found
    assert {name for name in files(exercise) if name.startswith("swzverify/")} == (found | unnamed) - users


def test_a_claim_on_specs_and_kernels_changes_few_files() -> None:
    lines = block("the files of a new claim on specs and kernels")
    changed = [line for line in lines if "the model" not in line]
    assert len(changed) <= MOST_FILES
    assert len(lines) - len(changed) == 2


def test_the_files_that_the_text_names_exist() -> None:
    missing: list[str] = []
    for name in re.findall(r"`([\w/]+/[\w.]*(?:\.py)?)`", PAGE):
        if "NAME" in name:
            continue
        if not any((where / name).exists() for where in (PACKAGE, PACKAGE / "compiled", ROOT)):
            missing.append(name)
    assert missing == []


@pytest.mark.parametrize(
    "word",
    ["goal", "obligation", "plan", "finding", "judgement", "evidence", "subject", "claim", "engine", "panel", "replay",
     "witness"],
)  # fmt: skip
def test_the_words_are_explained(word: str) -> None:
    assert f"\n| {word} | " in PAGE


def test_each_file_of_compiled_code_stands_in_the_list_of_rules() -> None:
    """A new file goes into the row of its topic, under "Which file has which rule"."""
    listed: set[str] = set()
    for part in "\n".join(block("the files of compiled")).split("\n\n"):
        head, *rows = part.splitlines()
        names = [name for row in rows for name in row[35:].split(", ")]
        listed |= {f"{head.partition(':')[0]}/{name}" for name in names}
    folders = {each.partition("/")[0] for each in listed}
    files = [
        path.relative_to(PACKAGE / "compiled")
        for each in folders
        for path in (PACKAGE / "compiled" / each).rglob("*.py")
    ]
    there = {path.with_suffix("").as_posix() for path in files if path.name != "__init__.py"}
    assert listed == there


@pytest.mark.parametrize("folder", ["binaries", "kernel", "order", "profiler", "ptx", "sass", "scan", "trial"])
def test_the_files_that_the_docstring_of_a_folder_names_exist(folder: str) -> None:
    text = (PACKAGE / "compiled" / folder / "__init__.py").read_text("utf-8")
    docstring, code = text.split('"""')[1], text.split('"""', 2)[2]
    known = {path.stem for where in (folder, ".", "..") for path in (PACKAGE / "compiled" / where).iterdir()}
    named = set(re.findall(r"`([a-z_]+)`", docstring)) - {"wgmma", "unknown"}
    assert [name for name in named if name not in known and not re.search(rf"\b{name}\b", code)] == []
