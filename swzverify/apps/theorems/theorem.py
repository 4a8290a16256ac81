"""What a theorem is: a statement, where it comes from, and what Z3 has to show for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from swzverify.apps.theorems.terms import Symbols, Truth
from swzverify.claims.verdict import Outcome

RLIMIT = 40_000_000
"""Z3's resource units for one query, unless an obligation asks for others; a few times what the
hardest one takes.
"""

Point: TypeAlias = Mapping[str, int]
"""Values of an obligation's variables."""


@dataclass(frozen=True, slots=True)
class Sequent:
    """A conclusion under hypotheses.

    The bounds of the variables are hypotheses too, and are not listed here.
    """

    hypotheses: tuple[Truth, ...]
    conclusion: Truth


Encoding: TypeAlias = Callable[[Symbols], Sequent]


@dataclass(frozen=True, slots=True)
class Obligation:
    """One thing to show: a name, and an encoding that declares its variables in the given symbols."""

    name: str
    encode: Encoding
    rlimit: int = RLIMIT

    def __post_init__(self) -> None:
        """Refuses a nameless obligation and an empty budget."""
        if not self.name or self.rlimit < 1:
            raise ValueError(f"obligation {self.name!r} with a budget of {self.rlimit}")


@dataclass(frozen=True, slots=True)
class Theorem:
    """A statement and the obligations that make it up.

    It is proved if every obligation is. An "iff" has one for each direction; a bijection has one each for
    staying inside, for being one to one and for reaching everything. It is refuted if an obligation
    fails at a point that `refutes` confirms in plain Python integers, from the definitions and not from
    the encoding.

    Attributes:
        name: The name.
        statement: The statement in words.
        latex: The statement in LaTeX.
        source: The source of the statement.
        symbolic: The quantities that are variables of Z3.
        obligations: The obligations.
        enumerated: The quantities that run through lists, with an obligation for each value.
        expected: The expected outcome.
        refutes: Whether a point refutes the statement.
        because: Where the statement of a refuted theorem goes wrong.
        mended_by: The theorem that says what holds instead.
    """

    name: str
    statement: str
    latex: str
    source: str
    symbolic: str
    obligations: tuple[Obligation, ...] = field(repr=False)
    enumerated: str = "nothing"
    expected: Outcome = Outcome.PROVED
    refutes: Callable[[Point], bool] | None = field(default=None, repr=False)
    because: str = ""
    mended_by: str = ""

    def __post_init__(self) -> None:
        """Refuses a record that could not be listed or judged."""
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", self.name):
            raise ValueError(f"a theorem is called {self.name!r}; names are words joined by hyphens")
        for part in ("statement", "latex", "source", "symbolic", "enumerated"):
            if not getattr(self, part).strip():
                raise ValueError(f"theorem {self.name} has no {part}")
        if not self.obligations:
            raise ValueError(f"theorem {self.name} has nothing to show")
        names = [obligation.name for obligation in self.obligations]
        if len(set(names)) < len(names):
            raise ValueError(f"theorem {self.name}: two obligations share a name")
        if self.expected not in {Outcome.PROVED, Outcome.REFUTED}:
            raise ValueError(f"theorem {self.name} is expected to be {self.expected}; proved and refuted can be")
        wrong = self.expected is Outcome.REFUTED
        if wrong != bool(self.refutes and self.because and self.mended_by):
            raise ValueError(
                f"theorem {self.name}: a refuted statement, and no other, has refutes, because and mended_by"
            )
