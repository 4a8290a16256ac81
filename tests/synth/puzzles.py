"""Random synthesis problems: a tile, a few accesses and a family, as a spec and as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

FAMILIES = ("swizzle", "swizzle", "swizzle", "pad", "pad", "tma", "pad+swizzle")
_WIDTHS = {
    1: ("ld.shared.b8", "st.shared.b8"),
    2: ("ld.shared.b16", "st.shared.b16"),
    4: ("ld.shared.b32", "st.shared.b32", "cp.async.4", "atom.shared.add.u32"),
    8: ("ld.shared.v2.b32", "st.shared.b64", "cp.async.8"),
    16: (
        "ld.shared.v4.b32",
        "st.shared.v4.b32",
        "ldmatrix.x4",
        "ldmatrix.x2.trans",
        "stmatrix.x1",
        "cp.async.16",
        "cp.async.ca.16",
    ),
}


@dataclass(frozen=True)
class Path:
    """An access: C expressions of tid, lane, warp and k for the row and the column."""

    instruction: str
    threads: int
    row: str
    column: str
    rounds: int = 1
    predicate: str = ""

    def warps(self) -> Iterator[list[tuple[int, int] | None]]:
        """The coordinate of each lane of every warp in every round; None where it is idle."""
        for k in range(self.rounds):
            for warp in range(-(-self.threads // 32)):
                lanes: list[tuple[int, int] | None] = []
                for lane in range(32):
                    names = {"tid": warp * 32 + lane, "lane": lane, "warp": warp, "k": k}
                    on = names["tid"] < self.threads and bool(_value(self.predicate or "1", names))
                    lanes.append((_value(self.row, names), _value(self.column, names)) if on else None)
                yield lanes

    def text(self, weight: int) -> str:
        """The access as YAML."""
        rounds = f", for: {{k: {self.rounds}}}" if "k" in self.row + self.column + self.predicate else ""
        predicate = f', if: "{self.predicate}"' if self.predicate else ""
        weighted = f", weight: {weight}" if weight != 1 else ""
        head = f"{{tile: A, instruction: {self.instruction}, threads: {self.threads}{rounds}"
        return f'{head}, coord: ["{self.row}", "{self.column}"]{predicate}{weighted}}}'


def _value(text: str, names: dict[str, int]) -> int:
    """A C expression of numbers that are not negative."""
    return int(eval(text.replace("/", "//"), {"__builtins__": {}}, names))  # noqa: S307 - our own texts


@dataclass(frozen=True)
class Puzzle:
    """A tile of rows x columns elements of `bits` bits, its accesses, and what is asked."""

    family: str
    on: str
    bits: int
    rows: int
    columns: int
    order: str
    pad: int
    align: int
    stages: int
    room: int
    paths: tuple[Path, ...]
    weights: tuple[int, ...]

    def text(self) -> str:
        """The problem as a spec; accesses are called a0, a1, ..."""
        layout = f"{{shape: [{self.rows}, {self.columns}], order: {self.order}, pad: {self.pad}}}"
        accesses = "\n".join(
            f"  a{i}: {path.text(weight)}"
            for i, (path, weight) in enumerate(zip(self.paths, self.weights, strict=True))
        )
        tile = f"{{bits: {self.bits}, layout: {layout}, base: {{align: {self.align}}}, stages: {self.stages}}}"
        return f"swizzverify: 1\ntiles:\n  A: {tile}\naccesses:\n{accesses}\n".replace("swizzverify", "swzverify")


def puzzle(seed: int) -> Puzzle:
    """A problem of its own for each seed."""
    random = Random(seed)
    family = random.choice(FAMILIES)
    bits = random.choice((8, 16, 16, 32, 32, 64, 4) if family != "tma" else (8, 16, 32))
    if family == "pad+swizzle":
        bits = random.choice((16, 32, 64))
    row_bytes = random.choice((16, 32, 64, 64, 128, 128, 256))
    columns = row_bytes * 8 // bits
    rows = random.choice((4, 8, 16, 16, 32, 32, 12, 24))
    while rows * row_bytes > (512 if family == "pad+swizzle" else 4096):
        rows = rows // 2
    rows = max(rows, 2)
    if random.random() < 0.1 and family != "tma":
        columns = max(1, columns - random.choice((1, 2, columns // 4)))
    order = "row" if random.random() < 0.85 or family == "tma" else "col"
    pad = 0
    if family == "swizzle" and random.random() < 0.2:
        pad = random.choice((1, 2, 4, 16 * 8 // bits))
    on = "address" if family == "swizzle" and bits % 8 == 0 and random.random() < 0.3 else "offset"
    align = random.choice((128, 1024, 1024)) if family == "tma" else random.choice((16, 64, 128, 256, 1024, 1024))
    stages = random.choice((1, 1, 1, 2))
    count = random.choice((1, 2) if family == "pad+swizzle" else (1, 2, 2, 3, 3, 4))
    paths = tuple(_path(random, bits, rows, columns, order) for _ in range(count))
    weights = tuple(random.choice((1, 1, 1, 2, 5)) for _ in paths)
    size = stages * rows * columns * bits // 8
    room = random.choice((232448, 232448, size + rows * 16 + 2048))
    return Puzzle(family, on, bits, rows, columns, order, pad, align, stages, room, paths, weights)


def _path(random: Random, bits: int, rows: int, columns: int, order: str) -> Path:
    run = columns if order == "row" else rows
    widths = [width for width in _WIDTHS if 8 * width >= bits and run % max(1, 8 * width // bits) == 0]
    width = random.choice([each for each in widths if 8 * each <= run * bits] or [max(1, bits // 8)])
    vector = max(1, 8 * width // bits)
    instruction = random.choice(_WIDTHS[width])
    threads = random.choice((32, 32, 64, 64, 48, 20)) if "matrix" not in instruction else random.choice((32, 64))
    high, wide = (rows, columns) if order == "row" else (columns, rows)
    vectors = max(1, wide // vector)
    name = random.choice(("tid", "lane"))
    power = 1 << random.randrange(0, 4)
    slow, fast = random.choice(
        [
            (f"tid/{vectors}", "tid"),
            (name, "k"),
            (name, f"warp + {name}/{power}"),
            (f"{name}/{power}", f"{name}%{power} + k"),
            (f"{name}%{power}", f"{name}/{power}"),
            (f"{name}*{power} + k", f"{name}/{power}"),
            (f"{name}%16", f"{name}/16 + k*2"),
            (f"{name}*{random.randrange(1, 7)}", f"{name}*{random.randrange(0, 5)} + k"),
            ("k", f"{name}*{power}"),
            (f"{name} ^ ({name}/4)", "k"),
        ]
    )
    slow = f"({slow})%{high}"
    fast = f"({fast})%{vectors}*{vector}" if vector > 1 else f"({fast})%{vectors}"
    row, column = (slow, fast) if order == "row" else (fast, slow)
    predicate = f"tid < {random.choice((8, 17, 30))}" if "matrix" not in instruction and random.random() < 0.1 else ""
    return Path(instruction, threads, row, column, random.choice((1, 2, 3)), predicate)


def linear_puzzle(seed: int) -> Puzzle:
    """A problem for the family xor: accesses of one warp that are linear over bits, in a small tile."""
    random = Random(seed)
    bits = random.choice((16, 32))
    columns, vector = 1024 // bits, 128 // bits
    rows = 8 if random.random() < 0.7 else 16
    kinds = (
        ("ldmatrix.x4", vector),
        ("ld.shared.v4.b32", vector),
        ("st.shared.v4.b32", vector),
        ("st.shared.v2.b32", vector // 2),
        ("ld.shared.b32", vector // 4),
    )
    paths = tuple(
        _linear_path(random, rows, columns, *random.choice(kinds)) for _ in range(random.choice((1, 2, 2, 3)))
    )
    return Puzzle("xor", "offset", bits, rows, columns, "row", 0, 1024, 1, 232448, paths, (1,) * len(paths))


def _linear_path(random: Random, rows: int, columns: int, instruction: str, vector: int) -> Path:
    """Bits of the lane go to bits of the row and of the vector in it, some of them to both."""
    lane = [f"lane/{1 << bit}%2" for bit in range(5)]
    random.shuffle(lane)
    down = random.randrange(0, rows.bit_length())
    across = (columns // vector).bit_length() - 1
    row = [f"({name})*{1 << bit}" for bit, name in enumerate(lane[:down])]
    left = lane[down : down + across]
    column = [f"({name})*{1 << bit}" for bit, name in enumerate(left)]
    if column and random.random() < 0.4:
        column[-1] = f"(({left[-1]}) ^ ({lane[0]}))*{1 << len(column) - 1}"
    return Path(instruction, 32, " + ".join(row) or "0", f"({' + '.join(column) or '0'})*{vector}")
