"""Random accesses: realistic index forms, and how they go wrong."""

from __future__ import annotations

from dataclasses import dataclass

from .random_copies import copy_address, partial_octets
from .random_parts import MATRIX, WIDTH_BYTES, Draft, memory, predicate, quotient, remainder, size
from .random_tiles import DrawnTile
from .random_value_loops import value_loop
from .yaml_values import Yaml


@dataclass(frozen=True, slots=True)
class Threads:
    """Who runs an access, and its loop variables with the values that they take."""

    count: int
    loops: dict[str, list[int]]
    fields: dict[str, Yaml]


def threads_and_loops(draft: Draft, *, whole_warps: bool = False) -> Threads:
    """1 to 4 warps, sometimes a partial one, as a count or as a block; up to two short loops."""
    rng = draft.rng
    fields: dict[str, Yaml] = {}
    count = rng.choice([32, 32, 64, 64, 128, 96])
    if not whole_warps and draft.chance(0.15):
        count = rng.choice([1, 7, 16, 20, 40, 100])
    if count % 8 == 0 and draft.chance(0.15):
        fields["block"] = rng.choice([[count // 8, 8], [8, count // 8], [count // 4, 2, 2]])
    else:
        fields["threads"] = count
    loops: dict[str, list[int]] = {}
    bounds: dict[str, Yaml] = {}
    for name in rng.choice([[], [], ["i"], ["i"], ["k"], ["i", "k"]]):
        n = rng.choice([1, 2, 2, 3, 4])
        if draft.chance(0.15):
            bounds[name], loops[name] = value_loop(draft)
        elif draft.chance(0.4):
            step = rng.choice([1, 2, 8, 16])
            start = rng.choice([0, 0, 0, step, 1])
            stop = start + n * step - rng.choice([0, 0, step - 1])
            loops[name] = list(range(start, stop, step))
            bounds[name] = {"start": start, "stop": stop, "step": step}
        else:
            count_of = size(draft, [1, 2, 2, 3, 4], 0.15)
            loops[name] = list(range(count_of.most))
            bounds[name] = int(count_of.text) if count_of.text.isdigit() else count_of.text
    if bounds:
        fields["for"] = bounds
    return Threads(count, loops, fields)


def add_access(draft: Draft, tile: DrawnTile) -> str | None:
    """An access to the tile, None if no instruction is narrow enough."""
    rng = draft.rng
    run_bits = tile.run * tile.bits
    matrix = run_bits >= 128 and len(tile.extents) == 2 and draft.chance(0.35)
    if matrix:
        instruction, width_bits = rng.choice(MATRIX), 128
    else:
        least = 8 if tile.bits < 8 else min(tile.bits, 128)
        fitting = [n for n, w in WIDTH_BYTES.items() if least <= 8 * w <= run_bits]
        if not fitting:
            return None
        instruction = rng.choice(fitting if draft.chance(0.3) else _widest(fitting))
        if "cp.async.16" in fitting and draft.chance(0.15):
            instruction = "cp.async.16"
        width_bits = 8 * WIDTH_BYTES[instruction]
    vector = max(1, -(-width_bits // tile.bits))
    if tile.bits < 8:
        # 16 elements of 6 bits are 12 bytes: the next vector that starts at a word.
        vector = -(-vector // 8) * 8
    threads = threads_and_loops(draft, whole_warps=matrix)
    access: dict[str, Yaml] = {"tile": tile.name, "instruction": instruction, **threads.fields}
    if matrix and draft.chance(0.7):
        coordinate = _fragment_coordinate(draft, tile, threads, vector)
    elif len(tile.extents) == 2 and tile.run > 1:
        coordinate = _matrix_coordinate(draft, tile, threads, vector)
    else:
        coordinate = _any_coordinate(draft, tile, threads)
    if draft.chance(0.25):
        coordinate = _composite_coordinate(draft, tile, threads, coordinate, vector)
    access["coord"] = list[Yaml](coordinate)
    if tile.stages > 1 and draft.chance(0.75):
        forms = [f"{name}%2" for name in threads.loops] + ["0", "1", f"{draft.wild(list(threads.loops))} & 1"]
        access["stage"] = rng.choice(forms)
    if not matrix:
        _add_conditions(draft, access, threads)
    elif draft.chance(0.2):
        _add_assumptions(draft, access, threads)
    name = draft.fresh("acc")
    draft.accesses[name] = access
    return name


def _widest(instructions: list[str]) -> list[str]:
    widest = max(WIDTH_BYTES[name] for name in instructions)
    return [name for name in instructions if WIDTH_BYTES[name] == widest]


def _fragment_coordinate(draft: Draft, tile: DrawnTile, threads: Threads, vector: int) -> list[str]:
    """The rows and chunks of a matrix fragment, as ldmatrix wants them."""
    rng = draft.rng
    outer = tile.extents[1 - tile.run_mode]
    rows = rng.choice(["lane%16", "lane & 15", "lane%8", "lane%8 + lane/16*8", "warp*16 + lane%16", "tid%32"])
    chunks = rng.choice([f"lane/16*{vector}", f"lane/16*{vector}", f"lane/8%2*{vector}", "0", f"lane/8*{vector}"])
    if draft.chance(0.75):
        rows = f"({rows})%{outer.text}"
    if threads.loops and draft.chance(0.6):
        name = rng.choice(list(threads.loops))
        steps = threads.loops[name]
        scale = 1 if all(value % vector == 0 for value in steps) else vector
        chunks = f"({name}*{scale} + {chunks})" if scale > 1 else f"({name} + {chunks})"
    if draft.chance(0.75):
        chunks = f"({chunks})%{tile.extents[tile.run_mode].text}"
    if draft.chance(0.1):
        chunks = f"{chunks} + {rng.choice([1, vector])}"
    return [chunks, rows] if tile.run_mode == 0 else [rows, chunks]


def _matrix_coordinate(draft: Draft, tile: DrawnTile, threads: Threads, vector: int) -> list[str]:
    """Rows and vectors of a row-major tile (or columns and vectors of the other kind)."""
    rng = draft.rng
    outer, inner = tile.extents[1 - tile.run_mode], tile.extents[tile.run_mode]
    chunks = max(1, inner.least // vector)
    who = rng.choice(["tid", "tid", "tid", "lane", "threadIdx.x", "tid_x"])
    form = rng.choice(["linear", "linear", "column", "column", "block8", "xor", "affine"])
    if form == "linear":
        row, chunk = quotient(rng, who, chunks), remainder(rng, who, chunks)
    elif form == "column":
        row, chunk = who, rng.choice(["0", "0", quotient(rng, who, 32)])
    elif form == "block8":
        row, chunk = remainder(rng, who, 8), quotient(rng, who, 8)
    elif form == "xor":
        row = quotient(rng, who, 8)
        chunk = rng.choice([f"((lane ^ {quotient(rng, who, 8)}) & 7)", f"(({who} ^ {row}) & {chunks - 1})"])
    else:
        row = f"({rng.randrange(1, 6)}*{who} + {rng.randrange(8)})"
        chunk = f"({rng.randrange(4)}*{who} + {rng.randrange(4)})"
    if threads.loops and draft.chance(0.8):
        name = rng.choice(list(threads.loops))
        if draft.chance(0.5):
            row = f"({name}*{rng.choice([1, 2, 4, 8, 16])} + {row})"
        else:
            chunk = f"({name} + {chunk})"
    if draft.chance(0.7):
        row = f"({row})%{outer.text}"
    if draft.chance(0.75):
        chunk = f"({chunk})%{chunks}"
    column = f"{chunk}*{vector}" if vector > 1 else chunk
    if draft.chance(0.15):
        column += f" + {rng.choice([1, 1, 2, vector]) if tile.bits >= 8 else 8}"
    return [column, row] if tile.run_mode == 0 else [row, column]


def _any_coordinate(draft: Draft, tile: DrawnTile, threads: Threads) -> list[str]:
    """Threads and loop variables spread over any modes, first mode fastest or anyhow."""
    rng = draft.rng
    block = threads.fields.get("block", [])
    axes = "xyz"[: max(1, len(block))] if isinstance(block, list) else "x"
    who = ["tid", "tid", "lane", " + ".join(f"tid_{axis}" for axis in axes)]
    who += [f"({name}*2 + tid)" for name in threads.loops]
    coordinate: list[str] = []
    before = 1
    for extent in tile.extents:
        bound = extent.least + (1 if draft.chance(0.06) else 0)
        if draft.chance(0.7):
            coordinate.append(f"tid/{before}%{bound}")
        else:
            coordinate.append(f"({rng.choice(who)})*{rng.randrange(1, 4)}%{bound}")
        before *= extent.least
    return coordinate


def _composite_coordinate(
    draft: Draft, tile: DrawnTile, threads: Threads, coordinate: list[str], vector: int
) -> list[str]:
    """One entry of a coordinate exchanged for any expression that stays inside the tile, or added
    to.
    """
    at = draft.rng.randrange(len(coordinate))
    extent = tile.extents[at].least
    unit = vector if at == tile.run_mode and tile.run > 1 else 1
    mask = (1 << max(0, (extent // unit).bit_length() - 1)) - 1
    expression = draft.wild(list(threads.loops))
    changed = list(coordinate)
    if draft.chance(0.5):
        changed[at] = f"({expression} & {mask})*{unit}"
    else:
        changed[at] = f"({coordinate[at]} + ({expression} & 1)*{unit})"
    return changed


def _add_conditions(draft: Draft, access: dict[str, Yaml], threads: Threads) -> None:
    rng = draft.rng
    if draft.chance(0.25):
        access["if"] = predicate(draft, list(threads.loops))
    elif draft.chance(0.1):
        access["if"] = rng.choice([f"tid < {max(1, threads.count - 5)}", "tid%2 == 0", "lane < 16", "tid >= 2000"])
    if draft.chance(0.3):
        _add_assumptions(draft, access, threads)
    if draft.chance(0.04):
        _let_nothing_run(draft, access)


def _let_nothing_run(draft: Draft, access: dict[str, Yaml]) -> None:
    """A predicate, an assumption or a loop that leaves nothing to judge."""
    rng = draft.rng
    loops = access.get("for")
    if isinstance(loops, dict) and draft.chance(0.4):
        loops[rng.choice(list(loops))] = rng.choice([0, {"start": 4, "stop": 4}, {"start": 8, "stop": 3, "step": 2}])
    elif "if" in access:
        access["if"] = f"({access['if']}) && tid < lane"
    else:
        access["if"] = rng.choice(["tid >= 2000", "lane > 31", "tid < lane", "(tid ^ lane) & 31"])


def _add_assumptions(draft: Draft, access: dict[str, Yaml], threads: Threads) -> None:
    rng = draft.rng
    names = [*threads.loops, *draft.constants]
    if names:
        name = rng.choice(names)
        assumption = rng.choice([f"{name} < 2", f"{name}%2 == 0", f"{name} >= 1", f"{name} > 1000", f"{name} != 64"])
        if draft.chance(0.8):
            assumption = draft.condition(tuple(threads.loops), rng.choice([1, 2, 3]))
        access["assume"] = [assumption, f"{name} >= 0"] if draft.chance(0.3) else [assumption]


def add_bare_access(draft: Draft, instruction: str = "") -> str:
    """An access to a byte address that an expression gives outright; any instruction where none is
    given.
    """
    rng = draft.rng
    instruction = instruction or rng.choice(list(WIDTH_BYTES))
    width = WIDTH_BYTES[instruction]
    threads = threads_and_loops(draft)
    x = rng.choice(["tid", "lane"])
    form = rng.choice(
        [
            f"{x}*{width}",
            f"{x}*{rng.choice([2, 3, 5, 8, 32, 33])}*{width}",
            f"(({x} >> 1) & 7)*{width}",
            f"(((({x} & 0x30) >> 3) | ({x} & 1)) * {width}) + 2048",
            f"({x} & 15)*{16 * width} + (({x} >> 4) & 1)*{16 * width}",
            f"(({x} ^ {quotient(rng, x, 8)}) & 7)*{width} + {x}/8*{8 * width}",
            f"{x}/4*{4 * width} + {x}%4*{width}",
            f"({x}*{rng.choice([4, 12, 20, 132])} ^ {rng.choice([0, 16, 48])})",
            f"{x}*{width} + {rng.choice([1, 2, 4, 16])}",
            f"{x} < 16 ? {x}*{width} : ({x} - 16)*{width}*(({x} - 16) >= 0)",
            f"(31 - lane)*{width}",
        ]
    )
    copies = instruction == "cp.async.16"
    if copies and draft.chance(0.8):
        form = copy_address(draft, x)
    elif draft.chance(0.25):
        expression = draft.wild(list(threads.loops))
        form = rng.choice(
            [
                f"({expression} & {rng.choice([7, 31, 63])})*{width}",
                f"{x}*{width} + ({expression} & 3)*{32 * width}",
                f"({x}*{width} ^ ({expression} & 7)*{width})",
                f"{x}*{width} + ({expression} & {rng.choice([1, 2])})",
            ]
        )
    for name in threads.loops:
        form = f"({form}) + {name}*{rng.choice([width, 16, 64, 128, 132])}"
    access: dict[str, Yaml] = {"instruction": instruction, **threads.fields, "address": form}
    if draft.chance(0.5):
        kind = rng.choice(["number", "align", "in"])
        if kind == "in":
            place = draft.fresh("mem")
            draft.memories[place] = memory(draft, rng.choice([16, 128, 1024]))
            access["base"] = {"in": place, "offset": rng.choice([0, 16, 64, 1024, 8])}
        elif kind == "align":
            access["base"] = {"align": rng.choice([16, 128, 8])}
        else:
            access["base"] = rng.choice([0, 1024, 64, 2048 + 16])
    elif draft.chance(0.8):
        access["bytes"] = rng.choice([128, 512, 1024, 2048, 4096, 16384])
    if copies and draft.chance(0.4):
        access["if"] = partial_octets(draft)
    else:
        _add_conditions(draft, access, threads)
    name = draft.fresh("bare")
    draft.accesses[name] = access
    return name
