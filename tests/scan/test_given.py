"""Values and conditions of parameters: what they may settle, and the ways to be wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from swzverify.compiled.ptx import Function, Module, read_module
from swzverify.compiled.scan import Given, ScannedAccess, decide, unknown_names
from swzverify.compiled.scan import given as given_room
from swzverify.errors import SwzError
from tests.kernel.texts import HEAD, TOP
from tests.ptx_oracle import Buffer, run_kernel
from tests.scan.texts import SKEWED, text_of
from tests.scan.whole import scan_module

ODD = "n % 2 == 1"
SIGN = "shr.u32 %r10, %r2, 31; add.u32 %r10, %r10, 1; mul.lo.u32 %r11, %r10, %r1; "
"""%r11 is tid.x, or twice that where the highest bit of n is set."""
BY_SIGN = SIGN + "mad.lo.u32 %r20, %r11, 4, %r3; ld.shared.u32 %r30, [%r20];"


def scanned(text: str, *assumptions: str, parameters: tuple[str, ...] = ()) -> list[ScannedAccess]:
    return scan_module(read_module(text, "k.ptx"), (64, 1, 1), None, "sm_90", Given(parameters, assumptions))


def verdict(body: str, *assumptions: str, parameters: tuple[str, ...] = ()) -> str:
    return scanned(text_of(body), *assumptions, parameters=parameters)[-1].decision.verdict.value


def ways_of(text: str, *parameters: int | Buffer) -> int:
    """What the interpreter sees of the last access, at most."""
    result = run_kernel(text, "k", (64,), params=list(parameters))
    assert not result.error, result.error
    return list(result.by_line().values())[-1].ways


# ---- values


@pytest.mark.parametrize("value", [0, 1, 2, 3, 8, 31, 32, 33, 36, 128, 0x01000000, -1, -32, 2**31, 2**32 - 1])
def test_a_value_gives_what_the_interpreter_sees(value: int) -> None:
    text = text_of(SKEWED)
    (found,) = scanned(text, parameters=(f"n={value}",))
    assert found.decision.ways == ways_of(text, value % 2**32, Buffer(64))
    assert found.assumptions == (f"n = {value}",)


@pytest.mark.parametrize(
    "read",
    [
        "ld.param.u32 %r10, [q];",
        "ld.param.u32 %r10, [q+4];",
        "ld.param.u16 %h1, [q+2]; cvt.u32.u16 %r10, %h1;",
        "ld.param.s8 %r10, [q+7];",
        "ld.param.u8 %r10, [q+5];",
        "ld.param.v2.u32 {%r11, %r10}, [q];",
        "ld.param.u64 %d1, [q]; shr.u64 %d2, %d1, 40; cvt.u32.u64 %r10, %d2;",
        "ld.param.b64 %d1, [q]; mov.b64 {%r11, %r10}, %d1;",
    ],
)
@pytest.mark.parametrize("value", [0x0804_0201_1008_0402, 0xFF03_0005_0007_0020])
def test_the_bytes_of_a_value(read: str, value: int) -> None:
    """Wrong: the order of bytes, the offset, the sign, the place in a vector."""
    text = text_of(f"{read} mul.lo.u32 %r12, %r1, %r10; mad.lo.u32 %r20, %r12, 4, %r3; ld.shared.u32 %r30, [%r20];")
    (found,) = scanned(text, parameters=(f"q={value:#x}",))
    seen = run_kernel(text, "k", (64,), params=[0, value])
    assert found.decision.ways == list(seen.by_line().values())[-1].ways


def test_a_part_of_a_value_is_not_all() -> None:
    """Wrong: bytes beyond a field taken for 0, or a field that counts for whole reads alone."""
    body = "ld.param.u64 %d1, [q]; shr.u64 %d2, %d1, 32; cvt.u32.u64 %r10, %d2;"
    body += "mul.lo.u32 %r12, %r1, %r10; mad.lo.u32 %r20, %r12, 4, %r3; ld.shared.u32 %r30, [%r20];"
    assert verdict(body, parameters=("q+0:4=1",)) == "depends"
    assert verdict(body, parameters=("q+4:4=1",)) == "free"
    assert verdict(body, parameters=("q+4:2=1",)) == "free"  # odd, whatever the upper half is
    assert verdict(body, parameters=("q+4:2=2",)) == "conflict"
    assert verdict(body, parameters=("q+6:2=0",)) == "depends"
    assert verdict(body, parameters=("q+4:2=1", "q+6:2=0")) == "free"
    assert verdict(body.replace("q]", "q+4]").replace("u64 %d1", "u32 %d1").replace(", 32;", ", 0;"),
                   parameters=("q+4:4=1",)) == "free"  # fmt: skip


def test_a_value_is_one_of_kernels_alone() -> None:
    """Wrong: the parameter of a device function of that name."""
    device = (
        ".func f(.param .u32 n) { .reg .b32 %r<9>; mov.u32 %r1, %tid.x; ld.param.u32 %r2, [n]; mov.u32 %r3, s;"
        " mul.lo.u32 %r4, %r1, %r2; mad.lo.u32 %r5, %r4, 4, %r3; ld.shared.u32 %r6, [%r5]; ret; }\n"
    )
    text = TOP + HEAD.split("\n")[0] + "\n" + device + HEAD.split("\n", 1)[1] + SKEWED + "\nret; }"
    found = scanned(text, parameters=("n=1",))
    assert [(each.kernel, each.decision.verdict.value) for each in found] == [
        ("f", found[0].decision.verdict.value),
        ("k", "free"),
    ]
    assert found[0].decision.verdict.value != "free"
    assert [each.decision.verdict.value for each in scanned(text, ODD)] == [found[0].decision.verdict.value, "free"]


@pytest.mark.parametrize("name", ["n", "0", "param0", "arg0"])
def test_names_of_a_parameter(name: str) -> None:
    assert verdict(SKEWED, parameters=(f"{name}=1",)) == "free"
    if not name.isdigit():
        assert verdict(SKEWED, f"{name} % 2 == 1") == "free"


def test_a_parameter_of_that_very_name_wins() -> None:
    text = text_of(SKEWED).replace(".param .u64 q", ".param .u32 param0")
    assert scanned(text, parameters=("param0=1",))[-1].decision.verdict.value == "depends"
    assert scanned(text, parameters=("0=1",))[-1].decision.verdict.value == "free"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("n", "NAME=VALUE"),
        ("n=", "NAME=VALUE"),
        ("n=x", "NAME=VALUE"),
        ("n=1.5", "NAME=VALUE"),
        ("n+1=3", "NAME=VALUE"),
        ("n+1:3=3", "NAME=VALUE"),
        ("n=4294967296", "no number of 32 bits"),
        ("n=-2147483649", "no number of 32 bits"),
        ("n+2:4=1", "has 4 bytes"),
        ("n+99:1=1", "has 4 bytes"),
        ("n=٣", "NAME=VALUE"),
    ],
)
def test_values_that_are_none(text: str, told: str) -> None:
    with pytest.raises(SwzError, match="SWZ551") as caught:
        verdict(SKEWED, parameters=(text,))
    assert told in str(caught.value)


def test_a_parameter_has_one_value() -> None:
    for texts in (("n=1", "n=2"), ("n=1", "0=1"), ("q=1", "q+4:4=1")):
        with pytest.raises(SwzError, match="has a value already"):
            verdict(SKEWED, parameters=texts)
    assert verdict(SKEWED, parameters=("q+0:4=1", "q+4:4=1")) == "depends"


@pytest.mark.parametrize("declared", [".param .f32 n", ".param .align 8 .b8 n[16]", ".param .b8 n[4]"])
def test_a_parameter_that_is_no_integer(declared: str) -> None:
    text = (
        text_of("ld.shared.u32 %r30, [%r3];").replace(".param .u32 n", declared).replace("ld.param.u32 %r2, [n];", "")
    )
    for given in ({"parameters": ("n=1",)}, {}):
        with pytest.raises(SwzError, match="is no integer"):
            scanned(text, *(() if given else (ODD,)), **given)


# ---- conditions


def test_a_condition_settles_what_depends() -> None:
    assert verdict(SKEWED) == "depends"
    assert verdict(SKEWED, ODD) == "free"
    assert verdict(SKEWED, "n % 32 == 0", "0 < n && n < 65536") == "conflict"
    assert verdict(SKEWED, "n % 2 == 0", "0 < n && n < 65536") != "free"
    assert verdict(SKEWED, "q % 2 == 1") == "depends"  # of another parameter


@pytest.mark.parametrize("condition", ["n % 2 == 0 || n == 7", "n % 2 == 0 || n == 1001", "n > 4 && n < 10"])
def test_the_values_that_are_shown_fulfil_the_condition(condition: str) -> None:
    found = scanned(text_of(SKEWED), condition)[-1].decision
    assert found.verdict.value == "depends"
    value = int(found.reason.removeprefix("free for n = ").partition(";")[0])
    assert eval(condition.replace("||", "or").replace("&&", "and"), {"n": value})  # noqa: S307
    assert ways_of(text_of(SKEWED), value, Buffer(64)) == 1


CONDITIONS = (
    ODD, "n % 2 == 0", "n % 4 == 1", "n < 3", "n > 2", "0 < n && n < 32", "n == 33 || n == 35", "n == 5", "n != 1",
    "n / 2 == 4", "(n & 3) == 3", "n * 4 < 100", "n > 5 ? n % 2 : n == 1", "min(n, 7) == n && n % 2", "-8 < n",
    "n >> 1 == 8", "n % 32 == 0", "n == -1", "n <= 0xffffffff",
)  # fmt: skip


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("body", [SKEWED, BY_SIGN], ids=["skewed", "sign"])
def test_no_launch_that_a_condition_allows_contradicts_the_verdict(condition: str, body: str) -> None:
    """Launches that fulfil the condition with or without a sign, in Python's own integers."""
    text = text_of(body)
    python = condition.replace("&&", " and ").replace("||", " or ").replace("/", "//")
    if "?" in python:
        python = "(n % 2) if n > 5 else n == 1"
    values = [*range(70), 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 33, 2**32 - 32, 2**32 - 7, 2**32 - 2, 2**32 - 1]
    allowed = [
        value
        for value in values
        # C's division rounds to 0; these conditions say the same of negative numbers either way.
        if any(eval(python, {"n": number, "min": min}) for number in (value, value - 2**32 * (value >> 31)))  # noqa: S307
    ]
    ways = {ways_of(text, value, Buffer(64)) for value in allowed}
    found = scanned(text, condition)[-1].decision
    match found.verdict.value:
        case "free":
            assert ways <= {1}
        case "conflict":
            assert 1 not in ways
        case "depends":
            assert len(ways - {1}) or max(ways) == 1  # some launches conflict, perhaps not these
        case _:
            pass
    if condition in (ODD, "n % 4 == 1", "(n & 3) == 3") and body == SKEWED:
        assert found.verdict.value == "free"


