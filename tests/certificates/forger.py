"""A forger who knows the whole format: a statement is changed, and everything that follows from it
is made again.

What no honest prover could make (a witness of something false) is left as it was, or said not to
apply.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from swzrecheck.claim_file import read_claim
from swzrecheck.draft import MeaninglessError, UntrueError
from swzrecheck.encode import UnwrittenError, is_folded, parts
from swzrecheck.errors import CertificateError
from swzrecheck.kinds import goals_of
from swzrecheck.propose import possible_point
from swzrecheck.reader import Reader
from swzrecheck.recheck import Rechecked
from swzrecheck.smtlib import script
from swzrecheck.statement import Statement, write_statement
from swzrecheck.vacuity import conditions_of
from swzrecheck.witnesses import find_witness
from tests.certificates.conftest import Folder

Json = Any


def remake(data: dict[str, Json], folder: Folder) -> None:
    """Fit a certificate to its own changed statement, as far as a forger can; what has no meaning
    stays as it is.
    """
    subjects = ",".join(str(text).split(" ", 1)[-1] for text in data["claim"]["of"])
    case = ",".join(f"{name}={value}" for name, value in data["case"].items())
    data["id"] = f"{data['spec']['path']}::{subjects}{f'[{case}]' if case else ''}::{data['claim']['kind']}"
    try:
        goals = goals_of(read_claim(Reader(copy.deepcopy(data["claim"]), "claim")))
    except (CertificateError, UntrueError, MeaninglessError):
        return
    old = {goal["what"]: goal for goal in data["goals"]}
    data["exists"] = None if goals.exists is None else _possible(goals.exists)
    data["goals"] = [_goal(asked.what, asked.statement, old.get(asked.what), folder) for asked in goals.asked]


def _possible(statement: Statement) -> dict[str, Json]:
    point = possible_point(statement.program, conditions_of(statement))
    names = [line.name for line in statement.program if line.operator == "var"]
    return {"obligation": write_statement(statement).split("\n"), "point": point or dict.fromkeys(names, 0)}


def _goal(what: str, statement: Statement, old: dict[str, Json] | None, folder: Folder) -> dict[str, Json]:
    found = find_witness(statement)
    witnesses = dict([found]) if found is not None else {} if old is None else old["witnesses"]
    try:
        questions, unwritten = parts(statement), ""
    except UnwrittenError as error:
        questions, unwritten = (), str(error)
    folded = bool(questions) and all(is_folded(part) for part in questions)
    return {
        "what": what,
        **_possible(statement),
        "shown": "folded" if folded else "twice" if witnesses else "once",
        "formulas": [{"part": part.name, "sha256": folder.add_formula(script(part))} for part in questions],
        "unwritten": unwritten,
        "witnesses": {} if folded else witnesses,
    }


def leaves(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Json]]:
    """Every value that holds no other, with the way to it."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path, value


def replaced(data: Json, path: tuple[Any, ...], value: Json) -> Json:
    """A copy with one value changed."""
    found = copy.deepcopy(data)
    here = found
    for key in path[:-1]:
        here = here[key]
    here[path[-1]] = value
    return found


EXPRESSIONS = ("lane", "tid%8", "0", "tid/4", "lane%4*2", "tid%4 + 4", "lane ^ 1", "7 - tid%8")


def other_value(value: Json, rng: random.Random) -> Json:
    """Another value of much the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice([value + 1, value - 1, value * 2, value // 2, 0, 1, value ^ 4, value + 8])
    if isinstance(value, str):
        if value in ("offset", "address"):
            return "address" if value == "offset" else "offset"
        return rng.choice([*EXPRESSIONS, value.replace("8", "4"), value.replace("4", "8"), value.replace("%", "/")])
    if value is None:
        return rng.choice([0, 1, "tid < 8", {"bits": 1, "base": 0, "shift": 1, "on": "offset"}])
    return rng.choice([None, 0, [1], {}])


def forged(folder: Folder, kind: str, change: Callable[[dict[str, Any]], None]) -> Rechecked:
    """A certificate with a change and the formulas that belong to it, as the recheck judges it."""
    data = folder.certificate(kind)
    change(data)
    remake(data, folder)
    path = folder.file(kind)
    path.write_text(json.dumps(data))
    folder.sign()
    return folder.judged(kind, "bitwuzla")
