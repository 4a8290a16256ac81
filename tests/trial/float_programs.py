"""Random kernels whose addresses and branches come from floats."""

from __future__ import annotations

import random

from tests.kernel.texts import HEAD, TOP

REGISTERS = 5
"""Registers of each format."""
TWO = ("add", "sub", "mul", "min", "max", "div.rn", "add.sat")
ONE = ("sqrt.rn", "rcp.rn", "neg", "abs")
ROUNDED = ("rni", "rzi", "rmi", "rpi")
COMPARED = ("lt", "le", "gt", "ge", "eq", "ne", "ltu", "geu", "neu", "num", "nan")
START = """.reg .f32 %f<9>; .reg .f64 %e<9>;
ld.param.u64 %d1, [q]; mul.wide.u32 %d2, %r1, 8; add.u64 %d1, %d1, %d2; ld.global.u32 %r10, [%d1];
ld.global.u32 %r11, [%d1+4]; cvt.rn.f32.s32 %f0, %r10; mov.b32 %f1, %r11; cvt.rn.f32.u32 %f2, %r1;
mov.f32 %f3, 0f3EAAAAAB; cvt.rn.f32.u32 %f4, %r2; ld.global.f64 %e0, [%d1];
cvt.f64.f32 %e1, %f0; cvt.rn.f64.u32 %e2, %r1;
mov.f64 %e3, 0d3FB999999999999A; mov.f64 %e4, 0dBFF8000000000000;
"""
"""Floats of the data, bits of the data as floats, and those of threads and parameters."""


def program(seed: int) -> str:
    """A random kernel `k` of parameters `n` and `q`."""
    draw = random.Random(seed)
    lines = [START]
    for at in range(draw.randint(6, 14)):
        lines.append(_statement(draw))
        if draw.random() < 0.3:
            kind, letter = draw.choice((("f32", "f"), ("f64", "e")))
            lines.append(
                f"setp.{draw.choice(COMPARED)}.{kind} %p{at}, %{letter}{_one(draw)}, %{letter}{_one(draw)};"
                f" @%p{at} bra L{at}; {_statement(draw)} {_access(draw)} L{at}:"
            )
    lines += [_access(draw) for _ in range(3)]
    return f"{TOP}{HEAD}{chr(10).join(lines)}\nret; }}"


def _one(draw: random.Random) -> int:
    return draw.randrange(REGISTERS)


def _statement(draw: random.Random) -> str:
    """One instruction on floats."""
    kind, letter = draw.choice((("f32", "f"), ("f64", "e")))
    into, first, second, third = (f"%{letter}{_one(draw)}" for _ in range(4))
    turn = draw.random()
    if turn < 0.45:
        name = draw.choice(TWO if kind == "f32" else TWO[:-1])
        return f"{name}.{kind} {into}, {first}, {second};"
    if turn < 0.65:
        return f"fma.rn.{kind} {into}, {first}, {second}, {third};"
    if turn < 0.75:
        return f"{draw.choice(ONE)}.{kind} {into}, {first};"
    if turn < 0.85:
        return f"cvt.{draw.choice(ROUNDED)}.{kind}.{kind} {into}, {first};"
    if turn < 0.93:
        return f"cvt.rn.f32.f64 %f{_one(draw)}, %e{_one(draw)};"
    return f"cvt.f64.f32 %e{_one(draw)}, %f{_one(draw)};"


def _access(draw: random.Random) -> str:
    """A load from a word that a float chooses."""
    kind, letter = draw.choice((("f32", "f"), ("f64", "e")))
    how, whole = draw.choice(ROUNDED), draw.choice(("s32", "u32"))
    return (
        f"cvt.{how}.{whole}.{kind} %r20, %{letter}{_one(draw)}; and.b32 %r20, %r20, 1023;"
        " shl.b32 %r20, %r20, 2; add.u32 %r20, %r20, %r3; ld.shared.u32 %r21, [%r20];"
    )
