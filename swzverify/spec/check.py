"""The tree of a file against the models: mistakes at their places, and a model of the rest."""

from __future__ import annotations

from dataclasses import field
from typing import cast

from swzverify.core.records import dataclass
from swzverify.errors import nearest
from swzverify.spec.claim_models import ARGUMENT_PARTS, CLAIM_PARTS
from swzverify.spec.fields import IDENTIFIER_PATTERN
from swzverify.spec.meant import key_hint, word_hint
from swzverify.spec.models import PARTS, SECTIONS, SpecPart
from swzverify.spec.part import Fault, Key, Part, Where, kind_of
from swzverify.spec.problems import Problems
from swzverify.spec.source import to_data
from swzverify.spec.tile_models import TmaPart
from swzverify.spec.tree import Data, Mapping, Node, Place, get, key_of, place_of

_PARTS_BY_STEP: dict[str, type[Part]] = {**PARTS, **ARGUMENT_PARTS, "tma": TmaPart}


@dataclass(frozen=True, slots=True)
class Checked:
    """A file's model without the entries that are wrong in form.

    `broken` names those as (section, name), so that what refers to one of them is not called
    unknown; `claim_places` gives each kept claim's index in the file.
    """

    spec: SpecPart
    root: Mapping
    broken: frozenset[tuple[str, str]] = frozenset()
    claim_places: tuple[int, ...] = field(default=())


def check(root: Mapping, problems: Problems) -> Checked | None:
    """The models of a file's sound entries, or None; mistakes of form go to `problems`."""
    data = cast("dict[str, Data]", to_data(root))
    if not _check_version(root, data, problems):
        return None
    broken: set[tuple[str, str]] = set()
    claims = data.get("claims")
    places = list(range(len(claims))) if isinstance(claims, list) else []
    for _ in range(3):
        faults: list[Fault] = []
        spec = SpecPart.read(data, (), faults)
        if not faults:
            return Checked(spec, root, frozenset(broken), tuple(places))
        for fault in faults:
            _note(fault, root, places, problems)
        if not _drop(faults, data, broken, places):
            return None
    return None


def _check_version(root: Mapping, data: dict[str, Data], problems: Problems) -> bool:
    if "swzverify" not in data:
        hint = nearest("swzverify", [key.text for key, _ in root.entries])
        hint = hint or "it says which version of the form this is"
        problems.add("SWZ109", "the key `swzverify: 1` is missing", root, hint)
        return False
    version = data["swzverify"]
    if version != 1 or not isinstance(version, int) or isinstance(version, bool):
        hint = "this program reads version 1: write `swzverify: 1`"
        problems.add("SWZ109", f"the version is {kind_of(version)}, which is not known", get(root, "swzverify"), hint)
        return False
    return True


def _drop(faults: list[Fault], data: dict[str, Data], broken: set[tuple[str, str]], places: list[int]) -> bool:
    """Take wrong entries out of the data; False where nothing can be built without them."""
    bad_claims: set[int] = set()
    for fault in faults:
        loc = fault.where
        section = str(loc[0]) if loc else ""
        entries = data.get(section)
        names = [step for step in loc[1:] if not _is_tag(step)]
        if section in SECTIONS and names and isinstance(entries, dict):
            broken.add((section, str(names[0])))
            entries.pop(str(names[0]), None)
        elif section == "claims" and names and isinstance(names[0], int):
            bad_claims.add(names[0])
        elif section in ("title", "source") or (section not in SpecPart.keys and section):
            data.pop(section, None)
        else:
            return False
    claims = data.get("claims")
    if bad_claims and isinstance(claims, list):
        data["claims"] = [claim for index, claim in enumerate(claims) if index not in bad_claims]
        places[:] = [place for index, place in enumerate(places) if index not in bad_claims]
    return True


def _is_tag(step: str | int) -> bool:
    """Whether a step of a fault's place is a tag or a key's mark, and no key of the file."""
    return isinstance(step, str) and (step.startswith("?") or step == "[key]")


def _names(owner: type[Part] | None) -> dict[str, Key]:
    """The keys of a model, by their names in the file."""
    return {each.name: each for each in owner.keys.values()} if owner else {}


