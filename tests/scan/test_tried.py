"""Conflicts that trials meet: of what was not proved, with the launch that has them, and no
others.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import click
import pytest

from swzverify.apps.cli import main
from swzverify.compiled.kernel import KernelAccess, accesses, inlined
from swzverify.compiled.kernel.starts import Starts
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import Given, ScannedAccess, aimed, trial_price, tried
from swzverify.compiled.scan.claim import NEVER_MADE
from swzverify.compiled.scan.given import NO_FACTS
from swzverify.compiled.scan.trial_price import words_of
from swzverify.compiled.scan.tried import Kernel
from swzverify.compiled.scan.verdict import FAULT, Decision, Verdict, unknown
from swzverify.compiled.trial import Launcher
from swzverify.compiled.trial.search import MOST_LAUNCHES
from swzverify.ir.expr import FALSE, TRUE
from tests.kernel.texts import HEAD, TOP
from tests.scan.texts import WHOLE, last, text_of
from tests.scan.whole import scan_module
from tests.trial.against import by_oracle

CHASED = """
shl.b32 %r20, %r1, 2; add.u32 %r20, %r20, %r3; mul.lo.u32 %r4, %r1, 40; st.shared.u32 [%r20], %r4;
bar.sync 0;
ld.shared.u32 %r5, [%r20]; add.u32 %r5, %r5, %r3; ld.shared.u32 %r6, [%r5];
"""
"""Each lane reads where shared memory says: 40 bytes after its neighbour."""


def kernel_of(body: str, outside: str = "") -> tuple[Kernel, list[KernelAccess]]:
    module = read_module(text_of(body, outside), "k.ptx")
    function = module.function("k")
    assert function is not None
    return Kernel(module, function, WHOLE, "sm_90", NO_FACTS, None), accesses(module, function, WHOLE)


def told(body: str, decisions: Sequence[Decision] | None = None, outside: str = "") -> list[Decision]:
    """What trials make of decisions; without some, nothing is known."""
    kernel, read = kernel_of(body, outside)
    return tried.tried(kernel, read, decisions or [unknown("")] * len(read))


def test_an_address_that_shared_memory_holds() -> None:
    found = last(CHASED).decision
    assert (found.verdict, found.ways, found.at_least, found.engines) == ("conflict", 2, True, ("trial",))
    assert found.reason.startswith("a run with made-up data (trial 0) has this conflict: n = ")
    assert len(found.lanes) == 32
    assert sum(row.collides for row in found.lanes) > 1


def test_the_interpreter_meets_what_the_trial_met() -> None:
    """The witness: the same launch, addresses and cost in an interpreter of its own."""
    found = last(CHASED)
    kernel, _ = kernel_of(CHASED)
    made = found.decision.launch
    assert made is not None
    assert found.decision.reason == words_of(made, kernel.function)
    result = by_oracle(text_of(CHASED), "k", [each.name for each in kernel.function.parameters], made)
    seen = result.by_line()[found.line]
    assert not result.error
    assert (seen.ways, seen.worst_wavefronts, seen.minimum) == (
        found.decision.ways,
        found.decision.wavefronts,
        found.decision.minimum,
    )


def test_what_no_trial_meets_stays_unknown() -> None:
    found = last(CHASED.replace("40", "4")).decision
    assert found.verdict == "unknown"
    assert "what shared memory holds" in found.reason


def test_a_launch_that_does_more_than_earlier_ones_is_priced() -> None:
    """The first launches, with n up to 64, are without a conflict, and the fifth one repeats some of their rows."""
    body = "ld.param.u32 %r9, [n]; setp.gt.u32 %p1, %r9, 100; selp.u32 %r9, 8, 4, %p1;"
    body += "mad.lo.u32 %r9, %r1, %r9, %r3; ld.shared.u32 %r7, [%r9];"
    found = told(body)[-1]
    assert (found.verdict, found.ways) == ("conflict", 2)
    assert found.reason.startswith("a run with made-up data (trial 4) has this conflict: n = 256")


def test_the_worst_of_the_first_launches_is_told() -> None:
    """The first launch lets two lanes store, later ones let more, and the sixth all of a warp."""
    body = "ld.param.u32 %r9, [n]; setp.lt.u32 %p1, %r1, %r9; shl.b32 %r8, %r1, 2; add.u32 %r8, %r8, %r3;"
    body += "ld.shared.u32 %r8, [%r8]; mad.lo.u32 %r8, %r1, 128, %r8; add.u32 %r8, %r8, %r3;"
    body += "@%p1 st.shared.u32 [%r8], %r1;"
    found = told(body)[-1]
    assert found.launch is not None
    assert (found.verdict, found.ways, found.at_least) == ("conflict", 32, True)
    assert 0 < found.launch.number <= tried.AIMED_BEHIND


def test_a_launch_that_faults_says_nothing() -> None:
    """Each lane reads far behind the array, and before that with a conflict."""
    far = "shl.b32 %r7, %r1, 20; add.u32 %r7, %r7, %r3; ld.shared.u32 %r8, [%r7];"
    assert told(CHASED + far)[-2].verdict == "unknown"
    assert told(CHASED)[-1].verdict == "conflict"


def test_how_far_two_variables_lie_apart_is_not_known() -> None:
    other = ".shared .align 4 .b8 other[4096];\n"
    mixed = "mov.u32 %r4, other; and.b32 %r5, %r1, 1; setp.eq.u32 %p1, %r5, 0; selp.u32 %r6, %r4, %r3, %p1;"
    mixed += "mad.lo.u32 %r6, %r1, 4, %r6; ld.shared.u32 %r7, [%r6];"
    assert told(mixed, outside=other)[-1].verdict == "unknown"
    apart = "mov.u32 %r4, other; mad.lo.u32 %r6, %r1, 8, %r4; ld.shared.u32 %r7, [%r6];"
    assert (told(apart, outside=other)[-1].verdict, told(apart, outside=other)[-1].ways) == ("conflict", 2)


def test_bytes_of_an_array_that_begins_anywhere() -> None:
    """Where the array begins in a word decides on a conflict: the least of all places counts."""
    loose = ".shared .align 1 .b8 bytes[4096];\n"
    body = "mov.u32 %r4, bytes; setp.lt.u32 %p1, %r1, 2; mad.lo.u32 %r4, %r1, {}, %r4; @%p1 ld.shared.u8 %r7, [%r4];"
    # Bytes that are 125 apart are in one bank where the first one is the last of its word.
    assert told(body.format(125), outside=loose)[-1].verdict == "unknown"
    assert told(body.format(128), outside=loose)[-1].ways == 2


def test_a_contradiction_is_a_fault_of_ours() -> None:
    free = Decision(Verdict.FREE, "", 1)
    less = Decision(Verdict.CONFLICT, "", 1)
    for wrong in (free, less, unknown(NEVER_MADE)):
        assert told(CHASED, [unknown(""), unknown(""), wrong])[-1].reason == FAULT
    for right in (replace(less, ways=2), replace(less, at_least=True)):
        assert told(CHASED, [unknown(""), unknown(""), right])[-1] == right


def test_two_counts_that_differ_are_a_fault_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def differ(*_: object) -> None:
        raise tried.DisagreementError

    monkeypatch.setattr(trial_price, "price", differ)
    assert told(CHASED)[-1].reason == FAULT


def test_no_trial_of_a_cluster() -> None:
    head = HEAD.replace(") {", ") .reqnctapercluster 2, 1, 1 {", 1)
    module = read_module(f"{TOP}{head}{CHASED}\nret; }}", "k.ptx")
    assert scan_module(module, WHOLE)[-1].decision.verdict == "unknown"


def test_no_trial_where_all_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(tried, "run_all", never)
    kernel, read = kernel_of(CHASED)
    decisions = [Decision(Verdict.FREE, "", 1)] * len(read)
    assert tried.tried(kernel, read, decisions) == decisions
    for without in (replace(kernel, block=None), replace(kernel, function=replace(kernel.function, is_entry=False))):
        assert tried.tried(without, read, [unknown("")] * len(read)) == [unknown("")] * len(read)


def test_lanes_that_add_one_to_one_word() -> None:
    """They count as one where nobody reads the result, and where somebody does nothing is known."""
    index = CHASED.partition("ld.shared")[0] + "ld.shared.u32 %r5, [%r20]; and.b32 %r5, %r5, 4; add.u32 %r5, %r5, %r3;"
    assert told(index + "red.shared.add.u32 [%r5], 1;")[-1].verdict == "unknown"
    assert (told(index + "red.shared.add.u32 [%r5], 2;")[-1].ways or 0) >= 16
    one_word = index.replace("%r5, 4", "%r5, 0")
    assert told(one_word + "red.shared.add.u32 [%r5], 2;")[-1].verdict == "unknown"
    used = "atom.shared.add.u32 %r6, [%r5], 1; add.u32 %r6, %r6, %r3; st.shared.u32 [%r3], %r6;"
    assert told(one_word + used)[-2].verdict == "unknown"


STRIDE = """
shl.b32 %r20, %r1, 2; add.u32 %r20, %r20, %r3; mul.lo.u32 %r4, %r1, %r2; shl.b32 %r4, %r4, 2;
st.shared.u32 [%r20], %r4; bar.sync 0;
ld.shared.u32 %r5, [%r20]; add.u32 %r5, %r5, %r3; ld.shared.u32 %r6, [%r5];
"""
"""The pitch is a parameter, and goes through shared memory."""


def scanned(body: str, given: Given) -> ScannedAccess:
    module = read_module(text_of(body), "k.ptx")
    return scan_module(module, (32, 1, 1), given=given)[-1]


def test_given_parameters_and_conditions_hold_in_each_launch() -> None:
    name = "n"
    even = scanned(STRIDE, Given((f"{name}=2",))).decision
    assert (even.verdict, even.ways) == ("conflict", 2)
    assert scanned(STRIDE, Given((f"{name}=3",))).decision.verdict == "unknown"
    odd = scanned(STRIDE, Given((), (f"{name} % 2 == 1", f"{name} < 40"))).decision
    assert odd.verdict == "unknown"
    assert scanned(STRIDE, Given((), (f"{name} % 4 == 0", f"{name} < 40"))).decision.ways in (4, 8, 16, 32)


def test_no_more_shared_memory_than_is_given() -> None:
    dynamic = f"{TOP}.extern .shared .align 16 .b8 more[];\n{HEAD}mov.u32 %r3, more;{CHASED}\nret; }}"
    module = read_module(dynamic, "k.ptx")
    assert scan_module(module, WHOLE, smem=4096)[-1].decision.verdict == "conflict"
    assert scan_module(module, WHOLE, smem=63 * 40)[-1].decision.verdict == "unknown"


LATER = """
mov.u32 %r30, 0;
L: add.u32 %r30, %r30, 1; setp.lt.u32 %p1, %r30, 200; @%p1 bra L;
ld.shared.u32 %r7, [%r20]; add.u32 %r7, %r7, %r3; ld.shared.u32 %r8, [%r7];
"""


def test_a_launch_that_meets_something_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it was cut off after a few steps; else launches in which nothing is met would take all."""
    monkeypatch.setattr(tried, "LONG", 0)
    monkeypatch.setattr(tried, "SHORT", 100)
    monkeypatch.setattr(tried, "STEPS", (5_000,))
    assert told(CHASED + LATER)[-1].verdict == "conflict"
    monkeypatch.setattr(tried, "STEPS", (100,))
    assert told(CHASED + LATER)[-1].verdict == "unknown"


