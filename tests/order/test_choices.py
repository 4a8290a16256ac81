"""Conditions that hold for a time, low bits, and copies before their announcement: planted mistakes are found."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable

import pytest

from swzverify.compiled.order.choices import Choices
from swzverify.compiled.order.handed import Handed
from swzverify.compiled.order.tracked import Tracked
from swzverify.compiled.scan import race_ranges, races
from swzverify.ir.expr import TRUE, Var, const
from tests.order.conftest import races_in
from tests.ptx_oracle import Buffer
from tests.ptx_oracle.races import races_of as launched

from .pipeline_pieces import HEAD
from .random_choices import drawn

Patch = Callable[[pytest.MonkeyPatch], None]


@pytest.fixture(autouse=True)
def _no_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what is proved counts here: nothing is run."""
    monkeypatch.setattr(races.Runs, "confirmed", lambda _, found, *__: found)


def wait(place: str, parity: str, label: str) -> str:
    """A loop that waits for a phase."""
    ask = f"mbarrier.try_wait.parity.shared::cta.b64 %p9, [{place}], {parity};"
    return f"{label}:\n{ask}\n@!%p9 bra {label};"


def changes(sum_of_both: int) -> str:
    """The second warp waits for the other parity if the bits of this tile and the one before have a sum."""
    return f"""{HEAD}@%p0 mbarrier.init.shared::cta.b64 [%r5], 32;
@%p0 mbarrier.init.shared::cta.b64 [%r6], 32;
bar.sync 0;
mad.lo.u32 %r11, %r3, 4, %r4;
mov.u32 %r25, 0;
mov.u32 %r26, 2;
setp.ne.u32 %p5, %r2, 0;
@%p5 bra CONSUMER;
PRODUCER:
and.b32 %r20, %r25, 1;
xor.b32 %r20, %r20, 1;
{wait("%r6", "%r20", "EMPTY")}
st.shared.u32 [%r11], %r3;
mbarrier.arrive.shared::cta.b64 _, [%r5];
add.u32 %r25, %r25, 1;
setp.lt.u32 %p3, %r25, 3;
@%p3 bra PRODUCER;
bra OVER;
CONSUMER:
mul.wide.u32 %d2, %r25, 4;
add.s64 %d2, %d1, %d2;
ld.global.u32 %r21, [%d2];
and.b32 %r21, %r21, 1;
setp.eq.u32 %p4, %r21, 1;
selp.u32 %r22, 1, 0, %p4;
add.u32 %r23, %r22, %r26;
mov.u32 %r26, %r22;
setp.eq.u32 %p6, %r23, {sum_of_both};
selp.u32 %r23, 1, 0, %p6;
and.b32 %r24, %r25, 1;
xor.b32 %r24, %r24, %r23;
{wait("%r5", "%r24", "FULL")}
ld.shared.u32 %r9, [%r11];
mbarrier.arrive.shared::cta.b64 _, [%r6];
add.u32 %r25, %r25, 1;
setp.lt.u32 %p3, %r25, 3;
@%p3 bra CONSUMER;
OVER:
ret;
}}
"""


def counter(first: int) -> str:
    """The second warp waits for phases by a counter of tiles: `first` is the number of the first one."""
    return f"""{HEAD}@%p0 mbarrier.init.shared::cta.b64 [%r5], 32;
bar.sync 0;
mad.lo.u32 %r11, %r3, 4, %r4;
setp.ne.u32 %p5, %r2, 0;
@%p5 bra CONSUMER;
st.shared.u32 [%r11], %r3;
mbarrier.arrive.shared::cta.b64 _, [%r5];
bra OVER;
CONSUMER:
mov.u32 %r20, {first};
mov.u32 %r25, 0;
TOP:
setp.ge.u32 %p3, %r25, 3;
@%p3 bra OVER;
mul.wide.u32 %d2, %r25, 4;
add.s64 %d2, %d1, %d2;
ld.global.u32 %r21, [%d2];
setp.eq.u32 %p4, %r21, 7;
@%p4 bra NEXT;
shr.u32 %r22, %r20, 31;
add.u32 %r22, %r20, %r22;
and.b32 %r22, %r22, -2;
sub.u32 %r22, %r20, %r22;
{wait("%r5", "%r22", "CA")}
ld.shared.u32 %r9, [%r11];
add.u32 %r20, %r20, 1;
NEXT:
add.u32 %r25, %r25, 1;
bra TOP;
OVER:
ret;
}}
"""


