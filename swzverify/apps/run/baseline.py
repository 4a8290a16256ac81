"""A file of known failures. While they stay as they are, a run fails on new ones only.

JSON, schema "swzverify.baseline/1": ASCII, a claim per line's block, in the order of the ids, so
that a change shows as a change. Claims are known by their fingerprints, which are those of the ids
beside them. As an id may come to mean another claim, what was expected of it and what it covers
stand there too, and have to fit.

Codes: SWZ511 a file that cannot be read, SWZ512 one that is no such file, SWZ513 one that cannot be
written, or a run whose failures cannot be.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NoReturn, cast

from swzverify.claims.verdict import Outcome
from swzverify.core.regular_file import NotRegularError, read_regular
from swzverify.errors import SwzError
from swzverify.report.result import BaselineUse, ClaimResult, Report, fingerprint_of

SCHEMA = "swzverify.baseline/1"
MAX_BYTES = 64 * 1024 * 1024
"""A hundred thousand entries take a third of this."""
_KEYS = {"fingerprint", "id", "expected", "scope", "verdict", "wavefronts", "bank_conflicts"}
_CAN_BE_KNOWN = frozenset({Outcome.PROVED, Outcome.REFUTED, Outcome.UNKNOWN, Outcome.VACUOUS})
"""An error has no verdict that could be known. `proved` fails where a refutation is expected."""


@dataclass(frozen=True, slots=True)
class KnownFailure:
    """One claim that is known to fail, and how.

    Attributes:
        id: The id of the claim.
        verdict: The verdict.
        expected: The verdict that its spec expects.
        scope: What the claim covers, in words.
        wavefronts: The worst wavefronts of a cost; None if none was found.
        bank_conflicts: The worst bank conflicts of a cost; None if none was found.
        sectors: The worst sectors of a cost; None if none was found.
    """

    id: str
    verdict: Outcome
    expected: Outcome
    scope: str
    wavefronts: int | None = None
    bank_conflicts: int | None = None
    sectors: int | None = None

    def covers(self, result: ClaimResult) -> bool:
        """Whether a failure is this one and no worse; a mere bound must be the same bound."""
        if (result.expected, result.verdict.scope) != (self.expected, self.scope):
            return False
        if result.verdict.outcome is not self.verdict:
            return False
        touched = result.verdict.sectors
        if touched is not None or self.sectors is not None:
            if touched is None or self.sectors is None:
                return False
            return touched.sectors <= self.sectors if touched.exact else touched.sectors == self.sectors
        measure = result.verdict.measure
        known = (self.wavefronts, self.bank_conflicts)
        if measure is None or self.wavefronts is None or self.bank_conflicts is None:
            return measure is None and known == (None, None)
        if not measure.exact:
            return (measure.wavefronts, measure.bank_conflicts) == known
        return measure.wavefronts <= self.wavefronts and measure.bank_conflicts <= self.bank_conflicts


def known_failures(report: Report) -> tuple[KnownFailure, ...]:
    """Everything in a run that did not come out as expected, in the order of the ids.

    Raises:
        SwzError: SWZ513 if a problem or a fault leaves claims without a verdict: the file would forget
            them.
    """
    faulty = [result.id for result in report.results if result.verdict.outcome is Outcome.ERROR]
    if report.problems or faulty:
        what = f"{faulty[0]} has no verdict" if faulty else "there are problems with the specs"
        hint = "put that right first: its known failures would be forgotten"
        raise SwzError("SWZ513", f"the failures of this run cannot be written down: {what}", hint=hint)
    found = [
        KnownFailure(result.id, result.verdict.outcome, result.expected, result.verdict.scope, *_costs(result))
        for result in report.results
        if not result.ok
    ]
    return tuple(sorted(found, key=lambda known: known.id))


def accept_known(report: Report, known: tuple[KnownFailure, ...]) -> Report:
    """The report with the known failures accepted, and a list of those that no longer fit.

    >>> known = KnownFailure("a.yaml::A::injective", Outcome.REFUTED, Outcome.PROVED, "all elements")
    >>> accept_known(Report(()), (known,)).baseline.unseen
    ('a.yaml::A::injective',)
    """
    by_id = {each.id: each for each in known}
    results: list[ClaimResult] = []
    fixed: list[str] = []
    changed: list[str] = []
    for result in report.results:
        entry = by_id.pop(result.id, None)
        accepted = False
        if entry is not None and result.ok:
            fixed.append(result.id)
        elif entry is not None and entry.covers(result):
            accepted = True
        elif entry is not None:
            changed.append(result.id)
        results.append(replace(result, accepted=accepted))
    return replace(report, results=tuple(results), baseline=BaselineUse(tuple(fixed), tuple(changed), tuple(by_id)))


def render_baseline(known: tuple[KnownFailure, ...]) -> str:
    """The text of the baseline file.

    >>> known = KnownFailure("a.yaml::A::injective", Outcome.REFUTED, Outcome.PROVED, "all elements")
    >>> print(render_baseline((known,)).splitlines()[3])
        {
    """
    entries = [
        {
            "fingerprint": fingerprint_of(each.id),
            "id": each.id,
            "expected": each.expected.value,
            "scope": each.scope,
            "verdict": each.verdict.value,
            "wavefronts": each.wavefronts,
            "bank_conflicts": each.bank_conflicts,
            **({} if each.sectors is None else {"sectors": each.sectors}),
        }
        for each in known
    ]
    return json.dumps({"schema": SCHEMA, "known_failures": entries}, indent=2, ensure_ascii=True) + "\n"


def save_baseline(path: str, known: tuple[KnownFailure, ...]) -> None:
    """Write the file.

    Raises:
        SwzError: SWZ513.
    """
    try:
        with open(path, "w", encoding="ascii", newline="\n") as file:
            file.write(render_baseline(known))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SwzError("SWZ513", f"cannot write the known failures to {path!r}: {reason}") from error


def load_baseline(path: str) -> tuple[KnownFailure, ...]:
    """Read the file.

    Raises:
        SwzError: SWZ511 if it cannot be read, SWZ512 if it is no such file.
    """
    try:
        return parse_baseline(_read(path))
    except SwzError as error:
        if error.code != "SWZ512":
            raise
        hint = "write it anew with `swzverify prove --write-baseline FILE`"
        raise SwzError("SWZ512", f"{path!r} holds no known failures: {error.message}", hint=hint) from error


def parse_baseline(text: str) -> tuple[KnownFailure, ...]:
    """The known failures of a text, in its order.

    Raises:
        SwzError: SWZ512.

    >>> parse_baseline('{"schema": "swzverify.baseline/1", "known_failures": []}')
    ()
    """
    try:
        data: object = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        _refuse(f"no JSON that could be read: {error}")
    if not isinstance(data, dict):
        _refuse("a JSON object is wanted")
    document = cast("dict[str, object]", data)
    if document.get("schema") != SCHEMA:
        _refuse(f"its `schema` is not {SCHEMA!r}")
    entries = document.get("known_failures")
    if set(document) != {"schema", "known_failures"} or not isinstance(entries, list):
        _refuse("it has `schema`, and `known_failures`, a list, and nothing else")
    known = tuple(_entry(entry, index) for index, entry in enumerate(cast("list[object]", entries)))
    if len({each.id for each in known}) < len(known):
        _refuse("a claim is listed twice")
    return known


def _entry(entry: object, index: int) -> KnownFailure:
    where = f"known_failures[{index}]"
    if not isinstance(entry, dict) or set(cast("dict[str, object]", entry)) - {"sectors"} != _KEYS:
        _refuse(f"{where} needs the keys {', '.join(sorted(_KEYS))}, and no others")
    fields = cast("Mapping[str, object]", entry)
    name = fields["id"]
    if not isinstance(name, str) or fields["fingerprint"] != fingerprint_of(name):
        _refuse(f"the fingerprint of {where} is not that of its id")
    found, expected = (_outcome(fields[key], f"the {key} of {where}") for key in ("verdict", "expected"))
    if found is expected:
        _refuse(f"the verdict of {where} is the expected one, so it is no failure")
    scope = fields["scope"]
    if not isinstance(scope, str):
        _refuse(f"the scope of {where} is no text")
    costs = (_count(fields, "wavefronts", 1, where), _count(fields, "bank_conflicts", 0, where))
    if (costs[0] is None) is not (costs[1] is None):
        _refuse(f"{where} has wavefronts or bank conflicts, and not the other")
    sectors = _count(fields, "sectors", 1, where) if "sectors" in fields else None
    return KnownFailure(name, found, expected, scope, *costs, sectors)


def _count(fields: Mapping[str, object], key: str, least: int, where: str) -> int | None:
    value = fields[key]
    if value is None:
        return None
    if type(value) is not int or value < least:
        _refuse(f"the {key} of {where} are neither a number from {least} on nor null")
    return value


def _outcome(value: object, what: str) -> Outcome:
    if not isinstance(value, str) or value not in _CAN_BE_KNOWN:
        _refuse(f"{what} is none of {', '.join(sorted(_CAN_BE_KNOWN))}")
    return Outcome(value)


def _costs(result: ClaimResult) -> tuple[int | None, int | None, int | None]:
    measure, touched = result.verdict.measure, result.verdict.sectors
    sectors = None if touched is None else int(touched.sectors)
    return (None, None, sectors) if measure is None else (int(measure.wavefronts), int(measure.bank_conflicts), sectors)


def _read(path: str) -> str:
    """The text of a regular file of at most `MAX_BYTES`; anything else could wait or never end."""
    try:
        data = read_regular(path, MAX_BYTES + 1)
    except NotRegularError as error:
        raise SwzError("SWZ511", f"cannot read the known failures: {path!r} is no regular file") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        hint = "`swzverify prove --write-baseline FILE` writes one" if isinstance(error, FileNotFoundError) else ""
        raise SwzError("SWZ511", f"cannot read the known failures of {path!r}: {reason}", hint=hint) from error
    if len(data) > MAX_BYTES:
        _refuse(f"it has more than {MAX_BYTES} bytes")
    try:
        return data.decode("ascii")
    except UnicodeDecodeError as error:
        _refuse(f"byte {error.start} is not ASCII")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object's keys; refuses a key given twice: two readers could take different values."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is given twice")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _refuse(what: str) -> NoReturn:
    raise SwzError("SWZ512", what)
