"""Which claim is which: renamed files and subjects, several claims of one kind, files that cannot
be read.
"""

from __future__ import annotations

from swzverify.apps.diff.canonical import canonical
from swzverify.apps.diff.pair import pair_claims
from swzverify.spec import parse_spec

from .conftest import SPEC, between, outcome, placed, swapped


def statuses(before, after, unread=frozenset()):
    return {each.ids: each.status.value for each in pair_claims(before, after, unread) if each.status != "unchanged"}


def moved(before, after):
    """What became of the claims of a file that is gone in another one."""
    files = placed(before, "old.swz.yaml"), placed(after, "new/place.swz.yaml")
    return {each.ids: each.status.value for each in pair_claims(*files, frozenset(), frozenset({"old.swz.yaml"}))}


class TestRenames:
    def test_a_file(self):
        found = moved(SPEC, SPEC)
        assert set(found.values()) == {"renamed"}
        assert len(found) == 15

    def test_a_file_that_is_still_there(self):
        found = statuses(placed(SPEC, "old.swz.yaml"), placed(SPEC, "new.swz.yaml"))
        assert sorted(found.values()) == ["added"] * 15 + ["deleted"] * 15

    def test_a_subject_in_one_file_is_another(self):
        found = between(SPEC, SPEC.replace("read_A", "fetch"))
        told = {each.claim.id: (each.status.value, each.note) for each in found if each.status != "unchanged"}
        assert told == {
            "a.swz.yaml::fetch::conflict_free": ("added", ""),
            "a.swz.yaml::read_A::conflict_free": (
                "deleted",
                "a.swz.yaml::fetch::conflict_free is new and says the same",
            ),
        }

    def test_a_claim_that_goes_over_to_a_copy_of_what_is_broken(self):
        before = swapped(("equivalent: [A, B]", "injective: B"))
        old = before[before.index("  A:\n") : before.index("  B:\n")]
        broken = old.replace("(64,64):(64,1)", "(64,64):(1,1)")
        after = before.replace(old, broken + old.replace("  A:", "  A_old:")).replace(
            "injective: A\n", "injective: A_old\n"
        )
        found = outcome(before, after)
        assert (found["A::injective"], found["A_old::injective"]) == ("deleted", "added")
        assert moved(before, after)[("old.swz.yaml::A::injective",)] == "deleted"

    def test_an_access_in_a_file_that_moved_is_the_same_under_its_name_only(self):
        found = moved(SPEC, SPEC.replace("read_A", "fetch"))
        assert found[("old.swz.yaml::read_A::conflict_free",)] == "deleted"
        assert found[("new/place.swz.yaml::fetch::conflict_free",)] == "added"
        assert list(found.values()).count("renamed") == 14

    def test_a_file_and_a_claim_that_says_less(self):
        found = moved(SPEC, swapped(("at_most: 4", "at_most: 5")))
        assert found[("old.swz.yaml::write_A::wavefronts",)] == "deleted"
        assert found[("new/place.swz.yaml::write_A::wavefronts",)] == "added"
        assert list(found.values()).count("renamed") == 14

    def test_a_claim_that_was_there_before_replaces_none_that_is_gone(self):
        # B says of itself what A said of itself, and did so before
        before = swapped(("  - injective: A\n", "  - injective: A\n  - injective: B\n"))
        assert outcome(before, before.replace("  - injective: A\n", "")) == {"A::injective": "deleted"}

    def test_memories_that_become_one_are_no_rename(self):
        two = SPEC.replace("smem: {", "other: {bytes: 4096, align: 1024}, smem: {").replace(
            'N: {element: f32, layout: "(32,32):(32,1)", base: {in: smem, offset: 4096}}',
            'N: {element: f32, layout: "(32,32):(32,1)", base: {in: other, offset: 0}}',
        )
        one = two.replace("base: {in: other, offset: 0}", "base: {in: smem, offset: 0}").replace("N]", "Q]")
        one = one.replace("  N: {", "  Q: {")
        found = [(each.claim.subject, each.status.value, each.note) for each in between(two, one)]
        assert ("M,N", "deleted", "") in found
        assert ("M,Q", "added", "") in found


class TestSeveralOfOneKind:
    TWO = SPEC.replace(
        "  - wavefronts: {access: write_A, at_most: 4}\n",
        "  - wavefronts: {access: write_A, at_most: 4}\n  - wavefronts: {access: write_A, at_most: 8}\n",
    )

    def test_the_weaker_one_may_go(self):
        found = between(self.TWO, SPEC)
        (said,) = [each for each in found if each.note]
        assert (said.status.value, said.note) == ("strengthened", "said by a.swz.yaml::write_A::wavefronts")
        assert not {"weakened", "deleted"} & {each.status.value for each in found}

    def test_the_stronger_one_may_not(self):
        after = self.TWO.replace("  - wavefronts: {access: write_A, at_most: 4}\n", "")
        assert "weakened" in {each.status.value for each in between(self.TWO, after)}

    def test_one_of_two_alike_may_go(self):
        twice = self.TWO.replace("at_most: 8", "at_most: 4")
        assert outcome(twice, SPEC) == {}

    def test_one_claim_stands_for_one_only(self):
        more = self.TWO.replace("at_most: 8", "at_most: 6")
        assert outcome(self.TWO, more) == {"write_A::wavefronts#2": "strengthened"}


def test_what_one_side_cannot_read_is_not_called_deleted_or_added():
    unread = frozenset({"a.swz.yaml"})
    assert set(statuses(placed(SPEC), [], unread).values()) == {"not compared"}
    assert set(statuses([], placed(SPEC), unread).values()) == {"not compared"}


def test_the_canonical_form_has_every_field_of_what_a_claim_is_made_of():
    """Whatever differs between two claims' fields shows: each number of the text alone makes
    another form.
    """
    claims = {each.claim.id: canonical(each.claim.claim) for each in placed(SPEC)}
    for old, new in (
        ("pad: 8", "pad: 16"), ("stages: 3", "stages: {count: 3, pitch: 16384}"), ("element: f32", "element: f64"),
        ("bytes: 256", "bytes: 260"), ("align: 1024", "align: 2048"), ("[16, 8]", "[8, 16]"), ("i: any", "i: 7"),
        ("threads: 32", "threads: 31"), ("at_most: 4", "at_most: 3"), ("elements: 8", "elements: 4"),
        ("tid < HALF", "tid < 63"), ("[i < 3]", "[i < 4]"), ("step: 16", "step: 17"), ("tid*4 + i*128", "tid*4 + i*64"),
    ):  # fmt: skip
        after = {each.id: canonical(each.claim) for each in parse_spec(swapped((old, new)), path="a.swz.yaml").claims}
        assert after != claims, old
