"""Random states of the page, most of them possible."""

from __future__ import annotations

from hypothesis import strategies as st

from swzverify.apps.explorer.state import State
from swzverify.apps.explorer.thread_maps import MAP_WORDS
from swzverify.hardware import INSTRUCTIONS, TARGETS
from swzverify.spec.elements import ELEMENT_BITS

LINES = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=200).map(str.strip)
ANY = st.builds(
    State,
    rows=st.integers(1, 256),
    columns=st.integers(1, 256),
    element=st.sampled_from([*ELEMENT_BITS]),
    order=st.sampled_from(["row", "column", "layout"]),
    layout=LINES,
    pad=st.integers(0, 256),
    swizzle=st.sampled_from(["none", "offset", "address"]),
    bits=st.integers(0, 16),
    base=st.integers(0, 16),
    shift=st.integers(-16, 16),
    instruction=st.sampled_from([*INSTRUCTIONS]),
    threads=st.integers(1, 1024),
    map=st.sampled_from([*MAP_WORDS]),
    coord=LINES,
    loops=LINES,
    target=st.sampled_from([*TARGETS]),
    at=LINES,
    view=st.sampled_from(["logical", "physical"]),
    bank=st.integers(-1, 31),
    group=st.integers(-1, 31),
)
"""Every field at random."""
_COORDS = (
    "lane % R, 0",
    "tid % R, k % C",
    "tid / 4 % R, (tid % 4 * 2 + k) % C",
    "(tid * 3 + k) % R, tid % C",
    "(tid ^ k) % R, (tid >> 2) % C",
)


@st.composite
def usual(draw: st.DrawFn) -> State:
    """Small tiles of whole bytes with every kind of map. Most have whole vectors; some fault, and some
    are not possible.
    """
    instruction = draw(st.sampled_from([*INSTRUCTIONS]))
    element = draw(st.sampled_from(["f64", "f32", "f16", "u8"]))
    width = INSTRUCTIONS[instruction].width_bytes
    vector = max(1, 8 * width // ELEMENT_BITS[element])
    rows = draw(st.sampled_from([16, 32, 48, 64]))
    columns = vector * draw(st.sampled_from([2, 4, 8, 10, 16])) % 257
    swizzle = draw(st.sampled_from(["none", "offset", "address"]))
    bits = draw(st.integers(1, 3))
    whole = (width if swizzle == "address" else vector).bit_length() - 1
    coord = draw(st.sampled_from(_COORDS)).replace("R", str(rows)).replace("C", str(columns // vector))
    return State(
        rows=rows,
        columns=columns,
        element=element,
        order=draw(st.sampled_from(["row", "row", "row", "column"])),
        pad=vector * draw(st.sampled_from([0, 0, 1, 2])) + draw(st.sampled_from([0, 0, 0, 1])),
        swizzle=swizzle,
        bits=bits,
        base=max(0, whole + draw(st.sampled_from([0, 0, 1, 2, -1]))),
        shift=draw(st.integers(bits, 4)) * draw(st.sampled_from([1, 1, -1])),
        instruction=instruction,
        threads=draw(st.sampled_from([32, 64, 128, 100])),
        map=draw(st.sampled_from([*MAP_WORDS])),
        coord=f"{coord} * {vector}",
        loops=draw(st.sampled_from(["k=4", "k=0:16:8", "k=2:3"])),
        view=draw(st.sampled_from(["logical", "physical"])),
    )
