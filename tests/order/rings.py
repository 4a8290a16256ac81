"""Kernels that synchronise parts of a block, right ones and the same with one mistake each."""

from __future__ import annotations

from typing import Final, NamedTuple

OBJECTS: Final = """.shared .align 8 .b8 full[16];
.shared .align 8 .b8 empty[16];
mov.u32 %r10, full;
mov.u32 %r11, empty;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra READY;
mbarrier.init.shared::cta.b64 [%r10], {full};
mbarrier.init.shared::cta.b64 [%r10+8], {full};
mbarrier.init.shared::cta.b64 [%r11], {empty};
mbarrier.init.shared::cta.b64 [%r11+8], {empty};
READY:
bar.sync 0;
mov.u32 %r20, 0;
mov.u32 %r21, 0;
mov.u32 %r22, 0;
shr.u32 %r12, %r1, 5;
setp.ne.u32 %p2, %r12, 0;
@%p2 bra CONSUMER;
"""
"""Two stages; `%r20` is the trip, `%r21` the stage, `%r22` the phase."""

NEXT: Final = """add.u32 %r20, %r20, 1;
add.u32 %r21, %r21, 1;
setp.eq.u32 %p3, %r21, 2;
selp.u32 %r21, 0, %r21, %p3;
selp.u32 %r23, 1, 0, %p3;
xor.b32 %r22, %r22, %r23;
setp.lt.u32 %p3, %r20, %r7;
"""
STEP: Final = "setp.ge.u32 %p3, %r20, %r7;\n@%p3 bra END;\nshl.b32 %r24, %r21, 3;\n"


def wait(name: str, place: str, parity: str) -> str:
    """A loop that waits for a phase."""
    return f"{name}:\nmbarrier.try_wait.parity.shared::cta.b64 %p4, [{place}], {parity};\n@!%p4 bra {name};\n"


WAIT_EMPTY: Final = "xor.b32 %r25, %r22, 1;\nadd.u32 %r26, %r11, %r24;\n" + wait("WE", "%r26", "%r25")
WAIT_FULL: Final = "add.u32 %r26, %r10, %r24;\n" + wait("WF", "%r26", "%r22")
STORE: Final = "shl.b32 %r27, %r21, 7;\nadd.u32 %r27, %r27, %r4;\nst.shared.u32 [%r27], %r20;\n"
"""Lane l of warp 0 stores word l of the stage."""
FILLED: Final = "add.u32 %r28, %r10, %r24;\nmbarrier.arrive.shared::cta.b64 _, [%r28];\n"
LOAD: Final = (
    "and.b32 %r27, %r1, 31;\nshl.b32 %r27, %r27, 2;\nshl.b32 %r29, %r21, 7;\nadd.u32 %r27, %r27, %r29;\n"
    "add.u32 %r27, %r27, %r3;\nld.shared.u32 %r30, [%r27];\n"
)
FREED: Final = "add.u32 %r28, %r11, %r24;\nmbarrier.arrive.shared::cta.b64 _, [%r28];\n"
ELECTED: Final = (
    "and.b32 %r31, %r1, 31;\nsetp.ne.u32 %p5, %r31, 0;\nadd.u32 %r28, %r11, %r24;\n@%p5 bra SKIP;\n"
    "mbarrier.arrive.shared::cta.b64 _, [%r28];\nSKIP:\n"
)
SYNCWARP: Final = "bar.warp.sync -1;\n"
LEADER: Final = "setp.ne.u32 %p5, %r1, 0;\n@%p5 bra END;\n"
EXPECTED: Final = "add.u32 %r28, %r10, %r24;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [%r28], 128;\n"
COPIED: Final = (
    "shl.b32 %r27, %r21, 7;\nadd.u32 %r27, %r27, %r3;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r27], [%rd1], 128, [%r28];\n"
)


def ring(producer: str, consumer: str, *, full: int = 32, empty: int = 64, next_: str = NEXT, leader: str = "") -> str:
    """Warp 0 fills two stages that the other warps empty."""
    return (
        OBJECTS.format(full=full, empty=empty)
        + f"{leader}P:\n{STEP}{producer}{next_}@%p3 bra P;\nbra END;\n"
        + f"CONSUMER:\nC:\n{STEP}{consumer}{next_}@%p3 bra C;\nEND:"
    )


