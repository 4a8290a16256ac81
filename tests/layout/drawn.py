"""Layouts drawn from leaves."""

from __future__ import annotations

from hypothesis import strategies as st

from swzverify.layout import Layout, make_layout


def from_pairs(pairs):
    return Layout(tuple(shape for shape, _ in pairs), tuple(stride for _, stride in pairs))


def flat_of(leaf, most=3):
    """Layouts of up to `most` leaves in one mode each."""
    return st.lists(leaf, min_size=1, max_size=most).map(from_pairs)


def layouts_of(leaf):
    """Flat layouts, and those of two modes with one or two leaves each."""
    pair = flat_of(leaf, 2)
    return flat_of(leaf) | st.tuples(pair, pair).map(lambda two: make_layout(*two))
