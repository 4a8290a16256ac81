"""The example whose contract is compared with what nvcc makes of the kernel."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "compiled"
NVCC = shutil.which("nvcc")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = Path(shutil.copytree(FOLDER, tmp_path / "compiled"))
    (found / "build").mkdir(exist_ok=True)
    return found


def proved(folder: Path) -> dict[str, str]:
    """The verdict on each pair that is compared."""
    assert NVCC is not None
    command = [NVCC, "-ptx", "-lineinfo", "-arch=sm_90", "rows.cu", "-o", "build/rows.ptx"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    words = [sys.executable, "-m", "swzverify", "prove", "rows.cu", "--no-cures", "--format", "json"]
    done = subprocess.run(words, cwd=folder, check=False, capture_output=True, text=True)
    results = json.loads(done.stdout)["claims"]
    return {each["subject"]: each["verdict"] for each in results if each["kind"] == "equivalent"}


@pytest.mark.skipif(NVCC is None, reason="needs nvcc")
@pytest.mark.parametrize(
    ("before", "after", "wrong"),
    [
        ("", "", ()),
        ("chunk ^ row % CHUNKS", "chunk ^ row % 4", ("write_in_code,write",)),
        ("k * 2 +", "k * 2 ^", ()),
        ("^ r % CHUNKS", "^ r / 2 % CHUNKS", ("read_in_code,read",)),
    ],
    ids=["as it is", "another swizzle", "the same in other words", "another row"],
)
def test_the_kernel_is_compared(folder: Path, before: str, after: str, wrong: tuple[str, ...]) -> None:
    source = folder / "rows.cu"
    text = source.read_text()
    assert before in text
    source.write_text(text.replace(before, after))
    found = proved(folder)
    assert len(found) == 2
    assert {name for name, verdict in found.items() if verdict != "proved"} == set(wrong)
    assert set(found.values()) <= {"proved", "refuted"}


def test_without_the_ptx_the_contract_says_what_is_missing(folder: Path) -> None:
    words = [sys.executable, "-m", "swzverify", "prove", "rows.cu"]
    done = subprocess.run(words, cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "build it first" in done.stderr
