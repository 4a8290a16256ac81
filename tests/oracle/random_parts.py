"""Small random pieces of a spec: index forms, predicates, sizes, swizzles and bases."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from .random_expressions import Source, condition, text_of, wild
from .yaml_values import Spec, Yaml

ELEMENT_NAMES = {
    4: ["f4", "i4", "u4"],
    6: ["f6"],
    8: ["i8", "u8", "f8e4m3", "f8e5m2"],
    16: ["f16", "bf16", "i16"],
    32: ["f32", "tf32", "i32", "u32"],
    64: ["f64", "i64"],
}
WIDTH_BYTES = {
    "ld.shared.b8": 1,
    "ld.shared.b16": 2,
    "ld.shared.b32": 4,
    "ld.shared.b64": 8,
    "ld.shared.v2.b32": 8,
    "ld.shared.v4.b32": 16,
    "ld.shared.v2.b64": 16,
    "st.shared.b8": 1,
    "st.shared.b16": 2,
    "st.shared.b32": 4,
    "st.shared.b64": 8,
    "st.shared.v2.b32": 8,
    "st.shared.v4.b32": 16,
    "st.shared.v2.b64": 16,
    "ld.shared.v4.f32": 16,
    "st.shared.u32": 4,
    "cp.async.4": 4,
    "cp.async.8": 8,
    "cp.async.16": 16,
    "cp.async.ca.16": 16,
    "atom.shared.add.u32": 4,
}
MATRIX = [f"{op}.x{n}{trans}" for op in ("ldmatrix", "stmatrix") for n in (1, 2, 4) for trans in ("", ".trans")]
MATRIX.append("ldmatrix.sync.aligned.m8n8.x4.shared.b16")


def seeded(seed: int) -> random.Random:
    """The source of chance of one spec."""
    return random.Random(seed)


@dataclass(slots=True)
class Draft:
    """A spec in the making: its source of chance, and the parts drawn so far; `slip` as in
    `Source`.
    """

    rng: random.Random
    constants: dict[str, Yaml] = field(default_factory=dict[str, Yaml])
    memories: dict[str, Yaml] = field(default_factory=dict[str, Yaml])
    tiles: dict[str, Yaml] = field(default_factory=dict[str, Yaml])
    accesses: dict[str, Yaml] = field(default_factory=dict[str, Yaml])
    maps: dict[str, Yaml] = field(default_factory=dict[str, Yaml])
    operands: dict[str, Yaml] = field(default_factory=dict[str, Yaml])
    claims: list[Yaml] = field(default_factory=list[Yaml])
    slip: float = 0.0
    target: str = "sm_90"

    def source(self, names: tuple[str, ...]) -> Source:
        """What its expressions of some variables are drawn from; constants of several values are
        left out.
        """
        single = {name: value for name, value in self.constants.items() if isinstance(value, int)}
        return Source(self.rng, single, names, self.slip)

    def wild(self, names: list[str], depth: int = 3) -> str:
        """Any expression of threads and the names, in brackets."""
        return f"({text_of(wild(self.source(('tid', 'lane', 'warp', *names)), depth).tree, self.rng)})"

    def condition(self, names: tuple[str, ...], depth: int = 3) -> str:
        """Any condition of the names."""
        return text_of(condition(self.source(names), depth), self.rng)

    def spec(self) -> Spec:
        """The spec as YAML would give it."""
        spec: Spec = {"swzverify": 1, "target": self.target}
        for key, part in (
            ("constants", self.constants),
            ("memories", self.memories),
            ("tiles", self.tiles),
            ("accesses", self.accesses),
            ("maps", self.maps),
            ("operands", self.operands),
        ):
            if part:
                spec[key] = part
        spec["claims"] = self.claims
        return spec

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def claim(self, kind: str, argument: Yaml) -> None:
        self.claims.append({kind: argument})

    def fresh(self, prefix: str) -> str:
        """A name that no subject has yet."""
        taken = [*self.constants, *self.memories, *self.tiles, *self.accesses, *self.maps, *self.operands]
        return next(name for n in range(len(taken) + 1) if (name := f"{prefix}{n}") not in taken)


@dataclass(frozen=True, slots=True)
class Size:
    """An extent as written, and the values it takes over the cases."""

    text: str
    values: tuple[int, ...]

    @property
    def least(self) -> int:
        return min(self.values)

    @property
    def most(self) -> int:
        return max(self.values)


def size(draft: Draft, choices: list[int], constant: float = 0.25) -> Size:
    """One of `choices`, sometimes through a constant, of one value or of two."""
    rng = draft.rng
    value = rng.choice(choices)
    if not draft.chance(constant):
        return Size(str(value), (value,))
    name = draft.fresh("N")
    lists = sum(isinstance(number, list) for number in draft.constants.values())
    other = rng.choice(choices)
    if lists < 2 and other != value and draft.chance(0.5):
        draft.constants[name] = [value, other]
        return Size(name, (value, other))
    draft.constants[name] = value
    return Size(name, (value,))


def quotient(rng: random.Random, x: str, n: int) -> str:
    """`x / n` for x >= 0, in one of its forms; safe as an operand of `+`."""
    if n == 1:
        return x
    if n & (n - 1) == 0 and rng.random() < 0.3:
        return f"({x} >> {n.bit_length() - 1})"
    return f"{x}/{n}"


def remainder(rng: random.Random, x: str, n: int) -> str:
    """`x % n` for x >= 0, in one of its forms; safe as an operand of `*`."""
    if n & (n - 1) == 0 and rng.random() < 0.3:
        return rng.choice([f"({x} & {n - 1})", f"({x} & {n - 1:#x})"])
    return f"{x}%{n}"


def predicate(draft: Draft, names: list[str]) -> str:
    """A condition over threads and loop variables."""
    if draft.chance(0.7):
        return draft.condition(("tid", "lane", "warp", *names), draft.rng.choice((1, 2, 3)))
    return _plain_predicate(draft.rng, names)


def _plain_predicate(rng: random.Random, names: list[str], depth: int = 2) -> str:
    """A condition over threads and loop variables that is defined everywhere, as people write it."""
    if depth > 0 and rng.random() < 0.6:
        left, right = _plain_predicate(rng, names, depth - 1), _plain_predicate(rng, names, depth - 1)
        form = rng.choice(["{0} && {1}", "{0} || {1}", "!({0})", "({0}) ? {1} : {2}", "({0}) != ({1})"])
        return "(" + form.format(left, right, _plain_predicate(rng, names, 0)) + ")"
    x = rng.choice(["tid", "lane", "warp", *names])
    terms = [
        x,
        f"{x}%3",
        f"{x}/5",
        f"({x} ^ 5)",
        f"(lane & {x})",
        f"(1 << ({x} & 3))",
        f"({x} - 7)%4",
        f"(~{x} & 6)",
        f"min({x}, 9)",
        f"max(lane, {x}, 3)",
        f"({x} >> (lane & 1))",
        f"-{x}",
    ]
    relation = rng.choice(["<", "<=", ">", ">=", "==", "!="])
    bound = rng.choice([0, 1, 2, 3, 5, 8, 16, 20, 31, 33])
    form = rng.choice(["{0} {1} {2}", "{0} {1} {2}", "{2} {1} {0}", "({0} & 1) {1} ({2} & 1)"])
    return form.format(rng.choice(terms), relation, bound)


def swizzle_numbers(rng: random.Random, low: int, most_span_bits: int) -> tuple[int, int, int]:
    """Bits, base and shift of a legal swizzle of at most that many bits in all; `low` is a natural
    base.
    """
    for _ in range(20):
        bits = rng.choice([1, 2, 2, 3, 3, 3, 4, 5])
        base = rng.choice([low, low, low, low, max(0, low - 1), low + 1, 0, 2, 3])
        shift = bits + rng.choice([0, 0, 0, 1, 1, 2])
        if bits + base + shift <= most_span_bits:
            return bits, base, -shift if rng.random() < 0.15 else shift
    return (0, low, 3) if most_span_bits < low + 2 else (1, low, 1)


def swizzle_value(rng: random.Random, numbers: tuple[int, int, int], *, on_address: bool) -> Yaml:
    """The swizzle in one of its notations."""
    bits, base, shift = numbers
    if on_address:
        return {"bits": bits, "base": base, "shift": shift, "on": "address"}
    if rng.random() < 0.2:
        return {"bits": bits, "base": base, "shift": shift}
    return f"Swizzle<{bits},{base},{shift}>"


def base_value(draft: Draft, span_bytes: int, needed: int = 1) -> Yaml:
    """A base for a tile whose swizzle looks at `span_bytes` of the address; None leaves the
    default.

    The alignment is at least a sixteenth of the span, so that few bases are enough.
    """
    rng = draft.rng
    kind = rng.random()
    if kind < 0.25 and span_bytes <= 4096:
        return None
    aligns = [n for n in (16, 32, 128, 256, 512, 1024, 2048) if n >= needed and 16 * n >= max(span_bytes, 128)]
    if kind < 0.75:
        return {"align": rng.choice([*aligns, max(span_bytes, needed), max(span_bytes, needed)])}
    if kind < 0.88:
        return rng.choice([0, 1024, 4096, 128 * rng.randrange(64), 16 * rng.randrange(64)]) // needed * needed
    name = draft.fresh("mem")
    draft.memories[name] = memory(draft, rng.choice(aligns), needed)
    if rng.random() < 0.3:
        return {"in": name, "offset": 0}
    return {"in": name, "offset": rng.choice([16, 128, 256, 1024, 4096]) // needed * needed}


def memory(draft: Draft, align: int, needed: int = 1) -> Yaml:
    """A memory of that alignment, sometimes at an address of its own."""
    drawn: dict[str, Yaml] = {"bytes": 200_000, "align": align}
    if draft.chance(0.35):
        drawn["base"] = max(align, needed) * draft.rng.randrange(8)
    return drawn


def element(draft: Draft, bits: int) -> dict[str, Yaml]:
    """The element in one of its notations."""
    if draft.chance(0.2):
        return {"bits": bits}
    return {"element": draft.rng.choice(ELEMENT_NAMES[bits])}