def beside(offset: int) -> str:
    """A thread of the second warp stores 16 bytes at an offset, while a copy fills 128 bytes of the array."""
    return f"""{HEAD}@%p0 mbarrier.init.shared::cta.b64 [%r5], 1;
bar.sync 0;
setp.ne.u32 %p5, %r2, 0;
@%p5 bra SECOND;
@!%p1 bra OVER;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 128;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4+1024], [%d1], 128, [%r5];
{wait("%r5", "0", "COPIED")}
bra OVER;
SECOND:
@%p1 st.shared.v4.u32 [%r4+{offset}], {{%r3, %r3, %r3, %r3}};
OVER:
ret;
}}
"""


def mixed(offset: int) -> str:
    """A copy fills 16 bytes at `s ^ x`, and a thread of another warp, with another x, stores behind such a place."""
    return f"""{HEAD}@%p0 mbarrier.init.shared::cta.b64 [%r5], 1;
mul.wide.u32 %d2, %r2, 4;
add.s64 %d2, %d1, %d2;
ld.global.u32 %r20, [%d2];
not.b32 %r20, %r20;
and.b32 %r20, %r20, 1;
shl.b32 %r20, %r20, 7;
xor.b32 %r11, %r4, %r20;
bar.sync 0;
@!%p1 bra OVER;
setp.ne.u32 %p5, %r2, 0;
@%p5 bra SECOND;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 16;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%d1], 16, [%r5];
{wait("%r5", "0", "COPIED")}
bra OVER;
SECOND:
st.shared.u32 [%r11+{offset}], %r3;
OVER:
ret;
}}
"""


def handed(least: int) -> str:
    """The second warp stores 1 if it has seen so many tiles before; if so, both warps write to one place behind it."""
    tile = """mul.wide.u32 %d2, %r25, 4;
add.s64 %d2, %d1, %d2;
ld.global.u32 %r21, [%d2];
setp.eq.u32 %p4, %r21, 7;"""
    return f"""{HEAD}@%p0 mbarrier.init.shared::cta.b64 [%r5], 32;
@%p0 mbarrier.init.shared::cta.b64 [%r6], 32;
setp.eq.u32 %p8, %r0, 32;
@%p8 st.shared.u32 [%r4+2048], 0;
bar.sync 0;
mad.lo.u32 %r11, %r3, 4, %r4;
mov.u32 %r20, 0;
mov.u32 %r25, 0;
setp.ne.u32 %p5, %r2, 0;
@%p5 bra CONSUMER;
PRODUCER:
{tile}
@%p4 bra PRODUCED;
and.b32 %r22, %r20, 1;
xor.b32 %r22, %r22, 1;
{wait("%r6", "%r22", "EMPTY")}
mbarrier.arrive.shared::cta.b64 _, [%r5];
add.u32 %r20, %r20, 1;
PRODUCED:
add.u32 %r25, %r25, 1;
setp.lt.u32 %p3, %r25, 4;
@%p3 bra PRODUCER;
bra JOINED;
CONSUMER:
{tile}
@%p4 bra CONSUMED;
and.b32 %r22, %r20, 1;
{wait("%r5", "%r22", "FULL")}
setp.ge.u32 %p6, %r20, {least};
and.pred %p7, %p6, %p8;
@%p7 st.shared.u32 [%r4+2048], 1;
mbarrier.arrive.shared::cta.b64 _, [%r6];
add.u32 %r20, %r20, 1;
CONSUMED:
add.u32 %r25, %r25, 1;
setp.lt.u32 %p3, %r25, 4;
@%p3 bra CONSUMER;
JOINED:
bar.sync 0;
@%p5 bra OTHER;
ld.shared.u32 %r9, [%r4+2048];
setp.eq.u32 %p6, %r9, 0;
@%p6 bra OVER;
OTHER:
st.shared.u32 [%r11], %r0;
OVER:
ret;
}}
"""


RIGHT = {"changes": changes(7), "counter": counter(0), "beside": beside(1008)}
WRONG = {"changes": changes(1), "counter": counter(1), "beside": beside(1040), "mixed": mixed(128), "handed": handed(2)}