class Ring(NamedTuple):
    """A body, and whether it is free; the threads of its block."""

    body: str
    is_free: bool
    threads: int = 96


_FILL: Final = WAIT_EMPTY + STORE + FILLED
_BY_CP: Final = WAIT_EMPTY + STORE.replace("st.shared.u32 [%r27], %r20", "cp.async.ca.shared.global [%r27], [%rd1], 4")
_GROUP: Final = "cp.async.commit_group;\ncp.async.wait_group {};\n"
_COPY: Final = WAIT_EMPTY + EXPECTED + COPIED
_USE: Final = WAIT_FULL + LOAD + FREED
_STUCK: Final = NEXT.replace("xor.b32 %r22, %r22, %r23;\n", "")
_THREE: Final = NEXT.replace("%r21, 2;", "%r21, 3;")
_HALVES: Final = "setp.lt.u32 %p1, %r1, 64;\n@%p1 bra FIRST;\n"
_GIVEN: Final = _HALVES + "st.shared.u32 [%r4+-256], %r1;\n{}\nbra END;\nFIRST:\n{}\nld.shared.u32 %r30, [%r6];\nEND:"
_ONE_COPY: Final = (
    OBJECTS.format(full=1, empty=64)
    + "CONSUMER:\nmov.u32 %r24, 0;\n@%p1 bra READ;\n"
    + EXPECTED
    + COPIED
    + "{}READ:\nbar.sync 0;\n"
    + LOAD
)
_BESIDE: Final = "shl.b32 %r32, %r21, 7;\nadd.u32 %r32, %r32, %r3;\nst.shared.u32 [%r32+1024], %r20;\n"
_READ_BESIDE: Final = _BESIDE.replace("st.shared.u32 [%r32+1024], %r20", "ld.shared.u32 %r30, [%r32+1024]")
_TWICE: Final = "setp.eq.u32 %p6, %r1, 1;\n@!%p6 bra ONCE;\nmbarrier.arrive.shared::cta.b64 _, [%r28];\nONCE:\n"
_LAST_WARP: Final = "shr.u32 %r12, %r1, 5;\nsetp.eq.u32 %p2, %r12, 2;\n"
_ALL_STORE: Final = "st.shared.u32 [%r3], %r1;\nEND:"


def flag(first_waits: str, elected: str, then_set: str, others_wait: str, first_arrives: str, begin: str) -> str:
    """Warp 0 loads a flag before warp 2 sets it, warp 1 behind it, in one interval of the block's barriers.

    Where a lane of warps 0 and 1 stores depends on its warp and on the flag.
    """
    return (
        f".shared .align 16 .b8 b[16];\nmov.u32 %r10, b;\n{_LAST_WARP}setp.eq.u32 %p1, %r1, 0;\n"
        f"setp.eq.u32 %p3, %r12, 0;\nsetp.eq.u32 %p4, %r1, 64;\n{begin}@%p1 st.shared.u32 [%r3+2048], 0;\n"
        f"bar.sync 0;\n@%p3 bra LOAD;\n@!%p2 bra WAIT;\n{first_waits}@!%p4 bra SET;\n"
        f"{elected}SET:\n{then_set}WAIT:\n{others_wait}"
        f"LOAD:\nld.shared.u32 %r20, [%r3+2048];\n@!%p3 bra STORE;\n{first_arrives}STORE:\nadd.u32 %r21, %r20, %r12;\n"
        "and.b32 %r21, %r21, 1;\nshl.b32 %r21, %r21, 7;\nand.b32 %r22, %r1, 31;\nshl.b32 %r22, %r22, 2;\n"
        "add.u32 %r22, %r22, %r21;\nadd.u32 %r22, %r22, %r3;\n@%p2 bra END;\nst.shared.u32 [%r22], %r1;\nEND:"
    )


