"""The page of the Python interface, made of the public names and their docstrings."""

from __future__ import annotations

import ast
import builtins
import doctest
import importlib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from functools import cached_property

PACKAGES = ("swzverify", "swzverify.claims", "swzverify.layout", "swzverify.hardware", "swzverify.subjects")
"""Where the examples' names come from, the first that has one."""

INTRODUCTION = '''# The Python interface

Everything that a spec states can be stated in Python: a layout, a swizzle, the tile that they make,
and the accesses to it. No engine is asked for a cost; `prove` asks them all.

```python
from swzverify import Layout, Swizzle, Tile, prove
from swzverify.claims import Bijective, ConflictFree

tile = Tile("A", 16, Layout("(64,64):(64,1)"), Swizzle("Swizzle<3,3,3>"))
fragment = tile.read(
    "ldmatrix.x4",
    coord=["warp*16 + lane%16", "k + lane/16*8"],
    threads=128,
    loops={"k": range(0, 64, 16)},
)
print(fragment.cost().wavefronts)  # 4
print(prove(ConflictFree(fragment)).outcome)  # proved
print(prove(Bijective(tile)).outcome)  # proved
```

A spec's tiles and accesses are the same objects:

```python
from swzverify import Spec, prove

spec = Spec.from_text("""
swzverify: 1
tiles:
  A: {element: f16, layout: "(64,64):(64,1)"}
claims:
  - contiguous: {tile: A, elements: 8}
""")
for each in spec.claims:
    print(each.id, prove(each.claim).outcome)  # <text>::A::contiguous proved
print(spec.cases[0].tiles["A"].size)  # 4096
```

- `print` shows verdicts, counterexamples, costs and specs as text; a notebook shows them as tables,
  and draws layouts, swizzles, tiles, accesses and orders of blocks.
- [A notebook](../notebooks/layout_to_proof.ipynb) goes from a layout to a proof; there is [one for
  each topic](../notebooks/index.md).
- numpy's integers are ints everywhere. Truth values, floats and texts are none
  ([SWZ202](../errors/SWZ202.md)).
- What is wrong raises `swzverify.errors.SwzError`, or `swzverify.spec.SpecError` with all mistakes of
  a spec: a [code](../errors/index.md), the value, the rule and the next step.
- In tests, [assertions](../pytest.md#assertions) say the same in one call.
- The names of `swzverify` and `swzverify.testing` are [stable](../stability.md).

This page is made of the docstrings, whose examples the tests run.'''

SECTIONS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("swzverify", "What most scripts and notebooks need.", ()),
    (
        "swzverify.claims",
        "What `prove` takes, and what it gives. [The claims](../claims/index.md) says what each means.",
        ("KINDS", "Claim", "claim_types"),
    ),
    (
        "swzverify.layout",
        "Layouts, swizzles, TMA modes and padding as plain functions of integers, and CuTe's algebra of layouts.",
        ("Coord", "IntTuple", "Ints", "Tiler", "Layout", "Swizzle"),
    ),
    ("swzverify.testing", "Assertions for [pytest](../pytest.md).", ()),
)
"""Packages, what each is for, and the names that are left out: aliases of types, and what stands
above.
"""


def python_page() -> str:
    """The whole page."""
    lines = [INTRODUCTION]
    for package, purpose, without in SECTIONS:
        module = importlib.import_module(package)
        lines += ["", f"## {package}", "", *_wrapped(purpose)]
        for name in module.__all__:
            if name not in without:
                lines += ["", f"### {name}", "", *_entry(package, name, getattr(module, name))]
    return "\n".join(lines) + "\n"


def _entry(package: str, name: str, found: object) -> Iterator[str]:
    yield from _wrapped(f"`{name}{_signature(found)}`")
    yield from _text(package, name, inspect.getdoc(found) or "")
    if inspect.isclass(found):
        shown = list(_shown(found)) if package == "swzverify" else []
        yield from _members(found, {method for method, _ in shown})
        for method, function in shown:
            yield from ("", f"#### {name}.{method}", "", *_wrapped(f"`{method}{_signature(function)}`"))
            yield from _text(package, name, inspect.getdoc(function) or "")


def _shown(found: type) -> Iterator[tuple[str, Callable[..., object]]]:
    """The class's own methods that have an example, which are shown whole."""
    for name, value in vars(found).items():
        function = getattr(value, "__func__", value)
        if not name.startswith("_") and inspect.isfunction(function) and ">>>" in (inspect.getdoc(function) or ""):
            yield name, function


