"""`swzverify prove --write-test`: what is written, what is said, and what is refused before
anything is proved.
"""

from __future__ import annotations

from pathlib import Path

import pytest


def test_what_is_refuted_is_written_and_told(swzverify, write, specs):
    write({"a.swz.yaml": specs.bad})
    result = swzverify("prove", "a.swz.yaml", "--write-test", "test_a.py")
    assert (result.exit_code, result.stderr) == (1, "wrote 1 test to test_a.py\n")
    assert "def test_A_contiguous() -> None:" in Path("test_a.py").read_text(encoding="utf-8")
    again = swzverify("prove", "a.swz.yaml", "--write-test", "test_a.py", "--quiet")
    assert (again.exit_code, again.stderr) == (1, "")


@pytest.mark.parametrize("spec", ["good", "documented"])
def test_where_nothing_is_refuted_unexpectedly_nothing_is_written(swzverify, write, specs, spec):
    write({"a.swz.yaml": getattr(specs, spec)})
    result = swzverify("prove", "a.swz.yaml", "--write-test", "test_a.py")
    said = "no claim is refuted unexpectedly: test_a.py is not written\n"
    assert (result.exit_code, result.stderr) == (0, said)
    assert not Path("test_a.py").exists()
    write({"a.swz.yaml": specs.bad})
    swzverify("prove", "a.swz.yaml", "--write-test", "test_a.py")
    before = Path("test_a.py").read_text(encoding="utf-8")
    write({"a.swz.yaml": getattr(specs, spec)})
    result = swzverify("prove", "a.swz.yaml", "--write-test", "test_a.py")
    assert result.stderr == said.replace("not written", "left as it is")
    assert Path("test_a.py").read_text(encoding="utf-8") == before


@pytest.mark.nightly
def test_in_several_processes_too(swzverify, write, specs):
    write({f"{name}.swz.yaml": specs.bad for name in "ab"})
    result = swzverify("prove", ".", "-j", "2", "--write-test", "test_a.py")
    assert result.stderr == "wrote 2 tests to test_a.py\n"
    text = Path("test_a.py").read_text(encoding="utf-8")
    assert "def test_A_contiguous() -> None:" in text
    assert "def test_A_contiguous_2() -> None:" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--write-test", "tests.txt"], "is no Python file"),
        (["--write-test", "no/such/test_a.py"], "there is no folder"),
        (["--write-test", "test_mine.py"], "was not written by --write-test; name another file"),
        (["--write-test", "x.py", "--output", "./x.py"], "is the file of --output too"),
        (["--write-test", "x.py", "--report", "json=x.py"], "is the file of --write-test too"),
        (["--write-test", "x.py", "--write-baseline", "x.py"], "is the file of --write-baseline too"),
        (["--write-test", "contract.py"], "is one of the files to read"),
    ],
)
def test_files_that_cannot_be(swzverify, write, specs, answers, arguments, said):
    contract = "".join(f"# {line}\n" for line in ["swz:begin", *specs.good.splitlines(), "swz:end"])
    write({"a.swz.yaml": specs.good, "test_mine.py": "x = 1\n", "contract.py": contract})
    seen = answers()
    result = swzverify("prove", "a.swz.yaml", "contract.py", *arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert seen == []
    assert Path("test_mine.py").read_text(encoding="utf-8") == "x = 1\n"
