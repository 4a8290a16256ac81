"""The reader of a spec's parts against pydantic, which reads the same types by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Annotated, Any, Literal, Union

import pytest
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    ValidationError,
    create_model,
)
from pydantic import Tag as TheirTag
from pydantic_core import PydanticCustomError

from swzverify.spec.claim_models import CLAIM_PARTS
from swzverify.spec.models import SpecPart
from swzverify.spec.part import (
    Check,
    Choice,
    Fault,
    Length,
    Part,
    Pattern,
    Tag,
    WrongValueError,
    key,
    key_types,
    taken_apart,
)
from swzverify.spec.problems import Problems
from swzverify.spec.source import read_tree, to_data

ROOT = Path(__file__).parents[2]
KINDS = {
    "string_type": "text",
    "int_type": "integer",
    "list_type": "list",
    "dict_type": "names",
    "model_type": "mapping",
    "missing": "missing",
    "extra_forbidden": "unknown",
    "string_pattern_mismatch": "pattern",
    "literal_error": "literal",
    "too_short": "length",
    "too_long": "length",
}


class Theirs:
    """Types of ours as pydantic's."""

    def __init__(self) -> None:
        self.models: dict[type[Part], type[BaseModel]] = {}

    def model(self, part: type[Part]) -> type[BaseModel]:
        if part not in self.models:
            fields: dict[str, Any] = {}
            for attribute, kind in key_types(part).items():
                said = part.keys[attribute]
                default = ... if said.is_required else said.default
                fields[attribute] = (self.kind(kind), Field(default, alias=said.name))
            config = ConfigDict(strict=True, extra="forbid", frozen=True, protected_namespaces=())
            self.models[part] = create_model(part.__name__, __config__=config, **fields)
        return self.models[part]

    def kind(self, kind: Any) -> Any:
        taken = taken_apart(kind)
        found = self.bare(taken)
        check = taken.find(Check)
        if check is not None:
            found = Annotated[found, BeforeValidator(checking(check))]
        return found | None if taken.or_none else found

    def bare(self, taken: Any) -> Any:
        length = taken.find(Length) or Length()
        sizes = Field(min_length=length.least, max_length=length.most)
        match taken.origin:
            case _ if taken.origin is list:
                return Annotated[list[self.kind(taken.arguments[0])], sizes]
            case _ if taken.origin is dict:
                name, entry = map(self.kind, taken.arguments)
                return Annotated[dict[name, entry], sizes]
            case _ if taken.origin is Literal:
                return Literal[taken.arguments]
            case _ if taken.origin in (str, int):
                pattern = taken.find(Pattern)
                return taken.origin if pattern is None else Annotated[str, StringConstraints(pattern=pattern.pattern)]
            case part if isinstance(part, type) and issubclass(part, Part):
                return self.model(part)
        choice = taken.find(Choice)
        if choice is None:
            return Union[tuple(map(self.kind, taken.arguments))]  # noqa: UP007
        tagged = [Annotated[self.kind(each), TheirTag(taken_apart(each).find(Tag).tag)] for each in taken.arguments]
        error = {"custom_error_type": "SWZ105", "custom_error_message": "expected"}
        return Annotated[Union[tuple(tagged)], Discriminator(choice.choose, **error)]  # noqa: UP007


def checking(check: Check) -> Any:
    def before(value: object) -> object:
        try:
            check.check(value)
        except WrongValueError as error:
            raise PydanticCustomError(error.code, "{message}", {"message": error.message}) from error
        return value

    return before


@pytest.fixture(scope="module")
def theirs() -> type[BaseModel]:
    return Theirs().model(SpecPart)


def their_faults(model: type[BaseModel], data: object) -> list[tuple[object, ...]]:
    try:
        model.model_validate(data)
    except ValidationError as error:
        return [(KINDS.get(each["type"], each["type"]), each["loc"]) for each in error.errors()]
    return []


def our_faults(data: object) -> list[tuple[object, ...]]:
    faults: list[Fault] = []
    SpecPart.read(data, (), faults)
    return [(fault.kind, fault.where) for fault in faults]


