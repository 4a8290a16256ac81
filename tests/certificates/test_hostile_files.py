"""Files of certificates full of nonsense, every hash made good: each ends in words and never in a
fault of ours.
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from swzrecheck.errors import CertificateError
from swzrecheck.recheck import Status
from swzverify.apps.cli import main
from tests.certificates.conftest import Folder
from tests.certificates.forger import leaves, remake
from tests.certificates.test_forged import KINDS
from tests.nightly import share

DEEP: Any = "bottom"
for _ in range(400):
    DEEP = [DEEP]
NONSENSE: tuple[Any, ...] = (
    None,
    True,
    False,
    -1,
    0,
    1,
    1 << 61,
    1 << 62,
    1 << 64,
    10**4000,
    -(10**4000),
    0.5,
    float("inf"),
    float("nan"),
    "",
    "\x00",
    "\ud800",
    "\u202e",
    "é" * 50,
    "x" * 100_000,
    "../../etc/passwd",
    "tile A",
    "0" * 64,
    [],
    {},
    [[]],
    [None],
    {"": None},
    {"\ud800": 1},
    {"name": "A"},
    DEEP,
    ["(" * 3000],
    "(" * 3000,
    "1" + "+1" * 2000,
    "min(" * 200,
)
EACH = 10


def containers(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to everything that holds something."""
    found: list[tuple[Any, ...]] = []
    if isinstance(value, dict | list):
        found.append(path)
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            found += containers(item, (*path, key))
    return found


def spoiled(whole: Any, rng: random.Random) -> Any:
    """One to three edits: another value, a key less, a key more, an item twice, two exchanged."""
    data = copy.deepcopy(whole)
    for _ in range(rng.randint(1, 3)):
        ways = [path for path in containers(data) if "obligation" not in path or rng.random() < 0.02]
        here = data
        for key in rng.choice(ways):
            here = here[key]
        keys: list[Any] = list(here) if isinstance(here, dict) else list(range(len(here)))
        kind = rng.randrange(6)
        if kind == 0 or not keys:
            if isinstance(here, dict):
                here[rng.choice(["extra", "", "\ud800", "name"])] = rng.choice(NONSENSE)
            else:
                here.append(rng.choice(NONSENSE))
        elif kind == 1:
            del here[rng.choice(keys)]
        elif kind == 2 and isinstance(here, list):
            here.append(copy.deepcopy(here[rng.choice(keys)]))
        elif kind == 3:
            a, b = rng.choice(keys), rng.choice(keys)
            here[a], here[b] = here[b], here[a]
        else:
            here[rng.choice(keys)] = copy.deepcopy(rng.choice(NONSENSE))
    return data


@pytest.mark.parametrize("part", share(range(12), 12))
@pytest.mark.parametrize("kind", KINDS)
def test_nonsense_in_a_certificate(folder: Folder, kind: str, part: int) -> None:
    """In this process, where an exception that nobody expects is the end of the test."""
    rng = random.Random(f"nonsense {kind} {part}")
    whole = folder.certificate(kind)
    path = folder.file(kind)
    seen: set[Status] = set()
    for _ in range(EACH):
        data = spoiled(whole, rng)
        if rng.random() < 0.3:
            # The forger's own tools may fail at it.
            with contextlib.suppress(KeyError, TypeError, AttributeError, ValueError, RecursionError):
                remake(data, folder)
        path.write_text(json.dumps(data))
        folder.sign()
        outcome = folder.judged(kind)
        seen.add(outcome.status)
        assert len(" ".join(outcome.why)) < 1_000_000
        assert outcome.status is not Status.BROKEN or outcome.why[0].startswith(("SWZ60",)), outcome.why
    assert Status.BROKEN in seen


def code_of(folder: Folder) -> str:
    """What the list is refused for; nothing where it is read."""
    try:
        folder.listed()
    except CertificateError as error:
        return error.code
    return ""