@pytest.mark.parametrize("name", RIGHT)
def test_right_kernels_are_free(name: str) -> None:
    """The warp that counts tiles waits for ever in its second one; it does not race."""
    run = launched(RIGHT[name], "k", (64,), params=[1, Buffer(128, "iota")], steps=3000)
    assert run.verdict == ("deadlock" if name == "counter" else "free")
    assert races_in(RIGHT[name]).verdict.value == "free"


@pytest.mark.parametrize("name", WRONG)
def test_wrong_kernels_are_not(name: str) -> None:
    runs = [launched(WRONG[name], "k", (64,), params=[1, Buffer(128, "iota")], shuffle=e, steps=3000) for e in range(9)]
    assert any(each.verdict == "race" for each in runs)
    assert races_in(WRONG[name]).verdict.value != "free"


def _choices_stay(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Choices, "ended", lambda *_: frozenset[Var]())
    patch.setattr(Tracked, "forgotten", lambda *_: set[Var]())


def _conditions_hold(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        Choices, "can_hold", lambda self, values: all(value is TRUE for each, value in values if each in self)
    )


def _one_bit_less(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Tracked, "kept", lambda _, variable, value: const(0, value.width) if variable.width > 1 else value)


def _ranges_of_one_byte(patch: pytest.MonkeyPatch) -> None:
    right = race_ranges.Ranges._found
    patch.setattr(race_ranges.Ranges, "_found", lambda self, address, _: right(self, address, 1))


def _places_are_one(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(race_ranges, "are_all", lambda *_: True)


def _stores_have_no_guards(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Handed, "guards", [])


@pytest.mark.parametrize(
    ("name", "patch"),
    [
        ("changes", _choices_stay),
        ("changes", _conditions_hold),
        ("counter", _one_bit_less),
        ("beside", _ranges_of_one_byte),
        ("mixed", _places_are_one),
        ("handed", _stores_have_no_guards),
    ],
)
def test_planted_mistakes(name: str, patch: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a mistake in the package, the wrong kernel is `free`."""
    patch(monkeypatch)
    assert races_in(WRONG[name]).verdict.value == "free"


@pytest.mark.parametrize("is_late", [False, True])
def test_copies_of_boxes_before_their_announcement(is_late: bool) -> None:
    """The box brings what is announced, before the copy or behind it."""
    seed = next(
        each
        for each in range(100)
        if {"copies", "2 stages"} <= (made := drawn(each, -1)[1]) and ("late" in made) is is_late
    )
    text = HEAD + "\n".join(drawn(seed, -1)[0].lines) + "\nret;\n}\n"
    plain = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    tensor = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
    boxed = text.replace(plain, tensor).replace("[%d1], 128,", "[%d1, {%r1, %r1}],")
    assert boxed != text
    found = races_in(boxed)
    assert found.verdict.value == "free"
    assert sum("has 128 bytes" in each for each in found.assumptions) == boxed.count(tensor)


@pytest.mark.parametrize(("size", "verdict"), [(128, "free"), (256, "unknown")])
def test_one_tensor_map_has_one_box(size: int, verdict: str) -> None:
    """Two copies by one map that bring different numbers of bytes: no launch has such a map."""
    copy = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
    head = HEAD.replace(".visible .entry", ".extern .shared .align 128 .b8 dyn[];\n.visible .entry")
    text = f"""{head}@%p0 mbarrier.init.shared::cta.b64 [%r5], 1;
@%p0 mbarrier.init.shared::cta.b64 [%r5+8], 1;
bar.sync 0;
mov.u32 %r11, dyn;
@!%p0 bra READ;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 128;
{copy} [%r11], [%d1, {{%r1, %r1}}], [%r5];
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5+8], {size};
{copy} [%r11+128], [%d1, {{%r1, %r1}}], [%r5+8];
READ:
{wait("%r5", "0", "FIRST")}
{wait("%r5+8", "0", "SECOND")}
ld.shared.u32 %r9, [%r11+128];
ret;
}}
"""
    found = races_in(text)
    assert found.verdict.value == verdict
    assert ("boxes of 128 and 256 bytes" in found.reason) is (verdict == "unknown")
