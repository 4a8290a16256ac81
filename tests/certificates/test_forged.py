"""Forged certificates, every hash made good again: none is confirmed that says something false, or
shows too little.
"""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from swzrecheck.kinds import KINDS as RECHECKED
from swzrecheck.recheck import Rechecked, Status
from swzverify.apps.cli import main
from swzverify.claims import KINDS as ALL_KINDS
from tests.certificates.as_spec import truth
from tests.certificates.conftest import SPEC, Folder
from tests.certificates.forger import leaves, remake, replaced

pytest.importorskip("bitwuzla")
Change = Callable[[dict[str, Any]], None]


def forged(folder: Folder, kind: str, change: Change, *, careful: bool = True) -> Rechecked:
    """What the recheck says of a certificate once it was changed; a careful forger fits the rest to
    the change.
    """
    data = folder.certificate(kind)
    change(data)
    if careful:
        remake(data, folder)
    path = folder.file(kind)
    path.write_text(json.dumps(data))
    relist(folder, path, data["id"])
    folder.sign()
    entry = next(entry for entry in folder.listed() if entry.id == data["id"])
    return folder.rechecked(entry, "bitwuzla")


def relist(folder: Folder, path: Path, identity: str) -> None:
    """List a file under the id that it has now."""
    from swzrecheck.folder import claim_file

    listed = json.loads((folder.path / "certificates.json").read_text())
    for entry in listed["claims"]:
        if folder.path / entry["file"] == path:
            entry.update(id=identity, file=claim_file(identity))
            path.rename(folder.path / entry["file"])
    (folder.path / "certificates.json").write_text(json.dumps(listed))


def listing(data: dict[str, Any]) -> dict[str, Any]:
    """The listing of a statement."""
    return data["claim"]["listings"][0]


def line(data: dict[str, Any], index: int) -> dict[str, Any]:
    """A line of it."""
    return listing(data)["lines"][index]


def tile(data: dict[str, Any], name: str = "A") -> dict[str, Any]:
    return next(one for one in data["claim"]["tiles"] if one["name"] == name)


def access(data: dict[str, Any]) -> dict[str, Any]:
    return data["claim"]["accesses"][0]


# --- the four of the review ------------------------------------------------------------------------------------------


def test_a_padded_tile_is_not_bijective(folder: Folder) -> None:
    """Room and times came from the file; now the count is that of the tile in the statement."""
    padded = tile(folder.certificate("injective"), "P")

    def pad(data: dict[str, Any]) -> None:
        data["claim"].update(of=["tile P"], tiles=[padded])

    outcome = forged(folder, "bijective", pad)
    assert outcome.status is Status.CONTRADICTED
    assert "32 elements of 32 bits are 1024 bits, the allocation has 1152" in outcome.why[0]


def test_invented_room_is_no_field(folder: Folder) -> None:
    for facts in ([], [{"text": "fills", "goal": 0, "times": 36, "room": 1152}]):
        outcome = forged(folder, "bijective", lambda data, facts=facts: data.update(facts=facts), careful=False)
        assert outcome.status is Status.BROKEN
        assert "unknown field 'facts'" in outcome.why[0]


def test_a_predicate_that_no_lane_meets(folder: Folder) -> None:
    """Every formula is unsatisfiable then, and each goal has points: only that some lane is active
    shows it.
    """

    def nobody(data: dict[str, Any]) -> None:
        access(data).update({"if": "tid > 99", "constants": {}})

    outcome = forged(folder, "aligned", nobody)
    assert outcome.status is Status.CONTRADICTED
    assert "exists: at the point that should keep it from being empty the assumption is false" in outcome.why[0]

    def and_nothing_to_show(data: dict[str, Any]) -> None:
        data["exists"] = None

    outcome = forged(folder, "aligned", and_nothing_to_show, careful=False)
    assert outcome.status is Status.BROKEN
    assert "lanes or iterations are excluded: a point must show one" in outcome.why[0]