@pytest.mark.parametrize("part", share(range(4), 4))
def test_nonsense_in_the_list(folder: Folder, part: int) -> None:
    rng = random.Random(part)
    path = folder.path / "certificates.json"
    whole = json.loads(path.read_text())
    refused = 0
    for _ in range(150):
        data = spoiled(whole, rng)
        path.write_text(json.dumps(data))
        # Some cannot even be signed.
        with contextlib.suppress(KeyError, TypeError, UnicodeEncodeError):
            folder.sign_list()
        refused += code_of(folder) in ("SWZ602", "SWZ603", "SWZ604")
    assert refused > 120


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x00",
        b"\xff\xfe{}",
        b'{"schema": ' + b"[" * 50_000,
        b'{"schema": ' + b'{"a":' * 50_000,
        b'{"schema": 1' + b"0" * 5000 + b"}",
        b'{"schema": "\\ud800"}',
        b'{"schema": "swzverify.certificate/2", "id": "\\udfff"}',
        b"NaN",
        b'{"a": Infinity}',
        b"[]",
        b"7",
    ],
)
def test_bytes_that_are_no_certificate(few: Folder, raw: bytes) -> None:
    few.file("bijective").write_bytes(raw)
    few.sign()
    result = few.recheck("--no-solver")
    assert result.exit_code == 2, result.output
    assert "SWZ60" in result.output
    assert "SWZ901" not in result.output
    (few.path / "certificates.json").write_bytes(raw)
    result = few.recheck("--no-solver")
    assert result.exit_code == 2
    assert "SWZ901" not in result.output


def test_places_that_are_no_files(few: Folder) -> None:
    """A folder, a loop of links, or nothing at all where a file should be."""
    for path in (few.file("permutation"), few.path / "certificates.json", few.path / "claims"):
        kept = path.with_name("kept")
        path.rename(kept)
        for make in (path.mkdir, lambda path=path: os.symlink(path, path), lambda path=path: os.mkfifo(path)):
            make()
            result = few.recheck("--no-solver")
            assert result.exit_code == 2, result.output
            assert "SWZ60" in result.output
            assert "SWZ901" not in result.output
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        kept.rename(path)
    assert few.recheck().exit_code in (0, 3)


def test_formulas_and_specs_that_are_no_files(few: Folder) -> None:
    for name in ("formulas", "specs"):
        path = sorted((few.path / name).iterdir())[0]
        kept = few.path.parent / "kept"
        path.rename(kept)
        for make in (path.mkdir, lambda path=path: os.mkfifo(path)):
            make()
            result = few.recheck("--no-solver")
            assert result.exit_code == 2, result.output
            assert "SWZ901" not in result.output
            path.rmdir() if path.is_dir() else path.unlink()
        kept.rename(path)


def test_a_statement_that_would_take_forever_is_stopped(folder: Folder) -> None:
    """A layout of many leaves, loops of many values: a limit is reached, and said."""

    def large(data: dict[str, Any]) -> None:
        data["claim"]["tiles"][0]["modes"] = [[[2, 1 << (i % 40)] for i in range(30_000)]]

    folder.forge("injective", large)
    result = folder.recheck("--no-solver", "--timeout", "2", "--memory", "512")
    assert result.exit_code in (2, 3), result.output
    assert "SWZ901" not in result.output


def test_every_leaf_as_a_huge_number_or_another_type(folder: Folder) -> None:
    """Field by field, through the whole command once, so that nothing of it fails on the way out."""
    for kind in ("conflict_free", "permutation"):
        whole = folder.certificate(kind)
        for path, _ in leaves(whole["claim"]):
            for other in (1 << 61, "\ud800", {}):
                data = copy.deepcopy(whole)
                here = data["claim"]
                for key in path[:-1]:
                    here = here[key]
                here[path[-1]] = other
                folder.file(kind).write_text(json.dumps(data))
                folder.sign()
                outcome = folder.judged(kind)
                assert outcome.status in (Status.BROKEN, Status.CONTRADICTED, Status.NOT_RECHECKED)


def test_an_empty_folder_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "claims").mkdir()
    result = CliRunner().invoke(main, ["recheck", str(tmp_path)])
    assert result.exit_code == 2
    assert "SWZ601" in result.output
