"""Certificates of a run in several processes: the one that hands out the work loads no prover for them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
from swzrecheck.folder import prepare
from swzverify.apps.run.run import run_specs
from swzverify.apps.options.prove import Settings

if __name__ == "__main__":
    prepare("certificates")
    report = run_specs(["a.swz.yaml", "b.swz.yaml"], Settings(jobs=2, certificates="certificates"))
    assert report.exit_code == 0, report
    heavy = {"z3", "numpy", "pydantic", "swzverify.prover.judgement"} & set(sys.modules)
    assert not heavy, heavy
"""
SPEC = """
swzverify: 1
target: sm_90
tiles: {A: {element: f32, layout: "(8,8):(8,1)"}}
claims: [{injective: A}]
"""


def test_the_process_that_hands_out_the_work_loads_no_prover(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.swz.yaml").write_text(SPEC)
    (tmp_path / "run.py").write_text(SCRIPT)
    run = subprocess.run([sys.executable, "run.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert len(list((tmp_path / "certificates" / "claims").iterdir())) == 2
