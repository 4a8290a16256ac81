"""Two stores to one byte whose values read what a launch gives: they do no harm where both write one value."""

from __future__ import annotations

import pytest

from swzverify.compiled.scan import race_meetings
from tests.ptx_oracle import Buffer
from tests.ptx_oracle.races import races_of as launched

from .conftest import HEAD, races

_STORE = "st.shared.u32 [s], {};\n"
_ONE = "setp.eq.u32 %p1, %r1, {};\n@%p1 " + _STORE
_PLACE = "mov.u32 %r9, %ctaid.x;\n"
CASES = {
    "a multiple of the parameter": ("mul.lo.u32 %r9, %r1, %r7;\n" + _STORE.format("%r9"), "depends"),
    "the parameter and a number": (_ONE.format(0, "%r7") + _ONE.format(1, 7), "depends"),
    "the thread and the parameter": ("add.u32 %r9, %r1, %r7;\n" + _STORE.format("%r9"), "race"),
    "the parameter alone": (_STORE.format("%r7"), "race-benign"),
    "the thread": (_STORE.format("%r1"), "race"),
    "a multiple of the block": (_PLACE + "mul.lo.u32 %r9, %r1, %r9;\n" + _STORE.format("%r9"), "depends"),
    "the block and the thread": (_PLACE + "add.u32 %r9, %r1, %r9;\n" + _STORE.format("%r9"), "race"),
}


@pytest.mark.parametrize("name", CASES)
def test_race_only_if_each_launch_has_it(name: str) -> None:
    body, verdict = CASES[name]
    text = f"{HEAD}{body}ret;\n}}\n"
    launches = [
        launched(text, "k", (64,), (blocks,), params=[Buffer(64), number, Buffer(64)]).verdict
        for number in (0, 1, 7)
        for blocks in (1, 2)
    ]
    seen = {*launches}
    assert races(body).verdict.value == verdict
    assert seen == ({"race", "race-benign"} if verdict == "depends" else {verdict})


def test_planted_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values of the launch in what is stored are not looked at."""
    monkeypatch.setattr(race_meetings, "deciding_values", lambda *_: [])
    assert races(CASES["a multiple of the parameter"][0]).verdict.value == "race"