@pytest.mark.parametrize("kind", ["aligned", "conflict_free", "in_bounds"])
def test_exists_is_null_only_where_nothing_is_conditional(folder: Folder, kind: str) -> None:
    outcome = forged(folder, kind, lambda data: data.update(exists=None), careful=False)
    assert outcome.status is Status.BROKEN


def test_a_point_for_what_excludes_nothing_is_refused_too(folder: Folder) -> None:
    donor = folder.certificate("aligned")["exists"]
    outcome = forged(folder, "wavefronts", lambda data: data.update(exists=donor), careful=False)
    assert outcome.status is Status.BROKEN
    assert "nothing is excluded" in outcome.why[0]


KINDS = tuple(kind for kind in ALL_KINDS if kind in RECHECKED)
"""Those that a certificate can state."""


@pytest.mark.parametrize("kind", KINDS)
def test_witnesses_taken_away(folder: Folder, kind: str) -> None:
    """Neither in silence, nor by the word that none applies, nor by the word that constants decide
    it.
    """
    sound = "folded" if kind.startswith("register_") else ""
    for shown in {"twice", "once", "never", "folded"} - {sound}:

        def take(data: dict[str, Any], shown: str = shown) -> None:
            for goal in data["goals"]:
                goal.update(witnesses={}, shown=shown)

        outcome = forged(folder, kind, take, careful=False)
        assert outcome.status is Status.BROKEN, shown
        assert "SWZ605" in outcome.why[0]


def test_a_goal_that_is_shown_once_says_so_and_counts_apart(tmp_path: Path) -> None:
    """A product of two long loops plus itself is even: no engine sees it, and a solver does."""
    spec = tmp_path / "once.swz.yaml"
    spec.write_text(
        "swzverify: 1\ntarget: sm_90\naccesses:\n"
        "  X: {instruction: st.shared.b16, threads: 32, for: {i: 3000, k: 5000}, address: i*k + k*i}\n"
        "claims:\n  - aligned: X\n"
    )
    certs = tmp_path / "certs"
    result = CliRunner().invoke(main, ["prove", str(spec), "--single-engine", "--certificates", str(certs), "-j", "1"])
    assert result.exit_code == 0, result.output
    folder = Folder(certs)
    assert [goal["shown"] for goal in folder.certificate("aligned")["goals"]] == ["once"]
    outcome = folder.judged("aligned", "bitwuzla")
    assert outcome.status is Status.NOT_RECHECKED
    assert (outcome.formulas, outcome.witnesses, outcome.once) == (1, 0, 1)
    assert "shown once by solvers alone" in outcome.why[0]
    result = folder.recheck()
    assert result.exit_code == 3
    assert "shown once" in result.output
    for shown in ("twice", "never", "folded"):
        folder.forge("aligned", lambda data, shown=shown: data["goals"][0].update(shown=shown))
        assert folder.judged("aligned", "bitwuzla").status is Status.BROKEN


def test_what_constants_decide_counts_apart(tmp_path: Path) -> None:
    """A byte is always aligned: there is nothing to ask, and no formula that says nothing is
    counted.
    """
    spec = tmp_path / "bytes.swz.yaml"
    spec.write_text(
        "swzverify: 1\ntarget: sm_90\naccesses:\n"
        "  X: {instruction: st.shared.b8, threads: 32, address: 3*tid}\nclaims:\n  - aligned: X\n"
    )
    certs = tmp_path / "certs"
    result = CliRunner().invoke(main, ["prove", str(spec), "--certificates", str(certs), "-j", "1"])
    assert result.exit_code == 0, result.output
    folder = Folder(certs)
    outcome = folder.judged("aligned", "bitwuzla")
    assert outcome.status is Status.RECHECKED
    assert (outcome.formulas, outcome.witnesses, outcome.folded) == (0, 0, 1)
    assert "nothing to show" in outcome.why[-1]
    assert "nothing to show" in folder.recheck("-v").output
    for shown in ("twice", "once", "never"):
        folder.forge("aligned", lambda data, shown=shown: data["goals"][0].update(shown=shown))
        assert folder.judged("aligned", "bitwuzla").status is Status.BROKEN
    folder.forge("aligned", lambda data: data["goals"][0].update(shown="folded", witnesses={"bounds": {"holds": "1"}}))
    assert folder.judged("aligned", "bitwuzla").status is Status.BROKEN


