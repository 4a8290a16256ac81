"""Statements with one thing changed: what a mistake in the making of explanations would say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from swzverify.explain.explanations import statements as said
from swzverify.layout import Swizzle


def mutants(statement: said.Statement) -> Iterator[tuple[str, said.Statement]]:
    """The statement with each field wrong, with the field's name."""
    for each in fields(statement):
        now = getattr(statement, each.name)
        for value in [now + 4] if each.name == "start_bytes" else _others(now):
            yield each.name, replace(statement, **{each.name: value})


def _others(value: Any) -> Iterator[Any]:
    match value:
        case bool():
            yield not value
        case int():
            yield value + 1
            if value:
                yield value - 1
        case str():
            yield {"offset": "address", "address": "offset", "access": "tile", "tile": "access"}.get(value, value + "x")
        case None:
            yield 1
        case Swizzle(bits=bits, base=base, shift=shift):
            yield Swizzle.unchecked(bits, base + 1, shift)
            yield Swizzle.unchecked(bits, base, shift + 1)
        case Mapping():
            if value:
                yield {**value, next(iter(value)): next(iter(value.values())) + 1}
        case tuple():
            yield from _tuples(value)
        case said.Level(count=count, step_bytes=step):
            yield said.Level(count + 1, step)
            yield said.Level(count, step + 4)
        case said.Bit():
            yield replace(value, bit=value.bit + 1)
        case _:
            raise AssertionError(f"no mutant of {value!r}")


def _tuples(value: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if not value:
        yield (said.Bit("lane", 0),)
        return
    yield value[1:]
    for index in (0, len(value) - 1):
        for other in _others(value[index]):
            yield (*value[:index], other, *value[index + 1 :])
