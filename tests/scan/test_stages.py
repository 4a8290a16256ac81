"""What barrier objects expect, what copies bring and what operands read, against sets of bytes."""

import json
import random
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from click.testing import CliRunner

from swzverify.apps.cli import main
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import Given, ScannedStage, scan_operands_and_stages
from tests.oracle.operands import WIDTHS, Operand
from tests.scan.test_operands import CODES, F16, SUMS, high, make, text

stages: Any = import_module("swzverify.compiled.scan.stages")

TENSOR = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
BULK = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
ARRAYS = ".shared .align 128 .b8 tile[65536]; .shared .align 8 .b64 full[8];"
PARAMS = ".param .u64 map, .param .u32 n"
HEAD = "mov.u32 %r2, full; ld.param.u64 %rd9, [map]; ld.param.u32 %r20, [n]; mov.u32 %r3, %tid.x;"


def expect(count: int | str, barrier: str = "%r2") -> str:
    return f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [{barrier}], {count};"


def tensor(place: str, barrier: str = "%r2") -> str:
    return f"{TENSOR} [{place}], [%rd9, {{%r20, %r20}}], [{barrier}];"


def bulk(place: str, count: int | str, barrier: str = "%r2") -> str:
    return f"{BULK} [{place}], [%rd9], {count}, [{barrier}];"


def producer(body: str) -> str:
    """What one thread does."""
    return f"setp.ne.u32 %p1, %r3, 0; @%p1 bra Q; {body} Q:"


def scan(body: str, reads: str = "", arrays: str = ARRAYS) -> list[ScannedStage]:
    reads = reads or read((0, 2048))
    module = read_module(text(f"{HEAD} {body} {reads}", arrays, PARAMS), "k.ptx")
    return scan_operands_and_stages(module, module.functions[0], (128, 1, 1), Given(), None)[1]


def read(starts: Sequence[int], mode: str = "32B", sbo: int = 256, flags: str = "0, 0", lbo: int = 16) -> str:
    """Products whose A and B begin at these bytes of the array."""
    found = ""
    for at in range(0, len(starts), 2):
        for register in (1, 2):
            found += f"add.u32 %r9, %r1, {starts[at + register - 1]};" + make(register, "%r9", high(lbo, sbo, mode))
        found += f"{F16} {SUMS}, %rd1, %rd2, %p3, 1, 1, {flags};"
    return found


def only(body: str, reads: str = "") -> ScannedStage:
    (found,) = scan(producer(body), reads)
    return found


def check_reads(seeds: range = range(12)) -> None:
    """The bytes of a stage that are read are those of all elements, wherever the array begins."""
    for seed in seeds:
        draw = random.Random(seed)
        mode, flag = draw.choice([*CODES]), draw.choice((0, 1))
        lbo, sbo = 16 * draw.randrange(1, 60), 16 * draw.randrange(1, 90)
        starts = [16 * draw.randrange(1024) for _ in range(2 * draw.choice((1, 2, 3)))]
        ends = sorted({128 * draw.randrange(200) for _ in range(draw.choice((1, 2, 3)))})
        body = expect(4096) + "".join(f"add.u32 %r{10 + at}, %r1, {end};" for at, end in enumerate(ends))
        body += "".join(tensor(f"%r{10 + at}") for at in range(len(ends)))
        stage = only(body, read(starts, mode, sbo, f"{flag}, {flag}", lbo))
        nothing: Any = None
        for begin in (1024, 1152, 1664):
            places: set[int] = set()
            for at, start in enumerate(starts):
                shape = (8 if at % 2 else 64, 16, 2, flag == 1, WIDTHS[mode])
                role = "B" if at % 2 else "A"
                one = Operand(role, *shape, lbo, sbo, 0, base=nothing, tile=nothing, k_first=True, runs=())
                places |= {one.read_at(begin + start, *each) + byte for each in one.elements for byte in (0, 1)}
            inside = sum(place >= begin + ends[0] for place in places)
            assert stage.reads == inside, (seed, mode, flag, lbo, sbo, starts, ends, begin)
        assert stage.claim.verdict == ("proved" if stage.reads == 4096 else "unknown")