def test_a_sign_is_not_guessed() -> None:
    """Wrong: `n < 128` read without a sign leaves out the launches with a negative n."""
    assert verdict(BY_SIGN, "n < 128") == "depends"
    assert verdict(BY_SIGN, "n > 128") == "depends"  # without a sign the highest bit may be set
    assert verdict(BY_SIGN, "n >= 0 && n < 128") == "free"
    assert verdict(BY_SIGN, "n == -1") == "conflict"
    signed = text_of(BY_SIGN).replace(".param .u32 n", ".param .s32 n")
    assert scanned(signed, "n > 128")[-1].decision.verdict.value == "free"


def test_one_parameter_has_one_sign_in_all_conditions() -> None:
    with pytest.raises(SwzError, match=r"SWZ552: .*'n < 100' and 'n > 200'"):
        verdict(SKEWED, "n < 100", "n > 200")


@pytest.mark.parametrize(
    "texts",
    [
        ("n < n",),
        ("n > 0 && n < 0",),
        ("n % 2 == 1", "n % 4 == 0"),
        ("q > 5", "q == n", "n == 3"),
        ("1 == 0 && n > 0",),
    ],
)
def test_conditions_that_no_values_fulfil(texts: tuple[str, ...]) -> None:
    """Wrong: everything is free where nothing can happen."""
    with pytest.raises(SwzError, match="SWZ552"):
        verdict(SKEWED, *texts)


