"""Operands of `tcgen05.mma`: the fields of both descriptors, and the claims on them, with planted mistakes."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any
from unittest import mock

import pytest

from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import Given, ScannedOperand, ScannedStage, scan_function
from swzverify.compiled.scan.operands import DOCUMENTED, SEVERAL, scan_operands_and_stages
from swzverify.compiled.scan.races import races_of
from swzverify.errors import SwzError
from swzverify.hardware.instruction_descriptors import kind_of, read_instruction_descriptor
from swzverify.hardware.tensor_cores import FIELDS, Family, OperandRole
from tests.oracle.operands import WIDTHS, Operand
from tests.scan.tensor_programs import MAPS, MODES, Tensor, high, shape

fields: Any = import_module("swzverify.compiled.scan.operand_fields")
claims: Any = import_module("swzverify.compiled.scan.operand_claims")
offsets: Any = import_module("swzverify.compiled.scan.operand_offsets")
rows: Any = import_module("swzverify.compiled.scan.operands")
descriptors: Any = import_module("swzverify.hardware.instruction_descriptors")
memory: Any = import_module("swzverify.compiled.kernel.tensor_memory")
KIND = "tcgen05.mma.cta_group::1.kind::"


def scan(program: Tensor, maps: tuple[str, ...] = MAPS) -> tuple[list[ScannedOperand], list[ScannedStage]]:
    module = read_module(program.text, "k.ptx")
    return scan_operands_and_stages(module, module.functions[0], None, Given(tensor_maps=maps), None)


def verdicts(program: Tensor, kind: str, maps: tuple[str, ...] = MAPS) -> Counter[str]:
    return Counter(each.claim(kind).verdict.value for each in scan(program, maps)[0])


def check_right() -> None:
    found, (stage,) = scan(Tensor())
    assert [(each.fields.role, each.fields.start) for each in found[:2]] == [("A", "tile"), ("B", "tile + 16384")]
    assert {each.fields.shape for each in found} == {"m128n64k16.bf16"}
    assert all(not each.fields.unknown for each in found)
    assert {claim.verdict.value for each in found for claim in each.claims} == {"proved"}
    assert {DOCUMENTED in each.claim(kind).assumptions for each in found for kind in ("in_bounds", "delivers")} == {
        True
    }
    assert (stage.expects, stage.brings, stage.reads, stage.claim.verdict.value) == (24576, 24576, 24576, "proved")


def test_a_right_kernel_is_proved() -> None:
    check_right()


# ---- planted mistakes in kernels

WRONG: dict[str, tuple[Tensor, str, dict[str, int]]] = {
    "LBO and SBO swapped": (Tensor(a=high(1024, 16)), "delivers", {"refuted": 4, "unknown": 4}),
    "another mode": (Tensor(a=high(mode=MODES["none"])), "delivers", {"refuted": 4, "unknown": 4}),
    "a mode without a rule": (Tensor(a=high(mode=3)), "delivers", {"unknown": 8}),
    "A is MN-major": (Tensor(shape=shape(majors=(1, 0))), "delivers", {"refuted": 4, "unknown": 4}),
    "B is MN-major": (Tensor(shape=shape(majors=(0, 1))), "delivers", {"refuted": 2, "unknown": 6}),
    "N is too great": (Tensor(shape=shape(n=128)), "in_bounds", {"proved": 4, "refuted": 4}),
    "N does not exist": (Tensor(shape=shape(n=72)), "in_bounds", {"unknown": 8}),
    "a step along K of A": (Tensor(steps=(16, 32)), "delivers", {"proved": 2, "refuted": 6}),
    "a step along K of A and B": (Tensor(steps=(16, 16)), "delivers", {"proved": 2, "refuted": 6}),
    "no step along K": (Tensor(steps=(0, 0)), "delivers", {"proved": 2, "refuted": 6}),
    "the same columns in each trip": (Tensor(ks=("0", "0")), "delivers", {"unknown": 8}),
    "other columns of B": (Tensor(ks=("%r10", "%r12")), "delivers", {"unknown": 8}),
    "a start past the end": (Tensor(starts=(0, 24576)), "in_bounds", {"proved": 4, "refuted": 4}),
    "a base offset": (Tensor(a=high(base_offset=1)), "delivers", {"unknown": 8}),
    "version 0": (Tensor(a=high(version=0)), "reserved_bits", {"proved": 4, "refuted": 4}),
    "version 0, in bounds": (Tensor(a=high(version=0)), "in_bounds", {"proved": 4, "unknown": 4}),
    "version 0, delivered": (Tensor(a=high(version=0)), "delivers", {"unknown": 8}),
    "LBO as an address": (Tensor(a=high() | 1 << 52), "delivers", {"unknown": 8}),
    "bit 60": (Tensor(b=high() | 1 << 60), "reserved_bits", {"proved": 4, "refuted": 4}),
    "a sparse product": (Tensor(shape=shape() | 4), "delivers", {"unknown": 8}),
    "no lane is elected": (Tensor(elect=""), "delivers", {"unknown": 8}),
    "two warps": (Tensor(warps=2), "delivers", {"unknown": 8}),
    "half a warp elects": (Tensor(elect="elect.sync %r40|%p2, 65535; @!%p2 bra DONE;"), "delivers", {"unknown": 8}),
    "a shape that changes": (Tensor(inside="xor.b32 %r3, %r3, 131072;"), "in_bounds", {"unknown": 8}),
    "a shape of a parameter": (Tensor(before="ld.param.u32 %r3, [n];"), "in_bounds", {"unknown": 8}),
}


@pytest.mark.parametrize("name", WRONG)
def test_mistakes_in_kernels_are_found(name: str) -> None:
    program, kind, expected = WRONG[name]
    assert verdicts(program, kind) == expected


def test_a_map_of_another_mode_is_found() -> None:
    found = verdicts(Tensor(), "delivers", ("amap=64x128xbf16,none", MAPS[1]))
    assert found == {"refuted": 4, "unknown": 4}


def test_fewer_rows_than_copies_bring_show_in_the_balance() -> None:
    for program, reads in ((Tensor(shape=shape(n=32)), 20480), (Tensor(shape=shape(m=64)), 16384)):
        _, (stage,) = scan(program)
        assert (stage.claim.verdict.value, stage.reads) == ("unknown", reads)
    _, (stage,) = scan(Tensor(announced=16384))
    assert stage.claim.verdict.value == "refuted"


# ---- forms


@pytest.mark.parametrize("rest", ["%p6", "{%r19, %r19, %r19, %r19}, %p6, 2"])
def test_all_forms_are_read(rest: str) -> None:
    assert verdicts(Tensor(rest=rest, first=rest.replace("p6", "p5")), "delivers") == {"proved": 8}


def test_an_operand_in_tensor_memory_is_not_listed() -> None:
    found, _ = scan(Tensor(kind_of_a="[%r20]"))
    assert [each.fields.role for each in found] == ["B"] * 4
    assert {each.claim("delivers").verdict.value for each in found} == {"proved"}


@pytest.mark.parametrize(
    ("kind", "types", "element"),
    [("f16", (0, 0), "f16"), ("tf32", (2, 2), "tf32"), ("f8f6f4", (0, 1), "e4m3"), ("i8", (1, 0), "s8")],
)
def test_types_are_those_of_the_kind(kind: str, types: tuple[int, int], element: str) -> None:
    found, _ = scan(Tensor(opcode=KIND + kind, shape=shape(types=types)))
    assert (found[0].fields.shape or "").rpartition(".")[2] == element


def test_elements_of_four_bits_have_no_rule_and_the_other_operand_has_one() -> None:
    found, _ = scan(Tensor(opcode=f"{KIND}f8f6f4", shape=shape(types=(0, 5))))
    assert [each.fields.shape for each in found[:2]] == ["m128n64k32.e4m3", None]
    found, _ = scan(Tensor(opcode=f"{KIND}tf32", shape=shape(types=(2, 2), majors=(0, 1))))
    assert found[1].claim("in_bounds").reason.startswith("tcgen05.mma.m128n64k8.tf32: no rule for an MN-major operand")


@pytest.mark.parametrize(
    "opcode",
    [
        "tcgen05.mma.cta_group::2.kind::f16",
        f"{KIND}f16.collector::a::use",
        f"{KIND}f16.collector::a::lastuse",
        f"{KIND}mxf8f6f4.block_scale.scale_vec::1X",
        "tcgen05.mma.ws.cta_group::1.kind::f16",
        "tcgen05.mma.sp.cta_group::1.kind::f16",
    ],
)
def test_what_has_no_rule_stays_an_access(opcode: str) -> None:
    program = Tensor(opcode=opcode)
    assert scan(program)[0] == []
    module = read_module(program.text, "k.ptx")
    found = [each for each in scan_function(module, module.functions[0], None) if each.opcode == opcode]
    assert [each.decision.verdict.value for each in found] == ["unknown"] * 4


def test_races_stay_unknown() -> None:
    """The product reads shared memory for some time after the instruction, and no rule orders that yet."""
    body = (
        "mov.u32 %r1, tile; mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 2; add.u32 %r3, %r3, %r1; st.shared.u32 [%r3], %r2; "
        "bar.sync 0; setp.ne.u32 %p1, %r2, 0; @%p1 bra E; PRODUCT E: ret;"
    )
    for product, verdict in ((f"{KIND}f16 [%r4], %rd1, %rd2, %r5, %p1;", "unknown"), ("", "free")):
        text = (
            ".version 8.7 .target sm_100a .address_size 64 .shared .align 1024 .b8 tile[16384]; "
            ".entry k() .reqntid 128 "
            f"{{ .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<3>; {body.replace('PRODUCT', product)} }}"
        )
        module = read_module(text, "k.ptx")
        found = races_of(module, module.functions[0], Given(), target="sm_100a")
        assert found.verdict.value == verdict
        assert (KIND in found.reason) is bool(product)


def test_sums_that_may_be_the_same_are_kept_apart() -> None:
    """In the second kernel, D of some products may be that of others, which add the same columns again."""
    again = Tensor(steps=(0, 0))
    assert verdicts(replace(again, sums=("[%r20]",) * 4), "delivers")["refuted"] == 6
    open_sums = replace(again, sums=("[%r20]", "[%r21]", "[%r20]", "[%r21]"), inside="mov.u32 %r21, %r10;")
    assert verdicts(open_sums, "delivers")["refuted"] == 0
    assert verdicts(open_sums, "delivers")["proved"] <= 2


# ---- the oracle


def span(start: int, mode: str, role: str, given: tuple[int, int], described: tuple[int, int, bool]) -> tuple[int, int]:
    """The first byte that an operand reads, and the one after the last, by the oracle."""
    nothing: Any = None
    count, size, mn_major = described
    read = Operand(role, count, 32 // size, size, mn_major, WIDTHS[mode], *given, 0, nothing, nothing, False, ())
    places = [read.read_at(start, *each) for each in read.elements]
    return min(places), max(places) + size


def check_bounds(count: int = 12) -> None:
    """A verdict on bounds is that of the addresses of all elements."""
    draw = random.Random(20_261_128)
    seen: set[str] = set()
    for _ in range(count):
        mode, majors = draw.choice(list(MODES)), (draw.randrange(2), draw.randrange(2))
        m, n = draw.choice([64, 128]), draw.choice([16, 48, 64, 256])
        given = 16 * draw.randrange(0, 40), 16 * draw.randrange(0, 80)
        bits = high(*given, MODES[mode])
        starts = 16 * draw.randrange(0, 80), 16 * draw.randrange(0, 80)
        ends = [
            span(start, mode, role, given, (of, 2, bool(major)))[1]
            for role, start, of, major in zip("AB", starts, (m, n), majors, strict=True)
        ]
        size = max(ends) - draw.choice([0, 0, 2])
        program = Tensor(
            shape=shape(m, n, majors=majors), a=bits, b=bits, starts=starts, steps=(0, 0), size=size, announced=size
        )
        found = scan(program, ())[0][:2]
        for each, end in zip(found, ends, strict=True):
            seen.add(each.claim("in_bounds").verdict.value)
            assert each.claim("in_bounds").verdict.value == ("proved" if end <= size else "refuted"), program
    assert seen == {"proved", "refuted"}


def test_bounds_are_those_of_all_elements() -> None:
    check_bounds()


@pytest.mark.parametrize("low", range(32))
def test_each_bit_of_an_instruction_descriptor_counts(low: int) -> None:
    """Bits 0 and 1 are not read without sparsity; each other bit changes what is read, or has no rule."""
    right = read_instruction_descriptor("f16", shape())
    try:
        other = read_instruction_descriptor("f16", shape() ^ 1 << low)
    except SwzError:
        assert low in (2, 5, 6, 8, 9, 11, 12, 23, 29, 30, 31)
        return
    assert (other == right) is (low in (0, 1, 3, 4))


def test_a_descriptor_says_shape_and_types() -> None:
    found = read_instruction_descriptor("i8", shape(64, 24, (1, 0), (0, 1)) | 1 << 13)
    assert (found.m, found.n, found.signs) == (64, 24, (-1, 1))
    assert [found.instruction(each).name for each in OperandRole] == [
        "tcgen05.mma.m64n24k32.s8",
        "tcgen05.mma.m64n24k32.u8",
    ]
    assert [kind_of(KIND + each) for each in ("i8", "i8.collector::a::fill", "mxf4", "f16.ashift")] == [
        "i8",
        "i8",
        None,
        None,
    ]


# ---- mistakes in the code


def other_fields(**changes: Any) -> Any:
    wrong = {**FIELDS, Family.TCGEN05: replace(FIELDS[Family.TCGEN05], **changes)}
    return mock.patch.object(fields, "FIELDS", wrong), mock.patch.object(claims, "FIELDS", wrong)


def check_mode() -> None:
    for mode, code in MODES.items():
        assert scan(Tensor(a=high(mode=code)), ())[0][0].fields.swizzle == mode


def check(name: str) -> Callable[[], None]:
    def run() -> None:
        test_mistakes_in_kernels_are_found(name)

    return run


def each_apart(own: Any) -> Any:
    return ((at, (str(at), True)) for at in own._places)


PLANTED: dict[str, tuple[Callable[[], Any], Callable[[], None]]] = {
    "the mode from bits 62 and 63": (lambda: other_fields(swizzle=(62, 2)), check_mode),
    "the version is not looked at": (lambda: other_fields(fixed=0), check_right),
    "bit 52 is not looked at": (lambda: other_fields(absolute=None), check("LBO as an address")),
    "a wrong version has a rule": (
        lambda: (mock.patch.object(rows, "_without_rule", return_value=""),),
        check("version 0, delivered"),
    ),
    "any thread may issue": (
        lambda: (mock.patch.object(rows, "is_issued_once", return_value=True),),
        check("two warps"),
    ),
    "any mask elects": (
        lambda: (mock.patch.object(memory, "_is_of_whole_warps", return_value=True),),
        check("half a warp elects"),
    ),
    "nobody is elected": (
        lambda: (mock.patch.object(rows, "whoever_is_elected", return_value=None),),
        check("a start past the end"),
    ),
    "N in units of 16": (lambda: (mock.patch.object(descriptors, "_N", (18, 5)),), check_right),
    "majors of A and B swapped": (
        lambda: (
            mock.patch.object(descriptors, "_FIRST_BITS", {OperandRole.A: (7, 13, 16), OperandRole.B: (10, 14, 15)}),
        ),
        check("B is MN-major"),
    ),
    "sparsity is not looked at": (lambda: (mock.patch.object(descriptors, "_ZERO", ()),), check("a sparse product")),
    "all sums are kept apart": (
        lambda: (mock.patch.object(memory.TensorSums, "_classes", each_apart),),
        check("no step along K"),
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_mistakes_are_found(name: str) -> None:
    plant, run = PLANTED[name]
    patches = plant()
    for each in patches:
        each.start()
    try:
        with pytest.raises(AssertionError):
            run()
    finally:
        for each in patches:
            each.stop()


def test_several_threads_are_named() -> None:
    assert {each.claim("delivers").reason for each in scan(Tensor(elect=""))[0]} == {SEVERAL}


@pytest.mark.parametrize("other", ["tcgen05.st.sync.aligned.32x32b.x1.b32 [%r20], {%r19};", None])
def test_other_threads_may_start_sums_anew_where_one_waits_for_them(other: str | None) -> None:
    """The columns come twice, but threads between two barriers may have set the sums to 0 before."""
    program = Tensor(
        steps=(0, 0), warps=2, elect="setp.ge.u32 %p2, %r7, 32; @%p2 bra OTHER; setp.ne.u32 %p2, %r7, 0; @%p2 bra DONE;"
    )
    text = program.text
    for enable in ("%p5;", "%p6;"):
        text = text.replace(f"}}, {enable}", f"}}, {enable} barrier.sync 1, 64; barrier.sync 2, 64;")
    write = other or "setp.ne.u32 %p9, %r7, 32; @!%p9 bra M; bra N; M: " + (
        f"{program.opcode} [%r20], %rd7, %rd8, %r3, {{%r19, %r19, %r19, %r19}}, %p8; N:"
    )
    text = text.replace(
        "DONE: ret;",
        "bra DONE; OTHER: setp.ne.u32 %p8, %r19, 0; mov.u64 %rd7, 0; mov.u64 %rd8, 0;\n"
        "mov.u32 %r50, 0; shl.b32 %r51, %r1, 2;\n"
        f"O: barrier.sync 1, 64; {write}\n"
        "barrier.sync 2, 64; add.u32 %r50, %r50, 1; setp.lt.u32 %p9, %r50, %r51; @%p9 bra O;\nDONE: ret;",
    )
    module = read_module(text, "k.ptx")
    found, _ = scan_operands_and_stages(module, module.functions[0], None, Given(tensor_maps=MAPS), None)
    assert "refuted" not in {each.claim("delivers").verdict.value for each in found}


@pytest.mark.parametrize("is_waited_for", [False, True])
def test_other_threads_may_start_the_sums_of_a_trip_anew(is_waited_for: bool) -> None:
    text = Tensor(
        inside="shl.b32 %r13, %r10, 1;", ks=("%r10", "%r13"), elect="setp.ne.u32 %p2, %r7, 0; @%p2 bra DONE;"
    ).text
    if is_waited_for:
        text = text.replace("@%p1 bra DONE;", "@%p1 bra OTHER;").replace(
            "DONE: ret;",
            "bra DONE; OTHER: setp.gt.u32 %p8, %r41, 1; @%p8 bra DONE; mov.u32 %r50, 0;\n"
            "O: barrier.sync 1, 64; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r20], {%r19}; barrier.sync 2, 64;\n"
            "add.u32 %r50, %r50, 1; setp.lt.u32 %p9, %r50, %r1; @%p9 bra O;\nDONE: ret;",
        )
        text = text.replace("L: ", "L: barrier.sync 1, 64; barrier.sync 2, 64; ")
    for old, new in (("%p5;", "%p6;"), ("@!%p7 bra W;", ""), ("@!%p7 bra V;", "")):
        text = text.replace(old, new)
    module = read_module(text, "k.ptx")
    found, _ = scan_operands_and_stages(module, module.functions[0], None, Given(tensor_maps=MAPS), None)
    assert ("refuted" in {each.claim("delivers").verdict.value for each in found}) is not is_waited_for