def _note(fault: Fault, root: Mapping, places: list[int], problems: Problems) -> None:
    """Put what is wrong into words, at its place in the file."""
    loc = fault.where
    path: list[str | int] = [step for step in loc if not _is_tag(step)]
    if len(path) > 1 and path[0] == "claims" and isinstance(path[1], int):
        path[1] = places[path[1]]
    match fault.kind:
        case "unknown":
            _note_unknown_key(loc, path, root, problems)
        case "missing":
            owner = _owner(loc)
            known = _names(owner)
            name = str(path[-1])
            holder = get(root, *path[:-1])
            keys = [key.text for key, _ in holder.entries] if isinstance(holder, Mapping) else []
            others = [key for key in keys if key not in known]
            if nearest(name, others) or any(
                f"'{name}'" in key_hint(owner.__name__, key, ()) for key in others if owner
            ):
                return  # the unknown key is reported, with this one as what was meant
            hint = known[name].description if name in known else ""
            problems.add("SWZ104", f"the key '{name}' is missing", _holder(root, path[:-1]), hint)
        case "pattern":
            _note_bad_name(fault, path, root, problems)
        case "SWZ104" | "SWZ105" as code:
            where = get(root, *path)
            key = key_of(where, str(fault.context["key"])) if "key" in fault.context else None
            problems.add(code, fault.message, key or _value_place(root, path), str(fault.context.get("hint", "")))
        case _:
            message, hint = _expected(fault)
            problems.add("SWZ105", message, _value_place(root, path), hint)


def _note_unknown_key(loc: Where, path: list[str | int], root: Mapping, problems: Problems) -> None:
    owner = _owner(loc)
    known = list(_names(owner))
    name = str(path[-1])
    listed = f"allowed here: {', '.join(known)}" if known else ""
    holder = get(root, *path[:-1])
    is_torn = isinstance(holder, Mapping) and holder.in_flow and any(bracket in name for bracket in "()<>")
    comma = "a comma ends a value inside { }: put a value that holds one in quotes" if is_torn else ""
    near = key_hint(owner.__name__ if owner else "", name, known)
    hint = "\n".join(part for part in (near, comma or listed) if part)
    problems.add("SWZ104", f"unknown key '{name}'", key_of(holder, name) or holder, hint)


def _note_bad_name(fault: Fault, path: list[str | int], root: Mapping, problems: Problems) -> None:
    rule = "letters, digits and _" if fault.context["pattern"] == IDENTIFIER_PATTERN else "letters, digits, _ . and -"
    hint = f"a name is {rule}, and begins with a letter or _"
    where: Node | None = get(root, *path)
    if fault.where[-1] == "[key]":
        where = key_of(get(root, *path[:-1]), str(path[-1])) or where
    problems.add("SWZ105", f"'{fault.given}' is not a name", where, hint)


def _owner(loc: Where) -> type[Part] | None:
    """The model that the last step of a location is (or should be) a key of."""
    above = loc[:-1]
    for depth in range(len(above), 0, -1):
        step = str(above[depth - 1])
        if step in _PARTS_BY_STEP:
            return _PARTS_BY_STEP[step]
        if step.startswith("?") and step[1:] in CLAIM_PARTS:
            return CLAIM_PARTS[step[1:]]
    if not above:
        return SpecPart
    return SECTIONS.get(str(above[0])) if len(above) == 2 else None


def _holder(root: Mapping, path: list[str | int]) -> Node | Place:
    """Where to point when something is missing in the value at `path`: its key, or its beginning."""
    if path and isinstance(path[-1], str):
        key = key_of(get(root, *path[:-1]), path[-1])
        if key is not None:
            return key
    return get(root, *path)


def _value_place(root: Mapping, path: list[str | int]) -> Node | Place:
    """The value at `path`; its key where the value is empty, or where it is a block below the key."""
    value = get(root, *path)
    place = place_of(value)
    holder = _holder(root, path)
    if isinstance(holder, Place) or holder is value:
        return place
    is_empty = getattr(value, "text", None) == "" and getattr(value, "plain", False)
    return holder if is_empty or place.line != place_of(holder).line else value


_EXPECTED = {
    "text": "a text",
    "integer": "an integer",
    "list": "a list",
    "names": "a mapping of names",
    "mapping": "a mapping",
}


def _expected(fault: Fault) -> tuple[str, str]:
    """What is wrong with a value's type, its word or its length; and a hint."""
    match fault.kind:
        case "literal":
            words = [str(each) for each in cast("tuple[object, ...]", fault.context["words"])]
            listed = " or ".join(part for part in (", ".join(map(repr, words[:-1])), repr(words[-1])) if part)
            hint = word_hint(str(fault.given), words) if isinstance(fault.given, str | bool) else ""
            return f"expected {listed}, not {kind_of(fault.given)}", hint
        case "length":
            count, least, most = len(cast("list[object]", fault.given)), fault.context["least"], fault.context["most"]
            bound = f"at least {least}" if count < cast("int", least) else f"at most {most}"
            return f"expected {bound} entries, not {count}", ""
        case kind:
            return f"expected {_EXPECTED[kind]}, not {kind_of(fault.given)}", ""
