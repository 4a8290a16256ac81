"""`bijective`: injective, and the elements fill the tile's allocation exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from swzverify.claims.claim import Claim
from swzverify.claims.form import OF_A_TILE, Form, Role
from swzverify.claims.goal import Fact, Goal, Plan
from swzverify.claims.in_bounds import tile_bounds_goal, tile_outside
from swzverify.claims.injective import collision, injective_goal
from swzverify.claims.tile_points import describe
from swzverify.claims.verdict import Counterexample
from swzverify.engines.obligations import Injective as InjectiveObligation
from swzverify.subjects import Tile


@dataclass(frozen=True, slots=True)
class Bijective(Claim):
    """One to one, inside the allocation, and as many bits as the allocation has."""

    kind: ClassVar[str] = "bijective"
    form = Form(
        title="Injective, and the elements fill the allocation.",
        says="the elements of this tile share no bit and fill its allocation",
        roles=(Role.TILE,),
        examples=OF_A_TILE,
    )
    counts_room = True
    tile: Tile

    def plan(self) -> Plan:
        """Injectivity and bounds, and a count: together they leave no gap."""
        tile = self.tile
        taken, room = tile.size * tile.element_bits, 8 * tile.allocation_bytes
        note = f"{tile.size} elements of {tile.element_bits} bits are {taken} bits, the allocation has {room}: " + (
            "gaps are left" if taken < room else "they cannot all fit"
        )
        goals = (Goal(injective_goal(tile), "injective"), Goal(tile_bounds_goal(tile), "in the allocation"))
        return Plan(goals, (Fact(taken == room, note),))

    def scope(self) -> str:
        """Every element, at every base."""
        size = self.tile.allocation_bytes
        return f"{describe(self.tile)} onto {size} bytes, {self.tile.describe_base()}"

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """Two elements that collide, or one outside the allocation."""
        if isinstance(goal.obligation, InjectiveObligation):
            return collision(self.tile, point)
        return tile_outside(self.tile, point)
