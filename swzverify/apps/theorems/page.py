"""The page docs/theorems.md, written from the theorems themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence

from swzverify.apps.theorems.discover import find_families
from swzverify.apps.theorems.listing import Entry, point_text
from swzverify.apps.theorems.theorem import Outcome, Theorem

INTRODUCTION = """\
# Theorems

Each theorem on this page holds for a whole family of swizzles, pads, tiles or block orders. Z3 proves it with symbolic
parameters, over bit-vectors of 32 bits or over the integers. The page also lists published statements that do not
hold, each with a counterexample that is checked in plain Python integers.

```sh
swzverify theorems
```

This command proves all of them again, in about 30 seconds on two processors. `-v` shows every obligation, `-k NAME`
selects theorems, and `--format json` writes JSON. The encodings are in `proofs/`, one file per family.

- A theorem is *proved* if all its obligations are. An "iff" has one obligation for each direction. A permutation has
  one each for staying inside, being one to one, and reaching everything by an explicit preimage. Z3 first shows that
  the hypotheses can be satisfied.
- A theorem is *refuted* if an obligation fails at a point, and the definitions confirm this point. The page shows the
  smallest such point.
- *Symbolic* quantities are variables of Z3. *Enumerated* quantities run through all listed values.
- Costs follow [the rule of section 4](semantics.md#4-accesses): `w` bytes per lane go in groups of 32 lanes (`w` up to
  4), 16 (`w` = 8) or 8 (`w` = 16). *Free of conflicts* means that no two lanes of a group touch different words of one
  bank.
- The tests check every statement again by brute force at small sizes, without Z3 and without this package. For every
  proved theorem they also show that a wrong encoding is refuted.
"""


def render_page(entries: Sequence[Entry]) -> str:
    """The page, with the families in the order of their files.

    It has no times, so it is the same in every run.
    """
    by_name = {entry.theorem.name: entry for entry in entries}
    first: dict[str, str] = {}
    lines = [INTRODUCTION, *_wrong(entries)]
    for family in find_families():
        chosen = [by_name[theorem.name] for theorem in family.theorems if theorem.name in by_name]
        if chosen:
            lines += [f"## {_escaped(family.title.rstrip('.'))}", ""]
            for entry in chosen:
                lines += _section(entry, first.setdefault(entry.theorem.source, entry.theorem.name))
    return "\n".join(lines).rstrip("\n") + "\n"


def _wrong(entries: Sequence[Entry]) -> list[str]:
    """Links to the published statements that do not hold."""
    wrong = [entry for entry in entries if entry.theorem.expected is Outcome.REFUTED]
    if not wrong:
        return []
    items = [f"- [{entry.theorem.name}](#{entry.theorem.name})" for entry in wrong]
    return ["## Statements that do not hold", "", *items, ""]


def _section(entry: Entry, first: str) -> list[str]:
    """A theorem; a source that an earlier one has is a link to the first of these."""
    theorem, judgement = entry.theorem, entry.judgement
    source = _escaped(theorem.source) if first == theorem.name else f"as for [{first}](#{first})"
    lines = [
        f"### {theorem.name}",
        "",
        f"**{judgement.outcome.value.capitalize()}.** {_sentence(theorem.statement)}",
        "",
        "```math",
        theorem.latex,
        "```",
        "",
        f"- Source: {source}",
        f"- Symbolic: {_escaped(theorem.symbolic)}.{_enumerated(theorem)}",
    ]
    if judgement.counterexample is not None:
        lines.append(f"- Fails at: {_escaped(point_text(judgement.counterexample))}")
    if theorem.because:
        lines.append(f"- Because: {_escaped(theorem.because)}")
    if theorem.mended_by:
        lines.append(f"- Instead: [{theorem.mended_by}](#{theorem.mended_by})")
    return [*lines, ""]


def _enumerated(theorem: Theorem) -> str:
    """The enumerated quantities, where there are any."""
    nothing = theorem.enumerated == "nothing"
    return "" if nothing else f" Enumerated: {_escaped(theorem.enumerated)}."


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
