"""Dataclasses of our own decorator are those of the standard library, in all that can be seen of them."""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
import os
import pickle
import re
import subprocess
import sys
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from weakref import ref

import pytest
from hypothesis import given
from hypothesis import strategies as st

import swzverify
from swzverify.core import records

HEAD = """
from __future__ import annotations
from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, InitVar, field
from functools import cached_property
from typing import ClassVar, Generic, TypeVar
T = TypeVar('T')
"""
FROZEN = "@dataclass(frozen=True, slots=True)\n"
CLASSES = {
    "plain": FROZEN + "class A:\n '''d'''\n x: int\n y: str = 'b'\n",
    "one field": FROZEN + "class A:\n '''d'''\n x: int = 3\n",
    "no field": FROZEN + "class A:\n '''d'''\n",
    "mutable": "@dataclass(slots=True)\nclass A:\n '''d'''\n x: int = 1\n y: list[int] = field(default_factory=list)\n",
    "without slots": "@dataclass(frozen=True)\nclass A:\n '''d'''\n x: int = 1\n"
    " y: list[int] = field(default_factory=list)\n"
    " @cached_property\n def z(self): return self.x + 1\n",
    "bare": "@dataclass\nclass A:\n '''d'''\n x: int = 1\n",
    "by identity": "@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)\n"
    "class A:\n '''d'''\n x: int = 1\n",
    "no weak references": "@dataclass(frozen=True, slots=True, eq=False)\nclass A:\n '''d'''\n x: int = 1\n",
    "post init": FROZEN + "class A:\n '''d'''\n x: int = 1\n"
    " def __post_init__(self): object.__setattr__(self, 'x', self.x * 2)\n",
    "fields left out": FROZEN + "class A:\n '''d'''\n x: int = 1\n y: int = field(default=2, compare=False)\n"
    " z: int = field(default=3, repr=False)\n"
    " w: dict[str, int] = field(default_factory=dict, compare=False, repr=False)\n",
    "class variable": FROZEN + "class A:\n '''d'''\n form: ClassVar[str] = 'f'\n bare: ClassVar[int]\n x: int = 1\n",
    "own methods": FROZEN + "class A:\n '''d'''\n x: int = 1\n def __eq__(self, other): return True\n"
    " def __repr__(self): return 'own'\n",
    "own hash": FROZEN + "class A:\n '''d'''\n x: int = 1\n def __hash__(self): return 7\n",
    "no hash": "@dataclass(slots=True)\nclass A:\n '''d'''\n x: int = 1\n __hash__ = None\n",
    "own init": FROZEN + "class A:\n '''d'''\n x: int = 1\n"
    " def __init__(self, y=4): object.__setattr__(self, 'x', y)\n",
    "own state": FROZEN + "class A:\n '''d'''\n x: int = 1\n def __reduce__(self): return (A, (5,))\n",
    "heir": FROZEN
    + "class B:\n '''d'''\n x: int\n y: int = 2\n"
    + FROZEN
    + "class A(B):\n '''d'''\n x: int = 5\n z: int = 3\n",
    "heir of a plain class": "class B:\n __slots__ = ('other',)\n" + FROZEN + "class A(B):\n '''d'''\n x: int = 5\n",
    "heir that adds nothing": FROZEN + "class B:\n '''d'''\n x: int = 2\n" + FROZEN + "class A(B):\n '''d'''\n",
    "abstract base": "class B(ABC):\n @property\n @abstractmethod\n def x(self): ...\n"
    + FROZEN
    + "class A(B):\n '''d'''\n x: int = 5\n",
    "still abstract": "class B(ABC):\n @property\n @abstractmethod\n def z(self): ...\n"
    + FROZEN
    + "class A(B):\n '''d'''\n x: int = 5\n",
    "generic": FROZEN + "class A(Generic[T]):\n '''d'''\n x: T = 1\n",
    "no documentation": FROZEN + "class A:\n x: int\n y: list[int] = field(default_factory=list)\n",
    "ordered": "@dataclass(frozen=True, order=True, slots=True)\nclass A:\n '''d'''\n x: int = 1\n",
    "by keyword": "@dataclass(frozen=True, slots=True, kw_only=True)\nclass A:\n '''d'''\n x: int = 1\n",
    "a field by keyword": FROZEN + "class A:\n '''d'''\n x: int = field(default=1, kw_only=True)\n y: int = 2\n",
    "the rest by keyword": FROZEN + "class A:\n '''d'''\n x: int = 1\n _: KW_ONLY\n y: int = 2\n",
    "a value for init": "@dataclass\nclass A:\n '''d'''\n x: int = 1\n y: InitVar[int] = 2\n"
    " def __post_init__(self, y): self.x += y\n",
    "not in init": FROZEN + "class A:\n '''d'''\n x: int = 1\n y: int = field(init=False, default=4)\n",
    "not in the hash": FROZEN + "class A:\n '''d'''\n x: int = 1\n y: int = field(hash=False, default=4)\n",
    "a field called self": FROZEN + "class A:\n '''d'''\n self: int = 1\n",
    "names of the pattern": FROZEN + "class A:\n '''d'''\n f1: int = 1\n f0: int = 2\n put0: int = 3\n"
    " factory: list[int] = field(default_factory=list)\n",
    "itself": "@dataclass(slots=True)\nclass A:\n '''d'''\n x: object = None\n",
    "many fields": FROZEN + "class A:\n '''d'''\n" + "".join(f" a{n}: int = {n}\n" for n in range(30)),
    "mutable default": FROZEN + "class A:\n '''d'''\n x: list[int] = []\n",
    "default before none": FROZEN + "class A:\n '''d'''\n x: int = 1\n y: int\n",
    "no annotation": FROZEN + "class A:\n '''d'''\n x = field(default=1)\n",
    "thawed": FROZEN + "class B:\n '''d'''\n x: int = 1\n@dataclass(slots=True)\nclass A(B):\n '''d'''\n y: int = 1\n",
    "slots twice": FROZEN + "class A:\n '''d'''\n __slots__ = ('x',)\n x: int\n",
    "own assignment": FROZEN + "class A:\n '''d'''\n x: int = 1\n def __setattr__(self, name, value): pass\n",
    "weak without slots": "@dataclass(weakref_slot=True)\nclass A:\n '''d'''\n x: int = 1\n",
}


