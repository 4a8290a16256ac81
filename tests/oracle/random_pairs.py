"""Random pairs of subjects that are equivalent or disjoint, or nearly so, and random permutations."""

from __future__ import annotations

from .c_expr import Name, Op
from .random_accesses import add_access, add_bare_access, threads_and_loops
from .random_expressions import bracketed, number, rewritten, text_of, wild
from .random_parts import Draft, element, memory, swizzle_numbers
from .random_tiles import matrix_tile
from .yaml_values import Yaml


def equivalent_tiles(draft: Draft) -> None:
    """A TMA or address swizzle against a swizzle on offsets, or one layout in two notations."""
    rng = draft.rng
    bits = rng.choice([8, 16, 16, 32])
    size_bytes = bits // 8
    vector = 16 // size_bytes
    p, q = draft.fresh("P"), draft.fresh("Q")
    base: Yaml = {"align": rng.choice([128, 256, 256, 512, 512, 1024, 2048])}
    left, right = element(draft, bits), element(draft, bits)
    rows = rng.choice([8, 16, 32])
    kind = rng.choice(["tma", "tma", "address", "notation"])
    if kind == "tma":
        mode, field = rng.choice([("32B", 1), ("64B", 2), ("128B", 3), ("128B", 3)])
        pitch = 16 * 2**field // size_bytes
        inner = pitch if draft.chance(0.8) else vector
        left["tma"] = {"swizzle": mode, "box": [rows, inner]}
        right["layout"] = f"({rows},{inner}):({pitch},1)"
        wrong = draft.chance(0.2)
        right["swizzle"] = f"Swizzle<{field},{vector.bit_length() - 1},{3 + wrong}>"
    elif kind == "address":
        columns = rng.choice([16, 32, 64])
        bits_, low, shift = swizzle_numbers(rng, vector.bit_length() - 1, 9)
        left["layout"] = right["layout"] = f"({rows},{columns}):({columns},1)"
        left["swizzle"] = f"Swizzle<{bits_},{low},{shift}>"
        low += size_bytes.bit_length() - 1 + draft.chance(0.15)
        right["swizzle"] = {"bits": bits_, "base": low, "shift": shift, "on": "address"}
    else:
        columns = rng.choice([12, 16, 24])
        left["layout"] = f"({rows},{columns}):({columns},1)"
        right["layout"] = rng.choice(
            [
                f"((4,{rows // 4}),{columns}):(({columns},{4 * columns}),1)",
                f"({rows},(4,{columns // 4})):({columns},(1,4))",
                f"({rows},(4,{columns // 4})):({columns},(1,{rng.choice([4, 5])}))",
                f"({rows},{columns}):({columns + 1},1)",
            ]
        )
    if draft.chance(0.2):
        place = draft.fresh("mem")
        draft.memories[place] = {"bytes": 100_000, "align": rng.choice([128, 512, 1024])}
        base = {"in": place, "offset": 128 * rng.randrange(16)}
    elif draft.chance(0.1):
        base = 128 * rng.randrange(32)
    left["base"] = right["base"] = base
    if draft.chance(0.2):
        left["stages"] = right["stages"] = 2
    draft.tiles[p], draft.tiles[q] = left, right
    draft.claim("equivalent", [p, q] if draft.chance(0.5) else [q, p])


