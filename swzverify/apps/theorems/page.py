"""The page docs/theorems.md, written from the theorems themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence

from swzverify.apps.theorems.discover import find_families
from swzverify.apps.theorems.listing import Entry, point_text
from swzverify.apps.theorems.theorem import Outcome

INTRODUCTION = """\
# Theorems

Statements that hold for whole families of swizzles, pads, tiles and block orders, each proved by Z3 with symbolic
parameters, over bit-vectors of 32 bits or over the integers, and published statements that do not hold, each with a
counterexample that is replayed in plain Python integers.

```sh
swzverify theorems
```

proves all of them again, in some 30 seconds on two processors. `-v` shows sources, LaTeX and every obligation, `-k
NAME` picks some, `--format json` is for programs. This page is `swzverify theorems --format markdown`; a test
compares the two. The encodings are in `proofs/`, one file per family.

How to read it:

- A theorem is *proved* when every obligation is: an "iff" has one for each direction, a permutation has one each for
  staying inside, being one to one, and reaching everything by an explicit preimage. Hypotheses are shown to be
  satisfiable first; a vacuous obligation is never proved, nor is one for which Z3 runs out of its budget.
- A theorem is *refuted* when an obligation fails at a point that the definitions, not the encoding, confirm. The
  point that is shown is the smallest one, variable by variable, so that it is the same in every version of Z3.
- *Symbolic* quantities are variables of Z3. *Enumerated* ones run through all values that are listed.
- Costs follow the rule of [semantics.md](semantics.md), section 4, which reproduces every measured H100 pattern: `w`
  bytes per lane go in groups of 32 lanes (`w` up to 4), 16 (`w` = 8) or 8 (`w` = 16). *Free of conflicts* means that no
  two lanes of a group touch different words of one bank.
- The tests check every statement again by brute force at small sizes, without Z3 and without this package, and show
  for every proved theorem that a wrong encoding of it is refuted.
"""


def render_page(entries: Sequence[Entry]) -> str:
    """The page, with the families in the order of their files.

    It has no times, so it is the same in every run.
    """
    by_name = {entry.theorem.name: entry for entry in entries}
    lines = [INTRODUCTION, *_wrong(entries)]
    for family in find_families():
        chosen = [by_name[theorem.name] for theorem in family.theorems if theorem.name in by_name]
        if chosen:
            lines += [f"## {_escaped(family.title.rstrip('.'))}", ""]
            for entry in chosen:
                lines += _section(entry)
    return "\n".join(lines).rstrip("\n") + "\n"


def _wrong(entries: Sequence[Entry]) -> list[str]:
    """The published statements that do not hold, in short."""
    wrong = [entry for entry in entries if entry.theorem.expected is Outcome.REFUTED]
    if not wrong:
        return []
    items = [
        f"- {_escaped(entry.theorem.statement)}: [refuted](#{entry.theorem.name}), "
        f"see [{entry.theorem.mended_by}](#{entry.theorem.mended_by})"
        for entry in wrong
    ]
    return ["## Statements that do not hold", "", *items, ""]


def _section(entry: Entry) -> list[str]:
    theorem, judgement = entry.theorem, entry.judgement
    lines = [
        f"### {theorem.name}",
        "",
        f"**{judgement.outcome.value.capitalize()}.** {_sentence(theorem.statement)}",
        "",
        "```math",
        theorem.latex,
        "```",
        "",
        f"- Source: {_escaped(theorem.source)}",
        f"- Symbolic: {_escaped(theorem.symbolic)}. Enumerated: {_escaped(theorem.enumerated)}.",
        f"- Shown: {_escaped('; '.join(obligation.name for obligation in theorem.obligations))}",
    ]
    if judgement.counterexample is not None:
        lines.append(f"- Fails at: {_escaped(point_text(judgement.counterexample))}")
    if theorem.because:
        lines.append(f"- Because: {_escaped(theorem.because)}")
    if theorem.mended_by:
        lines.append(f"- Instead: [{theorem.mended_by}](#{theorem.mended_by})")
    return [*lines, ""]


def _sentence(text: str) -> str:
    """The text with a capital at its beginning, unless that is a formula, and a full stop."""
    first = text.split(" ", 1)[0]
    start = text[0].upper() + text[1:] if first.isalpha() and len(first) > 1 else text
    return _escaped(start) + "."


def _escaped(text: str) -> str:
    r"""Text that Markdown shows as it is.

    >>> _escaped("Swizzle<B,M,S> on a_1 * 2")
    'Swizzle\\<B,M,S\\> on a\\_1 \\* 2'
    """
    return re.sub(r"([\\`*_<>\[\]|~])", r"\\\1", text)