def module_of(text: str, decorator: Callable[..., object]) -> ModuleType:
    """The module that has the class A, of the text."""
    module = ModuleType("tests_made")
    module.__dict__["dataclass"] = decorator
    sys.modules["tests_made"] = module
    exec(HEAD + text, module.__dict__)  # noqa: S102 - a test's own text
    return module


def outcome(action: Callable[[], object]) -> object:
    """What comes of it: a text, or the error."""
    try:
        return repr(action())
    except Exception as error:  # noqa: BLE001 - the error is what is compared
        return type(error).__name__, str(error)


def seen(text: str, decorator: Callable[..., object]) -> Iterator[object]:
    """All that can be seen of the class."""
    try:
        module = module_of(text, decorator)
    except Exception as error:  # noqa: BLE001 - as above
        yield type(error).__name__, str(error)
        return
    kind = module.A
    yield kind.__doc__, kind.__qualname__, kind.__module__, kind.__match_args__, vars(kind).get("__slots__")
    yield str(inspect.signature(kind)), outcome(lambda: typing.get_type_hints(kind.__init__))
    yield kind.__init__.__qualname__, inspect.isabstract(kind), [each.__name__ for each in kind.__mro__]
    options = str(kind.__dataclass_params__)
    yield options
    names = ("name", "type", "default", "init", "repr", "hash", "compare", "kw_only")
    for each in kind.__dataclass_fields__.values():
        yield [str(getattr(each, name)) for name in names], each._field_type.name
    yield [each.name for each in dataclasses.fields(kind)]
    yield kind.__hash__ is None, "__eq__" in vars(kind), "__hash__" in vars(kind)
    yield (
        outcome(kind),
        outcome(lambda: kind(9)),
        outcome(lambda: kind(x=9)),
        outcome(lambda: kind(1, 2, 3, 4, 5, 6, 7)),
    )
    try:
        one, same, other = kind(), kind(), kind(9)
    except Exception:  # noqa: BLE001 - it takes other arguments, as was seen above
        return
    yield one == same, one == other, one == 1, one != same, repr(one), outcome(lambda: one < other)
    yield outcome(lambda: hash(one) == hash(same)), outcome(lambda: hash(one) == hash(other))
    yield outcome(lambda: hash(one)) if kind.__hash__ is not object.__hash__ else None
    yield outcome(lambda: dataclasses.asdict(one)), outcome(lambda: dataclasses.astuple(one))
    yield outcome(lambda: dataclasses.replace(one, x=8)), outcome(lambda: copy.copy(one))
    yield outcome(lambda: pickle.loads(pickle.dumps(other)))  # noqa: S301 - our own
    yield outcome(lambda: copy.deepcopy(one))
    yield outcome(lambda: one.z), outcome(lambda: vars(one)), outcome(lambda: ref(one)() is one)
    for name in ("x", "unknown"):
        yield outcome(lambda name=name: setattr(one, name, 4)), outcome(lambda name=name: delattr(one, name))
    yield outcome(lambda: one)
    if hasattr(copy, "replace"):
        yield outcome(lambda: copy.replace(one, x=8))


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_is_that_of_the_standard_library(name: str) -> None:
    theirs, ours = (list(seen(CLASSES[name], each)) for each in (dataclasses.dataclass, records.quick_dataclass))
    for expected, found in zip(theirs, ours, strict=True):
        if expected != found and "super(type, obj)" in str(expected):
            continue  # a fault of the standard library's: an attribute that is no field, in a frozen class with slots
        assert found == expected