UNDEFINED = "setp.eq.u32 %p1, %r50, 12345; @%p1 bra X; add.u32 %r51, %r9, 1; X: "
"""A branch that reads what no instruction wrote."""
BY_UNDEFINED = CHASED.replace(
    "mul.lo.u32 %r4, %r1, 40", "and.b32 %r4, %r50, 1; shl.b32 %r4, %r4, 7; mul.lo.u32 %r4, %r1, %r4"
)
"""Lanes lie 128 bytes apart, or all at one word, as such a register says."""


def test_a_branch_on_what_is_not_defined() -> None:
    """Both runs of a launch have the conflict, whatever such a register holds in them."""
    found = told(UNDEFINED + CHASED)[-1]
    assert (found.verdict, found.ways) == ("conflict", told(CHASED)[-1].ways)


def test_an_address_that_is_not_defined_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(UNDEFINED + BY_UNDEFINED)[-1].verdict == "unknown"
    monkeypatch.setattr(tried, "UNDEFINED", tried.UNDEFINED[::-1])
    assert told(UNDEFINED + BY_UNDEFINED)[-1].verdict == "unknown"

    # The mistake that a run alone would be.
    def always(_one: object, _other: object) -> bool:
        return True

    monkeypatch.setattr(tried, "_are_alike", always)
    assert told(UNDEFINED + BY_UNDEFINED)[-1].verdict == "conflict"