def _members(found: type, without: set[str]) -> Iterator[str]:
    """Methods and properties that the class has of its own or of ours, a line each."""
    rows: list[str] = []
    for name, value in inspect.getmembers_static(found):
        owner = next((base for base in found.__mro__ if name in vars(base)), object)
        if name.startswith("_") or name in without or not owner.__module__.startswith("swzverify"):
            continue
        if isinstance(value, property | cached_property | classmethod | staticmethod) or inspect.isfunction(value):
            function = value.func if isinstance(value, cached_property) else getattr(value, "__func__", value)
            said = inspect.getdoc(function) or ""
            shown = name if isinstance(value, property | cached_property) else f"{name}{_signature(function)}"
            rows.append(f"| `{_bars(shown)}` | {_prose(_first(said))} |")
    if rows:
        yield from ("", "| name | is |", "|---|---|", *rows)


def _signature(found: object) -> str:
    """The arguments; of a class those of its constructor. Empty where there are none to say."""
    if not callable(found) or (inspect.isclass(found) and issubclass(found, str)):
        return ""
    target: Callable[..., object] = found
    parameters = [each for each in inspect.signature(target).parameters.values() if each.name not in ("self", "cls")]
    parts: list[str] = []
    for each in parameters:
        if each.kind is each.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        kind = "*" if each.kind is each.VAR_POSITIONAL else ""
        annotation = "" if each.annotation is each.empty else f": {_annotation(each.annotation)}"
        default = "" if each.default is each.empty else f" = {_default(each.default)}"
        parts.append(f"{kind}{each.name}{annotation}{default}")
    return f"({', '.join(parts)})"


def _annotation(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _default(value: object) -> str:
    return "..." if "object at 0x" in repr(value) or repr(value).startswith("<") else repr(value)


def _text(package: str, name: str, said: str) -> Iterator[str]:
    """A docstring as Markdown: paragraphs, pictures, sections as lists, and examples with what they need."""
    for paragraph in re.split(r"\n\s*\n", said):
        if paragraph.startswith(">>>"):
            yield from ("", "```pycon", *_needed(package, name, paragraph), paragraph, "```")
        elif paragraph.startswith("    "):
            yield from ("", "<!-- not run here: a picture of bits -->", "```text", inspect.cleandoc(paragraph), "```")
        elif paragraph.startswith("- "):
            yield from (
                "",
                *(line for item in re.split(r"\n(?=- )", paragraph) for line in _wrapped(_prose(item), "  ")),
            )
        elif section := re.match(r"(Args|Attributes|Raises|Returns):\n", paragraph):
            yield from ("", section[0].rstrip(), "")
            for item in re.split(r"\n(?=\S)", textwrap.dedent(paragraph[section.end() :])):
                yield from _wrapped(re.sub(r"^(\w+): ", r"- `\1`: ", _prose(item)), "  ")
        else:
            yield from ("", *_wrapped(_prose(paragraph)))


def _needed(package: str, name: str, example: str) -> Iterator[str]:
    """The imports that an example has from its module, where a reader has none."""
    source = "\n".join(each.source for each in doctest.DocTestParser().get_examples(example))
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    bound = {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    bound |= {each.arg for each in nodes if isinstance(each, ast.arg)}
    bound |= {
        alias.asname or alias.name
        for each in nodes
        if isinstance(each, ast.ImportFrom | ast.Import)
        for alias in each.names
    }
    known = set(dir(builtins)) - set(importlib.import_module(package).__all__)
    read = {each.id for each in nodes if isinstance(each, ast.Name)} - bound - known
    homes: dict[str, list[str]] = {}
    for word in sorted(read):
        home = next((each for each in (package, *PACKAGES) if word in importlib.import_module(each).__all__), None)
        if home is None:
            raise LookupError(f"the example of {package}.{name} reads {word}, which no public package has")
        homes.setdefault(home, []).append(word)
    for home in sorted(homes):
        yield f">>> from {home} import {', '.join(homes[home])}"


def _first(said: str) -> str:
    """The first sentence."""
    return re.split(r"(?<=[.])\s", " ".join(said.split("\n\n", maxsplit=1)[0].split()), maxsplit=1)[0]


def _wrapped(text: str, indent: str = "") -> list[str]:
    """Lines of prose, of at most 100 characters."""
    return textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False, subsequent_indent=indent)


def _prose(text: str) -> str:
    """Prose: `<` outside code is no tag, and a bar no border."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(_bars(part) if index % 2 else _bars(part).replace("<", r"\<") for index, part in enumerate(parts))


def _bars(text: str) -> str:
    return text.replace("|", r"\|")
