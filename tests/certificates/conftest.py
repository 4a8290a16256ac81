"""A small folder of certificates, written once, and ways to forge it with every hash made good
again.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from swzrecheck.folder import Entry, load_list
from swzrecheck.recheck import Limits, Recheck, Rechecked
from swzverify.apps.cli import main

SPEC = """\
swzverify: 1
target: sm_90
tiles:
  A:
    element: f16
    layout: (8,64):(64,1)
    swizzle: Swizzle<3,3,3>
    stages: 2
  P:
    element: f32
    layout: {shape: [4, 8], order: row, pad: 1}
  R: {element: f32, layout: "(4,(4,2)):(9,(1,4))", bytes: 144}
  W: {element: f16, tma: {swizzle: 128B, box: [16, 64]}, stages: 2}
operands:
  B:
    instruction: wgmma.m64n16k16.f16
    role: B
    for: {s: 2, k: [0, 1, 3]}
    descriptor: {start: s*2048 + k*STEP, sbo: 1024, swizzle: 128B}
    reads: {tile: W, at: [0, k*16], stage: s}
accesses:
  read: {tile: A, instruction: ldmatrix.x1, threads: 32, for: {k: {start: 0, stop: 64, step: 8}}, coord: [lane%8, k]}
  write: {tile: P, instruction: st.shared.b32, threads: 32, coord: [tid/8, tid%8]}
  some: {tile: P, instruction: st.shared.b32, threads: 40, if: tid != 3 && tid < N, coord: [tid/8%4, tid%8]}
  store: {instruction: st.global.v2.f32, threads: 40, base: {align: 32}, address: tid*8}
constants: {N: 38, STEP: 32}
maps:
  turned: {over: {i: 6, j: 4}, value: [j, i], onto: [4, 6]}
listings:
  pair:
    target: sm_52
    text: |
      FFMA R2, R4.reuse, R5, R2;
      LDS R8, [R9];
      FFMA R0, R4, R5, R0;
claims:
  - bijective: A
  - injective: P
  - conflict_free: read
  - wavefronts: {access: write, at_most: 2}
  - coalesced: {access: store, at_most: 8}
  - covers: {access: write, tile: P}
  - disjoint: A
  - permutation: turned
  - aligned: some
  - in_bounds: some
  - contiguous: {tile: A, elements: 8}
  - equivalent: [P, R]
  - delivers: B
  - register_conflict_free: pair
  - register_conflicts: {listing: pair, at_most: 1}
  - conflict_free: write
    expect: refuted
"""
"""A claim of every kind; all but the last are proved."""

PROVED, COUNTED = 15, 2
"""How many are proved, and how many of them are counted: without variables nothing is asked."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of certificates that a test may change."""

    path: Path

    def entries(self) -> list[dict[str, Any]]:
        """The list's claims."""
        return json.loads((self.path / "certificates.json").read_text())["claims"]

    def file(self, kind: str) -> Path:
        """The certificate of the claim of a kind."""
        return next(self.path / entry["file"] for entry in self.entries() if entry["id"].endswith(f"::{kind}"))

    def certificate(self, kind: str) -> dict[str, Any]:
        """Its data."""
        return json.loads(self.file(kind).read_text())

    def forge(self, kind: str, change: Callable[[dict[str, Any]], None]) -> None:
        """Change a certificate and make every hash good again, as someone would who wants to
        deceive.
        """
        data = self.certificate(kind)
        change(data)
        self.file(kind).write_text(json.dumps(data))
        self.sign()

    def sign(self) -> None:
        """Hash all files again."""
        path = self.path / "certificates.json"
        listed = json.loads(path.read_text())
        for entry in listed["claims"]:
            entry["sha256"] = hashlib.sha256((self.path / entry["file"]).read_bytes()).hexdigest()
        path.write_text(json.dumps(listed))
        self.sign_list()

    def sign_list(self) -> None:
        """Hash the list again, whatever is in it."""
        listed = json.loads((self.path / "certificates.json").read_text())
        listed.pop("sha256", None)
        listed["sha256"] = hashlib.sha256(json.dumps(listed, sort_keys=True).encode()).hexdigest()
        (self.path / "certificates.json").write_text(json.dumps(listed))

    def add_formula(self, text: str) -> str:
        """Put a script into the folder under its own fingerprint."""
        digest = hashlib.sha256(text.encode()).hexdigest()
        (self.path / "formulas" / f"{digest}.smt2").write_text(text)
        return digest

    def listed(self) -> tuple[Entry, ...]:
        """The list as the command reads it."""
        return load_list(str(self.path))

    def rechecked(self, entry: Entry, *solvers: str) -> Rechecked:
        """One certificate in this process."""
        return Recheck(str(self.path), Limits(solvers), lambda _: None).claim(entry)

    def judged(self, kind: str, *solvers: str) -> Rechecked:
        """The certificate of the claim of a kind, in this process."""
        return self.rechecked(next(one for one in self.listed() if one.id.endswith(f"::{kind}")), *solvers)

    def recheck(self, *options: str) -> Result:
        """The command on this folder, one process."""
        return CliRunner().invoke(main, ["recheck", str(self.path), "-j", "1", *options])


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The spec's certificates as the command writes them."""
    place = tmp_path_factory.mktemp("written")
    (place / "small.swz.yaml").write_text(SPEC)
    result = CliRunner().invoke(
        main, ["prove", str(place / "small.swz.yaml"), "--certificates", str(place / "certs"), "-j", "1"]
    )
    assert result.exit_code == 0, result.output
    return place / "certs"


FEW = ("bijective", "injective", "permutation", "register_conflict_free")
"""Claims of a folder on which the command is soon done: for damage that ends every run alike."""
FEW_COUNTED = 1
"""How many of them are counted."""


@pytest.fixture(scope="session")
def few_written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The certificates of a few claims as the command writes them."""
    place = tmp_path_factory.mktemp("few")
    (place / "small.swz.yaml").write_text(SPEC)
    selected = [word for kind in FEW for word in ("--select", kind)]
    result = CliRunner().invoke(
        main,
        ["prove", str(place / "small.swz.yaml"), "--certificates", str(place / "certs"), "-j", "1", *selected],
    )
    assert result.exit_code == 0, result.output
    return place / "certs"


@pytest.fixture
def few(few_written: Path, tmp_path: Path) -> Folder:
    """A copy to spoil, of a few claims."""
    shutil.copytree(few_written, tmp_path / "certs")
    return Folder(tmp_path / "certs")


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Folder:
    """A copy to spoil."""
    shutil.copytree(written, tmp_path / "certs")
    return Folder(tmp_path / "certs")
