"""The shipped recording of an H200: it speaks of the library as it is, and its pictures are drawn
from the layouts.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

from swzverify.gpu.recording import digest, load_recording
from swzverify.spec import load_spec
from swzverify.subjects import Access

ROOT = Path(__file__).parent.parent.parent
FILE = ROOT / "specs" / "recordings" / "nvidia_h200.json"


def accesses() -> dict[str, Access]:
    found: dict[str, Access] = {}
    for file in sorted((ROOT / "specs").rglob("*.swz.yaml")):
        for claim in load_spec(str(file)).claims:
            for field in dataclasses.fields(claim.claim):
                value = getattr(claim.claim, field.name)
                if isinstance(value, Access):
                    found[digest(value)] = value
    return found


def test_it_speaks_of_every_claim_and_access() -> None:
    recording = load_recording(FILE)
    known = accesses()
    assert set(recording.subjects) <= set(known), "an access has changed: record it again"
    assert all(subject.agrees for subject in recording.subjects.values())
    assert all(subject.cost is None or subject.cost.agrees for subject in recording.subjects.values())
    claims = [
        claim.id.replace(str(ROOT) + "/", "")
        for file in sorted((ROOT / "specs").rglob("*.swz.yaml"))
        for claim in load_spec(str(file)).claims
    ]
    assert sorted(claim.id for claim in recording.claims) == sorted(claims)
    assert sum(claim.agrees is True for claim in recording.claims) == 1226
    assert not any(claim.agrees is False for claim in recording.claims)


def test_prove_names_the_device() -> None:
    command = [
        sys.executable,
        "-m",
        "swzverify",
        "prove",
        "specs/published/lei_mao_f64_columns.swz.yaml",
        "--format",
        "json",
    ]
    done = subprocess.run([*command, "--recording", str(FILE)], capture_output=True, text=True, check=True, cwd=ROOT)
    costs = [claim for claim in json.loads(done.stdout)["claims"] if claim["kind"] in ("conflict_free", "wavefronts")]
    assert len(costs) == 8
    assert {claim["evidence"] for claim in costs} == {"measured on NVIDIA H200"}