def test_so_many_launches_read_what_is_not_defined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "MOST_FILLED", 0)
    assert told(UNDEFINED + CHASED)[-1].verdict == "unknown"


def test_the_offsets_of_a_long_segment() -> None:
    """A tile is whole only if its segment ends far behind where it begins."""
    head = HEAD.replace(".param .u64 q", ".param .u64 q, .param .u64 begins, .param .u64 ends")
    segment = """
        ld.param.u64 %d1, [q]; ld.global.u32 %r10, [%d1];
        ld.param.u64 %d2, [begins]; ld.global.u32 %r10, [%d2];
        ld.param.u64 %d3, [ends]; ld.global.u32 %r11, [%d3];
        sub.u32 %r11, %r11, %r10; setp.lt.u32 %p1, %r11, 1500; @%p1 bra OUT; setp.gt.u32 %p1, %r11, 16384; @%p1 bra OUT;
    """
    module = read_module(f"{TOP}{head}{segment}{CHASED} OUT: ret; }}", "k.ptx")
    kernel = Kernel(module, module.functions[0], WHOLE, "sm_90", NO_FACTS, None)
    read = accesses(module, module.functions[0], WHOLE)

    def found(most: int) -> Verdict:
        return tried.tried(replace(kernel, most=most), read, [unknown("")] * len(read))[-1].verdict

    assert (found(10), found(11)) == ("unknown", "conflict")