def equivalent_tile_and_map(draft: Draft) -> None:
    """A swizzled row-major tile against the index expression that a programmer writes for it."""
    rng = draft.rng
    bits = rng.choice([8, 16, 32])
    size_bytes = bits // 8
    vector = 16 // size_bytes
    field = rng.choice([1, 2, 3])
    columns = 16 * 2**field // size_bytes
    rows = rng.choice([8, 12, 16])
    pitch = columns * size_bytes
    name, index_map = draft.fresh("E"), draft.fresh("map")
    tile = element(draft, bits)
    tile["layout"] = f"({rows},{columns}):({columns},1)"
    mask = 2**field - 1
    swizzled = draft.chance(0.75)
    on_address = swizzled and draft.chance(0.5)
    if swizzled:
        low = 4 if on_address else vector.bit_length() - 1
        numbers: dict[str, Yaml] = {"bits": field, "base": low, "shift": field}
        if on_address:
            numbers["on"] = "address"
        tile["swizzle"] = numbers
    tile["base"] = {"align": rng.choice([128, 256, 512, 1024, 4096])} if draft.chance(0.8) else 128 * rng.randrange(9)
    linear = f"(base + r*{pitch} + c*{size_bytes})"
    local = f"r*{pitch} + (c*{size_bytes} ^ (r & {mask})*16)"
    forms = [
        f"base + {local}",
        f"{linear} ^ (({linear} >> {field}) & {mask * 16})",
        f"base + (r*{pitch} + c*{size_bytes} ^ (r & {mask}) << 4)",
    ]
    if not swizzled or draft.chance(0.1):
        forms = [linear, f"base + {pitch}*r + {size_bytes}*c", f"(base ^ {size_bytes}*c) + {pitch}*r"]
    if draft.chance(0.2):
        forms = [form.replace(f"c*{size_bytes}", f"(c ^ {rng.choice([0, 1])})*{size_bytes}") for form in forms]
    draft.tiles[name] = tile
    draft.maps[index_map] = {"over": {"r": rows, "c": columns}, "value": [rng.choice(forms)]}
    draft.claim("equivalent", [name, index_map])


def equivalent_accesses(draft: Draft) -> None:
    """An access and its rewriting, which is the same or differs in one place."""
    rng = draft.rng
    if draft.chance(0.3):
        name = add_bare_access(draft)
        expression = "address"
    else:
        tile = matrix_tile(draft)
        drawn = add_access(draft, tile)
        if drawn is None:
            return
        name, expression = drawn, "coord"
    access = draft.accesses[name]
    if not isinstance(access, dict):
        return
    other = dict(access)
    value = access[expression]
    parts = list(value) if isinstance(value, list) else [value]
    at = rng.randrange(len(parts))
    rewriting = rng.choice(
        [
            "{0} + 0",
            "({0})*2/2",
            "max({0}, 0)",
            "({0})^0",
            "({0})*4 >> 2",
            "{0}",
            "tid < 3 ? {0} : ({0} | 0)",
            "({0}) + (lane == 31)*0",
            "({0}) | 8",
            "({0}) + tid/32*8",
            "({0}) ^ (lane == 9)*8",
            "({0})/2*2 + ({0})%2",
        ]
    )
    parts[at] = rewriting.format(f"({parts[at]})")
    other[expression] = list[Yaml](parts) if isinstance(value, list) else parts[0]
    if "if" in access and draft.chance(0.3):
        other["if"] = rng.choice([f"!!({access['if']})", f"({access['if']}) && tid != 4"])
    if "if" in access and draft.chance(0.75):
        access["if"] = other["if"] = f"({access['if']}) && lane > 40"
    if expression == "coord":
        _restage(draft, access, other)
    twin = draft.fresh("acc")
    draft.accesses[twin] = other
    draft.claim("equivalent", [name, twin] if draft.chance(0.7) else [twin, name])


def _restage(draft: Draft, access: dict[str, Yaml], other: dict[str, Yaml]) -> None:
    """Sometimes the other one runs in other stages: in all, in one, or in a copy of the tile that
    has one.
    """
    rng = draft.rng
    tile = draft.tiles[str(access["tile"])]
    if not isinstance(tile, dict) or "stages" not in tile or draft.chance(0.3):
        return
    kind = rng.choice(["all", "one", "copy", "copy"])
    if draft.chance(0.4):
        tile["stages"] = {"count": 2, "pitch": 0}
    other.pop("stage", None)
    if kind == "one":
        other["stage"] = rng.choice(["0", "1", "tid%2"])
    elif kind == "copy":
        access.pop("stage", None)
        copy = draft.fresh("E")
        draft.tiles[copy] = {key: value for key, value in tile.items() if key != "stages"}
        other["tile"] = copy