_ARRIVE: Final = "mbarrier.arrive.shared::cta.b64 _, [%r10{}];\n"
_MADE: Final = "@%p1 mbarrier.init.shared::cta.b64 [%r10], 32;\n@%p1 mbarrier.init.shared::cta.b64 [%r10+8], 1;\n"
_SET: Final = "st.shared.u32 [%r3+2048], 1;\n"
_ONE_OBJECT: Final = (
    ".shared .align 16 .b8 b[16];\nmov.u32 %r10, b;\nsetp.eq.u32 %p1, %r1, 0;\nsetp.eq.u32 %p2, %r1, 32;\n"
)
_MADE_FOR: Final = "mbarrier.init.shared::cta.b64 [%r10], {};\n"
_ALL_ARRIVE: Final = (
    "st.shared.u32 [%r4], %r1;\n" + _ARRIVE.format("") + wait("W", "%r10", "0") + "ld.shared.u32 %r30, [%r6];\n"
)
_COPY_OF_ONE: Final = (
    "{} cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 256, [%r10];\n"
)
_EXPECT_OF_ONE: Final = "{} mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], 256;\n"
_COPY_BEHIND: Final = (
    _ONE_OBJECT
    + "@%p1 "
    + _MADE_FOR.format(1)
    + "bar.sync 0;\n"
    + _EXPECT_OF_ONE.format("@%p1")
    + _COPY_OF_ONE.format("@%p1")
)
_READ_COPY: Final = wait("W", "%r10", "0") + "ld.shared.u32 %r30, [%r4];"

_FOR_TWO: Final = """.shared .align 8 .b8 full[8];
mov.u32 %r10, full;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra READY;
mbarrier.init.shared::cta.b64 [%r10], 64;
READY:
bar.sync 0;
shr.u32 %r12, %r1, 5;
setp.eq.u32 %p2, %r12, 2;
@%p2 bra READ;
st.shared.u32 [%r4], %r1;
mbarrier.arrive.shared::cta.b64 _, [%r10];
setp.eq.u32 %p3, %r12, 1;
@%p3 bra END;
mbarrier.arrive.shared::cta.b64 _, [%r10];
bra END;
READ:
"""
"""Warps 0 and 1 have 32 arrivals each in the count, and warp 0 makes them all."""

_OF_GROUP: Final = (
    "shr.u32 %r12, %r1, 6;\nadd.u32 %r12, %r12, {};\nmov.u32 %r13, {};\nst.shared.u32 [%r4], %r1;\n"
    "bar.sync %r12, %r13;\nxor.b32 %r14, %r1, {};\nshl.b32 %r14, %r14, 2;\nadd.u32 %r14, %r14, %r3;\n"
    "ld.shared.u32 %r30, [%r14];"
)
"""Each two warps meet at a barrier whose number is a register, and read what threads of other warps stored."""


def two_places(first: str, second: str, of: str = "%r1, 32") -> str:
    """A word that the other warp reads, with a barrier in each of two arms in between."""
    return (
        "xor.b32 %r10, %r2, 128;\nadd.u32 %r11, %r10, %r3;\nst.shared.u32 [%r4], %r1;\n"
        f"setp.lt.u32 %p1, {of};\n@%p1 bra ARM;\n{first}\nbra JOIN;\nARM:\n{second}\nJOIN:\n"
        "ld.shared.u32 %r30, [%r11];"
    )