def test_how_many_launches_are_tried() -> None:
    kernel, read = kernel_of(CHASED)
    decisions = [unknown("")] * len(read)
    assert tried.tried(replace(kernel, most=0), read, decisions) == decisions
    assert tried.tried(replace(kernel, most=1), read, decisions)[-1].verdict == "conflict"


def test_the_launch_is_written_out() -> None:
    made = last(CHASED).decision.launch
    assert made is not None
    found = json.loads(json.dumps(made.record()))
    assert (found["block"], found["place"], found["number"]) == ([64, 1, 1], [0, 0, 0], made.number)
    assert bytes.fromhex(found["parameters"]["n"]) == made.parameters["n"]
    drawn = [(each["data"], each["begin"]) for each in found["buffers"]]
    assert drawn == [(each.data, each.begin) for each in made.buffers]


def test_the_option_says_how_many_launches_there_are() -> None:
    option = next(each for each in main.get_command(click.Context(main), "scan").params if each.name == "trials")
    assert isinstance(option, click.Option)
    assert f"[default: {MOST_LAUNCHES}]" in str(option.help)


HIDDEN = "mad.lo.u32 %r40, %r2, 7, 3; setp.ne.u32 %p2, %r40, 18812; @%p2 bra OUT; " + CHASED + " OUT:"
"""Only a launch with n = 2687 reaches the access."""