def equivalent_inside_bytes(draft: Draft) -> None:
    """Accesses at elements that are no whole bytes, which may differ by less than a byte."""
    rng = draft.rng
    names: list[Yaml] = []
    bits = rng.choice([2, 4, 6])
    column = f"lane/4*{rng.choice([1, 2, 3, 4])} + {rng.randrange(4)}"
    changes = ["{0}", "({0})*2/2", "{0} ^ 1", "({0}) | 1", "({0}) + (lane == 30)", "({0})/2*2"]
    for change in ("{0}", rng.choice(changes)):
        tile, access = draft.fresh("E"), draft.fresh("acc")
        finer = bits == 4 and draft.chance(0.3)
        written = f"({change.format(f'({column})')})*{2 if finer else 1}"
        columns = 128 if finer else 64
        draft.tiles[tile] = {"bits": 2 if finer else bits, "layout": f"(4,{columns}):({columns},1)"}
        draft.accesses[access] = {
            "tile": tile,
            "instruction": "ld.shared.b8",
            "threads": 32,
            "coord": ["lane%4", written],
        }
        names.append(access)
    draft.claim("equivalent", names)


def equivalent_maps(draft: Draft) -> None:
    """Two spellings of an index map, the same or not."""
    rng = draft.rng
    p, q = draft.fresh("map"), draft.fresh("mbp")
    n = rng.choice([16, 48, 64, 100])
    spellings = rng.choice(
        [
            ["x/4", "x >> 2", "(x - x%4)/4", "x/2/2", "(x + 1)/4"],
            ["x%8", "x & 7", "x - x/8*8", "x & 0xf"],
            ["x ^ 5", "(x | 5) - (x & 5)", "x + 5 - 2*(x & 5)", "x | 5"],
            ["-x/3", "-(x/3)", "-x >> 1", "(0 - x)/3"],
            ["x < 9 ? x : 9", "min(x, 9)", "x < 10 ? x : 10"],
            ["x*3 % 7", "(x + x + x) % 7", "x % 7 * 3 % 7", "x*3 & 7"],
            ["~x & 15", "15 - (x & 15)", "15 - x%16", "-x & 15"],
            ["x == 3 || x > 7", "(x == 3) | (x > 7)", "x >= 3"],
        ]
    )
    left, right = rng.choice(spellings), rng.choice(spellings)
    if draft.chance(0.5):
        any_equivalent_maps(draft)
        return
    draft.maps[p] = {"over": {"x": n, "y": 3}, "value": [left, "y"]}
    draft.maps[q] = {"over": {"x": n, "y": 3}, "value": [right, "y"]}
    _add_map_bases(draft, p, q)
    draft.claim("equivalent", [p, q])


def any_equivalent_maps(draft: Draft) -> None:
    """Any expressions, as C reads them without a needless bracket, against others of the same
    values, or nearly.
    """
    rng = draft.rng
    source = draft.source(("x", "y"))
    p, q = draft.fresh("map"), draft.fresh("mbp")
    n = rng.choice([16, 48, 64, 100])
    lefts: list[Yaml] = []
    rights: list[Yaml] = []
    for _ in range(rng.choice([2, 3, 4])):
        tree = wild(source, rng.choice([3, 4, 5])).tree
        lefts.append(text_of(tree))
        rights.append(bracketed(tree) if draft.chance(0.6) else text_of(rewritten(source, tree, 3), rng))
    if draft.chance(0.4):
        other = Op("==", (Name("x"), number(rng, rng.randrange(n))))
        rights[0] = f"({rights[0]}) {rng.choice('+^')} ({bracketed(other)})"
    draft.maps[p] = {"over": {"x": n, "y": 3}, "value": lefts}
    draft.maps[q] = {"over": {"x": n, "y": 3}, "value": rights}
    _add_map_bases(draft, p, q)
    draft.claim("equivalent", [p, q] if draft.chance(0.5) else [q, p])


