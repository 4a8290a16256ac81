"""Accesses made in Python, moved, made longer and changed afterwards, against plain enumeration; and
that planted mistakes show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from swzverify.prover import panel
from swzverify.subjects import Access, ListedLoop, stated_access
from swzverify.subjects.memory import Origin
from tests.objects.agreement import differences
from tests.objects.drawn import draw

OBJECTS = 250
Patch = pytest.MonkeyPatch


@pytest.mark.parametrize("objects", [OBJECTS // 2, pytest.param(OBJECTS, marks=pytest.mark.nightly)])
def test_verdicts_are_those_of_enumeration(objects: int) -> None:
    counts: Counter[str] = Counter()
    assert [each for seed in range(objects) for each in differences(seed, counts)] == []
    seen = {
        kind: {name.split()[1] for name in counts if name.startswith(kind)} for kind in ("conflict_free", "in_bounds")
    }
    assert all(outcomes == {"proved", "refuted", "vacuous"} for outcomes in seen.values())
    assert counts["room refused"]
    assert counts["equivalent refuted"]


def test_every_kind_of_treatment_is_drawn() -> None:
    every = [draw(seed) for seed in range(OBJECTS)]
    assert {each.by_moving for each in every if each.moved} == {True, False}
    assert {name for each in every for name in each.changes} == {"constants", "loops", "assume", "terms"}
    assert any(loop.open_step for each in every for loop in each.loops if each.within)
    assert any(each.room and len(each.loops) > 1 for each in every)


def within_shortens(patch: Patch) -> None:
    patch.setattr(Access, "_check_room", lambda _: None)

    def within(self: Access, room: dict[str, int]) -> Access:
        object.__setattr__(self, "room", tuple(room.get(loop.name, 1) for loop in self.loops))
        for kept in ("free", "lowered"):
            self.__dict__.pop(kept, None)
        return self

    patch.setattr(Access, "within", within)


def room_is_not_checked(patch: Patch) -> None:
    patch.setattr(Access, "_check_room", lambda _: None)


def constants_can_be_changed(patch: Patch) -> None:
    patch.setattr(stated_access, "own_constants", lambda _, constants: {k: int(v) for k, v in constants.items()})


def lists_are_kept_alive(patch: Patch) -> None:
    patch.setattr(stated_access, "own_tuple", lambda *given: given[-1])


def listed_values_are_kept_alive(patch: Patch) -> None:
    patch.setattr(ListedLoop, "__post_init__", lambda _: None)


def scope_names_another_base(patch: Patch) -> None:
    patch.setattr(Origin, "describe", lambda self: f"any base that is a multiple of {self.unit_bytes}")


def a_moved_access_stays(patch: Patch) -> None:
    patch.setattr(Access, "moved", lambda self, _: self)


MISTAKES: list[Callable[[Patch], None]] = [
    within_shortens,
    room_is_not_checked,
    constants_can_be_changed,
    lists_are_kept_alive,
    listed_values_are_kept_alive,
    scope_names_another_base,
    a_moved_access_stays,
]


@pytest.mark.parametrize("plant", MISTAKES, ids=lambda each: each.__name__)
def test_planted_mistakes_show(plant: Callable[[Patch], None], monkeypatch: Patch) -> None:
    plant(monkeypatch)
    # Answers that were kept are those of the code without the mistake.
    panel._native.cache_clear()
    panel._by_z3.cache_clear()
    assert any(_shows(seed) for seed in range(OBJECTS))


def _shows(seed: int) -> Any:
    try:
        return differences(seed, Counter())
    except (AssertionError, LookupError, ValueError, AttributeError, RecursionError):
        return True