def library() -> list[Any]:
    files = sorted((ROOT / "specs").rglob("*.swz.yaml"))
    trees = [read_tree(file.read_text("utf-8"), Problems(str(file))) for file in files]
    return [to_data(tree) for tree in trees if tree is not None]


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every container, with a key or a place in it."""
    for name in data if isinstance(data, dict) else range(len(data)):
        yield data, name
        if isinstance(data[name], dict | list):
            yield from places(data[name])


WRONG = [
    None, True, False, 0, -3, 2.5, "", "x", "a b", "1*2", "standard", "any", "row", [], [1], ["x"], [1, 2, 3],
    ["A", "B"], [[1]], {}, {"x": 1}, {"align": 8}, {"in": "m"}, {"bits": 8}, {"start": 0, "stop": 4}, {"tile": "A"},
    {"tiles": ["A"]}, {"elements": 4}, {"count": 2}, {"shape": [1] * 9}, {"swizzle": "none", "box": [1]},
    {"injective": "A"}, {"injective": "A", "aligned": "r"}, {"expect": "refuted"}, {"values": {"": 1, "f16": 2}},
    {"1x": 3}, "\n", "a\n",
]  # fmt: skip
KEYS = [
    *{each.name for part in (SpecPart, *CLAIM_PARTS.values()) for each in part.keys.values()},
    "tile", "tiles", "element", "layout", "instruction", "threads", "coord", "for", "if", "in", "base", "x", "1x",
    "a-b",
]  # fmt: skip


def changed(data: Any, random: Random) -> Any:
    """The data with a few changes."""
    for _ in range(random.randint(1, 4)):
        holder, name = random.choice([*places(data)])
        match random.randrange(4):
            case 0:
                holder[name] = copied(random.choice(WRONG))
            case 1 if isinstance(holder, dict):
                holder[random.choice(KEYS)] = copied(random.choice(WRONG))
            case 2:
                del holder[name]
            case _ if isinstance(holder, dict):
                holder[random.choice(KEYS)] = holder.pop(name)
            case _:
                holder.append(copied(random.choice(WRONG)))
        if not data:
            return data
    return data


def copied(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: copied(each) for name, each in data.items()}
    return [copied(each) for each in data] if isinstance(data, list) else data


def test_the_library_has_no_fault(theirs) -> None:
    for data in library():
        assert our_faults(data) == their_faults(theirs, data) == []


@pytest.mark.parametrize("count", [1500, pytest.param(40_000, marks=pytest.mark.nightly)])
def test_changed_specs_have_the_faults_that_pydantic_finds(count: int, theirs) -> None:
    random, specs, seen = Random(count), library(), set()
    for _ in range(count):
        data = changed(copied(random.choice(specs)), random)
        data["swzverify"] = 1  # `check` has seen to it; pydantic takes `true` for it
        found = our_faults(data)
        assert sorted(map(repr, found)) == sorted(map(repr, their_faults(theirs, data))), data
        seen |= {kind for kind, _ in found}
    assert seen == {*KINDS.values(), "SWZ104", "SWZ105"} - {"integer"} | ({"integer"} & seen)


def test_defaults_are_not_shared() -> None:
    one, other = (SpecPart.read({"swzverify": 1}, (), []) for _ in range(2))
    assert one.tiles == {}
    assert one.tiles is not other.tiles


def test_a_part_is_not_changed() -> None:
    part = SpecPart.read({"swzverify": 1, "title": "a"}, (), [])
    with pytest.raises(AttributeError, match="not changed: title"):
        part.title = "b"
    assert part.changed(title="b").title == "b"
    assert part.title == "a"
    assert part.given == {"swzverify", "title"}
    assert part == SpecPart.read({"swzverify": 1, "title": "a"}, (), []) != part.changed(title="b")


def test_a_key_of_a_base_comes_first() -> None:
    class Base(Part):
        a: int = key()

    class Heir(Base):
        b: int = key(2, name="c")

    assert [each.name for each in Heir.keys.values()] == ["a", "c"]
    assert [each.name for each in Base.keys.values()] == ["a"]
