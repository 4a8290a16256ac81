"""Thread blocks in groups of rows or columns, for grids of every size: which block has which tile.

Divisions by symbols are stated by what they are: `a = q d + r` and `0 <= r < d` have one solution
(theorem `quotients-are-unique`).
"""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.apps.theorems import (
    Obligation,
    Outcome,
    Point,
    Sequent,
    Symbols,
    Theorem,
    Truth,
    Whole,
    choose_whole,
)

from ._sources import COLUMN_GROUPS, TRITON_ORDER

SIDE = 65_535
"""The most tiles of a side; a grid's y and z cannot have more blocks."""
FLAT = 2**32


def smaller(a: Whole, b: Whole) -> Whole:
    """min(a, b)."""
    return choose_whole(a < b, a, b)


def divided(a: Whole, divisor: Whole, quotient: Whole, rest: Whole) -> Truth:
    """`quotient` is a / divisor and `rest` is a % divisor, as of unsigned numbers."""
    return (a == quotient * divisor + rest) & (rest < divisor)


def unique(v: Symbols) -> Sequent:
    """Two quotients with their rests are the same."""
    a, divisor = v.whole("a"), v.whole("d", 1)
    one, other = (v.whole("q1"), v.whole("r1")), (v.whole("q2"), v.whole("r2"))
    return Sequent(
        (divided(a, divisor, *one), divided(a, divisor, *other)), (one[0] == other[0]) & (one[1] == other[1])
    )


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows and columns of tiles, and the number of rows of a group.

    For column groups the roles are exchanged: `rows` are the columns.
    """

    rows: Whole
    columns: Whole
    group: Whole


def grid_of(v: Symbols, most: int = SIDE) -> Grid:
    """Any grid of 1 to `most` tiles a side, in groups of 1 to `most`."""
    return Grid(v.whole("M", 1, most), v.whole("N", 1, most), v.whole("G", 1, most))


def rows_in(grid: Grid, group: Whole) -> Whole:
    """The rows of a group; the last one may have less: min(M - first row, G)."""
    return smaller(grid.rows - group * grid.group, grid.group)


@dataclass(frozen=True, slots=True)
class Program:
    """A program of the grid, with what the kernel computes of it."""

    pid: Whole
    group: Whole
    local: Whole
    column: Whole
    rest: Whole

    def row(self, grid: Grid) -> Whole:
        """The row of its tile."""
        return self.group * grid.group + self.rest


def program(v: Symbols, grid: Grid, mark: str = "") -> tuple[Program, Truth]:
    """Any program, and the conditions on its values.

    group and local are pid / (G N) and pid % (G N); column and rest are local / rows and local % rows.
    """
    made = Program(*(v.whole(name + mark) for name in ("pid", "group", "local", "column", "rest")))
    inside = made.pid < grid.rows * grid.columns
    first = divided(made.pid, grid.group * grid.columns, made.group, made.local)
    return made, inside & first & divided(made.local, rows_in(grid, made.group), made.column, made.rest)


def group_has_rows(v: Symbols) -> Sequent:
    """No program belongs to a group below the grid, so that no division is by 0."""
    grid = grid_of(v)
    pid, group, local = v.whole("pid"), v.whole("group"), v.whole("local")
    first = divided(pid, grid.group * grid.columns, group, local)
    return Sequent((pid < grid.rows * grid.columns, first), rows_in(grid, group) >= 1)


def row_inside(v: Symbols) -> Sequent:
    """The row is one of the grid."""
    grid = grid_of(v)
    one, holds = program(v, grid)
    return Sequent((holds,), one.row(grid) < grid.rows)


def column_inside(v: Symbols) -> Sequent:
    """The column is one of the grid."""
    grid = grid_of(v)
    one, holds = program(v, grid)
    return Sequent((holds,), one.column < grid.columns)


def one_group(v: Symbols) -> Sequent:
    """Two programs with one row are of one group, and have one rest."""
    grid = grid_of(v)
    groups, rests = (v.whole("group_a"), v.whole("group_b")), (v.whole("rest_a"), v.whole("rest_b"))
    below = [rest < rows_in(grid, group) for group, rest in zip(groups, rests, strict=True)]
    rows = [group * grid.group + rest for group, rest in zip(groups, rests, strict=True)]
    return Sequent((*below, rows[0] == rows[1]), (groups[0] == groups[1]) & (rests[0] == rests[1]))


def one_program(v: Symbols) -> Sequent:
    """Two programs of one group with one rest and one column are one."""
    grid = grid_of(v)
    (a, holds_a), (b, holds_b) = program(v, grid, "_a"), program(v, grid, "_b")
    same = (a.group == b.group) & (a.rest == b.rest) & (a.column == b.column)
    return Sequent((holds_a, holds_b, same), a.pid == b.pid)


def any_tile(v: Symbols, grid: Grid) -> tuple[Whole, Whole, Whole, Truth]:
    """A tile of the grid: its group, the row in it, its column."""
    group, rest, column = v.whole("group"), v.whole("rest"), v.whole("column")
    inside = (group * grid.group + rest < grid.rows) & (rest < grid.group) & (column < grid.columns)
    return group, rest, column, inside


def reached(part: str) -> Obligation:
    """Every tile has the program group G N + column rows + rest: its values are in range."""

    def encode(v: Symbols) -> Sequent:
        grid = grid_of(v)
        group, rest, column, inside = any_tile(v, grid)
        rows = rows_in(grid, group)
        local = column * rows + rest
        whole = grid.group * grid.columns
        conclusions = {
            "rest": rest < rows,
            "local": local < whole,
            "program": group * whole + local < grid.rows * grid.columns,
        }
        return Sequent((inside,), conclusions[part])

    return Obligation(f"onto: the {part} is in range", encode)


def no_wrap(v: Symbols) -> Sequent:
    """The values that the kernel computes are at most M N or G N.

    They fit 32 bits without a sign, and with one if both are below 2^31.
    """
    grid = grid_of(v)
    one, holds = program(v, grid)
    all_tiles, whole = grid.rows * grid.columns, grid.group * grid.columns
    small = (one.group * grid.group < grid.rows) & (one.local <= one.pid) & (one.row(grid) < grid.rows)
    return Sequent((holds,), small & (all_tiles < FLAT) & (whole < FLAT))


def older_row(v: Symbols) -> Sequent:
    """The row from pid % rows: two programs of one group with one row and one column are one."""
    grid = grid_of(v)
    group, column = v.whole("group"), v.whole("column")
    rows = rows_in(grid, group)
    whole = grid.group * grid.columns
    rests = v.whole("rest_a"), v.whole("rest_b")
    turned, quotients = (v.whole("turned_a"), v.whole("turned_b")), (v.whole("q_a"), v.whole("q_b"))
    pids = [group * whole + column * rows + rest for rest in rests]
    older = [divided(pid, rows, q, r) for pid, q, r in zip(pids, quotients, turned, strict=True)]
    return Sequent((rests[0] < rows, rests[1] < rows, *older, turned[0] == turned[1]), rests[0] == rests[1])


def older_inside(v: Symbols) -> Sequent:
    """The row from pid % rows is one of the group."""
    grid = grid_of(v)
    one, holds = program(v, grid)
    q, turned = v.whole("q"), v.whole("turned")
    older = divided(one.pid, rows_in(grid, one.group), q, turned)
    return Sequent((holds, older), one.group * grid.group + turned < grid.rows)


def without_min(v: Symbols) -> Sequent:
    """Every group has G rows: the row would be inside."""
    grid = grid_of(v, 16)
    pid, group, local = v.whole("pid"), v.whole("group"), v.whole("local")
    column, rest = v.whole("column"), v.whole("rest")
    first = divided(pid, grid.group * grid.columns, group, local)
    second = divided(local, grid.group, column, rest)
    return Sequent((pid < grid.rows * grid.columns, first, second), group * grid.group + rest < grid.rows)


def leaves_the_grid(point: Point) -> bool:
    """Whether the program's row is outside, without min()."""
    group = point["pid"] // (point["G"] * point["N"])
    return group * point["G"] + point["pid"] % (point["G"] * point["N"]) % point["G"] >= point["M"]