def test_a_launch_that_the_solver_aims(monkeypatch: pytest.MonkeyPatch) -> None:
    found = last(HIDDEN).decision
    assert (found.verdict, found.ways) == ("conflict", 2)
    assert found.reason == "a run with made-up data (trial 11) has this conflict: n = 2687"
    monkeypatch.setattr(tried, "aimed", lambda *_: [])
    assert last(HIDDEN).decision.verdict == "unknown"


BEHIND_LOOP = """
mad.lo.u32 %r40, %r2, 7, 3; AGAIN: setp.ge.u32 %p2, %r40, 18812; @%p2 bra BEHIND; add.u32 %r40, %r40, 1000003;
bra AGAIN; BEHIND: setp.ne.u32 %p2, %r40, 18812; @%p2 bra OUT;
"""
"""Only a launch with n = 2687 goes on behind the loop, and makes no trip of it."""


def test_a_launch_that_is_aimed_behind_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the loop leaves in its register is known in launches without a second trip alone."""
    body = f"{BEHIND_LOOP} {CHASED} OUT:"
    found = last(body).decision
    assert (found.verdict, found.ways) == ("conflict", 2)
    assert "has this conflict: n = 2687" in found.reason
    monkeypatch.setattr(Starts, "to", lambda *_: FALSE)
    assert last(body).decision.verdict == "unknown"


def test_values_that_only_look_right_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A condition that no launch fulfils, such as one of another kernel, makes launches and no verdict."""
    monkeypatch.setattr(Starts, "to", lambda *_: TRUE)
    assert last(f"{BEHIND_LOOP} {CHASED} OUT:").decision.verdict == "unknown"


def test_samples_are_tried_before_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the samples for which a condition holds, the smallest is taken; no solver is asked then."""
    monkeypatch.setattr(aimed, "_model", lambda *_: {})
    between = "setp.lt.u32 %p2, %r2, 65; @%p2 bra OUT; setp.ge.u32 %p2, %r2, 128; @%p2 bra OUT;"
    between += "and.b32 %r40, %r2, 7; setp.ne.u32 %p2, %r40, 1; @%p2 bra OUT;"
    found = last(f"{between} {CHASED} OUT:").decision
    assert found.reason == "a run with made-up data (trial 11) has this conflict: n = 65"


def test_what_memory_gives_is_no_value_of_a_launch() -> None:
    """A condition on loaded words asks for values that no launch can be given: its plans are those without."""
    body = "ld.shared.u32 %r40, [%r3]; setp.ne.u32 %p2, %r40, 3; @%p2 bra OUT;" + CHASED + "OUT:"
    kernel, read = kernel_of(body)
    whole = inlined(kernel.module, kernel.function).function
    starts = Starts(kernel.module, whole, WHOLE)
    plans = aimed.aimed(read[-1:], starts.to, WHOLE, Launcher(whole, WHOLE, 0))
    assert plans == [*aimed._BASES]


POINTED = (
    "mov.b64 %d5, many; ld.param.u64 %d6, [%d5]; cvta.to.global.u64 %d6, %d6; ld.global.u64 %d6, [%d6];"
    "setp.eq.s64 %p3, %d6, 0; @%p3 bra PAST; ld.f64 %f1, [%d6]; PAST:" + HIDDEN
)
"""As `HIDDEN`, behind a load through a pointer that memory holds, unless it is null."""


def test_a_launch_that_the_solver_aims_behind_a_pointer_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Data that is no address ends a launch; where memory holds zeros, the pointer is null."""
    text = f"{TOP}{HEAD.replace('.param .u32 n', '.param .u32 n, .param .align 8 .b8 many[8]')}{POINTED}\nret; }}"
    module = read_module(text.replace("{", "{ .reg .f64 %f<4>;", 1), "k.ptx")
    monkeypatch.setattr(tried, "PATIENCE", 40)
    found = scan_module(module, WHOLE)[-1].decision
    assert (found.verdict, found.ways) == ("conflict", 2), found.reason
    assert "n = 2687" in found.reason
    assert "buffers of zeros" in found.reason
    monkeypatch.setattr(aimed, "_BASES", aimed._BASES[:2])
    assert scan_module(module, WHOLE)[-1].decision.verdict == "unknown"


