"""Specs, comparisons of two texts, and real git repositories."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from swzverify.apps.diff.pair import Placed, pair_claims
from swzverify.apps.diff.result import ClaimDiff
from swzverify.spec import parse_spec

SPEC = """\
swzverify: 1
target: sm_90
constants: {HALF: 64}
memories: {smem: {bytes: 65536, align: 1024}}
tiles:
  A:
    element: f16
    layout: (64,64):(64,1)
    swizzle: Swizzle<3,3,3>
    base: {align: 128}
    stages: 3
  B:
    element: f16
    layout: (64,64):(64,1)
    swizzle: Swizzle<3,3,3>
    base: {align: 128}
    stages: 3
  P:
    element: f16
    layout: {shape: [16, 64], pad: 8}
  M: {element: f32, layout: "(32,32):(32,1)", base: {in: smem, offset: 0}}
  N: {element: f32, layout: "(32,32):(32,1)", base: {in: smem, offset: 4096}}
accesses:
  read_A:
    tile: A
    instruction: ldmatrix.x4
    threads: 128
    for: {k: {start: 0, stop: 64, step: 16}}
    coord: [warp*16 + lane%16, k + lane/16*8]
  load_A:
    tile: A
    instruction: ld.shared.v4.b32
    threads: 128
    for: {i: 4}
    coord: [i*16 + tid/8, tid%8*8]
    if: tid < HALF
    assume: [i < 3]
  write_A:
    tile: A
    instruction: st.shared.v4.b32
    threads: 128
    for: {i: 4}
    coord: [i*16 + tid/8, tid%8*8]
  scratch:
    instruction: ld.shared.b32
    threads: 64
    address: tid*4
    base: {align: 128}
    bytes: 256
  endless:
    instruction: ld.shared.b32
    threads: 32
    for: {i: any}
    address: tid*4 + i*128
maps:
  grouped:
    over: {bid: 128}
    value: [bid%8 + bid/64*8, bid/8%8]
    onto: [16, 8]
claims:
  - injective: A
  - bijective: A
  - contiguous: {tile: A, elements: 8}
  - conflict_free: read_A
  - aligned: load_A
  - in_bounds: write_A
  - covers: {access: write_A, tile: A}
  - wavefronts: {access: write_A, at_most: 4}
  - in_bounds: scratch
  - in_bounds: P
  - conflict_free: endless
  - permutation: grouped
  - equivalent: [A, B]
  - disjoint: [M, N]
  - contiguous: {tile: A, elements: 16}
    expect: refuted
    because: the swizzle keeps 8 together
"""


def swapped(*edits: tuple[str, str], text: str = SPEC) -> str:
    """The spec with some text replaced; every place that is looked for has to be there."""
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    return text


def placed(text: str, file: str = "a.swz.yaml") -> list[Placed]:
    """The claims of a text."""
    return [Placed(file, claim) for claim in parse_spec(text, path=file).claims]


def between(before: str, after: str) -> list[ClaimDiff]:
    """What became of the claims of one text in another."""
    return pair_claims(placed(before), placed(after), frozenset())


def outcome(before: str, after: str) -> dict[str, str]:
    """The claims that are not unchanged: what became of each, by its id without the file."""
    found = {each.claim.id.partition("::")[2]: each.status.value for each in between(before, after)}
    return {name: status for name, status in found.items() if status != "unchanged"}


class Repository:
    """A git repository in a folder, which is the current one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        """Run git here, whoever the user is."""
        who = ["-c", "user.name=someone", "-c", "user.email=someone@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *who, *arguments], cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def put(self, files: dict[str, str | None]) -> None:
        """Write files, or delete them."""
        for name, text in files.items():
            path = self.folder / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def commit(self, files: dict[str, str | None] | None = None) -> str:
        """Write and commit; gives the commit's name."""
        self.put(files or {})
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a change")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder outside of any repository, and an environment that asks for nothing
    special.
    """
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "SWZVERIFY_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return folder


@pytest.fixture
def repository(here: Path) -> Repository:
    """A repository without a commit."""
    return Repository(here)
