"""Kernels of one warp without loops: products of fragments that `ld.global` brings, added to sums in any order.

Right kernels of unusual shape are short lists of such steps.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

PITCH = 512
"""Bytes from row to row of a matrix."""
SUMS = 3
SLOTS = 3
Step = tuple[str, ...]


def write(steps: Sequence[Step], pitch: int = PITCH) -> str:
    """The PTX of m16n8k16.f16 products.

    - `("A", slot, k)` and `("B", slot, k)` load a fragment from column k on, and `("C", slot, k)` one of B from a
      third matrix.
    - `("low", role, slot)`, `("negative", role, slot)` and `("zero", role, slot)` compute one from the fragment;
      `("mixed", slot)` makes each register of A the XOR of the other three.
    - `("mma", to, from, slot of A, slot of B)`, `("clear", sum)`, `("move", to, from)`, `("relu", sum)`,
      `("twice", sum)`, and `("store", sum)`, which writes a sum to shared memory and reads it again.
    - `("if data",)` skips the rest if a word of memory is 7.
    """
    lines: list[str] = []
    for name, *rest in steps:
        match name, rest:
            case ("A" | "B" | "C", [slot, k]):
                for at in range(4 if name == "A" else 2):
                    row, right = (at % 2, at // 2) if name == "A" else (0, at)
                    place = 2 * int(k) + 16 * right + 8 * row * pitch
                    lines.append(f"ld.global.b32 %{'a' if name == 'A' else 'b'}{slot}_{at}, [%{name}+{place}];")
            case ("low" | "negative" | "zero", [role, slot]):
                for at in range(4 if role == "A" else 2):
                    own = f"%{role.lower()}{slot}_{at}"
                    how = {"low": "xor.b32 {0}, {0}, 0x00010001;", "negative": "xor.b32 {0}, {0}, 0x80008000;"}
                    lines.append(how.get(name, "mov.b32 {0}, 0;").format(own))
            case "mixed", [slot]:
                parts = [f"%a{slot}_{at}" for at in range(4)]
                lines += ["mov.b32 %row, 0;", *(f"xor.b32 %row, %row, {each};" for each in parts)]
                lines += [f"xor.b32 {each}, {each}, %row;" for each in parts]
            case "mma", [to, own, a, b]:
                four = ", ".join(f"%a{a}_{at}" for at in range(4))
                lines.append(
                    f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{{_sum(to)}}}, {{{four}}}, "
                    f"{{%b{b}_0, %b{b}_1}}, {{{_sum(own)}}};"
                )
            case "move", [to, own]:
                lines += [f"mov.b32 %s{to}_{at}, %s{own}_{at};" for at in range(4)]
            case (("clear" | "relu" | "twice"), [own]):
                how = {
                    "clear": "mov.b32 {0}, 0;",
                    "relu": "max.f32 {0}, {0}, 0f00000000;",
                    "twice": "add.f32 {0}, {0}, {0};",
                }[name]
                lines += [how.format(f"%s{own}_{at}") for at in range(4)]
            case "store", [own]:
                lines.append(f"st.shared.v4.b32 [%place], {{{_sum(own)}}};")
                lines.append(f"ld.shared.v4.b32 {{{_sum(own)}}}, [%place];")
            case _:
                assert name == "if data"
                lines.append("ld.global.u32 %row, [%A]; setp.eq.u32 %p, %row, 7; @%p bra END;")
    clear = "".join(f"mov.b32 %s{own}_{at}, 0; " for own in range(SUMS) for at in range(4))
    return f"""
.version 8.4
.target sm_90a
.address_size 64
.shared .align 16 .b8 room[512];
.entry k(.param .u64 a, .param .u64 b, .param .u64 c) .reqntid 32 {{
.reg .b64 %A, %B, %C, %at; .reg .b32 %row, %place; .reg .pred %p;
.reg .b32 {", ".join(f"%{role}{slot}_{at}" for role in "abs" for slot in range(3) for at in range(4))};
ld.param.u64 %A, [a]; ld.param.u64 %B, [b]; ld.param.u64 %C, [c];
mov.u32 %row, %tid.x; mov.u32 %place, room; mad.lo.u32 %place, %row, 16, %place;
shr.u32 %row, %row, 2; mul.lo.u32 %row, %row, {pitch};
cvt.u64.u32 %at, %row; add.u64 %A, %A, %at; add.u64 %B, %B, %at; add.u64 %C, %C, %at;
mov.u32 %row, %tid.x; and.b32 %row, %row, 3; shl.b32 %row, %row, 2;
cvt.u64.u32 %at, %row; add.u64 %A, %A, %at; add.u64 %B, %B, %at; add.u64 %C, %C, %at;
{clear}
""" + "\n".join([*lines, "END:", "ret;", "}"])


def _sum(own: str) -> str:
    return ", ".join(f"%s{own}_{at}" for at in range(4))


def drawn(seed: int) -> list[Step]:
    """Random steps; about half of the kernels have a product twice in one sum."""
    draw = random.Random(seed)

    def of(count: int) -> str:
        return str(draw.randrange(count))

    def column() -> str:
        return str(16 * draw.choice([0, 0, 1, 1, 2, 3]))

    found: list[Step] = [("A", str(at), column()) for at in range(SLOTS)]
    found += [(draw.choice("BC"), str(at), column()) for at in range(SLOTS)]
    for _ in range(draw.randint(2, 9)):
        own = of(SUMS)
        found.append(
            draw.choice(
                [
                    ("mma", own, own, of(SLOTS), of(SLOTS)),
                    ("mma", own, own, of(SLOTS), of(SLOTS)),
                    ("mma", own, of(SUMS), of(SLOTS), of(SLOTS)),
                    (draw.choice("ABC"), of(SLOTS), column()),
                    (draw.choice(["low", "negative", "zero"]), draw.choice("AB"), of(SLOTS)),
                    (draw.choice(["clear", "twice", "store"]), own),
                    ("move", own, of(SUMS)),
                ]
            )
        )
    return found