def disjoint(draft: Draft) -> None:
    """Neighbours in one memory, at fixed addresses, or at bases of their own; and the stages of one
    tile.
    """
    rng = draft.rng
    bits = rng.choice([6, 8, 16, 32])
    rows, columns = rng.choice([4, 8, 16]), rng.choice([8, 16, 24])
    gap = rng.choice([0, 0, 8, columns])
    bytes_ = rows * (columns + gap) * bits // 8
    layout = f"({rows},{columns}):({columns + gap},1)"
    p, q = draft.fresh("D"), draft.fresh("F")
    left, right = element(draft, bits), element(draft, bits)
    left["layout"] = right["layout"] = layout
    if bits >= 8 and draft.chance(0.3):
        left["swizzle"] = {"bits": 2, "base": 4, "shift": 2, "on": "address"}
    kind = rng.choice(["memory", "memory", "fixed", "own", "stages", "stages"])
    apart = rng.choice([0, bytes_ // 2, bytes_ - 1, bytes_, bytes_, bytes_ + 16, columns * bits // 8])
    if kind == "stages":
        pitch = max(1, rng.choice([bytes_ // 2, bytes_ - 4, bytes_, bytes_ + 64, columns * bits // 8]))
        left["stages"] = {"count": rng.choice([2, 3]), "pitch": pitch} if draft.chance(0.75) else 2
        left["base"] = {"align": rng.choice([128, 1024])}
        draft.tiles[p] = left
        draft.claim("disjoint", p)
        return
    place = draft.fresh("mem")
    if kind == "memory":
        draft.memories[place] = {"bytes": 200_000, "align": rng.choice([128, 1024])}
        start = rng.choice([0, 128, 1024])
        left["base"], right["base"] = {"in": place, "offset": start}, {"in": place, "offset": start + apart}
    elif kind == "fixed":
        left["base"], right["base"] = 1024, 1024 + apart
    else:
        align = rng.choice([128, 512, 1024])
        draft.memories[place] = {"bytes": 200_000, "align": align}
        left["base"], right["base"] = {"align": align}, {"in": place, "offset": apart}
        left["layout"] = right["layout"] = f"(4,{columns}):({align * 8 // bits},1)" if bits != 6 else layout
    if draft.chance(0.15):
        left["stages"] = {"count": 2, "pitch": 3 * bytes_}
    draft.tiles[p], draft.tiles[q] = left, right
    draft.claim("disjoint", [p, q] if draft.chance(0.5) else [q, p])


def permutation(draft: Draft) -> None:
    """Thread-block swizzles and other index maps, some with a wrong constant."""
    rng = draft.rng
    name = draft.fresh("grid")
    w, h = rng.choice([2, 4, 8, 6]), rng.choice([2, 4, 8, 5])
    wrong = rng.choice([0, 0, 0, 1])
    n = w * h * rng.choice([1, 2, 3])
    power = rng.choice([16, 32, 64])
    c = rng.randrange(power)
    a = rng.choice([1, 3, 5, 7, 2, 6, 4])
    full = n + rng.choice([0, 0, 0, 1])
    source = draft.source(("bid",))
    wild_bits = f"({text_of(wild(source, 2).tree, rng)})"
    wild_row = f"({text_of(wild(draft.source(('y',)), 3).tree, rng)})"
    over, value, onto = rng.choice(
        [
            ({"bid": n}, [f"bid%{w} + bid/{w * h}*{w + wrong}", f"bid/{w}%{h}"], [n // h, h]),
            ({"bid": power}, [f"bid {rng.choice('^^^|+')} {c}"], [power]),
            ({"bid": power}, [f"bid ^ ({wild_bits} & {power - 1})"], [power]),
            ({"x": power, "y": 4}, [f"x ^ ({wild_row} & {power - 1})", "y"], [power, 4]),
            ({"bid": n}, [f"(bid*{a} + {c}) % {n}"], [n]),
            ({"x": power, "y": power}, [f"x {rng.choice('^^^|')} y", "y"], [power, power]),
            ({"x": w, "y": h}, [f"x + y*{rng.choice([w, w, h])}"], [w * h]),
            ({"bid": full}, [f"bid < {w} ? {w - 1 + wrong} - bid : bid"], [n]),
            ({"bid": n}, [f"bid/{h}", f"bid%{h} ^ {rng.choice([0, 0, 1])}"], [n // h, h]),
            (
                {"bid": power},
                [f"(bid & {power // 2 - 1}) << 1 | bid >> {power.bit_length() - 2 - wrong}"],
                [power],
            ),
        ]
    )
    draft.maps[name] = {"over": dict[str, Yaml](over), "value": list[Yaml](value), "onto": list[Yaml](onto)}
    _add_map_bases(draft, name)
    draft.claim("permutation", name)


def _add_map_bases(draft: Draft, *names: str) -> None:
    """Bases of one kind for some maps: fixed ones that the values may read, or open ones that they
    do not.
    """
    rng = draft.rng
    if draft.chance(0.1):
        return
    kind = rng.choice(["number", "align", "in"])
    place = draft.fresh("mem")
    if kind == "in":
        draft.memories[place] = memory(draft, 128)
    for name in names:
        drawn = draft.maps[name]
        if not isinstance(drawn, dict):
            continue
        if kind == "in":
            drawn["base"] = {"in": place, "offset": rng.randrange(64)}
        elif kind == "align":
            drawn["base"] = {"align": rng.choice([1, 16, 128])}
        else:
            _add_fixed_base(draft, drawn, rng.randrange(64))


def _add_fixed_base(draft: Draft, drawn: dict[str, Yaml], base: int) -> None:
    value, onto = drawn["value"], drawn.get("onto")
    drawn["base"] = base
    if isinstance(value, list) and draft.chance(0.7):
        value[0] = f"({value[0]}) + base - {base}"
        if isinstance(onto, list) and draft.chance(0.5):
            value[0] = f"({value[0]} + base) % {onto[0]}"


def covers(draft: Draft) -> None:
    """A copy of a whole tile by vectors, sometimes too short, twice over or off by one."""
    rng = draft.rng
    bits = rng.choice([8, 16, 32])
    width, instruction = rng.choice(
        [
            (16, "st.shared.v4.b32"),
            (8, "st.shared.b64"),
            (16, "cp.async.16"),
            (4, "st.shared.b32"),
            (16, "ld.shared.v4.b32"),
        ]
    )
    vector = width * 8 // bits
    chunks = rng.choice([2, 3, 4, 8])
    threads = rng.choice([n for n in (24, 32, 64, 96) if n % chunks == 0] or [32])
    passes = rng.choice([1, 2, 3])
    rows_per_pass = threads // chunks
    rows, columns = rows_per_pass * passes, chunks * vector
    name, access = draft.fresh("C"), draft.fresh("copy")
    tile = element(draft, bits)
    tile["layout"] = rng.choice([f"({rows},{columns}):({columns},1)", {"shape": [rows, columns], "pad": vector}])
    if draft.chance(0.4):
        tile["swizzle"] = f"Swizzle<1,{vector.bit_length() - 1 + rng.choice([0, 0, 1])},{rng.choice([1, 2])}>"
    if draft.chance(0.2):
        tile["stages"] = 2
    draft.tiles[name] = tile
    loops = passes if draft.chance(0.8) else max(1, passes - 1)
    row = f"i*{rows_per_pass} + tid/{chunks}"
    column = rng.choice([f"tid%{chunks}*{vector}", f"tid%{chunks}*{vector}", f"(tid + i)%{chunks}*{vector}"])
    value: dict[str, Yaml] = {
        "tile": name,
        "instruction": instruction,
        "threads": threads,
        "for": {"i": loops},
        "coord": [row, column],
    }
    if draft.chance(0.3):
        value["if"] = rng.choice([f"tid < {threads}", f"tid != {threads - 1}", "i >= 0", "tid > 500", "tid / 128 % 2"])
    draft.accesses[access] = value
    times = rng.choice([1, 1, 1, 1, 1, 1, 2])
    argument: dict[str, Yaml] = {"access": access, "tile": name}
    if times != 1 or draft.chance(0.6):
        argument["times"] = times
    draft.claim("covers", argument)


def bare_cover(draft: Draft) -> None:
    """A bare address that covers a tile at a fixed base, or nearly."""
    rng = draft.rng
    threads = threads_and_loops(draft)
    name, access = draft.fresh("C"), draft.fresh("fill")
    total = threads.count * 4
    draft.tiles[name] = {"element": "f16", "layout": f"({total // 4},2):(2,1)", "base": 2048}
    draft.accesses[access] = {
        "instruction": "st.shared.b32",
        "threads": threads.count,
        "address": f"tid*{rng.choice([4, 4, 8])}",
        "base": rng.choice([2048, 2048, 2052]),
    }
    draft.claim("covers", {"access": access, "tile": name})
