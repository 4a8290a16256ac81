"""`swzverify.scan`: what Python holds is scanned as the command scans files."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace

import pytest

import swzverify
from swzverify.errors import SwzError
from tests.scan.fragment_programs import right
from tests.scan.fragment_programs import text as fragments
from tests.scan.test_command import run
from tests.scan.test_tensor_maps import kernel as tensor_map_kernel
from tests.scan.texts import SKEWED, strided, text_of

BOTH = text_of(strided(8) + SKEWED)


def test_the_report_is_that_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text(BOTH, encoding="utf-8")
    for words, given in (
        (("--block", "64"), {"block": 64}),
        (("--block", "8,8", "--param", "n=33", "--grid", "2"), {"block": (8, 8), "parameters": {"n": 33}, "grid": 2}),
        (
            ("--block", "64", "--assume", "n % 2 == 1", "--lockstep"),
            {"block": 64, "assume": ["n % 2 == 1"], "lockstep": True},
        ),
    ):
        told = run("k.ptx", "--no-suggest", *words).stdout
        for path in ("k.ptx", tmp_path / "k.ptx"):
            found = swzverify.scan(path, **given)
            assert str(found).replace(str(path), "k.ptx") == told.rstrip("\n")
        alike = swzverify.scan(BOTH, **given)
        assert [each.decision.verdict for each in alike.accesses] == [each.decision.verdict for each in found.accesses]
        assert {kernel: races.verdict for kernel, races in alike.races.items()} == {"k": found.races["k"].verdict}


def test_tensor_maps_and_fragments_are_those_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("maps.ptx").write_text(tensor_map_kernel(""), encoding="utf-8")
    Path("mma.ptx").write_text(fragments(right(random.Random(0))), encoding="utf-8")
    box = "maps+64=16x64xf16,32B"
    of_maps = run("maps.ptx", "--no-suggest", "--block", "128", "--tensor-map", box).stdout
    assert str(swzverify.scan("maps.ptx", block=128, tensor_maps=[box])) == of_maps.rstrip("\n")
    assert "the 32B swizzle" in of_maps
    found = swzverify.scan("mma.ptx", fragments=True)
    assert str(found) == run("mma.ptx", "--no-suggest", "--fragments").stdout.rstrip("\n")
    assert found.files[0].operands
    assert not swzverify.scan("mma.ptx").files[0].operands


def test_what_the_cute_dsl_compiled_says_its_block_and_target() -> None:
    body = "shl.b32 %r20, %r1, 4; add.u32 %r20, %r20, %r3; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r20], {%r1};"
    text = text_of(body).replace("param .u64 q)", "param .u64 q) .reqntid 32")
    for target, verdict in (("sm_90a", "free"), ("sm_80", "unknown")):
        compiled = SimpleNamespace(__ptx__=text.replace(".target sm_90", f".target {target}"), function_name="launch")
        (access,) = swzverify.scan(compiled).accesses
        assert (access.block, access.decision.verdict.value) == ((32, 1, 1), verdict)
        assert swzverify.scan(compiled).files[0].name == "launch"
    with pytest.raises(SwzError, match=r"SWZ809: SimpleNamespace has no PTX"):
        swzverify.scan(SimpleNamespace(__ptx__=None))


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"block": 0}, "SWZ803"), ({"grid": (1, 1, 1, 1)}, "SWZ803"), ({"smem_align": 3}, "SWZ803"),
        ({"smem_align": True}, "SWZ105"), ({"parameters": {"m": 1}}, "SWZ551"), ({"kernel": "other"}, "SWZ551"),
        ({"assume": "n > 3"}, "SWZ105"), ({"assume": [3]}, "SWZ105"), ({"assume": 3}, "SWZ105"),
        ({"tensor_maps": "n=16x64xf16"}, "SWZ105"), ({"tensor_maps": [3]}, "SWZ105"), ({"tensor_maps": None}, "SWZ105"),
        ({"counters": 3}, "SWZ544"), ({"counters": "none.csv"}, "SWZ544"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(given: dict[str, object], code: str) -> None:
    with pytest.raises(SwzError, match=code):
        swzverify.scan(BOTH, **{"block": 64, **given})  # type: ignore[arg-type]


def test_what_is_no_code() -> None:
    for code in (None, 3, b"", object(), lambda: None):
        with pytest.raises(SwzError, match="SWZ809"):
            swzverify.scan(code)
    with pytest.raises(SwzError, match="SWZ531"):
        swzverify.scan("none.ptx")