RINGS: Final = {
    "one warp arrives for two": Ring(
        _FOR_TWO + wait("WF", "%r10", "0") + "ld.shared.u32 %r30, [%r4+-128];\nEND:", False
    ),
    "flag behind objects": Ring(
        flag(
            "",
            wait("W1", "%r10", "0") + _SET + _ARRIVE.format("+8"),
            "",
            wait("W2", "%r10+8", "0"),
            _ARRIVE.format(""),
            _MADE,
        ),
        False,
    ),
    "flag behind named barriers": Ring(
        flag("bar.sync 1, 64;\n", _SET, "bar.sync 2, 64;\nbra LOAD;\n", "bar.sync 2, 64;\n", "bar.arrive 1, 64;\n", ""),
        False,
    ),
    "count of all and no count at one barrier": Ring(
        _LAST_WARP + "bar.sync 0, 96;\n@%p2 bra END;\nbar.sync 1, 64;\nbar.sync 0;\n" + _ALL_STORE, False
    ),
    "two places of one barrier": Ring(two_places("bar.sync 15;", "bar.sync 15;"), True, 64),
    "two places of one barrier in a register": Ring(
        "mov.u32 %r12, 15;\n" + two_places("bar.sync %r12;", "bar.sync %r12;"), True, 64
    ),
    "two places of one barrier with a count": Ring(two_places("bar.sync 0, 64;", "bar.sync 0, 64;"), True, 64),
    "two places of one barrier, twice": Ring(two_places("bar.sync 15;\n" * 2, "bar.sync 15;\n" * 2), True, 64),
    "two places of one barrier, once and twice": Ring(
        two_places("bar.sync 15;\n" * 2, "bar.sync 15;\nst.shared.u32 [%r4], %r1;"), False, 64
    ),
    "two places of one barrier, one of them in no warp": Ring(
        "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra ARM;\nbar.sync 15;\nARM:\nst.shared.u32 [%r4], %r1;", False, 64
    ),
    "two places of one barrier, a load too early": Ring(
        two_places("bar.sync 15;", "ld.shared.u32 %r30, [%r11];\nbar.sync 15;"), False, 64
    ),
    "two places of one barrier for the lanes of a warp": Ring(
        two_places("bar.sync 15;", "bar.sync 15;", of="%r1, 40"), False, 64
    ),
    "two places of one barrier with a count for the lanes of a warp": Ring(
        two_places("bar.sync 15, 64;", "bar.sync 15, 64;", of="%r1, 40"), False, 64
    ),
    "cp.async": Ring(ring(_BY_CP + "cp.async.wait_all;\n" + FILLED, _USE), True),
    "cp.async in groups": Ring(ring(_BY_CP + _GROUP.format(0) + FILLED, _USE), True),
    "cp.async, no wait": Ring(ring(_BY_CP + FILLED, _USE), False),
    "cp.async, wait behind the arrival": Ring(ring(_BY_CP + FILLED + "cp.async.wait_all;\n", _USE), False),
    "cp.async, one group too late": Ring(ring(_BY_CP + _GROUP.format(1) + FILLED, _USE), False),
    "cp.async, no group": Ring(ring(_BY_CP + "cp.async.wait_group 0;\n" + FILLED, _USE), False),
    "cp.async, one lane waits": Ring(
        ring(_BY_CP + "setp.eq.u32 %p6, %r1, 0;\n@%p6 cp.async.wait_all;\n" + FILLED, _USE), False
    ),
    "cp.async, freed before the load": Ring(
        ring(_BY_CP + "cp.async.wait_all;\n" + FILLED, WAIT_FULL + FREED + LOAD), False
    ),
    "object that nobody makes": Ring(_ONE_OBJECT + "@%p1 " + _ARRIVE.format("").rstrip(), False, 64),
    "object at which nobody waits": Ring(
        _ONE_OBJECT + "@%p1 " + _MADE_FOR.format(1) + "bar.sync 0;\n@%p1 " + _ARRIVE.format("").rstrip(), True, 64
    ),
    "object": Ring(_ONE_OBJECT + "@%p1 " + _MADE_FOR.format(64) + "bar.sync 0;\n" + _ALL_ARRIVE, True, 64),
    "object that is made if a parameter is 0": Ring(
        _ONE_OBJECT
        + "setp.eq.u32 %p3, %r7, 0;\nand.pred %p3, %p3, %p1;\n@%p3 "
        + _MADE_FOR.format(64)
        + "bar.sync 0;\n"
        + _ALL_ARRIVE,
        False,
        64,
    ),
    "object with two arrivals of one thread in the place of another": Ring(
        _ONE_OBJECT
        + "@%p1 "
        + _MADE_FOR.format(2)
        + "bar.sync 0;\n@%p1 bra FIRST;\n@%p2 bra SECOND;\nbra END;\nFIRST:\n"
        + 2 * _ARRIVE.format("")
        + wait("W", "%r10", "0")
        + "ld.shared.u32 %r30, [%r3];\nbra END;\nSECOND:\nst.shared.u32 [%r3], %r1;\n"
        + _ARRIVE.format("")
        + "END:",
        False,
        64,
    ),
    "object that is made at last": Ring(
        _ONE_OBJECT + _ALL_ARRIVE + "bar.sync 0;\n@%p1 " + _MADE_FOR.format(64).rstrip(), False, 64
    ),
    "copy to an object before it is made": Ring(
        _ONE_OBJECT
        + "@%p1 "
        + _MADE_FOR.format(1)
        + _COPY_OF_ONE.format("@%p2")
        + "bar.sync 0;\n"
        + _EXPECT_OF_ONE.format("@%p2")
        + _READ_COPY,
        False,
        64,
    ),
    "copy": Ring(_COPY_BEHIND + _READ_COPY, True, 64),
    "bulk copy and a wait for cp.async": Ring(
        _COPY_BEHIND + "cp.async.wait_all;\nbar.sync 0;\nld.shared.u32 %r30, [%r4];", False, 64
    ),
    "bulk copy and a wait for groups of cp.async": Ring(
        _COPY_BEHIND + "cp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\nld.shared.u32 %r30, [%r4];",
        False,
        64,
    ),
    "bulk copy that its thread reads behind a wait for cp.async": Ring(
        _COPY_BEHIND + "@!%p1 bra END;\ncp.async.wait_all;\nld.shared.u32 %r30, [%r3];\nEND:", False, 64
    ),
    "ring": Ring(ring(_FILL, _USE), True),
    "start of the parity, which hangs": Ring(ring(WAIT_EMPTY.replace(", 1;", ", 0;") + STORE + FILLED, _USE), True),
    "parity of the reader": Ring(
        ring(
            _FILL,
            WAIT_FULL.replace("%r22;", "%r25;").replace("add.u32 %r26", "xor.b32 %r25, %r22, 1;\nadd.u32 %r26", 1)
            + LOAD
            + FREED,
        ),
        False,
    ),
    "phase never flips": Ring(ring(_FILL, _USE, next_=_STUCK), False),
    "count too small": Ring(ring(_FILL, _USE, full=31), False),
    "count too large": Ring(ring(_FILL, _USE, full=33), False),
    "count of the readers": Ring(ring(_FILL, _USE, empty=32), False),
    "no wait for empty": Ring(ring(STORE + FILLED, _USE), False),
    "no wait for full": Ring(ring(_FILL, LOAD + FREED), False),
    "arrival before the load": Ring(ring(_FILL, WAIT_FULL + FREED + LOAD), False),
    "arrival before the store": Ring(ring(WAIT_EMPTY + FILLED + STORE, _USE), False),
    "answer ignored": Ring(ring(_FILL, WAIT_FULL.replace("@!%p4 bra WF;\n", "") + LOAD + FREED), False),
    "answer of the other sense": Ring(ring(_FILL, WAIT_FULL.replace("@!%p4", "@%p4") + LOAD + FREED), False),
    "wait for the other object, which hangs": Ring(ring(_FILL, WAIT_FULL.replace("%r10", "%r11") + LOAD + FREED), True),
    "more stages than objects": Ring(ring(_FILL, _USE, next_=_THREE), False),
    "one of the producers runs ahead": Ring(ring(WAIT_EMPTY + STORE + FILLED + _TWICE, _USE, full=33), False),
    "stages overlap": Ring(ring(_FILL.replace("%r21, 7", "%r21, 6"), _USE.replace("%r21, 7", "%r21, 6")), False),
    "elected lane": Ring(ring(_FILL, WAIT_FULL + LOAD + SYNCWARP + ELECTED, empty=2), True),
    "elected lane alone": Ring(ring(_FILL, WAIT_FULL + LOAD + ELECTED, empty=2), False),
    "elected lane before the load": Ring(ring(_FILL, WAIT_FULL + SYNCWARP + ELECTED + LOAD, empty=2), False),
    "copies": Ring(ring(_COPY, _USE, full=1, leader=LEADER), True),
    "copies without a wait": Ring(ring(EXPECTED + COPIED, _USE, full=1, leader=LEADER), False),
    "too few bytes expected": Ring(ring(_COPY.replace(", 128;\n", ", 112;\n", 1), _USE, full=1, leader=LEADER), False),
    "too few bytes copied, which hangs": Ring(
        ring(_COPY.replace("128, [", "112, ["), _USE, full=1, leader=LEADER), True
    ),
    "plain arrival for a copy": Ring(ring(WAIT_EMPTY + FILLED + COPIED, _USE, full=1, leader=LEADER), False),
    "copy to the other object": Ring(
        ring(_COPY.replace("[%r28];\n", "[%r26];\n").replace("_, [%r26]", "_, [%r28]"), _USE, full=1, leader=LEADER),
        False,
    ),
    "copies over what was stored": Ring(
        "st.shared.u32 [%r4], %r1;\n" + ring(_COPY, _USE, full=1, leader=LEADER), False
    ),
    "copy that a barrier does not wait for": Ring(_ONE_COPY.format(""), False),
    "copy that is waited for before a barrier": Ring(_ONE_COPY.format(wait("WF", "%r10", "0")), True),
    "copy that nobody expects": Ring(
        ring(WAIT_EMPTY + "add.u32 %r28, %r10, %r24;\n" + COPIED + FILLED, _USE, full=1, leader=LEADER), False
    ),
    "elected lane frees copies": Ring(
        ring(_COPY, WAIT_FULL + LOAD + SYNCWARP + ELECTED, full=1, empty=2, leader=LEADER), True
    ),
    "elected lane frees copies alone": Ring(
        ring(_COPY, WAIT_FULL + LOAD + ELECTED, full=1, empty=2, leader=LEADER), False
    ),
    "store before the arrival": Ring(
        ring(WAIT_EMPTY + _BESIDE + EXPECTED + COPIED, WAIT_FULL + _READ_BESIDE + FREED, full=1, leader=LEADER), True
    ),
    "store after the arrival": Ring(
        ring(WAIT_EMPTY + EXPECTED + _BESIDE + COPIED, WAIT_FULL + _READ_BESIDE + FREED, full=1, leader=LEADER), False
    ),
    "named": Ring(_GIVEN.format("bar.arrive 1, 128;", "bar.sync 1, 128;"), True, 128),
    "named, of two sides": Ring(_GIVEN.format("bar.sync 1, 128;", "bar.sync 1, 128;"), True, 128),
    "named by a register": Ring(_OF_GROUP.format("1", "64", "32"), True, 128),
    "named by a register, read of the other group": Ring(_OF_GROUP.format("1", "64", "64"), False, 128),
    "named by a register, too few threads": Ring(_OF_GROUP.format("1", "32", "32"), False, 128),
    "named by a register, no number": Ring(_OF_GROUP.format("15", "64", "32"), False, 128),
    "named by a parameter": Ring(_OF_GROUP.format("%r7", "64", "32"), False, 128),
    "named, other number": Ring(_GIVEN.format("bar.arrive 2, 128;", "bar.sync 1, 128;"), False, 128),
    "named, small count": Ring(_GIVEN.format("bar.arrive 1, 64;", "bar.sync 1, 64;"), False, 128),
    "named, large count": Ring(_GIVEN.format("bar.arrive 1, 128;", "bar.sync 1, 128;"), False, 160),
    "named, arrival too early": Ring(
        _HALVES + "bar.arrive 1, 128;\nst.shared.u32 [%r4+-256], %r1;\nbra END;\nFIRST:\nbar.sync 1, 128;\n"
        "ld.shared.u32 %r30, [%r6];\nEND:",
        False,
        128,
    ),
    "named, reader only arrives": Ring(_GIVEN.format("bar.arrive 1, 128;", "bar.arrive 1, 128;"), False, 128),
    "named, for a part in a loop": Ring(
        _HALVES + "bra END;\nFIRST:\nmov.u32 %r20, 0;\nL:\nst.shared.u32 [%r4], %r20;\nbar.sync 1, 64;\n"
        "ld.shared.u32 %r30, [%r6];\n"
        "bar.sync 1, 64;\nadd.u32 %r20, %r20, 1;\nsetp.lt.u32 %p2, %r20, %r7;\n@%p2 bra L;\nEND:",
        True,
        128,
    ),
    "named, for a part, one of two in a loop": Ring(
        _HALVES + "bra END;\nFIRST:\nmov.u32 %r20, 0;\nL:\nst.shared.u32 [%r4], %r20;\nbar.sync 1, 64;\n"
        "ld.shared.u32 %r30, [%r6];\n"
        "add.u32 %r20, %r20, 1;\nsetp.lt.u32 %p2, %r20, %r7;\n@%p2 bra L;\nEND:",
        False,
        128,
    ),
}
