"""The colours: read in grey, without red or green, on 256-colour terminals, and under their ink."""

from __future__ import annotations

from itertools import pairwise

import pytest

from swzverify.explain.pictures.picture import SHADES, XTERM, Scale, ink, ink_on, luminance, xterm_colour

# what is left of linear red, green and blue; Viénot, Brettel, Mollon, "Digital video colourmaps for
# checking the legibility of displays by dichromats", 1999
PROTANOPE = ((0.11238, 0.88762, 0), (0.11238, 0.88762, 0), (0.00401, -0.00401, 1))
DEUTERANOPE = ((0.29275, 0.70725, 0), (0.29275, 0.70725, 0), (-0.02234, 0.02234, 1))


def linear(colour: str) -> list[float]:
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def test_each_shade_is_brighter_than_the_one_before() -> None:
    assert len(set(SHADES)) == 32
    assert all(luminance(one) < luminance(other) for one, other in pairwise(SHADES))


@pytest.mark.parametrize("eye", [PROTANOPE, DEUTERANOPE], ids=["protanope", "deuteranope"])
def test_so_it_is_without_red_or_green(eye: tuple[tuple[float, float, float], ...]) -> None:
    seen = [[sum(a * b for a, b in zip(row, linear(shade), strict=True)) for row in eye] for shade in SHADES]
    grey = [0.2126 * red + 0.7152 * green + 0.0722 * blue for red, green, blue in seen]
    assert all(one < other for one, other in pairwise(grey))


def test_ink_can_be_read() -> None:
    for index, shade in enumerate(SHADES):
        ground, front = luminance(shade), luminance(ink(index))
        assert (max(ground, front) + 0.05) / (min(ground, front) + 0.05) >= 4.5


def test_a_terminal_of_256_colours_never_gets_darker() -> None:
    steps = [luminance(xterm_colour(code)) for code in XTERM]
    assert all(one <= other for one, other in pairwise(steps))
    assert len(set(XTERM)) >= 16
    for colour, ground in zip(map(xterm_colour, XTERM), steps, strict=True):
        front = luminance(ink_on(colour))
        assert (max(ground, front) + 0.05) / (min(ground, front) + 0.05) >= 4.5


def test_scales() -> None:
    banks = Scale("bank", 0, 31)
    assert [banks.shade(bank) for bank in range(32)] == list(range(32))
    costs = Scale("wavefronts", 1, 32, logarithmic=True)
    assert [costs.shade(cost) for cost in (1, 2, 4, 8, 16, 32)] == [0, 6, 12, 19, 25, 31]
    assert Scale("one", 3, 3).shade(3) == 0
    assert banks.shade(99) == 31
