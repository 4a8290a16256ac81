"""The joining of groups (step 3 of the measured rule): what leaving it out does to the counts."""

from __future__ import annotations

from swzverify.apps.theorems import Obligation, Outcome, Point, Sequent, Symbols, Theorem, Word
from swzverify.hardware import access_cost

from ._banks import LANES, clash, firsts_in_bank, group_lanes
from ._sources import RULE

MAXAS_READ = (
    "maxas readAs = ((tid >> 1) & 7) << 4 with 16-byte loads: 2 wavefronts measured on an H100, 4 without the step"
)


def lane_by_lane(width_bytes: int) -> Obligation:
    """A lane that brings a new word of a bank to two joined groups brings one to its own group."""

    def encode(v: Symbols) -> Sequent:
        size = group_lanes(width_bytes)
        addresses = [v.word(f"address_{lane}") for lane in range(2 * size)]
        lanes = [(address, v.word(f"active_{lane}", below=2) == 1) for lane, address in enumerate(addresses)]
        which = v.word("bank", below=32)
        joined = firsts_in_bank(v, lanes, width_bytes, which)
        apart = [
            *firsts_in_bank(v, lanes[:size], width_bytes, which),
            *firsts_in_bank(v, lanes[size:], width_bytes, which),
        ]
        aligned = v.every(address % width_bytes == 0 for address in addresses)
        return Sequent((aligned,), v.every(a.implies(b) for a, b in zip(joined, apart, strict=True)))

    return Obligation(f"lane by lane, {width_bytes} bytes", encode)


def one_lane_more(v: Symbols) -> Sequent:
    """The count with one lane more: if the joined count was no more before, it is no more now."""
    joined, apart = v.word("joined", below=LANES), v.word("apart", below=LANES)
    one_joined, one_apart = v.word("one_joined", below=2), v.word("one_apart", below=2)
    return Sequent((joined <= apart, one_joined <= one_apart), joined + one_joined <= apart + one_apart)


def worst_banks(v: Symbols) -> Sequent:
    """The joined groups' worst bank has at most the words of both groups' worst banks together."""
    joined, first, second = (v.word(name, below=LANES + 1) for name in ("joined", "first", "second"))
    cost_first, cost_second = v.word("cost_first", below=LANES + 1), v.word("cost_second", below=LANES + 1)
    hypotheses = (joined <= first + second, first <= cost_first, second <= cost_second)
    return Sequent(hypotheses, joined <= cost_first + cost_second)


def no_conflict_hidden(v: Symbols) -> Sequent:
    """If no group of 8 has a conflict, no joined group of 16 has one.

    The lanes are pairs with equal addresses.
    """
    units = [v.word(f"unit_{pair}", below=16) for pair in range(LANES // 2)]
    words = [unit << 2 for unit in units]
    apart = [~clash(a, b) for first in (0, 4, 8, 12) for a, b in _pairs(words[first : first + 4])]
    together = [~clash(a, b) for first in (0, 8) for a, b in _pairs(words[first : first + 8])]
    return Sequent((v.every(apart),), v.every(together))


def _pairs(words: list[Word]) -> list[tuple[Word, Word]]:
    return [(a, b) for i, a in enumerate(words) for b in words[:i]]


def hides_a_conflict(point: Point) -> bool:
    """Whether a load has a conflict where a store, whose groups never join, has none."""
    addresses = [16 * point[f"unit_{lane // 2}"] for lane in range(LANES)]
    load, store = (access_cost(f"{kind}.shared.v4.b32", addresses) for kind in ("ld", "st"))
    return load.bank_conflicts > 0 and store.bank_conflicts == 0


def always_four(v: Symbols) -> Sequent:
    """Pairs differ, or a joined group of 16 has a conflict; m + 1 is a power of two."""
    p, m = v.word("p", below=3), v.word("m", below=32)
    units = [(v.number(lane) >> p) & m for lane in range(LANES)]
    pairs_agree = v.some(v.every(units[lane] == units[lane ^ distance] for lane in range(LANES)) for distance in (1, 2))
    joined = [units[:16], units[16:]]
    conflict = v.some(clash(a << 2, b << 2) for group in joined for a, b in _pairs(group))
    return Sequent((m >= 7, m & (m + 1) == 0), ~pairs_agree | conflict)


def takes_two(point: Point) -> bool:
    """Whether the measured rule has two wavefronts."""
    addresses = [((lane >> point["p"]) & point["m"]) << 4 for lane in range(LANES)]
    return access_cost("ld.shared.v4.b32", addresses).wavefronts == 2


THEOREMS = (
    Theorem(
        "joining-never-costs",
        "leaving out the joining of groups never undercounts wavefronts: joined groups cost at most what they cost "
        "apart, "
        "for any addresses and active lanes",
        r"\max_b |A_b \cup B_b| \le \max_b |A_b| + \max_b |B_b|",
        f'{RULE}; docs/hardware.md, "The rule", step 3',
        "the addresses of two neighbouring groups, their active lanes, the bank, the groups' costs",
        (
            lane_by_lane(8),
            lane_by_lane(16),
            Obligation("lane after lane", one_lane_more),
            Obligation("in the worst banks", worst_banks),
        ),
        enumerated="8 and 16 bytes per lane, the only widths that join; the lanes of two groups",
    ),
    Theorem(
        "joining-conflicts-mistaken",
        "leaving out the joining of groups never undercounts bank conflicts either: 16-byte loads without a conflict "
        "in any "
        "group of 8 have none in a joined group of 16",
        r"\text{conflicts}_{\text{joined}} \le \text{conflicts}_{\text{apart}}",
        'docs/hardware.md, "The rule", step 3, read as a claim about conflicts; the measured rule',
        "the 16-byte unit of every pair of lanes, below 16, which a counterexample may be",
        (Obligation("joined groups have none", no_conflict_hidden),),
        enumerated="the 32 lanes",
        expected=Outcome.REFUTED,
        refutes=hides_a_conflict,
        because="joining lowers the minimum as well: four groups of one wavefront become two, and two wavefronts for "
        "one of "
        "these are a conflict",
        mended_by="joining-never-costs",
    ),
    Theorem(
        "four-phases-mistaken",
        "a warp's 16-byte loads of 8 or more different units, at 16 ((lane >> p) & m) with p <= 2 and m one less "
        "than a power "
        "of two, m >= 7, take at least four wavefronts",
        r"p \le 2,\ m = 2^j - 1 \ge 7 \Rightarrow \text{wavefronts} \ge 4",
        f"the counting of phases without the joining of groups; {MAXAS_READ}",
        "p, m",
        (Obligation("four groups", always_four),),
        enumerated="the 32 lanes",
        expected=Outcome.REFUTED,
        refutes=takes_two,
        because="lanes that repeat addresses in pairs are served in two groups of 16",
        mended_by="joining-never-costs",
    ),
)
