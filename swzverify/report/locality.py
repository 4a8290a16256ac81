"""Orders of thread blocks, counted, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from swzverify.report.console import rendered
from swzverify.report.escape import visible
from swzverify.report.plain import Json, json_text, members
from swzverify.report.style import TextStyle
from swzverify.search.costs import Locality

SCHEMA = "swzverify.locality/1"
WAVES_SHOWN = 16
"""Waves of the table; the sums are of all."""


def render_locality(path: str, orders: Sequence[Locality], words: Sequence[str], style: TextStyle) -> str:
    """A line for each order with its sums, and one for each wave with the tiles of A and of B.

    `words` say which case of the constants it is. Domain: one order at least.
    """
    head = f"{visible(path)}: waves of {orders[0].size} blocks, and the different tiles of A and B that each needs"
    blocks = [Text(head), *map(Text, map(visible, words)), Text(""), _sums(orders), Text(""), _waves(orders, style)]
    return rendered(blocks, style)


def _sums(orders: Sequence[Locality]) -> Table:
    table = _table("order")
    for name in ("waves", "A", "B", "A + B", "at least", "most in a wave", "blocks without a tile"):
        table.add_column(name, justify="right")
    for order in orders:
        a, b, idle = (sum(getattr(wave, name) for wave in order.waves) for name in ("a", "b", "idle"))
        numbers = (len(order.waves), a, b, order.needed, order.fewest, order.most, idle)
        table.add_row(Text(visible(order.name)), *map(str, numbers))
    return table


def _waves(orders: Sequence[Locality], style: TextStyle) -> Table:
    table = _table("wave")
    for order in orders:
        table.add_column(Text(f"{visible(order.name)}: A + B"), justify="right", overflow="fold")
    longest = max(len(order.waves) for order in orders)
    for index in range(min(longest, WAVES_SHOWN)):
        table.add_row(str(index), *(_needed(order, index) for order in orders))
    if longest > WAVES_SHOWN:
        table.add_row(style.ellipsis, *([style.ellipsis] * len(orders)))
    return table


def _table(first: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(first, no_wrap=True)
    return table


def _needed(order: Locality, index: int) -> str:
    if index >= len(order.waves):
        return ""
    wave = order.waves[index]
    return f"{wave.a} + {wave.b}"


def locality_json(path: str, orders: Sequence[Locality], words: Sequence[str]) -> str:
    """The same for programs, with all waves."""
    return json_text({"schema": SCHEMA, "spec": path, "notes": list(words), "orders": [*map(_order, orders)]})


def _order(order: Locality) -> Json:
    return {
        "map": order.name,
        "blocks_per_wave": order.size,
        **members(order, "rows", "columns"),
        "tiles_needed": order.needed,
        "tiles_needed_at_least": order.fewest,
        "most_in_a_wave": order.most,
        "waves": [
            {**members(wave, "blocks", "idle", "tiles", "a", "b"), "at_least": wave.fewest} for wave in order.waves
        ],
    }