def test_a_condition_and_a_value_that_contradict() -> None:
    with pytest.raises(SwzError, match="SWZ552"):
        verdict(SKEWED, ODD, parameters=("n=32",))
    assert verdict(SKEWED, ODD, parameters=("n=33",)) == "free"
    assert verdict(SKEWED, "n == -1", parameters=("n=0xffffffff",)) == "free"
    assert verdict(SKEWED, "n == q", parameters=("q=1",)) == "free"
    assert verdict(SKEWED, "n == q", parameters=("q=2",)) == "conflict"


def test_an_access_that_a_condition_forbids_is_not_free() -> None:
    body = "setp.gt.u32 %p1, %r2, 100; @!%p1 bra OUT; " + SKEWED + " OUT:"
    (found,) = scanned(text_of(body), "n >= 0 && n < 50")
    assert (found.decision.verdict.value, found.decision.reason) == ("unknown", "no lane makes this access")


def test_a_condition_reaches_guards() -> None:
    strided = (
        "mad.lo.u32 %r20, %r1, 128, %r3; setp.lt.u32 %p1, %r1, %r2; @!%p1 bra OUT; ld.shared.u32 %r30, [%r20]; OUT:"
    )
    assert verdict(strided) == "conflict"
    assert verdict(strided, "n == 1") == "free"
    found = scanned(text_of(strided), "0 < n && n < 4")[-1].decision
    assert (found.verdict.value, found.ways) == ("conflict", 3)