def after_full_groups(v: Symbols) -> Sequent:
    """The listing's comparison of blocks has the result of a comparison of groups.

    It compares the block with the number of blocks in all full groups.
    """
    grid = grid_of(v)  # W = M, H = N, w = G
    pid, group, local, full = v.whole("pid"), v.whole("group"), v.whole("local"), v.whole("full")
    whole = grid.group * grid.columns
    return Sequent((divided(pid, whole, group, local),), (full * whole <= pid).iff(full <= group))


def full_width(v: Symbols) -> Sequent:
    """A group before `full`, W / w, has w columns: min(W - first column, w) is w."""
    grid = grid_of(v)
    group, full, last = v.whole("group"), v.whole("full"), v.whole("last")
    before = divided(grid.rows, grid.group, full, last) & (group < full)
    return Sequent((before,), rows_in(grid, group) == grid.group)


def last_group(v: Symbols) -> Sequent:
    """The only group that begins inside the grid and is not before `full` is `full` itself."""
    grid = grid_of(v)
    group, full, last = v.whole("group"), v.whole("full"), v.whole("last")
    inside = (group * grid.group < grid.rows) & (full <= group)
    return Sequent((inside, divided(grid.rows, grid.group, full, last)), group == full)


def last_width(v: Symbols) -> Sequent:
    """The group `full` has W % w columns."""
    grid = grid_of(v)
    full, last = v.whole("full"), v.whole("last")
    return Sequent((divided(grid.rows, grid.group, full, last),), rows_in(grid, full) == last)