def test_a_model_that_no_launch_follows_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The launch that is made up decides, and not what the solver says of it."""
    monkeypatch.setattr(aimed, "_model", lambda *_: {"n+0:4": 2688})
    assert last(HIDDEN).decision.verdict == "unknown"


PARTED = """
shl.b32 %r20, %r1, 2; add.u32 %r20, %r20, %r3; mul.lo.u32 %r4, %r1, 17; st.shared.u32 [%r20], %r4; bar.sync 0;
ld.shared.u32 %r5, [%r20]; mad.lo.u32 %r40, %r2, 7, 3; setp.eq.u32 %p2, %r40, 18812; selp.b32 %r6, 31, 0, %p2;
and.b32 %r5, %r5, %r6; xor.b32 %r5, %r5, %r1; and.b32 %r5, %r5, 31; shl.b32 %r7, %r1, 5; add.u32 %r5, %r5, %r7;
shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r3; ld.shared.u32 %r6, [%r5];
"""
"""Each lane reads its row, at the place that shared memory says; only with n = 2687 these are not all different."""


def test_a_launch_that_the_solver_aims_at_a_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    """All launches make the access, few have the conflict."""
    found = last(PARTED).decision
    assert found.verdict == "conflict", found.reason
    assert "has this conflict: n = 2687" in found.reason
    assert scanned(PARTED, Given(("n=2687",))).decision.verdict == "conflict"
    assert scanned(PARTED, Given((), ("n < 2687",))).decision.verdict in ("unknown", "free")
    monkeypatch.setattr(tried, "aimed_at_conflicts", lambda *_: [])
    assert last(PARTED).decision.verdict == "unknown"


def test_a_conflict_that_no_launch_shows_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aimed, "_model", lambda *_: {"n+0:4": 2688})
    assert last(PARTED).decision.verdict == "unknown"


def test_an_aimed_launch_fulfils_what_is_given() -> None:
    assert scanned(HIDDEN, Given((), ("n < 2687",))).decision.verdict == "unknown"


def test_a_parameter_whose_place_is_a_sum() -> None:
    """Compilers load the fields of a structure from its place and an offset."""
    body = "mov.b64 %d5, many; add.s64 %d6, %d5, 16; ld.param.u32 %r2, [%d6+-8];" + HIDDEN.replace("OUT", "END")
    text = f"{TOP}{HEAD.replace('.param .u32 n', '.param .u32 n, .param .align 8 .b8 many[32]')}{body}\nret; }}"
    found = scan_module(read_module(text, "k.ptx"), WHOLE)[-1].decision
    assert found.reason.startswith("a run with made-up data (trial 11) has this conflict: n = ")
    assert "many = 2687" in found.reason


def test_lanes_that_begin_a_trip_early_show_no_conflict() -> None:
    """All lanes add 1 in each trip, and an H200 has them in one trip at the store: there is one word."""
    step = "ld.global.u32 %r9, [%d1]; ld.volatile.global.u32 %r10, [%d1]; sub.u32 %r9, %r9, %r10; add.u32 %r9, %r9, 1;"
    own = "ld.param.u64 %d1, [q]; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;"
    trip = "add.u32 %r4, %r4, %r9; and.b32 %r6, %r1, %r4; setp.ne.u32 %p2, %r6, 0; @%p2 bra L;"
    store = "mad.lo.u32 %r20, %r4, 128, %r3; st.shared.u32 [%r20], %r1;"
    body = f"{own} {step} mov.u32 %r4, 0; L: setp.ge.u32 %p1, %r4, 7; @%p1 bra E; {trip} {store} bra L; E:"
    assert last(body).decision.verdict is Verdict.UNKNOWN