NAMES = st.lists(st.sampled_from("abcdefgh"), max_size=6, unique=True)
KINDS = st.sampled_from(["", " = 1", " = None", " = field(default=2, compare=False)", " = field(default_factory=list)"])
OPTIONS = st.sampled_from(["frozen=True, slots=True", "frozen=True", "slots=True", "frozen=True, slots=True, eq=False"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    options = draw(OPTIONS)
    parts: list[str] = []
    for head in ("class B", "class A(B)"):
        lines = [f" {name}: int{draw(KINDS)}\n" for name in draw(NAMES)]
        parts.append(f"@dataclass({options})\n{head}:\n '''d'''\n x: int = 0\n{''.join(lines)}")
    return "".join(parts)


@given(texts())
def test_random_classes_are_those_of_the_standard_library(text: str) -> None:
    theirs, ours = (list(seen(text, each)) for each in (dataclasses.dataclass, records.quick_dataclass))
    assert [
        each for each, found in zip(theirs, ours, strict=True) if each != found and "super(type" not in str(each)
    ] == []


def test_an_heir_in_the_other_manner() -> None:
    """A user's dataclass of the standard library may inherit from one of ours."""
    base = module_of(CLASSES["plain"], records.quick_dataclass).A

    @dataclasses.dataclass(frozen=True, slots=True)
    class Heir(base):
        z: int = 3

    assert repr(Heir(1)).endswith("Heir(x=1, y='b', z=3)")
    assert Heir(1) == Heir(1) != base(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        Heir(1).x = 2


def test_a_value_that_holds_itself_can_be_shown() -> None:
    kind = module_of(CLASSES["itself"], records.quick_dataclass).A
    one = kind()
    one.x = one
    assert repr(one) == "A(x=...)"


USUAL = ["plain", "fields left out", "class variable", "heir", "post init", "by identity", "mutable", "generic"]


def test_usual_classes_are_made_without_the_standard_library(monkeypatch) -> None:
    """Otherwise nothing would be gained, and no other test would see it."""
    for name in USUAL:  # the patterns are made now, once for each set of options
        module_of(CLASSES[name], records.quick_dataclass)
    monkeypatch.setattr(dataclasses, "dataclass", lambda *_, **__: pytest.fail("made slowly"))
    for name in USUAL:
        module_of(CLASSES[name], records.quick_dataclass)


ELSEWHERE = {
    "swzverify.errors",  # imports nothing of the package
    "swzverify.core.records",
}


SMALL = ("swzverify.apps.cli.", "swzverify.apps.commands.", "swzverify.compiled.scan.")
"""Folders whose few classes a small proof hardly loads."""


def test_every_module_takes_our_decorator() -> None:
    """A class of the standard library's decorator takes eight times as long to make."""
    root = Path(swzverify.__file__).parent
    slow: set[str] = set()
    for file in root.rglob("*.py"):
        name = ".".join(("swzverify", *file.relative_to(root).with_suffix("").parts))
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "dataclasses":
                slow |= {name for each in node.names if each.name == "dataclass"}
    assert {name for name in slow if not name.startswith(SMALL)} == ELSEWHERE


LISTED = """
import dataclasses, importlib, inspect, pkgutil, sys
from swzverify.core import records
if sys.argv[1] == "theirs":
    records.dataclass = dataclasses.dataclass
import swzverify
for found in pkgutil.walk_packages(swzverify.__path__, "swzverify."):
    if found.name in {"swzverify.__main__", "swzverify.gpu.driver"}:
        continue
    for name, kind in sorted(vars(importlib.import_module(found.name)).items()):
        if isinstance(kind, type) and kind.__module__ == found.name and dataclasses.is_dataclass(kind):
            own = vars(kind)
            fields = [(each.name, each.type, each.compare, each.repr) for each in dataclasses.fields(kind)]
            methods = [each for each in dir(kind) if each.startswith("__") and callable(getattr(kind, each))]
            print(found.name, name, fields, inspect.signature(kind), kind.__match_args__, own.get("__slots__"))
            print(kind.__dataclass_params__, kind.__hash__ is None, kind.__hash__ is object.__hash__, methods)
"""


def test_classes_of_the_package_are_as_the_standard_library_makes_them() -> None:
    """Every class of the package, made by either decorator in a process of its own."""
    listed: list[str] = []
    for each in ("theirs", "ours"):
        command = [sys.executable, "-c", LISTED, each]
        run = subprocess.run(
            command, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONHASHSEED": "0"}
        )
        listed.append(re.sub(r" at 0x[0-9a-f]+", "", run.stdout))
    theirs, ours = (text.splitlines() for text in listed)
    assert len(ours) > 800
    assert [pair for pair in zip(theirs, ours, strict=True) if pair[0] != pair[1]] == []
