"""`assert_scan_free`: what it takes, and how it fails."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace

import pytest

from swzverify.errors import SwzError
from swzverify.testing import assert_scan_free
from tests.kernel.texts import TOP
from tests.profiler.fake_ncu import ncu
from tests.profiler.recorded import DATA as RECORDED
from tests.profiler.recorded import MIXED, cubin
from tests.scan.texts import DATA, SKEWED, strided, text_of

FREE, TWO = text_of(strided(4)), text_of(".loc 1 7 3\n" + strided(8)) + '\n.file 1 "k.cu"\n'
LOADED = "ld.param.u64 %d4, [q]; mul.wide.u32 %d5, %r1, 4; add.u64 %d1, %d4, %d5; "
ATOMIC = "atom.shared.cas.b16 %h1, [%r3], %h1, %h2;"


def test_free() -> None:
    (found,) = assert_scan_free(FREE, block=64)
    assert (found.decision.verdict.value, found.block) == ("free", (64, 1, 1))


def failing(code: object, **words: object) -> str:
    with pytest.raises(AssertionError) as caught:
        assert_scan_free(code, block=64, **words)  # type: ignore[arg-type]
    return str(caught.value)


def test_the_message_has_the_place_the_verdict_and_the_lanes() -> None:
    lines = failing(TWO).splitlines()
    assert lines[0] == "1 of 1 accesses are not free of bank conflicts: 1 conflict"
    assert lines[2].split()[:5] == ["k.cu:7", "7", "conflict:", "2-way", "k:"]
    assert sum(line.endswith("  x") for line in lines) >= 2


def test_a_conflict_of_some_values_fails() -> None:
    assert "1 depends" in failing(text_of(SKEWED))
    assert assert_scan_free(text_of(SKEWED), block=64, assume=["n % 2 == 1"])
    assert assert_scan_free(text_of(SKEWED), block=64, parameters={"n": 33})
    assert "1 conflict" in failing(text_of(SKEWED), parameters={"n": 2})


@pytest.mark.parametrize("allowed", [7, "k.cu:7", "ld.shared.u32", "ld.shared", "ld"])
def test_what_may_conflict(allowed: int | str) -> None:
    assert_scan_free(TWO, block=64, allow=[allowed])
    other = text_of("\n\n" + strided(4, "st.shared.u32 [%r20], %r1;"))
    assert "allowed, but there is no such access" in failing(other, allow=[allowed])


@pytest.mark.parametrize("allowed", [8, "k.cu:8", "ld.shared.u", "st", "u.cu:7", ""])
def test_what_is_allowed_has_to_fit(allowed: int | str) -> None:
    message = failing(TWO, allow=[allowed])
    assert "1 conflict" in message
    assert f"there is no such access: {allowed!r}" in message


def test_wavefronts() -> None:
    assert_scan_free(TWO, block=64, at_most=2)
    assert "1 conflict" in failing(TWO, at_most=1)
    # A bound from below is none from above.
    assert "1 depends" in failing(text_of(SKEWED), at_most=32)


def test_unknown_fails() -> None:
    for body in (DATA, ATOMIC):
        # A trial ends before the access: nobody knows the clock.
        unknown = f"mov.u32 %r50, %clock; setp.eq.u32 %p9, %r50, 0; @%p9 bra E;{LOADED}{body}E: "
        assert "1 unknown" in failing(text_of(unknown))
        assert_scan_free(text_of(unknown), block=64, allow_unknown=True)


def test_a_conflict_of_a_trial_fails() -> None:
    assert "1 conflict" in failing(text_of(LOADED + DATA), allow_unknown=True)
    assert "1 conflict" in failing(TWO, allow_unknown=True)


def test_without_a_block_nothing_is_shown() -> None:
    """A kernel that reads x alone is free in blocks of one dimension, and need not be in 48,2,1."""
    with pytest.raises(AssertionError, match="judged for blocks of one dimension, N,1,1 alone: give block"):
        assert_scan_free(FREE)
    with pytest.raises(AssertionError, match="1 conflict"):
        assert_scan_free(FREE, block=(48, 2, 1))
    with pytest.raises(AssertionError, match="give --block"):
        assert_scan_free(text_of("mov.u32 %r4, %tid.y; add.u32 %r1, %r1, %r4; " + strided(4)))
    assert_scan_free(FREE, allow_unknown=True)
    assert_scan_free(FREE, allow=["ld.shared"])


def test_nothing_to_look_at_is_no_success() -> None:
    assert "no access to shared memory found" in failing(text_of(""))
    assert "no access to shared memory found" in failing(text_of(""), allow_unknown=True)


def test_what_cannot_be_read_fails() -> None:
    text = FREE + "\n.shared .b8 x[;\n"
    assert "cannot be read" in failing(text)


def test_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "k.ptx").write_text(FREE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path / "k.ptx", "k.ptx"):
        assert assert_scan_free(path, block=(64,))
    with pytest.raises(SwzError, match="SWZ531"):
        assert_scan_free("none.ptx", block=64)


# ---- what Triton compiles

Metadata = namedtuple("Metadata", "num_warps name target")
TARGET = SimpleNamespace(backend="cuda", arch=80, warp_size=32)


def compiled(text: str | bytes, warps: int = 2) -> SimpleNamespace:
    return SimpleNamespace(asm={"ptx": text, "cubin": b""}, metadata=Metadata(warps, "matmul", TARGET))


def test_a_compiled_kernel_says_its_block() -> None:
    for text in (FREE, FREE.encode()):
        (found,) = assert_scan_free(compiled(text))
        assert found.block == (64, 1, 1)
    (found,) = assert_scan_free(compiled(FREE), block=(8, 8))
    assert found.block == (8, 8, 1)
    (found,) = assert_scan_free(SimpleNamespace(asm={"ptx": FREE}, metadata={"num_warps": 1}))
    assert found.block == (32, 1, 1)


def test_a_compiled_kernel_says_its_target() -> None:
    """stmatrix is of sm_90 on: metadata that say sm_80 count."""
    body = "shl.b32 %r20, %r1, 4; add.u32 %r20, %r20, %r3; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r20], {%r1};"
    with pytest.raises(AssertionError, match="target sm_80 has no stmatrix"):
        assert_scan_free(compiled(text_of(body), 1))
    assert assert_scan_free(compiled(text_of(body), 1), target="sm_90")


def test_reqntid_wins() -> None:
    text = FREE.replace("param .u64 q)", "param .u64 q) .reqntid 32")
    (found,) = assert_scan_free(compiled(text))
    assert found.block == (32, 1, 1)


@pytest.mark.parametrize("code", [None, 3, b"", SimpleNamespace(asm={"cubin": b""}), SimpleNamespace(asm=3), object()])
def test_what_is_nothing_to_scan(code: object) -> None:
    with pytest.raises(SwzError, match="SWZ809"):
        assert_scan_free(code)


@pytest.mark.parametrize("block", [0, -1, (), (1, 2, 3, 4), (2048,), (1, 1, 65), (1.5,), "64", True])
def test_a_block_that_is_none(block: object) -> None:
    with pytest.raises(SwzError, match="SWZ803"):
        assert_scan_free(FREE, block=block)  # type: ignore[arg-type]


def test_mistakes_in_what_is_given() -> None:
    with pytest.raises(SwzError, match="SWZ551: no kernel is called kk"):
        assert_scan_free(FREE, kernel="kk")
    with pytest.raises(SwzError, match="SWZ551"):
        assert_scan_free(FREE, parameters={"m": 1})
    with pytest.raises(SwzError, match="SWZ552"):
        assert_scan_free(FREE, assume=["n != n"])
    with pytest.raises(SwzError, match="SWZ803"):
        assert_scan_free(FREE, allow=[3.5])  # type: ignore[list-item]
    for align in (0, 3, 2048):
        with pytest.raises(SwzError, match="SWZ803: smem_align"):
            assert_scan_free(FREE, smem_align=align)
    with pytest.raises(SwzError, match="SWZ531"):
        assert_scan_free("x " + TOP)


class TestOnTheChip:
    """ptxas merged four loads of `mixed` into wide ones, which are free."""

    TEXT = (RECORDED / "checked.ptx").read_text(encoding="utf-8")

    @pytest.fixture
    def compiled(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
        ncu(monkeypatch, tmp_path)  # brings the nvdisasm of the recording
        return SimpleNamespace(asm={"ptx": self.TEXT, "cubin": cubin()}, metadata=None)

    def test_what_was_merged_is_free(self, compiled: SimpleNamespace) -> None:
        words = {"kernel": MIXED, "block": 64, "allow": [539, 564, 571, 579], "allow_unknown": True}
        with pytest.raises(AssertionError) as caught:
            assert_scan_free(compiled, **words)
        assert "4 of 16 accesses" in str(caught.value)
        found = assert_scan_free(compiled, **words, on_chip=True)
        assert {each.line for each in found if each.decision.verdict is not each.settled.verdict} >= {
            443,
            446,
            449,
            452,
        }

    def test_what_the_chip_refutes_fails(self, compiled: SimpleNamespace) -> None:
        with pytest.raises(AssertionError) as caught:
            assert_scan_free(compiled, kernel=MIXED, block=64, on_chip=True)
        assert "3 conflict" in str(caught.value)

    def test_code_of_another_text_does_not_count(self, compiled: SimpleNamespace) -> None:
        compiled.asm["ptx"] = self.TEXT.replace("mixed", "other")
        with pytest.raises(SwzError, match=r"SWZ810: .*not made of this PTX text"):
            assert_scan_free(compiled, kernel="other", block=64, on_chip=True)

    def test_without_machine_code(self) -> None:
        with pytest.raises(SwzError, match="SWZ810: on_chip: the PTX text is not judged"):
            assert_scan_free(FREE, block=64, on_chip=True)
