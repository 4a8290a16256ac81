"""The tree of a file against the models: mistakes at their places, and a model of the rest."""

from __future__ import annotations

from collections import ChainMap
from dataclasses import dataclass, field
from typing import cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from swzverify.claims import KINDS
from swzverify.errors import nearest
from swzverify.spec.claim_models import ARGUMENT_PARTS, claim_part
from swzverify.spec.fields import IDENTIFIER_PATTERN, Part, kind_of
from swzverify.spec.meant import key_hint, word_hint
from swzverify.spec.models import NESTED, PARTS, SECTIONS, SpecPart
from swzverify.spec.problems import Problems
from swzverify.spec.source import to_data
from swzverify.spec.tile_models import TmaPart
from swzverify.spec.tree import Data, Mapping, Node, Place, get, key_of, place_of

_PARTS_BY_STEP: ChainMap[str, type[Part]] = ChainMap({**PARTS, "tma": TmaPart}, ARGUMENT_PARTS)


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
        try:
            spec = SpecPart.model_validate(data)
        except ValidationError as error:
            details = error.errors(include_url=False)
            for detail in details:
                _note(detail, root, places, problems)
            if not _drop(details, data, broken, places):
                return None
        else:
            return Checked(spec, root, frozenset(broken), tuple(places))
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


def _drop(details: list[ErrorDetails], data: dict[str, Data], broken: set[tuple[str, str]], places: list[int]) -> bool:
    """Take wrong entries out of the data; False where nothing can be built without them."""
    bad_claims: set[int] = set()
    for detail in details:
        loc = detail["loc"]
        section = str(loc[0]) if loc else ""
        entries = data.get(section)
        names = [step for step in loc[1:] if not _is_tag(step)]
        if section in SECTIONS and names and isinstance(entries, dict):
            broken.add((section, str(names[0])))
            entries.pop(str(names[0]), None)
        elif section == "claims" and names and isinstance(names[0], int):
            bad_claims.add(names[0])
        elif section in ("title", "source") or (section not in SpecPart.model_fields and section):
            data.pop(section, None)
        else:
            return False
    claims = data.get("claims")
    if bad_claims and isinstance(claims, list):
        data["claims"] = [claim for index, claim in enumerate(claims) if index not in bad_claims]
        places[:] = [place for index, place in enumerate(places) if index not in bad_claims]
    return True


def _is_tag(step: str | int) -> bool:
    """Whether a step of pydantic's location is a tag or a key's mark, and no key of the file."""
    return isinstance(step, str) and (step.startswith("?") or step == "[key]")


def _note(detail: ErrorDetails, root: Mapping, places: list[int], problems: Problems) -> None:
    """Put one of pydantic's complaints into our words, at its place in the file."""
    loc = detail["loc"]
    path: list[str | int] = [step for step in loc if not _is_tag(step)]
    if len(path) > 1 and path[0] == "claims" and isinstance(path[1], int):
        path[1] = places[path[1]]
    context = detail.get("ctx", {})
    match detail["type"]:
        case "extra_forbidden":
            _note_unknown_key(loc, path, root, problems)
        case "missing":
            owner = _owner(loc)
            described = owner.model_fields if owner else {}
            name = str(path[-1])
            known = {info.alias or key for key, info in described.items()}
            holder = get(root, *path[:-1])
            keys = [key.text for key, _ in holder.entries] if isinstance(holder, Mapping) else []
            others = [key for key in keys if key not in known]
            if nearest(name, others) or any(
                f"'{name}'" in key_hint(owner.__name__, key, ()) for key in others if owner
            ):
                return  # the unknown key is reported, with this one as what was meant
            found = next((info for key, info in described.items() if (info.alias or key) == name), None)
            hint = found.description if found and found.description else ""
            problems.add("SWZ104", f"the key '{name}' is missing", _holder(root, path[:-1]), hint)
        case "string_pattern_mismatch":
            _note_bad_name(detail, loc, path, root, problems)
        case "SWZ104" | "SWZ105" | "SWZ821" as code:
            where = get(root, *path)
            key = key_of(where, str(context["key"])) if "key" in context else None
            message = str(detail["msg"])
            if not context:  # a union's own message, which cannot hold the value
                message += f", not {kind_of(cast('object', detail['input']))}"
            problems.add(code, message, key or _value_place(root, path), str(context.get("hint", "")))
        case other:
            message = _expected(other, context, cast("object", detail["input"]))
            hint = _literal_hint(context, cast("object", detail["input"])) if other == "literal_error" else ""
            problems.add("SWZ105", message, _value_place(root, path), hint)


def _note_unknown_key(loc: tuple[str | int, ...], path: list[str | int], root: Mapping, problems: Problems) -> None:
    owner = _owner(loc)
    known = [info.alias or key for key, info in owner.model_fields.items()] if owner else []
    name = str(path[-1])
    listed = f"allowed here: {', '.join(known)}" if known else ""
    holder = get(root, *path[:-1])
    is_torn = isinstance(holder, Mapping) and holder.in_flow and any(bracket in name for bracket in "()<>")
    comma = "a comma ends a value inside { }: put a value that holds one in quotes" if is_torn else ""
    near = key_hint(owner.__name__ if owner else "", name, known)
    hint = "\n".join(part for part in (near, comma or listed) if part)
    problems.add("SWZ104", f"unknown key '{name}'", key_of(holder, name) or holder, hint)


def _note_bad_name(
    detail: ErrorDetails, loc: tuple[str | int, ...], path: list[str | int], root: Mapping, problems: Problems
) -> None:
    pattern = detail.get("ctx", {}).get("pattern")
    rule = "letters, digits and _" if pattern == IDENTIFIER_PATTERN else "letters, digits, _ . and -"
    hint = f"a name is {rule}, and begins with a letter or _"
    where: Node | None = get(root, *path)
    if loc[-1] == "[key]":
        where = key_of(get(root, *path[:-1]), str(path[-1])) or where
    problems.add("SWZ105", f"'{detail['input']}' is not a name", where, hint)


def _owner(loc: tuple[str | int, ...]) -> type[Part] | None:
    """The model that the last step of a location is (or should be) a key of."""
    above = loc[:-1]
    for depth in range(len(above), 0, -1):
        step = str(above[depth - 1])
        if step in _PARTS_BY_STEP:
            return _PARTS_BY_STEP[step]
        if step.startswith("?") and step[1:] in KINDS:
            return claim_part(step[1:])
    if not above:
        return SpecPart
    if len(above) == 3:
        return NESTED.get((str(above[0]), str(above[2])))
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
    "string_type": "a text",
    "int_type": "an integer",
    "list_type": "a list",
    "dict_type": "a mapping of names",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


def _expected(kind: str, context: dict[str, object], value: object) -> str:
    """A sentence for one of pydantic's own error types."""
    match kind:
        case "literal_error":
            return f"expected {context.get('expected', '')}, not {kind_of(value)}"
        case "too_short" | "too_long":
            least, most = context.get("min_length"), context.get("max_length")
            bound = f"at least {least}" if kind == "too_short" else f"at most {most}"
            return f"expected {bound} entries, not {context.get('actual_length')}"
        case _:
            what = _EXPECTED.get(kind, "something else")
            return f"expected {what}, not {kind_of(value)}"


def _literal_hint(context: dict[str, object], value: object) -> str:
    allowed = str(context.get("expected", "")).replace(" or ", ", ").replace("'", "").split(", ")
    return word_hint(str(value), allowed) if isinstance(value, str | bool) else ""
