"""The state of the page: its query string keeps all of it, and what is none is told at its field."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from swzverify.apps.explorer.controls import controls
from swzverify.apps.explorer.fragments import answer
from swzverify.apps.explorer.state import MOST_QUERY, State, WrongStateError, allowed
from swzverify.hardware import INSTRUCTIONS, TARGETS
from swzverify.spec.elements import ELEMENT_BITS
from tests.explorer.random_states import ANY


@given(ANY)
@example(State())
@example(State(coord="a&b=c#d?%41+1", loops="k=4;i=2"))
def test_a_query_keeps_the_whole_state(state: State) -> None:
    query = state.to_query()
    assert State.from_query(query) == state
    assert query.isascii()
    kept = parse_qs(query, keep_blank_values=True)
    assert set(kept) == {name for name, value in state.model_dump().items() if value != getattr(State(), name)}


@given(ANY, st.data())
@settings(max_examples=50)
def test_two_states_with_one_query_are_one(state: State, data: st.DataObject) -> None:
    other = data.draw(ANY)
    assert (state.to_query() == other.to_query()) == (state == other)


WRONG = {
    "rows=0": "rows",
    "rows=257": "rows",
    "rows=": "rows",
    "rows=1e3": "rows",
    "rows=99999999999999999999999": "rows",
    "rows=٣": "rows",
    "columns=-1": "columns",
    "pad=257": "pad",
    "bits=17": "bits",
    "shift=-17": "shift",
    "threads=1025": "threads",
    "order=diagonal": "order",
    "swizzle=yes": "swizzle",
    "map=none": "map",
    "view=3d": "view",
    "element=f17": "element",
    "instruction=ldmatrix.x5": "instruction",
    "target=sm_1": "target",
    "bank=32": "bank",
    "coord=" + "a" * 201: "coord",
    "coord=lane%0A0": "coord",
    "layout=%E2%80%AE": "layout",
    "raws=8": "",
    "rows=8&rows=16": "",
    "rows=%FF": "",
    "&".join(f"x{index}=1" for index in range(70)): "",
    "coord=" + "a" * (MOST_QUERY + 1): "",
}


@pytest.mark.parametrize("query", WRONG)
def test_what_is_no_state_is_told_at_its_field(query: str) -> None:
    found = answer(query)
    assert [each["field"] for each in found["errors"]][:1] == [WRONG[query]]
    assert {each["code"] for each in found["errors"]} == {"SWZ596"}
    assert all(each["message"] and len(each["message"]) < 200 for each in found["errors"])
    assert not found["parts"]


def test_every_mistake_is_told_at_once_and_the_nearest_name() -> None:
    with pytest.raises(WrongStateError) as caught:
        State.from_query("rows=0&columns=0&pad=x")
    assert [each.field for each in caught.value.errors] == ["rows", "columns", "pad"]
    with pytest.raises(WrongStateError) as caught:
        State.from_query(urlencode({"instruction": "ldmatix.x4", "target": "sm90"}))
    assert [each.hint for each in caught.value.errors] == ["did you mean 'ldmatrix.x4'?", "did you mean 'sm_90'?"]


def test_there_is_a_control_for_each_field_with_its_bounds_and_all_names() -> None:
    found = {each.name: each for section in controls({}) for each in section.controls}
    assert set(found) == set(State.model_fields)
    for name, control in found.items():
        assert control.value == control.default == str(getattr(State(), name))
        if control.least is not None:
            assert allowed(name) == f"{control.least} to {control.most}"
        if name in ("order", "map", "swizzle", "view"):
            assert set(control.options or {}) == set(allowed(name).split(", "))
    for name, table in (("element", ELEMENT_BITS), ("instruction", INSTRUCTIONS), ("target", TARGETS)):
        assert [*(found[name].options or {})] == [*table]