def test_a_formula_that_says_nothing(folder: Folder) -> None:
    """The constant 1 in place of the condition: the formula fits the obligation, but not the
    statement.
    """
    from swzrecheck.encode import parts
    from swzrecheck.smtlib import script
    from swzrecheck.statement import read_statement

    def fold(data: dict[str, Any]) -> None:
        goal = data["goals"][-1]
        lines = goal["obligation"]
        blank = lines.index("")
        lines = [*lines[:blank], f"{blank - 1} const 1 1", *lines[blank:]]
        goal["obligation"] = [f"holds {blank - 1}" if line.startswith("holds ") else line for line in lines]
        asked = parts(read_statement("\n".join(goal["obligation"])))
        goal["formulas"] = [{"part": p.name, "sha256": folder.add_formula(script(p))} for p in asked]

    for shown in ("twice", "folded"):

        def and_say(data: dict[str, Any], shown: str = shown) -> None:
            fold(data)
            data["goals"][-1].update(shown=shown, witnesses={"gf2": {"holds": "1"}} if shown == "twice" else {})

        fresh = Folder(folder.path.with_name(f"certs-{shown}"))
        shutil.copytree(folder.path, fresh.path)
        outcome = forged(fresh, "in_bounds", and_say, careful=False)
        assert outcome.status is Status.BROKEN
        assert "the obligation is not that of the statement" in outcome.why[0]


# --- the list --------------------------------------------------------------------------------------------------------


def entries(folder: Folder, change: Callable[[list[dict[str, Any]]], None]) -> None:
    path = folder.path / "certificates.json"
    listed = json.loads(path.read_text())
    change(listed["claims"])
    path.write_text(json.dumps(listed))
    folder.sign()


def test_a_certificate_that_is_listed_twice(folder: Folder) -> None:
    entries(folder, lambda claims: claims.append(dict(claims[0])))
    result = folder.recheck()
    assert result.exit_code == 2
    assert "SWZ603" in result.output
    assert "is listed twice" in result.output
    assert "SWZ901" not in result.output


def test_a_certificate_that_is_listed_and_missing(folder: Folder) -> None:
    folder.file("covers").unlink()
    result = folder.recheck()
    assert result.exit_code == 2
    assert "SWZ603" in result.output
    assert "is in the list, but is no file there" in result.output


def test_a_certificate_that_is_listed_under_two_names(folder: Folder) -> None:
    entries(folder, lambda claims: claims.append({**claims[0], "id": "other::A::bijective"}))
    result = folder.recheck()
    assert result.exit_code == 2
    assert "SWZ603" in result.output
    assert "is that of another claim" in result.output


def test_a_copy_of_a_certificate_under_another_name(folder: Folder) -> None:
    from swzrecheck.folder import claim_file

    other = "small.swz.yaml::B::bijective"
    shutil.copy(folder.file("bijective"), folder.path / claim_file(other))
    entries(folder, lambda claims: claims.append({**claims[0], "id": other, "file": claim_file(other)}))
    result = folder.recheck()
    assert result.exit_code == 2
    assert "SWZ603" in result.output
    assert "is listed as 'small.swz.yaml::B::bijective'" in result.output