def test_conditions_join_through_other_parameters() -> None:
    """The access reads n alone; q says that it is odd."""
    assert verdict(SKEWED, "n == 2*q + 1", "q < 100 && q >= 0") == "free"
    assert verdict(SKEWED, "n == 2*q", "q < 100 && q > 0") != "free"
    found = scanned(text_of(SKEWED), "n == 2*q + 1", "q < 100 && q >= 0")[-1]
    assert found.assumptions == ("n == 2*q + 1", "q < 100 && q >= 0")


def test_a_condition_counts_of_every_part_that_is_read() -> None:
    body = "ld.param.u16 %h1, [n]; cvt.u32.u16 %r10, %h1; mul.lo.u32 %r11, %r1, %r10; "
    body += "mad.lo.u32 %r20, %r11, 4, %r3; ld.shared.u32 %r30, [%r20];"
    assert verdict(body) == "depends"
    assert verdict(body, ODD) == "free"
    assert verdict(body.replace("[n]", "[n+2]"), ODD) == "depends"


def test_64_bits() -> None:
    body = "ld.param.u64 %d1, [q]; cvt.u32.u64 %r10, %d1; mul.lo.u32 %r11, %r1, %r10; "
    body += "mad.lo.u32 %r20, %r11, 4, %r3; ld.shared.u32 %r30, [%r20];"
    assert verdict(body) == "depends"
    assert verdict(body, "q % 32 == 1") == "free"  # 66 bits with a sign
    assert verdict(body, "q * 3 == 9") == "free"
    assert verdict(body, "q / 3 == 2 && q % 3 == 1") == "free"


@pytest.mark.parametrize(
    "instruction",
    ["ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r30}, [%r20];", "cp.async.ca.shared.global [%r20], [%d1], 16;"],
)
def test_rows_of_16_bytes(instruction: str) -> None:
    """`ldmatrix` has no guard in its question: the condition must not be lost with it."""
    body = "ld.param.u64 %d1, [q]; mad.wide.u32 %d1, %r1, 16, %d1; and.b32 %r4, %r1, 31; mul.lo.u32 %r10, %r4, %r2;"
    body += f"mad.lo.u32 %r20, %r10, 16, %r3; {instruction}"
    assert verdict(body) in ("depends", "unknown")
    assert verdict(body, ODD) == "free"
    assert verdict(body, "n % 8 == 0 && n > 0 && n < 4096") == "conflict"


