"""`wavefronts`: a warp instruction takes at most so many wavefronts, or the worst one exactly so many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from swzverify.claims.claim import Claim
from swzverify.claims.cost_claim import CostClaim
from swzverify.claims.form import Direction, Form, Named, Number, NumberChange, Role
from swzverify.errors import SwzError
from swzverify.ir.whole import keep_whole
from swzverify.subjects import Access


@dataclass(frozen=True, slots=True)
class Wavefronts(CostClaim):
    """No warp instruction takes more than `at_most` wavefronts; with `exactly` one takes as many, too.

    >>> from swzverify.hardware import find_instruction, find_target
    >>> from swzverify.ir.c_parse import parse
    >>> from swzverify.prover import prove
    >>> load, chip = find_instruction("ld.shared.b32"), find_target("sm_90")
    >>> access = Access("a", load, chip, (32,), address=parse("lane*8"))
    >>> [prove(Wavefronts(access, exactly=n)).outcome.value for n in (1, 2, 3)]
    ['refuted', 'proved', 'refuted']
    """

    kind: ClassVar[str] = "wavefronts"
    form = Form(
        title="A bound of the cost.",
        says="a warp instruction of this access takes at most so many wavefronts, or in the worst case exactly so many",
        roles=(Role.ACCESS,),
        examples=({"access": "write_A", "at_most": 4}, {"access": "write_A", "exactly": 4}),
        keys=(
            Named(Role.ACCESS, "the name of an access", "read_A"),
            Number("at_most", "wavefronts that no warp instruction exceeds", (4,), optional=True),
            Number("exactly", "wavefronts of the worst warp instruction, in place of `at_most`", (4,), optional=True),
        ),
        keys_title="At most, or exactly, so many wavefronts per warp instruction.",
    )
    access: Access
    at_most: int | None = None
    exactly: int | None = None

    def __post_init__(self) -> None:
        """Refuse a bound that nothing can keep, and none or two of them."""
        self.check_subjects()
        keep_whole(self, "wavefronts", optional=("at_most", "exactly"))
        hint = "at_most: 4 is a bound; exactly: 4 says that the worst warp instruction takes 4, too"
        if self.at_most is None and self.exactly is None:
            raise SwzError("SWZ104", "wavefronts: the key 'at_most' is missing", hint=hint)
        if self.at_most is not None and self.exactly is not None:
            raise SwzError("SWZ105", "wavefronts has `at_most` or `exactly`, not both", hint=hint)
        if self.limit < 1:
            word = "at_most" if self.exactly is None else "exactly"
            raise SwzError("SWZ105", f"wavefronts {word} {self.limit}: an access takes at least 1")

    @property
    def limit(self) -> int:
        """The largest number of wavefronts that the claim allows."""
        return (self.at_most or 0) if self.exactly is None else self.exactly

    @property
    def reaches(self) -> int | None:
        """The wavefronts that some warp instruction takes, where the claim says so."""
        return self.exactly

    @property
    def numbers(self) -> dict[str, int]:
        """The number that is stated."""
        return {"at_most" if self.exactly is None else "exactly": self.limit}

    def number_changes(self, after: Claim) -> Iterator[NumberChange]:
        """`exactly` says more than `at_most` of one number; two exact numbers contradict."""
        if not isinstance(after, Wavefronts) or self.numbers == after.numbers:
            return
        (word, old), (other, new) = (next(iter(each.numbers.items())) for each in (self, after))
        way = Direction.STRONGER if self.exactly is None and new <= old else Direction.WEAKER
        if word == other:
            yield NumberChange(word, str(old), str(new), way)
        else:
            yield NumberChange("wavefronts", f"{word} {old}", f"{other} {new}", way)

    def scope(self) -> str:
        """The scope in words: every warp instruction."""
        word = "at most" if self.exactly is None else "exactly"
        return f"{word} {self.limit}: {CostClaim.scope(self)}"