@pytest.mark.parametrize("identity", ["{path}::B::bijective", "{path}::A::injective", "other::A::bijective", "A"])
def test_an_id_that_is_not_that_of_the_statement(folder: Folder, identity: str) -> None:
    def rename(data: dict[str, Any]) -> None:
        data["id"] = identity.format(path=data["spec"]["path"])

    outcome = forged(folder, "bijective", rename, careful=False)
    assert outcome.status is Status.BROKEN
    assert "is not that of its statement" in outcome.why[0]


def test_an_id_may_say_the_role_of_a_subject(folder: Folder) -> None:
    """As ids do where one name stands for a tile and an access."""

    def rename(data: dict[str, Any]) -> None:
        data["id"] = f"{data['spec']['path']}::access:write,tile:P::covers#2"

    assert forged(folder, "covers", rename, careful=False).status is Status.RECHECKED


def test_constants_of_another_case(folder: Folder) -> None:
    def other(data: dict[str, Any]) -> None:
        data["case"] = {"N": 37}
        remake(data, folder)

    outcome = forged(folder, "aligned", other)
    assert outcome.status is Status.BROKEN
    assert "N is 38 in some, 37 in `case`" in outcome.why[0]


# --- the statement changed under its proof ---------------------------------------------------------------------------

FALSE: dict[str, tuple[str, Change]] = {
    "two rows at one place": ("injective", lambda d: tile(d, "P")["modes"].__setitem__(0, [[4, 0]])),
    "one element more": ("injective", lambda d: tile(d, "P")["modes"].__setitem__(1, [[10, 1]])),
    "a smaller allocation": ("in_bounds", lambda d: tile(d, "P").update(allocation=100)),
    "a larger element": ("bijective", lambda d: tile(d).update(element_bits=32)),
    "a pitch that overlaps": ("disjoint", lambda d: tile(d).update(pitch=512)),
    "no swizzle": ("conflict_free", lambda d: tile(d).update(swizzle=None)),
    "another swizzle": ("conflict_free", lambda d: tile(d)["swizzle"].update(base=4)),
    "another coordinate": ("conflict_free", lambda d: access(d).update(coord=["lane%8", "(lane%8 ^ k/8)*8"])),
    "fewer wavefronts": ("wavefronts", lambda d: d["claim"].update(at_most=1)),
    "half of the threads": ("covers", lambda d: access(d).update(block=[16])),
    "twice": ("covers", lambda d: d["claim"].update(times=2)),
    "no predicate": (
        "in_bounds",
        lambda d: access(d).update({"if": None, "coord": ["tid/4", "tid%8"], "constants": {}}),
    ),
    "an odd base": ("aligned", lambda d: tile(d, "P").update(base={"start": 2, "align": 0, "memory": ""})),
    "longer vectors": ("contiguous", lambda d: d["claim"].update(elements=16)),
    "another mode": ("contiguous", lambda d: d["claim"].update(mode=0)),
    "another leaf": ("equivalent", lambda d: tile(d, "R")["modes"][1].__setitem__(1, [2, 5])),
    "more elements": ("equivalent", lambda d: tile(d, "R")["modes"].__setitem__(0, [[5, 9]])),
    "more stages": ("equivalent", lambda d: tile(d, "R").update(stages=2, pitch=1024)),
    "a larger box": ("permutation", lambda d: d["claim"]["maps"][0].update(onto=[4, 7])),
    "a value twice": ("permutation", lambda d: d["claim"]["maps"][0].update(value=["j", "i/2*2"])),
    "a value below 0": ("permutation", lambda d: d["claim"]["maps"][0].update(value=["j", "i - 1"])),
    "a value outside": ("permutation", lambda d: d["claim"]["maps"][0].update(value=["j", "i + 1"])),
    "a mark that is gone": ("register_conflict_free", lambda d: line(d, 0)["reads"].__setitem__(0, [4, 2, 0])),
    "another slot": ("register_conflict_free", lambda d: line(d, 2)["reads"].__setitem__(0, [4, 0, 0])),
    "a write in between": ("register_conflict_free", lambda d: line(d, 1).update(writes=[4])),
    "a jump in between": ("register_conflict_free", lambda d: line(d, 1).update(joined=1)),
    "another warp in between": ("register_conflict_free", lambda d: line(d, 0).update(yields=1)),
    "a barrier in between": ("register_conflict_free", lambda d: line(d, 1).update({"class": "control"})),
    "an instruction that may not run": ("register_conflict_free", lambda d: line(d, 0).update(predicated=1)),
    "three of one bank": ("register_conflicts", lambda d: line(d, 2).update(reads=[[8, 2, 0], [12, 3, 0], [0, 4, 0]])),
    "bijective for conflict_free": ("injective", lambda d: d["claim"].update(kind="bijective")),
}


