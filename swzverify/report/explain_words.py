"""The sentence of each statement of an explanation. Nothing is said that no field of it says.

The sections are in the order in which an explanation is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from swzverify.core.words import counted, listed, runs
from swzverify.explain.explanations import Explanation, Statement
from swzverify.explain.explanations import statements as st
from swzverify.explain.pictures.words import at_words
from swzverify.hardware import BANK_PERIOD_BYTES

_MOST_WORDS = 8
"""Words that a sentence lists."""


def sentence(statement: Statement) -> str:
    """A statement in words.

    >>> sentence(st.OneToOne("A", 12, 12))
    'The map from the 12 bits of the coordinate to offsets has rank 12: it is one to one.'
    """
    match statement:
        case st.Cost():
            return _cost(statement)
        case st.Limit():
            return _limit(statement)
        case st.BankBit() | st.TileBankBit():
            return str(statement)
        case st.Matrix():
            return f"Its matrix over GF(2) has {counted(len(statement.columns), 'column')} and rank {statement.rank}."
        case st.Rank():
            return _rank(statement)
        case st.Kernel():
            return _kernel(statement)
        case st.Merged(vector):
            return f"Lanes l and l ^ {vector} of a group touch the same unit, which counts once."
        case st.Crowd():
            return _crowd(statement)
        case st.Apart():
            return _apart(statement)
        case st.Steps():
            return _steps(statement)
        case st.Pitch():
            return _pitch(statement)
        case st.Period(mode=mode, extent=extent, period=period):
            return _period(mode, extent, period)
        case st.SwizzleBits():
            return _swizzle_bits(statement)
        case st.OneToOne(rank=rank, bits=bits):
            each = f"{1 << (bits - rank)} coordinates share each offset"
            so = "it is one to one" if rank == bits else each
            return f"The map from the {counted(bits, 'bit')} of the coordinate to offsets has rank {rank}: {so}."
        case st.Change():
            under = "Without a swizzle" if statement.swizzle is None else f"With {statement.swizzle}"
            return f"{under} it takes {_price(statement.wavefronts, statement.bank_conflicts)}."
        case st.Parameter():
            return _parameter(statement)
        case st.BestSwizzle():
            return _best_swizzle(statement)
        case st.LeastBase(least, on):
            what = f"{counted(1 << least, 'element' if on == 'offset' else 'byte')}"
            return f"A swizzle with M below {least} can split vectors of {what}."
        case st.BestPad(pad, row, layout, wavefronts, conflicts):
            after = f"With a pad of {counted(pad, 'element')} after every {row}, {layout}"
            return f"{after}, it takes {_price(wavefronts, conflicts)}."
        case st.NotLinear(of, _, bits):
            whose = "a lane's first word" if of == "access" else "an element"
            told = f"bank[{listed(bits)}]" if len(bits) == 1 else f"the bits {listed(bits)} of the bank"
            return f"No formula of XORs is known for {told} of {whose}."
        case st.Unpriced(why=why):
            return f"The cost of its warp instructions cannot be computed: {why}."
        case _:
            assert_never(statement)


def _price(wavefronts: int, conflicts: int) -> str:
    clean = "no bank conflicts" if conflicts == 0 else counted(conflicts, "bank conflict")
    return f"{counted(wavefronts, 'wavefront')}, {clean}"


def _spans(values: Sequence[int]) -> str:
    """Lanes or bits in short.

    >>> _spans([0, 1, 2, 5]), _spans([0, 4])
    ('0-2 and 5', '0 and 4')
    """
    parts = [[f"{run[0]}-{run[-1]}"] if len(run) > 2 else run for run in runs(values)]
    return listed(part for each in parts for part in each)


def _cost(said: st.Cost) -> str:
    row = f"{said.instruction} on {said.target} ({said.evidence})"
    every = f"the worst of {said.instructions} warp instructions"
    many = every if said.instructions > 1 else "its only warp instruction"
    place = f", at {at_words(said.where)}" if said.where else ""
    head = f"{row} takes at most {counted(said.wavefronts, 'wavefront')}, in {many}{place}"
    least = f"; without conflicts it would take {said.minimum}" if said.wavefronts > said.minimum else ""
    if said.bank_conflicts == 0:
        return f"{head}{least}. There are no bank conflicts."
    return f"{head}{least}. There are at most {counted(said.bank_conflicts, 'bank conflict')}."


def _limit(said: st.Limit) -> str:
    if said.at_most is None:
        what = "no bank conflicts"
    else:
        what = f"{'exactly' if said.exactly else 'at most'} {counted(said.at_most, 'wavefront')}"
    return f"These costs {'keep' if said.kept else 'break'} the claim {said.kind} of {said.subject}: {what}."


def _rank(said: st.Rank) -> str:
    lanes = 1 << said.group_bits
    group = f"A group has {counted(lanes, 'lane')}" + (" (two joined)" if said.joined else "")
    unit = f"{said.unit_bytes} bytes"
    kind = "unit" if said.unit_rank == 0 else "different units"
    units = f"2^{said.unit_rank} = {1 << said.unit_rank} {kind} of {unit} (rank {said.unit_rank})"
    places = f"{1 << said.slot_rank} of the {said.slots} places of a 128-byte line"
    slots = f"2^{said.slot_rank} = {places} (rank {said.slot_rank})"
    if said.each == 1:
        each = "So no two of them share a place"
    elif said.counts_equal:
        each = f"So 2^({said.group_bits} - {said.slot_rank}) = {said.each} lanes share each place, and each lane counts"
    else:
        each = f"So 2^({said.unit_rank} - {said.slot_rank}) = {said.each} of them share each place"
    sums = f"{counted(said.each, 'wavefront')} per group, {said.wavefronts} in {counted(said.groups, 'group')}"
    return f"{group}, which touch {units} in {slots}. {each}: {sums}."


def _kernel(said: st.Kernel) -> str:
    one, other = said.lanes
    single = len(said.bits) == 1
    bits = f"bit {said.bits[0]} only" if single else f"the bits {listed(said.bits)}"
    if said.alone:
        why = "which reaches no bank bit" if single else "none of which reaches a bank bit"
    else:
        why = "whose effects on the bank cancel"
    first, second = said.words
    words = f"the words {first} and {second}" if first != second else f"word {first} twice, where each counts,"
    pair = f"Lanes {one} and {other} differ in {bits}, {why}: they need {words} of bank {said.bank}"
    always = f"In every warp instruction, lanes l and l ^ {said.vector} of a group collide in this way."
    return f"{pair} at {at_words(said.where)}. {always}"


def _crowd(said: st.Crowd) -> str:
    lanes = f"{'Lane' if len(said.lanes) == 1 else 'Lanes'} {_spans(said.lanes)}"
    need = "needs" if len(said.lanes) == 1 else "need"
    if len(said.words) == 1:
        words = f"word {said.words[0]}"
    elif len(said.words) <= _MOST_WORDS:
        words = f"the words {listed(said.words)}"
    else:
        words = f"{len(said.words)} words, from {said.words[0]} to {said.words[-1]},"
    also = ", and each lane counts" if said.counts_equal else ""
    worst = f"No bank has more: the group takes {counted(said.wavefronts, 'wavefront')}"
    return f"{lanes} {need} {words} of bank {said.bank}{also}, at {at_words(said.where)}. {worst}."


def _apart(said: st.Apart) -> str:
    octet = f"the octet takes {counted(said.wavefronts, 'wavefront')}, and none takes more, at {at_words(said.where)}"
    classes = [_spans(lanes) for lanes in said.classes]
    if len(classes) == 1:
        return f"Lanes {classes[0]} copy together: {octet}."
    return f"Lanes {' | '.join(classes)} copy in wavefronts of their own: {octet}."


def _residue(level: st.Level) -> str:
    """The order of a step, with its reason."""
    step = abs(level.step_bytes)
    if level.order == 1:
        return f"{step} is a multiple of {BANK_PERIOD_BYTES}, so all of them lie in the same banks"
    divisor = f"gcd({step}, {BANK_PERIOD_BYTES}) = {level.divisor}"
    order = f"{BANK_PERIOD_BYTES}/{level.divisor} = {level.order}"
    apart = f"{order} steps in a row reach different places of a 128-byte line"
    return f"{divisor}, so {apart}, and the next steps reach the same places again"


def _steps(said: st.Steps) -> str:
    first, *others = said.levels
    parts = [f"{first.count} addresses {first.step_bytes} bytes apart"]
    parts += [f"repeated {each.count} times {each.step_bytes} bytes apart" for each in others]
    head = f"Lanes {_spans(said.lanes)} have {', '.join(parts)}, at {at_words(said.where)}"
    reasons = "; ".join(_residue(each) for each in said.levels if each.step_bytes)
    if not reasons:
        return f"{head}."
    told = "" if said.wavefronts is None else f": {counted(said.wavefronts, 'wavefront')} for the group"
    return f"{head}: {reasons}{told}."


def _pitch(said: st.Pitch) -> str:
    leaf = said.mode if said.leaves == 1 else f"leaf {said.leaf + 1} of {said.leaves} of {said.mode}"
    head = "Without the swizzle, a step" if said.swizzled else "A step"
    return f"{head} of {leaf} moves by {said.level.step_bytes} bytes: {_residue(said.level)}."


def _period(mode: str, extent: int, period: int | None) -> str:
    if period is None:
        return f"Along {mode} the banks have no period of up to {extent // 2} steps."
    if period == 1:
        return f"A step along {mode} changes no element's bank."
    return f"Along {mode} the banks repeat every {period} steps, and not before."


def _swizzle_bits(said: st.SwizzleBits) -> str:
    swizzle = said.swizzle
    read = [bit for bit in range(said.width) if swizzle.yyy_mask >> bit & 1]
    changed = [bit for bit in range(said.width) if swizzle.zzz_mask >> bit & 1]
    what = "element offset" if said.on == "offset" else "byte address"
    moves = f"Y ({_spans(read)}) is XORed onto Z ({_spans(changed)})"
    head = f"{swizzle} acts on the bits of the {what}, {said.picture}: {moves}"
    bank = said.bank_bits
    if bank is None:
        return f"{head}."
    held = f"bit {bank[0]} of the bank" if len(bank) == 1 else f"the bits {listed(bank)} of the bank"
    reach = "Z reaches no bit of the bank" if not bank else f"Z holds {held}"
    if said.on == "address":
        return f"{head}. {reach}."
    return f"{head}. Where the stage begins at a multiple of 128 bytes, {reach}."


def _parameter(said: st.Parameter) -> str:
    name, now, tried = said.parameter, said.now, f"any {said.parameter} {_range(said.tried)}"
    if len(said.tried) == 1:
        return f"{name} = {now} is the only {name} that goes with the other two."
    if said.verdict == "right":
        others = [value for value in said.values if value != now]
        like = f", as with {listed(others)}" if others else ""
        return f"{name} = {now} takes {counted(said.wavefronts, 'wavefront')}{like}, the fewest of {tried}."
    if said.verdict == "no help":
        return f"No other {name} alone helps: with {tried} it takes {counted(said.fewest, 'wavefront')} or more."
    fewest = f"with {name} = {listed(said.values, 'or')} it takes {counted(said.fewest, 'wavefront')}"
    return f"{name} = {now} is {said.verdict}: {fewest}, the fewest of {tried}; now it takes {said.wavefronts}."


def _range(values: Sequence[int]) -> str:
    """Values in order, in words.

    >>> _range([3, 4, 5]), _range([-6, -3, -2])
    ('from 3 to 5', 'of -6, -3 or -2')
    """
    if len(values) > 1 and values[-1] - values[0] == len(values) - 1:
        return f"from {values[0]} to {values[-1]}"
    return f"of {listed(values, 'or')}"


def _best_swizzle(said: st.BestSwizzle) -> str:
    what = "element offsets" if said.on == "offset" else "byte addresses"
    among = f"Of the {said.count} swizzles of {what} with B up to {said.most_bits} and M from {said.least} on"
    room = f"that read only the lowest {said.reach} bits"
    best = f"{said.winners} {'takes' if said.winners == 1 else 'take'} the fewest"
    price = _price(said.wavefronts, said.bank_conflicts)
    return f"{among} {room}, {best}: {price}. The first is {said.first}."


_SECTIONS: dict[str, tuple[type[Statement], ...]] = {
    "What it costs": (st.Cost, st.Limit, st.Unpriced),
    "Why": (st.Rank, st.Kernel, st.Merged, st.Crowd, st.Apart, st.Steps),
    "The bank of a lane's first word": (st.BankBit,),
    "The tile's map": (st.SwizzleBits, st.OneToOne, st.Pitch),
    "The bank of an element": (st.TileBankBit, st.Period),
    "What changes would do to this access": (st.Parameter, st.Change, st.LeastBase, st.BestSwizzle, st.BestPad),
}
_OF = {"access": "The bank of a lane's first word", "tile": "The bank of an element"}


def sections(explanation: Explanation) -> Iterator[tuple[str, list[Statement]]]:
    """The titles with their statements, in the order of the explanation; empty ones are left out."""
    for title, kinds in _SECTIONS.items():
        found = [each for each in explanation.statements if isinstance(each, kinds) or _title(each) == title]
        if found:
            yield title + _start(found), found


def _start(statements: list[Statement]) -> str:
    """The stage of formulas by coordinate, in words."""
    starts = sorted({each.start_bytes for each in statements if isinstance(each, st.TileBankBit | st.Period)})
    return f", in the stage that begins at byte {starts[0]}" if starts else ""


def _title(statement: Statement) -> str:
    return _OF[statement.of] if isinstance(statement, st.Matrix | st.NotLinear) else ""
