"""The random kernels for counters: what is in them, and that a count which no verdict allows is seen."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import ScannedAccess, scan_function

from . import random_kernels
from .counted_kernels import PLAIN, shape_of, text_of
from .random_kernels import pages, summary


def scanned(seed: int) -> list[ScannedAccess]:
    module = read_module(text_of(seed), "k.ptx")
    function = module.function(f"k{seed}")
    assert function is not None
    return scan_function(module, function, shape_of(seed))


def test_every_form_is_drawn() -> None:
    texts = "\n".join(map(text_of, range(60)))
    forms = [f"{kind}.volatile.shared.{form}" for kind in ("ld", "st") for form in PLAIN]
    copies = [f"cp.async.{form}" for form in ("ca.shared.global", "cg.shared.global")]
    assert not [
        each for each in (*forms, *copies, "ldmatrix.", "stmatrix.", "atom.shared.", "call") if each not in texts
    ]
    assert "ld.shared." in texts


def test_most_accesses_are_decided() -> None:
    verdicts = Counter(each.decision.verdict.value for seed in (9, 11) for each in scanned(seed))
    assert verdicts["free"] > 4


def test_the_summary_counts_disagreements() -> None:
    row = {"seed": 1, "chip": ["free"], "status": "agrees"}
    words, wrong = summary([row, {**row, "status": "disagrees"}, {"seed": 2, "error": "no machine code"}])
    assert wrong == 1
    assert words.startswith("1 kernels, 2 accesses, 1 errors, 1 disagree")


def test_a_page_that_cannot_be_read_costs_its_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    titles = '"Address","Source","inst_executed","memory_l1_wavefronts_shared"'
    good = f'"Kernel Name","k1",\n{titles}\n"0x7f0000000010","LDS R1, [R2]","4","8"\n'
    bad = f'"Kernel Name","k2",\n{titles}\n"0x7f0000000010","LDS R1, ["R2"]","4","8"\n'
    raw = '"ID","Kernel Name","{}","{}"\n"","","",""\n"0","k1","9","1"\n'.format(*random_kernels.TOTALS)
    monkeypatch.setattr(random_kernels, "_run", lambda command, _: raw if "raw" in command else bad + good)
    profiles, totals = pages(tmp_path)
    (profile,) = profiles
    assert (profile.kernel, totals) == ("k1", {"k1": ["9", "1"]})
    (counts,) = (each for _, each in profile.instructions.values())
    assert counts is not None
    assert (counts.executed, counts.wavefronts) == (4, 8)
