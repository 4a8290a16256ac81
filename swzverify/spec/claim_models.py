"""The form of claims in a spec file: one model per kind, made from the claim's own form."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar, Union, cast

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, Tag, TypeAdapter, create_model
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from swzverify.claims import KINDS, Claim, claim_type, outside_kinds
from swzverify.claims.form import Count as HowMany
from swzverify.claims.form import Form, Named, Number, Role
from swzverify.errors import SwzError
from swzverify.spec.fields import Chooser, Count, Expect, Name, Part, Text, branch, kind_of
from swzverify.spec.meant import claim_hint

Pair: TypeAlias = Annotated[list[Name], Field(min_length=2, max_length=2)]
_SAMPLES = {
    Role.TILE: ("A", "B"),
    Role.ACCESS: ("read_A", "write_A"),
    Role.MAP: ("grouped", "strips"),
    Role.LISTING: ("inner_loop", "epilogue"),
    Role.OPERAND: ("A", "B"),
    Role.PHASE: ("mainloop", "epilogue"),
}
_AS_NAME, _AS_PAIR = "?name", "?pair"
Model = TypeVar("Model", bound=Part)


def _either(kinds: list[Any]) -> Any:  # a type for pydantic
    """The union of these types."""
    union: Any = Union
    return union[tuple(kinds)]


def _made(name: str, base: type[Model], title: str, fields: Mapping[str, Any]) -> type[Model]:
    """A model with these fields, each a type and its `Field`."""
    make: Any = create_model
    return cast("type[Model]", make(name, __base__=base, __doc__=title, **fields))


@cache
def _naming(key: str) -> type[Part]:
    """The model of `{tile: A}` or `{tiles: [A, B]}`, by its one key: one or two subjects of a role."""
    role = next(role for role in Role if key in (role.value, role.section))
    if key == role.value:
        title, field = f"The {key} that is meant.", (Name, _described(f"the name of {role.noun}", _SAMPLES[role][0]))
    else:
        title, field = f"Two {key}.", (Pair, _described(f"the names of two {key}", [*_SAMPLES[role]]))
    return _argument(_made(f"{key.title()}Argument", Part, title, {key: field}))


def _described(says: str, example: object) -> Any:  # what pydantic takes for a field
    return Field(description=says, examples=[example])


ARGUMENT_PARTS: dict[str, type[Part]] = {}
"""The model of a claim's argument, by the claim's key or the union's tag, once it was made."""


def _argument(model: type[Part]) -> type[Part]:
    """The model, which is known by the union's tag from now on."""
    ARGUMENT_PARTS.setdefault(f"?{model.__name__}", model)
    return model


class ClaimPart(Part):
    """What every claim may say besides itself, which is the key `kind`."""

    kind: ClassVar[str]

    expect: Expect = Field("proved", description="how the claim should come out", examples=["refuted", "proved"])
    because: Text = Field(
        "", description="why it comes out so", examples=["the column of an unswizzled tile lies in one bank"]
    )
    source: Text = Field("", description="where the claim comes from", examples=["CUDA Programming Guide"])


def _choice(form: Form) -> Any:  # a type for pydantic
    """The type of a claim that needs names only: one or two, or a mapping that says of what."""
    one, two = form.count is not HowMany.TWO, form.count is not HowMany.ONE
    keys = [role.value for role in form.roles if one] + [role.section for role in form.roles if two]
    branches: list[Any] = [Annotated[Name, Tag(_AS_NAME)]] if one else []
    branches += [Annotated[Pair, Tag(_AS_PAIR)]] if two else []
    branches += [Annotated[_naming(key), Tag(f"?{_naming(key).__name__}")] for key in keys]
    return Annotated[_either(branches), branch(_expected(form, one, two), _chooser(keys, one, two))]


def _name_or_keys(form: Form, keys: type[Part]) -> Any:  # a type for pydantic
    """The type of a claim whose one name may stand for all its keys."""
    tag = f"?{keys.__name__}"
    branches = _either([Annotated[Name, Tag(_AS_NAME)], Annotated[keys, Tag(tag)]])
    role = form.roles[0]
    given = ", ".join(f"{_key(part)}: {'name' if isinstance(part, Named) else 'n'}" for part in form.keys)
    expected = f"the name of {role.noun}, or {{{given}}}"

    def choose(value: object) -> str | None:
        return _AS_NAME if isinstance(value, str) else tag if isinstance(value, dict) else None

    return Annotated[branches, branch(expected, choose)]


def _expected(form: Form, one: bool, two: bool) -> str:
    """What may stand there, in words."""
    plain = [f"the name of {' or '.join(role.noun for role in form.roles)}"] if one else []
    plain += ["[first, second]"] if two else []
    keyed = [f"{{{role.value}: name}}" for role in form.roles if one]
    keyed += [f"{{{role.section}: [...]}}" for role in form.roles if two]
    words = [*plain, *keyed]
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _chooser(keys: list[str], one: bool, two: bool) -> Chooser:
    """Choose the branch by the value's shape, a mapping's by its key."""

    def choose(value: object) -> str | None:
        match value:
            case str() if one:
                return _AS_NAME
            case list() if two:
                return _AS_PAIR
            case dict():
                key = next((key for key in keys if key in value), keys[-1 if one and two else 0])
                return f"?{_naming(key).__name__}"
            case _:
                return None

    return choose


def _keyed(claim: type[Claim]) -> type[Part]:
    """The model of a claim that is stated key by key."""
    fields = {_key(part): _field(part) for part in claim.form.keys}
    return _argument(_made(f"{claim.__name__}Argument", Part, claim.form.keys_title, fields))


