"""What a search over a listing found, and its price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from swzverify.subjects.listing import ListedInstruction, Listing, Work


@dataclass(frozen=True, slots=True)
class Price:
    """What a listing costs: conflicts at most, registers that are read from the banks, and marks."""

    conflicts: int
    bank_reads: int
    marks: int


@dataclass(frozen=True, slots=True)
class Found:
    """The best listing that was found.

    Attributes:
        listing: The listing.
        places: The indices of its instructions in the original listing.
        price: The price of the listing.
        given: The price of the original listing.
        bound: The fewest conflicts that a member of the space can have.
        space: The name of the space that was searched.
        how: Why no member has fewer conflicts than `bound`.
    """

    listing: Listing
    places: tuple[int, ...]
    price: Price
    given: Price
    bound: int
    space: str
    how: str

    @property
    def is_least(self) -> bool:
        """Whether no member of the space has fewer conflicts."""
        return self.price.conflicts == self.bound


def price_of(listing: Listing) -> Price:
    """The price of a listing as it stands. Every instruction has to be understood.

    Raises:
        ValueError: An instruction is not understood.
    """
    if listing.most is None:
        raise ValueError(f"listing {listing.name} has an instruction that is not understood")
    reads = marks = 0
    for each, counted in zip(listing.instructions, listing.counted, strict=True):
        if each.work is not Work.ARITHMETIC:
            continue
        reads += len(from_banks(each, dict(counted.held.surely)))
        marks += sum(read.reuse for read in each.reads)
    return Price(listing.most, reads, marks)


def from_banks(each: ListedInstruction, held: Mapping[int, int]) -> set[int]:
    """The registers that an instruction reads from the banks: those that no slot surely holds."""
    return {read.register for read in each.reads if read.slot is None or held.get(read.slot) != read.register}


def is_markable(each: ListedInstruction) -> bool:
    """Whether reuse marks of an instruction may be chosen: its slots are known, and it always runs."""
    return each.work is Work.ARITHMETIC and not each.predicated and all(read.slot is not None for read in each.reads)