def unflattened(v: Symbols) -> Sequent:
    """The listing adds first column + y W + x, and takes it apart again by W: column and y come back."""
    grid = grid_of(v)
    one, holds = program(v, grid)
    flat = one.group * grid.group + one.column * grid.rows + one.rest
    y, x = v.whole("y"), v.whole("x")
    return Sequent((holds, divided(flat, grid.rows, y, x)), (y == one.column) & (x == one.row(grid)))


def less_one(v: Symbols) -> Sequent:
    """With 1 less than the blocks of all full groups, unsigned: a grid below a group's width has none."""
    width, height = v.whole("W", 1, 15), v.whole("H", 1, 16)
    ids = v.whole("id_a"), v.whole("id_b")
    places: list[Whole] = []
    inside: list[Truth] = []
    for mark, number in zip("ab", ids, strict=True):
        # no full group: 0 - 1 is 2^32 - 1, which no block passes, and so the width stays 16
        y, x = v.whole(f"y_{mark}"), v.whole(f"x_{mark}")
        inside += [number < width * height, number == y * 16 + x, x < 16]
        places.append(y * width + x)
    return Sequent((*inside, ids[0] != ids[1]), places[0] != places[1])


def meet(point: Point) -> bool:
    """Whether two blocks of a grid narrower than 16 get one tile, in unsigned 32 bits."""
    width, height = point["W"], point["H"]

    def place(number: int) -> int:
        full = (width // 16 * 16 * height - 1) % FLAT
        group, local = divmod(number, 16 * height)
        of = width % 16 if full < number else 16
        return group * 16 + local // of * width + local % of

    return point["id_a"] != point["id_b"] and place(point["id_a"]) == place(point["id_b"])


SIDES = f"rows, columns and the group's width, each 1 to {SIDE}, the programs and their quotients and rests"

THEOREMS = (
    Theorem(
        "quotients-are-unique",
        "for d >= 1 there is at most one pair (q, r) with a = q d + r and 0 <= r < d, so that the equations below say "
        "what a division and a remainder give",
        r"q_1 d + r_1 = q_2 d + r_2,\ 0 \le r_1, r_2 < d \Rightarrow q_1 = q_2 \land r_1 = r_2",
        "Euclid, Elements, book VII; ISO C, multiplicative operators",
        "a, d, the quotients and the rests, all integers",
        (Obligation("unique", unique),),
    ),
    Theorem(
        "grouped-order",
        "Triton's grouped order gives every tile of an M x N grid to exactly one program, for every M, N and group "
        "size up to 65,535, whether the group size divides M or not, in integers that hold M N and G N: 32 bits "
        "without a sign do",
        r"pid \mapsto (gG + \ell \bmod s,\ \lfloor \ell / s \rfloor),\ g = \lfloor pid / GN \rfloor,\ "
        r"\ell = pid \bmod GN,\ s = \min(M - gG, G) \text{ is a bijection onto } [0, M) \times [0, N)",
        TRITON_ORDER,
        SIDES,
        (
            Obligation("every group has a row", group_has_rows),
            Obligation("inside: row", row_inside),
            Obligation("inside: column", column_inside),
            Obligation("one to one: one row, one group and rest", one_group),
            Obligation("one to one: one group, rest and column, one program", one_program),
            *(reached(part) for part in ("rest", "local", "program")),
            Obligation("no value passes M N, G N or 2^32 - 1", no_wrap),
        ),
    ),
    Theorem(
        "grouped-order-older-row",
        "the older spelling of the row, pid % rows in place of pid % (G N) % rows, is a bijection too, for every M, N "
        "and group size up to 65,535: it turns the rows of the last group round",
        r"pid \mapsto (gG + pid \bmod s,\ \lfloor \ell / s \rfloor) \text{ is a bijection}",
        f"{TRITON_ORDER}, earlier versions; grouped-order, for the groups and the columns",
        SIDES,
        (
            Obligation("inside: row", older_inside),
            Obligation("one to one within a group and a column", older_row),
        ),
    ),
    Theorem(
        "grouped-order-no-min-mistaken",
        "without min() the grouped order stays inside every grid",
        r"gG + \ell \bmod G < M",
        f"{TRITON_ORDER}, without the last group's min()",
        "M, N and G, each 1 to 16, the program and its quotients",
        (Obligation("inside", without_min),),
        expected=Outcome.REFUTED,
        refutes=leaves_the_grid,
        because="the last group has fewer than G rows, and pid % G goes on to the rows below the grid",
        mended_by="grouped-order",
    ),
    Theorem(
        "column-groups",
        "the column groups of the L2-locality article give every tile of a W x H grid to exactly one block, for every "
        "W, H and group width up to 65,535: they are the grouped order with rows and columns exchanged",
        r"id \mapsto (gw + \ell \bmod s,\ \lfloor \ell / s \rfloor),\ s = \min(W - gw, w)",
        f"{COLUMN_GROUPS}; grouped-order, with M = W, N = H, G = w",
        SIDES,
        (
            Obligation("the last group begins after the blocks of all full groups", after_full_groups),
            Obligation("before it, min(W - first, w) is w", full_width),
            Obligation("it is the only one that is not full", last_group),
            Obligation("in it, min(W - first, w) is W % w", last_width),
            Obligation("the listing's last two lines give back column and row", unflattened),
        ),
    ),
    Theorem(
        "column-groups-less-one-published",
        "the column groups still are one to one where the blocks of all full groups, less one, are compared with `<`, "
        "in unsigned arithmetic and groups of 16",
        r"\bigl(\lfloor W/16 \rfloor\, 16 H - 1\bigr) \bmod 2^{32} < id \iff id \text{ is of the last group}",
        f"ports of the listing in {COLUMN_GROUPS}, with `- 1` and `<` in place of `<=`",
        "W below 16, H up to 16, two blocks",
        (Obligation("one to one", less_one),),
        expected=Outcome.REFUTED,
        refutes=meet,
        because="a grid narrower than a group has no full group: 0 - 1 wraps, and the last one is taken for full",
        mended_by="column-groups",
    ),
)