def test_the_bytes_of_a_stage_are_those_of_all_elements() -> None:
    check_reads()


@pytest.mark.nightly
def test_the_bytes_of_many_stages() -> None:
    check_reads(range(12, 300))


def pipeline(step: int = 4096, count: int = 2304, steps: Sequence[int] = (0, 2048)) -> list[ScannedStage]:
    """Three stages of a tile of A and one of B, with a barrier object each, in a loop of unknown length."""
    wrap = "add.u32 %r10, %r10, 1; setp.eq.u32 %p2, %r10, 3; selp.b32 %r10, 0, %r10, %p2;"
    places = f"mul.lo.u32 %r12, %r10, {step}; add.u32 %r12, %r12, %r1; add.u32 %r13, %r12, 2048;"
    places += "mul.lo.u32 %r14, %r10, 8; add.u32 %r14, %r14, %r2;"
    fill = expect(count, "%r14") + tensor("%r12", "%r14") + tensor("%r13", "%r14")
    use = "".join(
        f"add.u32 %r9, %r12, {at};" + make(register, "%r9", high(16, 256, "32B"))
        for register, at in zip((1, 2), steps, strict=True)
    )

    def loop(name: str, body: str) -> str:
        head = f"mov.u32 %r10, 0; mov.u32 %r11, 0; {name}: {places}"
        return f"{head} {body} {wrap} add.u32 %r11, %r11, 1; setp.lt.u32 %p2, %r11, %r20; @%p2 bra {name};"

    consumer = loop("C", use + f"{F16} {SUMS}, %rd1, %rd2, %p3, 1, 1, 0, 0;")
    return scan(producer(loop("P", fill)) + consumer, " ")


def test_a_pipeline_is_in_balance() -> None:
    (stage,) = pipeline()
    assert (stage.expects, stage.reads, stage.brings, len(stage.copies)) == (2304, 2304, None, 2)
    assert stage.claim.verdict == "proved"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"count": 4096}, "operands can read 2304 of the 4096 bytes that the barrier object expects"),
        ({"steps": (16, 2048)}, "operands can read"),
        ({"step": 2048}, "operands can read"),
    ],
)
def test_mistakes_in_a_pipeline(changed: dict[str, Any], reason: str) -> None:
    """A start that is 16 bytes late leaves bytes out; stages that overlap have fewer bytes each."""
    (stage,) = pipeline(**changed)
    assert stage.claim.verdict == "unknown"
    assert reason in stage.claim.reason


def check_brings() -> None:
    """Copies with known bytes decide by themselves."""
    plain = only(expect(2304) + bulk("%r1", 2048) + bulk("%r1+2048", 256))
    assert (plain.brings, plain.reads, plain.claim.verdict) == (2304, 2304, "proved")
    more = only(expect(4096) + bulk("%r1", 2048) + bulk("%r1+2048", 256))
    assert (more.brings, more.claim.verdict) == (2304, "refuted")
    assert more.claim.reason == "copies bring 2304 bytes, and the barrier object expects 4096"


