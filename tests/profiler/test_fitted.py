"""Which kernel a profile is of: by its name, and by its instructions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from swzverify.compiled.profiler import Profile, fitted
from swzverify.compiled.profiler.export import exported
from swzverify.compiled.profiler.fitted import _source_name  # pyright: ignore[reportPrivateUsage]
from tests.profiler.recorded import MIXED, PADDED, ROWS, code, source_page, with_source_names


def profiles(text: str) -> tuple[Profile, ...]:
    return exported(text.encode(), "c.csv").profiles


@pytest.mark.parametrize("text", [source_page(), with_source_names()])
def test_instances_of_a_template_are_told_apart(text: str) -> None:
    sections = code().sections
    places = [fitted(each, sections).section for each in profiles(text)]
    assert [sections[place or 0].name for place in places] == [ROWS, PADDED, MIXED, MIXED]


def test_an_instance_that_is_not_there_is_not_another() -> None:
    rows, padded, *_ = profiles(with_source_names())
    only = [each for each in code().sections if each.name == ROWS]
    assert fitted(rows, only).section == 0
    assert fitted(padded, only).section is None


def test_another_build_is_refused() -> None:
    sections = code().sections
    found = profiles(source_page())[0]
    place, (_, counts) = next(iter(found.instructions.items()))
    for other in (
        replace(found, size_bytes=found.size_bytes + 16),
        replace(found, instructions={**found.instructions, place: ("LDS.64 R2, [R4]", counts)}),
        replace(found, instructions={at + 16: each for at, each in found.instructions.items()}),
    ):
        assert "not those of the machine code" in fitted(other, sections).reason
    assert fitted(replace(found, kernel="other"), sections).reason == "the machine code has no kernel of this name"


def test_two_kernels_of_one_name_and_one_code_are_not_chosen_from() -> None:
    section = next(each for each in code().sections if each.name == ROWS)
    other = replace(section, name=ROWS.replace("Pf", "Ph"))
    found = profiles(with_source_names())[0]
    assert "--print-kernel-base mangled" in fitted(found, [section, other]).reason
    assert fitted(found, [section, section]).section == 0


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("void f<(int)3, a::b<c>>(T *)", "f"),
        ("x::(anonymous namespace)::f(int)", "f"),
        ("f(void)", "f"),
        ("f", "f"),
        ("", ""),
        ("<<<>", ""),
        ("void g<&h<int>>(int (*)(int))", "g"),
    ],
)
def test_names_of_the_source(text: str, name: str) -> None:
    assert _source_name(text) == name
