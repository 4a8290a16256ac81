"""General theorems: their form, their proof by Z3, where the proofs are found, and their list."""

from __future__ import annotations

from swzverify.apps.theorems.terms import Symbols, Truth, Whole, Word, choose, choose_whole, greater, lesser
from swzverify.apps.theorems.theorem import Obligation, Outcome, Point, Sequent, Theorem

__all__ = [
    "Obligation",
    "Outcome",
    "Point",
    "Sequent",
    "Symbols",
    "Theorem",
    "Truth",
    "Whole",
    "Word",
    "choose",
    "choose_whole",
    "greater",
    "lesser",
]
