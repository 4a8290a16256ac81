"""Random listings of machine code with claims on their register banks, in the spellings of maxas."""

from __future__ import annotations

import random

from .listings import conflicts_of
from .yaml_values import Spec, Yaml

TARGETS = ("sm_52", "sm_52", "sm_61", "sm_70")
THREE_OLD = ("FFMA", "FFMA", "FFMA.FTZ", "IADD3", "LOP3.LUT", "XMAD", "SHF.L.W", "PRMT")
THREE_NEW = ("FFMA", "FFMA", "FFMA.FTZ", "IADD3", "LOP3.LUT", "IMAD", "SHF.L.W", "PRMT", "LEA.HI")
TWO = ("FADD", "FMUL.FTZ", "SEL", "LEA")
OTHERS = (
    "LDS.U.128 R{v}, [R9+0x200]",
    "STS [R8], R{r}",
    "LDG.E R{r}, [R10]",
    "MUFU.RCP R{r}, R{q}",
    "LDS R{r}, [R{q}]",
)
CONTROL = ("BAR.SYNC 0x0", "NOP", "@P0 EXIT", "DEPBAR", "@!P1 BRA {label}", "BRA {label}", "SSY {label}")
UNKNOWN = (
    "MUFU.RCP R{r}, R{q}.reuse",
    "HMMA.1688.F32 R{v}, R{r}.reuse, R{q}, R{v}",
    "DFMA R{v}, R{r}, R{q}, R{v}",
    "FROB R{r}, R{q}.reuse",
)


def listing_spec(rng: random.Random, has_places: bool = False) -> Spec:
    """A spec of one to three listings; the claims' numbers lie about their sums."""
    listings: dict[str, Yaml] = {}
    claims: list[Yaml] = []
    for index in range(rng.randint(1, 3)):
        name = f"code{index}"
        fields: dict[str, Yaml] = {"target": rng.choice(TARGETS)}
        fields["text"] = listing(rng, fields["target"] in ("sm_52", "sm_61"), has_places)
        listings[name] = fields
        claims.append({"register_conflict_free": name if rng.random() < 0.5 else {"listing": name}})
        found = conflicts_of(fields, "sm_90")
        about = {0, found.least - 1, found.least, (found.most or 0) - 1, found.most or 3, 100}
        limits = rng.sample(sorted(each for each in about if each >= 0), 2)
        claims += [{"register_conflicts": {"listing": name, "at_most": limit}} for limit in limits]
    return {"swzverify": 1, "target": "sm_90", "listings": listings, "claims": claims}


def listing(rng: random.Random, is_old: bool, has_places: bool = False) -> str:
    """Up to 14 lines. A few registers are read again and again, some in the slot where they are kept."""
    registers = rng.sample((0, 1, 2, 3, 4, 5, 8, 12, 64, 254), rng.randint(3, 8))
    labels = [f"L{n}" for n in range(rng.choice((0, 0, 1, 2)))]
    count = rng.randint(1, 14)
    places = {rng.randrange(count): label for label in labels}
    strange = rng.random() < 0.15
    step = rng.choice((0, 8, 16)) if has_places else 0
    shown = [f"0x{rng.randrange(count) * step:x}", "16", "`(gone)"] if step else []
    if labels and has_places:
        shown.append(f"`({labels[0]} + 0x{rng.randrange(3) * (step or 8):x})")
    lines: list[str] = []
    for number in range(count):
        text = _instruction(rng, registers, is_old, labels, strange)
        if shown and rng.random() < 0.06:
            text = f"@P0 BRA {rng.choice(shown)}"
        place = f"/*{number * step:04x}*/ " if step else ""
        if number in places:
            lines.append(f"{places[number]}:")
        code = f"--:-:-:{'Y' if rng.random() < 0.07 else '-'}:1 " if rng.random() < 0.7 else ""
        lines.append(f"{place}{code}{text};" + (" // as it is" if rng.random() < 0.1 else ""))
        if rng.random() < 0.05:
            lines.append("# nothing")
    return "\n".join(lines) + "\n"


def _instruction(rng: random.Random, registers: list[int], is_old: bool, labels: list[str], strange: bool) -> str:
    kind = rng.random()
    words = {"r": rng.choice(registers), "q": rng.choice(registers), "v": rng.choice((0, 4, 8, 64))}
    if kind < 0.1:
        return rng.choice(OTHERS).format(**words)
    if kind < 0.16:
        chosen = rng.choice(CONTROL)
        return "NOP" if "{label}" in chosen and not labels else chosen.format(label=(labels or [""])[-1])
    if kind < 0.2 and strange:
        return rng.choice((*UNKNOWN, "CAL `(f)", "BRX R4 -0x8", "BRA 0x1230")).format(**words)
    predicate = rng.choice(("@P0 ", "@!P2 ", "@PT ")) if rng.random() < 0.08 else ""
    return predicate + _arithmetic(rng, registers, is_old)


def _arithmetic(rng: random.Random, registers: list[int], is_old: bool) -> str:
    def register(marks: float = 0.45) -> str:
        if rng.random() < 0.05:
            return "RZ"
        sign = rng.choice(("-", "")) if rng.random() < 0.1 else ""
        return f"{sign}R{rng.choice(registers)}{'.reuse' if rng.random() < marks else ''}"

    def value() -> str:
        return rng.choice(("0x10", "c[0x0][0x140]", "1")) if rng.random() < 0.08 else register()

    result = f"R{rng.choice(registers)}"
    kind = rng.random()
    if kind < 0.7:
        name = rng.choice(THREE_OLD if is_old else THREE_NEW)
        more = {"LOP3.LUT": ", 0x80", "LEA.HI": ", 0x2"}.get(name, "")
        return f"{name} {result}, {register()}, {value()}, {value()}{more}"
    if kind < 0.85:
        name = rng.choice(TWO)
        more = {"SEL": ", !P0", "LEA": ", 0x3"}.get(name, "")
        return f"{name} {result}, {register()}, {value()}{more}"
    if kind < 0.93:
        return f"{rng.choice(('ISETP.GE.AND', 'FSETP.LT.AND'))} P0, PT, {register()}, {value()}, PT"
    return f"MOV {result}, {value()}"
