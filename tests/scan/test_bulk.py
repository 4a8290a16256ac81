"""Claims on bulk copies, asynchronous stores and accesses of a cluster; no rule is known for their conflicts."""

from __future__ import annotations

import json

import pytest

from swzverify.compiled.kernel.listing import OF_MAP
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import ScannedAccess, Verdict
from swzverify.report.scan import ScannedFile, scan_json
from swzverify.report.scan_claims import KIND, report_of
from swzverify.testing.scans import Wanted, conflict_faults
from tests.scan.texts import text_of
from tests.scan.whole import scan_module

IN = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes {}, [%d1], {}, [%r9];"
OUT = "cp.async.bulk.global.shared::cta.bulk_group [%d1], {}, {};"
TENSOR_IN = (
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes {}, [%d1, {{%r1, %r1}}], [%r9];"
)
TENSOR_OUT = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d1, {{%r1, %r1}}], {};"
REDUCE = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1], {}, {};"


def scanned(body: str, outside: str = "", target: str = "sm_90") -> list[ScannedAccess]:
    module = read_module(text_of(body, outside), "k.ptx")
    return scan_module(module, (64, 1, 1), target=target)


def claims(body: str, outside: str = "") -> tuple[str, str]:
    (found,) = scanned(body, outside)
    is_bulk = "bulk" in found.opcode and not found.opcode.startswith("st.")
    assert found.decision.verdict is (Verdict.BULK if is_bulk else Verdict.UNKNOWN)
    assert ("a bulk copy" if is_bulk else "not judged") in found.decision.reason
    return found.aligned.verdict.value, found.in_bounds.verdict.value


@pytest.mark.parametrize("text", [OUT, REDUCE])
@pytest.mark.parametrize(
    ("place", "size", "expected"),
    [
        ("[%r3]", 8192, ("proved", "proved")),
        ("[%r3]", 8208, ("proved", "refuted")),
        ("[%r3+16]", 8176, ("proved", "proved")),
        ("[%r3+16]", 8192, ("proved", "refuted")),
        ("[%r3+8]", 16, ("refuted", "proved")),
        ("[s+4096]", 16, ("proved", "proved")),
        ("[%r3]", "%r2", ("proved", "unknown")),
        ("[%r2]", 16, ("depends", "unknown")),
    ],
)
def test_copies_out_of_shared_memory(text: str, place: str, size: object, expected: tuple[str, str]) -> None:
    assert claims(text.format(place, size)) == expected


@pytest.mark.parametrize(
    ("place", "size", "expected"),
    [
        ("[%r3]", 8192, ("proved", "proved")),
        ("[%r3]", 8208, ("proved", "unknown")),
        ("[%r3+8]", 16, ("refuted", "proved")),
    ],
)
def test_copies_into_shared_memory_may_reach_another_block(place: str, size: int, expected: tuple[str, str]) -> None:
    assert claims(IN.format(place, size)) == expected


def test_a_register_with_a_number_is_a_size() -> None:
    assert claims(f"mov.u32 %r20, 8208; {OUT.format('[%r3]', '%r20')}") == ("proved", "refuted")


@pytest.mark.parametrize("text", [TENSOR_IN, TENSOR_OUT])
@pytest.mark.parametrize(("offset", "verdict"), [(0, "proved"), (128, "proved"), (64, "refuted"), (16, "refuted")])
def test_tensors_begin_at_a_multiple_of_128(text: str, offset: int, verdict: str) -> None:
    large = ".shared .align 1024 .b8 z[4096];\n"
    body = "mov.u32 %r4, z; " + text.format(f"[%r4+{offset}]")
    assert claims(body, large) == (verdict, "unknown")
    (found,) = scanned(text.format("[%r3]"))
    assert (found.aligned.verdict.value, found.aligned.needs) == ("unknown", 128)


def test_one_lane_that_starts_a_copy_is_enough() -> None:
    body = "setp.eq.u32 %p1, %r1, 0; mad.lo.u32 %r20, %r1, 4, %r3; @%p1 {}"
    assert claims(body.format(OUT.format("[%r20]", 8192))) == ("proved", "proved")
    assert claims(body.format(OUT.format("[%r20+4]", 16))) == ("refuted", "proved")


def test_both_ends_of_a_copy_between_blocks_are_judged() -> None:
    body = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3], [%r3+8], 16, [%r9];"
    assert [each.aligned.verdict.value for each in scanned(body)] == ["proved", "refuted"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r20], %r1, [%r9];", ("proved", "proved")),
        (
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%r20], {%r1,%r1}, [%r9];",
            ("refuted", "proved"),
        ),
        (
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%r20], %r1, [%r9];",
            ("proved", "proved"),
        ),
        ("ld.shared::cluster.u32 %r30, [%r20];", ("proved", "proved")),
        ("st.shared::cluster.u64 [%r20], %d1;", ("refuted", "proved")),
        ("ld.shared::cluster.u32 %r30, [%r20+8000];", ("proved", "unknown")),
        ("st.bulk.weak.shared::cta [%r3], 8192, 0;", ("proved", "proved")),
        ("st.bulk.weak.shared::cta [%r3+4], 8192, 0;", ("refuted", "refuted")),
        ("cvt.u64.u32 %d2, %r3; cvta.shared.u64 %d2, %d2; st.bulk.weak [%d2], 8192, 0;", ("proved", "proved")),
        ("cvt.u64.u32 %d2, %r3; cvta.shared.u64 %d2, %d2; st.bulk.weak [%d2+4], 8192, 0;", ("refuted", "refuted")),
    ],
)
def test_what_completes_later_and_what_is_of_a_cluster(text: str, expected: tuple[str, str]) -> None:
    assert claims(f"mad.lo.u32 %r20, %r1, 4, %r3; {text}") == expected


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("m", ("proved", "proved")),
        ("m+128", ("proved", "proved")),
        ("m+256", ("proved", "refuted")),
        ("m+64", ("refuted", "proved")),
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [{}], %d1;",
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [{}], 128;",
    ],
)
def test_tensor_maps_have_no_banks_but_a_place(text: str, place: str, expected: tuple[str, str]) -> None:
    (found,) = scanned(text.format(place), ".shared .align 128 .b8 m[256];\n")
    assert (found.decision.verdict, found.decision.reason) == (Verdict.BULK, OF_MAP)
    assert (found.aligned.verdict.value, found.in_bounds.verdict.value) == expected


def test_a_tensor_map_in_global_memory_is_no_access() -> None:
    assert scanned("tensormap.replace.tile.rank.global.b1024.b32 [%d1], 1;") == []


def test_the_address_of_another_block_is_not_known() -> None:
    assert claims("mapa.shared::cluster.u32 %r20, %r3, 1; ld.shared::cluster.u32 %r30, [%r20];") == (
        "unknown",
        "unknown",
    )


def test_a_bulk_copy_is_no_finding_on_banks_and_json_has_no_verdict_for_it() -> None:
    text = text_of(f"st.shared.u32 [%r3], %r1; {OUT.format('[%r3]', 8192)}")
    file = ScannedFile("k.ptx", tuple(scan_module(read_module(text, "k.ptx"), (64, 1, 1))), {})
    rows = json.loads(scan_json([file]))["accesses"]
    assert [(each["verdict"], each["settled"], each["aligned"]["verdict"]) for each in rows] == [
        ("free", "free", "proved"),
        (None, None, "proved"),
    ]
    kinds = [result.kind for result in report_of([file]).results]
    assert (kinds.count(KIND), kinds.count("aligned")) == (1, 2)
    assert conflict_faults([file], Wanted()) == []