def _key(part: Named | Number) -> str:
    return part.name


def _field(part: Named | Number) -> Any:  # pydantic takes a type and its field
    """The type and field of a key."""
    kind: Any = Name if isinstance(part, Named) else Count
    said: dict[str, Any] = {"description": part.says}
    said["examples"] = [part.example] if isinstance(part, Named) else [*part.examples]
    if not part.optional:
        return kind, Field(**said)
    default = None if isinstance(part, Named) else part.default
    return (kind if default is not None else kind | None), Field(default, **said)


@cache
def _model(kind: str, claim: type[Claim]) -> type[ClaimPart]:
    """The model of a list item that states a claim of this kind."""
    form = claim.form
    keys = ARGUMENT_PARTS.setdefault(kind, _keyed(claim)) if form.keys else None
    argument = _choice(form) if keys is None else _name_or_keys(form, keys) if form.name_alone else keys
    field = (argument, Field(description=form.says, examples=[*form.examples]))
    model = _made(f"{claim.__name__}Claim", ClaimPart, form.title, {kind: field})
    model.kind = kind
    return model


def claim_part(kind: str) -> type[ClaimPart]:
    """The model of one of swzverify's own claims. To make all of them takes as long as a small proof."""
    return _model(kind, cast("type[Claim]", claim_type(kind)))


_OTHER_KEYS = tuple(ClaimPart.model_fields)


def outside_part(kind: str) -> type[ClaimPart] | None:
    """The model of a claim that another package adds; None where none adds this one.

    Raises:
        SwzError: SWZ821.
    """
    claim = None if kind in KINDS or kind in _OTHER_KEYS else claim_type(kind)
    return None if claim is None else _model(kind, claim)


def claim_kind(keys: object) -> str | None:
    """The claim that a mapping's keys state, where it is exactly one of swzverify's own.

    >>> claim_kind(["injective", "expect"]), claim_kind(["injective", "aligned"])
    ('injective', None)
    """
    kinds = [key for key in cast("list[str]", keys) if key in KINDS]
    return kinds[0] if len(kinds) == 1 else None


def _validated(value: object) -> object:
    """The model of a claim, which may be one that another package adds; `standard` stays as it is."""
    if isinstance(value, dict):
        keys = [str(key) for key in cast("dict[object, object]", value)]
        if kind := claim_kind(keys):
            return _union_of((kind,)).validate_python(value)
        others = [key for key in keys if key not in (*KINDS, *_OTHER_KEYS)]
        try:
            parts = [part for part in map(outside_part, others) if part is not None]
        except SwzError as error:
            context = {"message": error.message, "hint": error.hint, "key": others[0]}
            raise PydanticCustomError("SWZ821", "{message}", context) from None
        if len(parts) == 1 and not any(key in KINDS for key in keys):
            return parts[0].model_validate(value)
    return _check_claim(cast("object", value))


def _check_claim(value: object) -> object:
    """A claim is `standard` or a mapping with exactly one claim's key; say what it has instead."""
    if value == "standard":
        return value
    if not isinstance(value, dict):
        message = f"expected a claim such as `injective: A`, or `standard`, not {kind_of(value)}"
        raise PydanticCustomError("SWZ105", "{message}", {"message": message})
    keys = [str(key) for key in cast("dict[object, object]", value)]
    known = [key for key in keys if key in KINDS]
    if len(known) > 1:
        message = f"a list item states one claim, this one states {' and '.join(known)}"
        context = {"message": message, "hint": "begin another item with '- '", "key": known[1]}
        raise PydanticCustomError("SWZ104", "{message}", context)
    every = [*KINDS, *outside_kinds()]
    listed = "claims: " + ", ".join(every)
    unknown = [key for key in keys if key not in _OTHER_KEYS]
    if not unknown:
        raise PydanticCustomError("SWZ104", "{message}", {"message": "this item states no claim", "hint": listed})
    near = claim_hint(unknown[0], every)
    hint = f"{near}\n{listed}" if near else listed
    context = {"message": f"unknown claim '{unknown[0]}'", "hint": hint, "key": unknown[0]}
    raise PydanticCustomError("SWZ104", "{message}", context)


def _choose_claim(value: object) -> str | None:
    if isinstance(value, dict):
        kind = claim_kind(list(cast("dict[str, object]", value)))
        return f"?{kind}" if kind else None
    return "?standard"


@cache
def _union_of(kinds: tuple[str, ...]) -> TypeAdapter[Any]:
    """The claims of some kinds: one branch per kind, and one for `standard`."""
    branches: list[Any] = [Annotated[claim_part(kind), Tag(f"?{kind}")] for kind in kinds]
    standard: Any = Annotated[Literal["standard"], Tag("?standard")]
    union: Any = Annotated[_either([standard, *branches]), branch("a claim", _choose_claim)]
    return TypeAdapter[Any](union)


class _EveryKind:
    """The claims of every kind, which pydantic takes for the type that this annotates.

    A claim is checked by the model of its kind; only the schema of spec files has all models.
    """

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """A function that checks one claim."""
        del source, handler
        return core_schema.no_info_plain_validator_function(_validated)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """One branch per kind."""
        del schema
        return handler(_union_of(tuple(KINDS)).core_schema)


ClaimItem: TypeAlias = Annotated[ClaimPart | Literal["standard"], _EveryKind()]
"""One item of `claims:`."""
