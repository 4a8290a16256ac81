"""What a claim says of its own form, which specs, the schema, reports and `diff` read."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from swzverify.claims import KINDS, claim_types


@pytest.mark.parametrize("kind", KINDS)
def test_a_claim_has_nothing_but_its_subjects_and_numbers(kind: str) -> None:
    """`diff` compares these and no other fields: one more would be changed without a word."""
    claim = claim_types()[kind]
    kinds = {"Tile", "Access", "IndexMap", "Listing", "Operand", "Phase", "Addressed", "None"}
    subjects = [
        each.name
        for each in fields(claim)
        if set(re.split(r"\W+", str(each.type))) <= kinds  # type: ignore[arg-type]
    ]
    numbers = [number.name for number in claim.form.numbers]
    assert [each.name for each in fields(claim)] == [*subjects, *numbers]  # type: ignore[arg-type]
    assert subjects