def test_copies_with_known_bytes() -> None:
    check_brings()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (expect(4096) + bulk("%r1", 2048) + "@%p2 " + bulk("%r1+2048", 2048), "brings bytes to a barrier object"),
        (expect(4096) + bulk("%r1", 2048) + "W: " + bulk("%r1+2048", 2048), "brings bytes to a barrier object"),
        (expect(4096) + bulk("%r1", 2048) + bulk("%r1+2048", 2048, "%r20"), "brings bytes to a barrier object"),
        (expect(4096) + bulk("%r1", 2048) + "W: " + expect(2048) + bulk("%r1+2048", 4096), "may make up for it"),
        (expect(4096) + bulk("%r1", 2048) + "W: " + expect("%r20") + bulk("%r1+2048", 9), "may make up for it"),
        (expect(4096) + bulk("%r1", 2048) + "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r2], 9;",
         "line 4 brings bytes"),
        (expect(4096) + bulk("%r1", 2048)
         + f"{BULK}.multicast::cluster [%r1+2048], [%rd9], 2048, [%r2], %r20;", "line 4 brings bytes"),
        (expect(4096) + bulk("%r1", "%r20"), "operands can read 2304"),
        (expect("%r20") + bulk("%r1", 2048), "not a known number"),
        (expect(4096) + tensor("%r1+64"), "a destination is no multiple of 128"),
        (expect(4096) + tensor("%r20"), "a destination is no known number"),
        (expect(4096) + tensor("%r4"), "is not known"),
        (expect(2304) + tensor("%r1") + tensor("%r1+2048") + "W: " + tensor("%r1+4096"), "brings bytes to a barrier"),
        (expect(4096), "no copy beside it names its barrier object"),
    ],
)  # fmt: skip
def test_what_may_be_in_balance_is_unknown(body: str, reason: str) -> None:
    (first, *_) = scan(producer(body))
    assert first.claim.verdict == "unknown", first
    assert reason in first.claim.reason or "is not known" in first.claim.reason, first.claim.reason


def test_a_copy_on_another_barrier_object_elsewhere_does_not_count() -> None:
    body = expect(2304) + tensor("%r1") + tensor("%r1+2048") + "W: " + tensor("%r1+4096", "%r2+8")
    assert only(body).claim.verdict == "proved"
    assert only(body.replace("%r2+8", "%r2")).claim.verdict == "unknown"


def test_of_what_no_thread_executes_nothing_is_refuted() -> None:
    body = f"setp.lt.u32 %p1, %r3, 500; @%p1 bra Q; {expect(4096)} {bulk('%r1', 2048)} Q:"
    (found,) = scan(body)
    assert found.claim.verdict == "unknown"


def test_stages_are_rows(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    body = producer(expect(4096) + bulk("%r1", 2048) + bulk("%r1+2048", 256))
    path.write_text(text(f"{HEAD} {body} {read((0, 2048))}", ARRAYS, PARAMS))
    found = CliRunner().invoke(main, ["scan", str(path), "--block", "128", "--format", "json"]).output
    (row,) = json.loads(found)["stages"]
    assert (row["expects"], row["brings"], row["reads"]) == (4096, 2304, 2304)
    assert (row["balance"]["verdict"], row["kernel"], len(row["copies"])) == ("refuted", "k", 2)
    shown = CliRunner().invoke(main, ["scan", str(path), "--block", "128"]).output
    assert "  balance of 1 barrier expectation: 1 refuted" in shown.splitlines()
    assert "expects 4096 bytes, copies bring 2304, operands can read 2304: balance refuted: copies bring" in shown
    lines = CliRunner().invoke(main, ["scan", str(path), "--block", "128", "--format", "jsonl"]).output.splitlines()
    assert sum(json.loads(line)["type"] == "stage" for line in lines) == 1


RIGHT: Any = stages.OperandRead.chunks
CHUNKS: dict[str, Callable[[Any, int], Any]] = {
    "1024 bytes too far": lambda self, at: RIGHT(self, at) + 64,
    "the offset does not count": lambda self, _: RIGHT(self, 0),
    "the half of the rows": lambda self, at: RIGHT(self, at)[::2],
}


@pytest.mark.parametrize("name", CHUNKS)
def test_mistakes_in_bytes_are_found(name: str) -> None:
    with mock.patch.object(stages.OperandRead, "chunks", CHUNKS[name]), pytest.raises(AssertionError):
        check_reads()


def test_a_copy_on_another_barrier_is_no_part() -> None:
    def takes(self: Any, copy: Any) -> bool:
        return copy.is_known and copy.block == self.transfer.block

    def check() -> None:
        first, second = scan(
            producer(expect(2048) + expect(256, "%r2+8") + bulk("%r1", 2048) + bulk("%r1+2048", 256, "%r2+8"))
        )
        assert (first.brings, second.brings) == (2048, 256)
        assert (first.claim.verdict, second.claim.verdict) == ("proved", "proved")

    check()
    with mock.patch.object(stages._Stage, "takes", takes), pytest.raises(AssertionError):
        check()
