"""The form of claims in a spec file: one model per kind, made from the claim's own form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar, Union, cast

from pydantic import Field, GetCoreSchemaHandler, Tag, ValidatorFunctionWrapHandler, WrapValidator, create_model
from pydantic_core import CoreSchema, PydanticCustomError

from swzverify.claims import KINDS, Claim, claim_type, claim_types, outside_kinds
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


def _naming(role: Role) -> type[Part]:
    """`{tile: A}`: the subject of that role."""
    field = (Name, Field(description=f"the name of {role.noun}", examples=[_SAMPLES[role][0]]))
    return _made(f"{role.value.title()}Argument", Part, f"The {role.value} that is meant.", {role.value: field})


def _naming_two(role: Role) -> type[Part]:
    """`{tiles: [A, B]}`: two subjects of that role."""
    field = (Pair, Field(description=f"the names of two {role.section}", examples=[[*_SAMPLES[role]]]))
    return _made(f"{role.section.title()}Argument", Part, f"Two {role.section}.", {role.section: field})


NAMING: Mapping[str, type[Part]] = {
    **{role.value: _naming(role) for role in Role},
    **{role.section: _naming_two(role) for role in Role},
}
"""The models of `{tile: A}` and `{tiles: [A, B]}`, by their one key."""


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
    branches += [Annotated[NAMING[key], Tag(f"?{NAMING[key].__name__}")] for key in keys]
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
                return f"?{NAMING[key].__name__}"
            case _:
                return None

    return choose


def _argument(claim: type[Claim]) -> type[Part]:
    """The model of a claim that is stated key by key."""
    fields = {_key(part): _field(part) for part in claim.form.keys}
    return _made(f"{claim.__name__}Argument", Part, claim.form.keys_title, fields)


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


ARGUMENT_PARTS: dict[str, type[Part]] = {f"?{part.__name__}": part for part in NAMING.values()}
"""The model of a claim's argument, by the claim's key or the union's tag."""


def _model(kind: str, claim: type[Claim]) -> type[ClaimPart]:
    """The model of a list item that states a claim of this kind."""
    form = claim.form
    keys = ARGUMENT_PARTS.setdefault(kind, _argument(claim)) if form.keys else None
    if keys is not None:
        ARGUMENT_PARTS.setdefault(f"?{keys.__name__}", keys)
    argument = _choice(form) if keys is None else _name_or_keys(form, keys) if form.name_alone else keys
    field = (argument, Field(description=form.says, examples=[*form.examples]))
    model = _made(f"{claim.__name__}Claim", ClaimPart, form.title, {kind: field})
    model.kind = kind
    return model


CLAIM_PARTS: dict[str, type[ClaimPart]] = {kind: _model(kind, claim) for kind, claim in claim_types().items()}
"""The model of each claim, by its key."""

_OTHER_KEYS = tuple(ClaimPart.model_fields)


_OUTSIDE: dict[type[Claim], type[ClaimPart]] = {}


def outside_part(kind: str) -> type[ClaimPart] | None:
    """The model of a claim that another package adds; None where none adds this one.

    Raises:
        SwzError: SWZ821.
    """
    claim = None if kind in KINDS or kind in _OTHER_KEYS else claim_type(kind)
    if claim is None:
        return None
    if claim not in _OUTSIDE:
        _OUTSIDE[claim] = _model(kind, claim)
    return _OUTSIDE[claim]


def claim_kind(keys: object) -> str | None:
    """The claim that a mapping's keys state, where it is exactly one of swzverify's own.

    >>> claim_kind(["injective", "expect"]), claim_kind(["injective", "aligned"])
    ('injective', None)
    """
    kinds = [key for key in cast("list[str]", keys) if key in CLAIM_PARTS]
    return kinds[0] if len(kinds) == 1 else None


def _validated(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    """The model of a claim; one that another package adds is no branch of the union."""
    if isinstance(value, dict):
        keys = [str(key) for key in cast("dict[object, object]", value)]
        others = [] if claim_kind(keys) else [key for key in keys if key not in (*KINDS, *_OTHER_KEYS)]
        try:
            parts = [part for part in map(outside_part, others) if part is not None]
        except SwzError as error:
            context = {"message": error.message, "hint": error.hint, "key": others[0]}
            raise PydanticCustomError("SWZ821", "{message}", context) from None
        if len(parts) == 1 and not any(key in KINDS for key in keys):
            return parts[0].model_validate(value)
    return handler(_check_claim(cast("object", value)))


def _check_claim(value: object) -> object:
    """A claim is `standard` or a mapping with exactly one claim's key; say what it has instead."""
    if value == "standard":
        return value
    if not isinstance(value, dict):
        message = f"expected a claim such as `injective: A`, or `standard`, not {kind_of(value)}"
        raise PydanticCustomError("SWZ105", "{message}", {"message": message})
    keys = [str(key) for key in cast("dict[object, object]", value)]
    if claim_kind(keys):
        return cast("object", value)
    known = [key for key in keys if key in CLAIM_PARTS]
    if len(known) > 1:
        message = f"a list item states one claim, this one states {' and '.join(known)}"
        context = {"message": message, "hint": "begin another item with '- '", "key": known[1]}
        raise PydanticCustomError("SWZ104", "{message}", context)
    every = [*CLAIM_PARTS, *outside_kinds()]
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


class _EveryKind:
    """The claims of every kind, which pydantic takes for the type that this annotates."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """One branch per kind, and one for `standard`."""
        del source
        branches: list[Any] = [Annotated[part, Tag(f"?{kind}")] for kind, part in CLAIM_PARTS.items()]
        standard: Any = Annotated[Literal["standard"], Tag("?standard")]
        return handler.generate_schema(Annotated[_either([standard, *branches]), branch("a claim", _choose_claim)])


ClaimItem: TypeAlias = Annotated[ClaimPart | Literal["standard"], _EveryKind(), WrapValidator(_validated)]
"""One item of `claims:`."""