@pytest.mark.parametrize("name", list(FALSE))
def test_a_statement_made_false(folder: Folder, name: str) -> None:
    kind, change = FALSE[name]
    whole = folder.certificate(kind)
    change(whole)
    assert truth(whole["claim"]) in ("refuted", "unknown", "none"), "the forgery is no false statement"
    for careful in (False, True):
        fresh = Folder(folder.path.with_name(f"certs-{careful}"))
        shutil.copytree(folder.path, fresh.path)
        outcome = forged(fresh, kind, change, careful=careful)
        wanted = (Status.CONTRADICTED,) if careful else (Status.CONTRADICTED, Status.BROKEN)
        assert outcome.status in wanted, outcome.why


MEANINGLESS: dict[str, tuple[str, Change]] = {
    "no stages to keep apart": ("disjoint", lambda d: tile(d).update(stages=1, pitch=0)),
    "no vector": ("contiguous", lambda d: d["claim"].update(elements=128)),
    "no such mode": ("contiguous", lambda d: d["claim"].update(mode=2)),
    "no such tile": ("injective", lambda d: d["claim"].update(of=["tile Q"])),
    "a tile too many": ("injective", lambda d: d["claim"]["tiles"].append({**tile(d, "P"), "name": "Q"})),
    "of nothing": ("injective", lambda d: d["claim"].update(of=[])),
    "of two": ("injective", lambda d: d["claim"].update(of=["tile P", "tile P"])),
    "of an access": ("injective", lambda d: d["claim"].update(of=["access P"])),
    "no kind": ("injective", lambda d: d["claim"].update(kind="perfect")),
    "an unknown name": ("aligned", lambda d: access(d).update(coord=["tid/8%4", "tidd%8"])),
    "y of a block of one extent": ("aligned", lambda d: access(d).update(coord=["threadIdx.y", "tid%8"])),
    "a constant that nothing reads": ("aligned", lambda d: access(d)["constants"].update(M=1)),
    "a loop called tid": ("conflict_free", lambda d: access(d)["loops"][0].update(name="tid")),
    "a step of nothing": ("conflict_free", lambda d: access(d)["loops"][0].update(step=0)),
    "no C expression": ("aligned", lambda d: access(d).update(coord=["tid/8%4", "tid--8"])),
    "an unknown instruction": ("aligned", lambda d: access(d).update(instruction="st.shared.b128")),
    "a predicate of a whole warp": ("conflict_free", lambda d: access(d).update({"if": "lane < 4"})),
    "too many threads": ("aligned", lambda d: access(d).update(block=[1025])),
    "no coordinate": ("aligned", lambda d: access(d).update(coord=["tid%8"])),
    "a tile and an address": ("aligned", lambda d: access(d).update(address="tid")),
    "an illegal swizzle": ("bijective", lambda d: tile(d)["swizzle"].update(shift=2)),
    "an extent of 0": ("injective", lambda d: tile(d, "P")["modes"].__setitem__(0, [[0, 9]])),
    "a negative stride": ("injective", lambda d: tile(d, "P")["modes"].__setitem__(0, [[4, -9]])),
    "half an element": ("injective", lambda d: tile(d, "P").update(element_bits=0)),
    "no mode": ("injective", lambda d: tile(d, "P").update(modes=[])),
    "an odd alignment": ("injective", lambda d: tile(d, "P")["base"].update(align=24)),
    "bases without relation": (
        "equivalent",
        lambda d: tile(d, "R").update(base={"start": 0, "align": 0, "memory": ""}),
    ),
    "one memory, two alignments": (
        "equivalent",
        lambda d: [tile(d, n).update(base={"start": 0, "align": a, "memory": "m"}) for n, a in (("P", 64), ("R", 32))],
    ),
    "another class": ("register_conflicts", lambda d: line(d, 0).update({"class": "fast"})),
    "no instruction that counts": ("register_conflicts", lambda d: listing(d).update(lines=[])),
    "an unknown instruction in a listing": ("register_conflicts", lambda d: line(d, 1).update({"class": "unknown"})),
    "banks that nobody knows": ("register_conflicts", lambda d: listing(d).update(target="sm_100")),
    "register 255": ("register_conflicts", lambda d: line(d, 0)["reads"].__setitem__(0, [255, 2, 1])),
    "slot 1": ("register_conflicts", lambda d: line(d, 0)["reads"].__setitem__(0, [4, 1, 1])),
    "a slot twice": ("register_conflicts", lambda d: line(d, 0)["reads"].__setitem__(0, [4, 3, 1])),
    "no box": ("permutation", lambda d: d["claim"]["maps"][0].update(onto=None)),
    "as many boxes": ("permutation", lambda d: d["claim"]["maps"][0].update(onto=[24])),
}


