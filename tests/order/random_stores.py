"""Random kernels of two accesses without an order, most of them stores, whose values collide in some launches.

Widths, vectors, rows of matrices and places differ, so that few bytes are common to both. `verdicts` runs a kernel with
several numbers, contents of memory and grids, and `marked` compares a judge's answer with what these launches show.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from tests.ptx_oracle import Buffer
from tests.ptx_oracle.races import Races, races_of

from .random_judge import CannotRunError, Said

HEAD = """.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n, .param .u64 in) {
.reg .pred %p<9>; .reg .b32 %r<90>; .reg .b64 %rd<30>; .reg .f32 %f<30>;
.shared .align 16 .b8 s[1024];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, s;
ld.param.u32 %r4, [n];
ld.param.u64 %rd1, [in];
cvta.to.global.u64 %rd1, %rd1;
and.b32 %r5, %r1, 31;
shr.u32 %r6, %r1, 5;
"""
"""The thread, the block, the array, the parameter, the lane and the warp."""
CONSTANTS = (0, 0, 1, 7, 255, 256, 258, 0x00010001, 0x01010101)
"""Many have bytes in common, so that values collide at some bytes."""
NUMBERS = (0, 1, 7, 256, 258, 0x00010001, 0x01010101)
"""Values of the parameter."""
CONTENTS = (b"\0" * 2048, bytes((3 * at + at // 16) % 251 for at in range(2048)), b"\1" * 2048)
GRIDS = (1, 3)
_REGION = 32
"""Bytes that accesses touch."""


@dataclass(frozen=True)
class Stores:
    """A random kernel `k` of a parameter `n` and a buffer `in`; `number` is what is given of `n`, if anything is."""

    seed: int
    text: str
    block: tuple[int, int, int]
    number: int | None
    constructs: frozenset[str]


class Writer:
    """Writes the lines of one kernel, each value into a register of its own."""

    def __init__(self, source: random.Random) -> None:
        self.source, self.lines = source, list[str]()
        self.constructs = set[str]()
        self._next = 10

    def put(self, *lines: str) -> None:
        self.lines += lines

    def register(self, text: str = "") -> str:
        """A register of 32 bits; with a text such as `add.u32 %r1, 4`, what this computes."""
        name = f"%r{self._next}"
        self._next += 1
        if text:
            opcode, _, rest = text.partition(" ")
            self.put(f"{opcode} {name}, {rest};")
        return name

    def number(self) -> int:
        return self.source.choice(CONSTANTS)

    def value(self) -> str:
        """A register with a value that may collide with others."""
        name = self.source.choice([*VALUES])
        self.constructs.add(name)
        return VALUES[name](self)

    def place(self, size: int, row: str = "") -> str:
        """An address that is a multiple of some bytes."""
        offset = size * self.source.randrange(max(1, _REGION // size))
        if row or self.source.random() < 0.6:
            return f"{row or '%r3'}+{offset if not row else 0}"
        self.constructs.add("own places")
        mine = self.register(f"and.b32 {self.source.choice(('%r1', '%r6', '%r4'))}, {self.source.choice((1, 3))}")
        return self.register(f"mad.lo.u32 {mine}, {size}, %r3") + f"+{offset}"


def _copied(writer: Writer, step: int) -> str:
    """A pointer into the buffer, for each thread or for all of them."""
    if not step:
        return "%rd1"
    at = writer.register(f"mul.lo.u32 %r1, {step}")
    wide = f"%rd{int(at[2:]) % 20 + 5}"
    writer.put(f"cvt.u64.u32 {wide}, {at};", f"add.u64 {wide}, %rd1, {wide};")
    return wide


def _loaded(writer: Writer) -> str:
    pointer = _copied(writer, writer.source.choice((0, 4)))
    found = writer.register()
    writer.put(f"ld.global{writer.source.choice(('', '.nc'))}.u32 {found}, [{pointer}];")
    return found


def _as_float(writer: Writer) -> str:
    found, of = writer.register(), writer.source.choice(("%r4", "%r5", "%r2"))
    real = f"%f{int(found[2:]) % 30}"
    writer.put(f"cvt.rn.f32.u32 {real}, {of};", f"mov.b32 {found}, {real};")
    return found


def _chosen(writer: Writer) -> str:
    writer.put(f"setp.{writer.source.choice(('eq', 'lt', 'ne'))}.u32 %p3, %r4, {writer.number()};")
    return writer.register(f"selp.u32 {writer.number()}, {writer.number()}, %p3")


def _counted(writer: Writer) -> str:
    """The trips of a loop, at most seven."""
    most, found = writer.register("and.b32 %r4, 7"), writer.register("mov.u32 0")
    writer.put(
        f"L{found[2:]}:",
        f"add.u32 {found}, {found}, 1;",
        f"setp.lt.u32 %p4, {found}, {most};",
        f"@%p4 bra L{found[2:]};",
    )
    return found


def _handed_over(writer: Writer) -> str:
    """A word that lies behind the others, and is there since a barrier."""
    writer.put(f"st.shared.u32 [s+512], {writer.source.choice(('%r4', '7'))};", "bar.sync 0;")
    found = writer.register()
    writer.put(f"ld.shared.u32 {found}, [s+512];")
    return found


VALUES: Mapping[str, Callable[[Writer], str]] = {
    "number": lambda writer: writer.register(f"mov.u32 {writer.number()}"),
    "another number": lambda writer: writer.register(f"mov.u32 {writer.number()}"),
    "parameter": lambda _: "%r4",
    "part of the parameter": lambda writer: writer.register(f"and.b32 %r4, {writer.number() or 255}"),
    "multiple of the parameter": lambda writer: writer.register(f"mul.lo.u32 %r4, {writer.source.choice((2, 65537))}"),
    "thread": lambda _: "%r1",
    "lane": lambda _: "%r5",
    "warp": lambda _: "%r6",
    "thread and parameter": lambda writer: writer.register(f"{writer.source.choice(('add', 'mul.lo'))}.u32 %r1, %r4"),
    "block": lambda _: "%r2",
    "block and thread": lambda writer: writer.register(f"{writer.source.choice(('add', 'mul.lo'))}.u32 %r1, %r2"),
    "chosen by the parameter": _chosen,
    "loaded": _loaded,
    "float": _as_float,
    "trips": _counted,
    "handed over": _handed_over,
    "exchanged": lambda writer: writer.register(
        f"shfl.sync.{writer.source.choice(('idx', 'bfly'))}.b32 {writer.source.choice(('%r4', '%r5'))}, 1, 31, -1"
    ),
}
"""What is stored."""


def _plain(writer: Writer) -> str:
    """A store of one word or of a vector."""
    size, count = writer.source.choice((1, 2, 4, 4, 8)), writer.source.choice((1, 1, 2, 4))
    count = min(count, 16 // size)
    place, values = writer.place(size * count), [writer.value() for _ in range(count)]
    if writer.source.random() < 0.3:
        values = values[:1] * count
    if size == 8:
        wide = [f"%rd{20 + at}" for at in range(count)]
        for name, value in zip(wide, values, strict=True):
            writer.put(f"mov.b64 {name}, {{{value}, {writer.source.choice((value, '%r4', '%r5'))}}};")
        values = wide
    vector = f".v{count}" if count > 1 else ""
    source = f"{{{', '.join(values)}}}" if count > 1 else values[0]
    return f"st.shared{vector}.b{8 * size} [{place}], {source};"


def _changed(writer: Writer) -> str:
    """A load, a change, and a store."""
    size = writer.source.choice((1, 2, 4))
    place, found = writer.place(size), writer.register()
    writer.put(f"ld.shared.u{8 * size} {found}, [{place}];", "bar.sync 0;")
    changed = writer.register(f"{writer.source.choice(('or', 'and'))}.b32 {found}, {writer.value()}")
    return f"st.shared.u{8 * size} [{place}], {changed};"


def _atomic(writer: Writer) -> str:
    place, value = writer.place(4), writer.value()
    if writer.source.random() < 0.3:
        wide = "%rd20"
        writer.put(f"cvt.u64.u32 {wide}, {value};")
        return f"atom.shared.add.u64 %rd21, [{writer.place(8)}], {wide};"
    return writer.source.choice(
        (
            f"atom.shared.exch.b32 {writer.register()}, [{place}], {value};",
            f"red.shared.or.b32 [{place}], {value};",
            f"atom.shared.add.u32 {writer.register()}, [{place}], {value};",
        )
    )


def _strong(writer: Writer) -> str:
    return f"st.relaxed.cta.shared.u32 [{writer.place(4)}], {writer.value()};"


def _read(writer: Writer) -> str:
    size, count = writer.source.choice((1, 2, 4)), writer.source.choice((1, 4))
    names = [writer.register() for _ in range(count)]
    source = f"{{{', '.join(names)}}}" if count > 1 else names[0]
    return f"ld.shared{'.v4' if count > 1 else ''}.u{8 * size} {source}, [{writer.place(size * count)}];"


def _copy(writer: Writer) -> str:
    size = writer.source.choice((4, 8, 16))
    return (
        f"cp.async.ca.shared.global [{writer.place(size)}], [{_copied(writer, writer.source.choice((0, 16)))}], {size};"
    )


def _matrix(writer: Writer) -> str:
    """A store or a load of matrices, by whole warps."""
    row = writer.register("and.b32 %r1, 7")
    row = writer.register(f"mad.lo.u32 {row}, {writer.source.choice((0, 16, 16))}, %r3")
    if writer.source.random() < 0.2:
        return f"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{{writer.register()}}}, [{writer.place(16, row)}];"
    trans = writer.source.choice(("", ".trans"))
    return f"stmatrix.sync.aligned.m8n8.x1{trans}.shared.b16 [{writer.place(16, row)}], {{{writer.value()}}};"


ACCESSES: Mapping[str, Callable[[Writer], str]] = {
    "store": _plain,
    "another store": _plain,
    "third store": _plain,
    "load and store": _changed,
    "atomic": _atomic,
    "strong store": _strong,
    "read": _read,
    "copy": _copy,
    "matrix": _matrix,
}


@lru_cache(maxsize=64)
def stores(seed: int) -> Stores:
    """The random kernel of a seed."""
    source = random.Random(seed)
    writer = Writer(source)
    arms = source.choice(("warps", "warps", "lanes", "one", "both", "guarded"))
    names = [source.choice([*ACCESSES]) for _ in range(1 if arms == "one" else 2)]
    if arms == "lanes":
        # Nobody can say what a part of a warp does with a matrix.
        names = ["store" if each == "matrix" else each for each in names]
    made = [ACCESSES[name](writer) for name in names]
    writer.put("bar.sync 0;")
    match arms:
        case "warps":
            test = source.choice(("setp.ge.u32 %p1, %r1, 32;", "setp.eq.u32 %p1, %r6, 0;"))
            writer.put(test, "@%p1 bra W;", made[0], "bra E;", "W:", made[1], "E:")
        case "lanes":
            writer.put("setp.eq.u32 %p1, %r1, 0;", "setp.eq.u32 %p2, %r1, 1;")
            writer.put(f"@%p1 {made[0]}", f"@%p2 {made[1]}")
        case "guarded":
            of = source.choice(("%r4", "%r2", "%r6"))
            writer.put(f"setp.{source.choice(('eq', 'ne', 'lt'))}.u32 %p1, {of}, {writer.number()};")
            writer.put("@!%p1 bra S;", made[0], "S:", made[1])
        case _:
            writer.put(*made)
    number = source.choice(NUMBERS) if source.random() < 0.25 else None
    text = HEAD + "\n".join(writer.lines) + "\nret;\n}\n"
    return Stores(seed, text, (64, 1, 1), number, frozenset((*writer.constructs, *names, arms)))


def launched(drawn: Stores, number: int, contents: bytes, blocks: int) -> Races:
    """The races of one launch."""
    params = [number, Buffer(len(contents), content=contents)]
    found = races_of(drawn.text, "k", drawn.block, (blocks,), params=params, steps=20_000)
    if found.result.error or found.left_out or found.divergences:
        raise CannotRunError(f"{found.result.error} {found.left_out} {found.divergences}")
    return found


def launches(drawn: Stores) -> list[Races]:
    """What some launches show."""
    numbers = NUMBERS if drawn.number is None else (drawn.number,)
    shapes = [(contents, blocks) for contents in CONTENTS for blocks in GRIDS]
    few = [(number, *shapes[at % len(shapes)]) for at, number in enumerate(numbers)]
    every = [(numbers[-1], *shape) for shape in shapes]
    return [launched(drawn, *each) for each in dict.fromkeys((*few, *every))]


def marked(said: Said, drawn: Stores, seen: list[Races]) -> str:
    """What launches say of a judge's answer; `WRONG` or `FALSE` where they contradict it."""
    verdicts = {each.verdict for each in seen}
    told = ", ".join(sorted(verdicts))
    for found in seen:
        for race in said.denies(found):
            return f"WRONG pair {race.lines} ({told})"
    if said.verdict in ("free", "race-benign") and (
        "race" in verdicts or (said.verdict == "free" and len(verdicts) > 1)
    ):
        return f"WRONG {said.verdict} ({told})"
    if said.verdict == "race" and verdicts != {"race"}:
        return f"WRONG race ({told})"
    harmful = [each.lines(benign=False) for each in seen]
    for lines, verdict in (said.pairs or {}).items():
        if verdict == "race" and any(lines not in each for each in harmful):
            return f"WRONG race of {lines} ({told})"
    for each in (said, *said.others):
        if each.lines is None or each.verdict not in ("race", "depends") or any(each.lines in of for of in harmful):
            continue
        number = next((value for name, value in each.parameters.items() if name.startswith("n")), 3)
        grid = each.parameters.get("ctaid.x", 0) + 1
        if grid < 8:
            shown = (launched(drawn, number, contents, grid) for contents in CONTENTS)
            if not any(each.lines in found.lines(benign=False) for found in shown):
                return f"FALSE {each.verdict} of {each.lines} ({told})"
    return f"{said.verdict} ({told})"