def test_what_an_access_does_not_depend_on_is_not_told() -> None:
    text = text_of("mad.lo.u32 %r20, %r1, 4, %r3; ld.shared.u32 %r30, [%r20]; " + SKEWED)
    assert [each.assumptions for each in scanned(text, ODD)] == [(), (ODD,)]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("n %", "SWZ302"),
        ("n = 1", "SWZ302"),
        ("n / q == 1", "SWZ305"),
        ("n << q == 1", "SWZ304"),
        ("1 < 2", "SWZ551"),
        ("", "SWZ302"),
    ],
)
def test_conditions_that_are_none(text: str, code: str) -> None:
    with pytest.raises(SwzError) as caught:
        verdict(SKEWED, text)
    assert caught.value.code == code


def test_too_many_parameters_together() -> None:
    extra = ", ".join(f".param .u32 a{number}" for number in range(9))
    text = text_of(SKEWED).replace(".param .u64 q", f".param .u64 q, {extra}")
    with pytest.raises(SwzError, match="read 6 parameters together"):
        scanned(text, "n + a0 + a1 + a2 + a3 + a4 == 1")
    assert scanned(text, ODD, *(f"a{number} > 0" for number in range(9)))[-1].decision.verdict.value == "free"


def test_names_that_no_kernel_has() -> None:
    functions = list(read_module(text_of(SKEWED), "k.ptx").functions)
    assert unknown_names(Given(("n=1",), (ODD, "param1 > 0")), functions) == ""
    assert "no kernel has a parameter pitch" in unknown_names(Given(("pitch=1",)), functions)
    assert "no kernel has a parameter m" in unknown_names(Given((), ("n == m",)), functions)
    assert "no kernel has a parameter param2" in unknown_names(Given((), ("param2 == 0",)), functions)


# ---- where dynamic memory begins


DYNAMIC = ".extern .shared .align 16 .b8 dynamic[]; .shared .align 16 .b8 fixed[4096]; "
ROWS = "mov.u32 %r5, {0}; mad.lo.u32 %r20, %r1, 16, %r5; ld.param.u64 %d1, [q]; mul.wide.u32 %d2, %r1, 16; "
ROWS += "add.u64 %d1, %d1, %d2; cp.async.cg.shared.global [%r20], [%d1], 16;"
BEGINS = "dynamic begins at a multiple of 128 bytes"


def copied(array: str, align: int | None) -> ScannedAccess:
    module = read_module(text_of(ROWS.format(array), DYNAMIC), "k.ptx")
    return scan_module(module, (64, 1, 1), given=Given(smem_align=align))[-1]


def test_dynamic_memory_begins_where_it_is_said() -> None:
    assert copied("dynamic", None).decision.verdict.value == "depends"
    found = copied("dynamic", 128)
    assert found.decision.verdict.value == "free"
    assert BEGINS in found.assumptions
    assert BEGINS in found.aligned.assumptions


@pytest.mark.parametrize(("array", "align"), [("dynamic", 64), ("dynamic", 16), ("fixed", 128)])
def test_less_or_another_array_says_no_more_than_ptx(array: str, align: int) -> None:
    found = copied(array, align)
    assert found.decision.verdict.value == "depends"
    assert BEGINS not in found.assumptions


def test_an_assumption_that_is_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(module: Module, function: Function, given: Given) -> tuple[Module, given_room.Facts]:
        found, facts = given_room.module_and_facts(module, function, given)
        return found, replace(facts, aligned={})

    monkeypatch.setattr(decide, "module_and_facts", wrong)
    with pytest.raises(AssertionError):
        test_dynamic_memory_begins_where_it_is_said()


def test_static_arrays_taken_for_dynamic_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(module: Module, function: Function, given: Given) -> tuple[Module, given_room.Facts]:
        raised = tuple(
            replace(each, align_bytes=max(each.align_bytes, given.smem_align or 1)) for each in module.symbols
        )
        return replace(module, symbols=raised), given_room.facts_of(function, given)

    monkeypatch.setattr(decide, "module_and_facts", wrong)
    with pytest.raises(AssertionError):
        test_less_or_another_array_says_no_more_than_ptx("fixed", 128)