@pytest.mark.parametrize("name", list(MEANINGLESS))
def test_a_statement_without_a_meaning(folder: Folder, name: str) -> None:
    kind, change = MEANINGLESS[name]
    for careful in (False, True):
        fresh = Folder(folder.path.with_name(f"certs-{careful}"))
        shutil.copytree(folder.path, fresh.path)
        outcome = forged(fresh, kind, change, careful=careful)
        assert outcome.status is Status.BROKEN, outcome.why
        assert outcome.why[0].startswith(("SWZ604", "SWZ605")), outcome.why


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("conflict_free", {"coord": ["lane%8", "k/(k - 64)*0"]}),
        ("conflict_free", {"coord": ["lane%8", "k + (0 << (k*8 - 500))"]}),
        ("conflict_free", {"coord": ["lane%8", "k + 0*(k*k*k*k*k*k)"]}),
        ("conflict_free", {"coord": ["lane%8 - 1", "k"]}),
        ("aligned", {"coord": ["tid/8%4", "tid%8 - 1"]}),
    ],
)
def test_expressions_that_are_not_defined(folder: Folder, kind: str, change: dict[str, Any]) -> None:
    """A claim on an undefined expression is none, whatever else holds of it; that too is derived
    and asked.
    """

    def undefine(data: dict[str, Any]) -> None:
        access(data).update(change)
        for loop in access(data)["loops"]:
            loop.update(stop=72 if "/" in change["coord"][1] else loop["stop"])

    outcome = forged(folder, kind, undefine)
    assert outcome.status is Status.CONTRADICTED, outcome.why
    assert "(defined)" in outcome.why[0]


# --- what is printed -------------------------------------------------------------------------------------------------


def test_the_statement_is_printed(folder: Folder) -> None:
    said = folder.recheck("-v").output
    for words in (
        "bijective: no two elements of tile A share a bit, and they fill its allocation",
        "tile A: elements of 16 bits at (8,64):(64,1), Swizzle<3,3,3> on element offsets; "
        "2 stages 1024 bytes apart, each of 1024 bytes; base: any multiple of 1024 below 2^24",
        "512 elements of 16 bits are 8192 bits, the allocation has 8192",
        "access read: ldmatrix.x1 by a block of 32 threads; for k from 0 below 64 in steps of 8; "
        "at [lane%8, k] of tile A, every stage",
        "lanes if tid != 3 && tid < N; with N = 38",
        "map turned: [j, i] for i < 6, j < 4, onto 4 x 6",
        "covers: access write touches each element of tile P exactly 1 times in each stage",
    ):
        assert words in said, words


def test_what_is_printed_is_what_was_judged(folder: Folder) -> None:
    """Every number and text of a statement is in its words: two statements that differ are told
    apart.
    """
    from swzrecheck.claim_file import read_claim
    from swzrecheck.claim_words import sentences
    from swzrecheck.errors import CertificateError
    from swzrecheck.reader import Reader

    for kind in KINDS:
        whole = folder.certificate(kind)["claim"]
        said = sentences(read_claim(Reader(copy.deepcopy(whole), "claim")))
        for path, value in leaves(whole):
            for other in (value * 2 + 2 if isinstance(value, int) else None, "7", "tid", 3, "B"):
                changed = replaced(whole, path, other)
                if other == value:
                    continue
                try:
                    again = read_claim(Reader(copy.deepcopy(changed), "claim"))
                except CertificateError:
                    continue
                assert sentences(again) != said, (kind, path, other)


def test_nothing_that_the_prover_said_is_printed(folder: Folder) -> None:
    def boast(data: dict[str, Any]) -> None:
        data["said"].update(scope="BOAST", evidence="BOAST", engines=["BOAST"], reason="BOAST", assumptions=["BOAST"])

    assert forged(folder, "injective", boast, careful=False).status is Status.RECHECKED
    assert "BOAST" not in folder.recheck("-v").output


# --- one field at a time ---------------------------------------------------------------------------------------------

FREE = {
    ("spec", "line"),
    ("said", "scope"),
    ("said", "evidence"),
    ("said", "engines"),
    ("said", "reason"),
    ("said", "assumptions"),
    ("said", "versions"),
}
"""Fields that docs/certificates.md calls told: a change of these is not seen. Points have other
values that serve.
"""


def of_each_field(found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """One value of each field, the last where a list has many items of one kind."""
    by_field: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for each in found:
        by_field.setdefault(tuple(key for key in each[0] if isinstance(key, str)), []).append(each)
    return [some[-1] for some in by_field.values()]


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.nightly)], ids=["some", "all"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_field_is_passed_over(folder: Folder, kind: str, every: bool) -> None:
    """Each value of a certificate changed by itself: what is not refused is told only, or a point
    that serves too.
    """
    whole = folder.certificate(kind)
    found = list(leaves(whole))
    assert len(of_each_field(found)) > 10
    for number, (path, value) in enumerate(found if every else of_each_field(found)):
        if every and "obligation" in path and number % 7:
            continue
        other = f"{value}x" if isinstance(value, str) else value + 1 if type(value) is int else 3
        changed = replaced(whole, path, other)
        folder.file(kind).write_text(json.dumps(changed))
        folder.sign()
        outcome = folder.judged(kind, "bitwuzla")
        if outcome.status in (Status.RECHECKED, Status.NOT_RECHECKED):
            # A statement may change in what this claim does not depend on: it is printed, and true.
            of_claim = path[0] == "claim" and truth(changed["claim"]) == "proved"
            assert of_claim or path[:2] in FREE or "point" in path, path


def test_the_page_names_every_field(folder: Folder) -> None:
    """docs/certificates.md says of each field whether it is derived, checked or told."""
    page = (Path(__file__).parents[2] / "docs" / "certificates.md").read_text()
    table = page[page.index("| field |") :]
    for kind in KINDS:
        data = folder.certificate(kind)
        names = {*data, *data["claim"], *(key for goal in data["goals"] for key in goal)}
        for name in names:
            assert f"`{name}`" in table, name


def test_the_spec_of_the_tests_has_every_kind() -> None:
    assert [kind for kind in KINDS if f"- {kind}: " not in SPEC and f"{{{kind}: " not in SPEC] == []
    assert SPEC.count("expect: refuted") == 1
