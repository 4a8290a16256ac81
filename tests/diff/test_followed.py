"""A claim that stops following compiled code, or a listing of it, says less: one edit at a time, random
edits against what must come of each, and planted mistakes.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from click.testing import Result

from swzverify.apps.diff import followed, subjects
from swzverify.spec import read_code
from swzverify.spec.read_code import ReadCode
from tests.nightly import share

from .conftest import Repository, between, outcome, swapped

HEAD = ".version 8.3\n.target sm_90\n.address_size 64\n.shared .align 256 .b8 tile[65536];\n"
STORE = "mad.lo.u32 %r3, %r1, {0}, %r2;\nst.shared.u32 [%r3+{1}], %r1;\n"
PITCHED = "mad.lo.u32 %r3, %r1, %r4, %r2;\nst.shared.u32 [%r3], %r1;\n"


def kernel(name: str, body: str) -> str:
    declared = f".entry {name}(.param .u32 other, .param .u32 pitch)\n{{\n.reg .b32 %r<9>;\n"
    before = "mov.u32 %r1, %tid.x;\nmov.u32 %r2, tile;\nld.param.u32 %r4, [pitch];\n"
    return f"{declared}{before}{body}ret;\n}}\n"


def stores(*steps: int) -> str:
    return "".join(STORE.format(step, 4096 * number) for number, step in enumerate(steps))


def line_of(text: str, number: int) -> int:
    """The line of a store, by its number from 0."""
    return [at for at, line in enumerate(text.split("\n"), 1) if "st.shared" in line][number]


K = HEAD + kernel("k", stores(4, 4, 8))
"""Three stores; those to one place in the last kernel have the same address."""
TWO = K + kernel("k2", stores(4, 4, 8))
LAST = line_of(K, 2)
FIRST = line_of(K, 0)
PITCH = HEAD + kernel("k", PITCHED)
SASS = "FFMA R2, R4.reuse, R5, R2;\nFFMA R0, R4, R5, R0;\nFFMA R8, R6, R5, R8;\n"
OTHER_SASS = SASS.replace("R8, R6", "R9, R6")
FUNCTIONS = "".join(f"\tFunction : {name}\n\tFFMA R2, R4, R5, R2 ;\n" for name in "fg")
SPEC = f"""\
swzverify: 1
target: sm_90
accesses:
  code: {{instruction: st.shared.b32, threads: 32, compiled: {{file: k.ptx, line: {FIRST}}}, base: {{align: 256}}}}
  said: {{instruction: st.shared.b32, threads: 32, address: tid*4, base: {{align: 256}}}}
listings:
  loop: {{file: loop.sass, target: sm_52}}
  short:
    target: sm_52
    text: |
      FFMA R2, R4.reuse, R5, R2;
      FFMA R0, R4, R5, R0;
      FFMA R8, R6, R5, R8;
claims:
  - equivalent: [code, said]
  - conflict_free: code
  - register_conflicts: {{listing: loop, at_most: 3}}
  - register_conflicts: {{listing: short, at_most: 3}}
"""
COMPILED = f"compiled: {{file: k.ptx, line: {FIRST}}}"
TEXT = "text: 'FFMA R2, R4.reuse, R5, R2;\n\n    FFMA R0, R4, R5, R0;\n\n    FFMA R8, R6, R5, R8;'"
BOTH = ("code,said::equivalent", "code::conflict_free")
LOOP, SHORT = ("loop::register_conflicts",), ("short::register_conflicts",)


@pytest.fixture(autouse=True)
def _files(here: Path) -> None:
    (here / "k.ptx").write_text(K)
    (here / "copy.ptx").write_text(K)
    (here / "two.ptx").write_text(TWO)
    (here / "pitch.ptx").write_text(PITCH)
    for name in ("loop.sass", "copy.sass"):
        (here / name).write_text(SASS)
    (here / "functions.sass").write_text(FUNCTIONS)


def at(**keys: object) -> str:
    """Another `compiled:`."""
    stated = {"file": "k.ptx", "line": FIRST, **keys}
    return "compiled: {" + ", ".join(f"{key}: {value}" for key, value in stated.items() if value is not None) + "}"


PITCHED_AT = at(file="pitch.ptx", line=line_of(PITCH, 0), parameters="{pitch: 4}")
NAMED = swapped((COMPILED, at(file="two.ptx", kernel="k")), text=SPEC)
ARRAY = swapped((COMPILED, at(array="tile")), text=SPEC)
GIVEN = swapped((COMPILED, PITCHED_AT), text=SPEC)
EVERY = swapped(
    ("threads: 32, " + COMPILED, f"threads: 32, for: {{i: [0, 1, 3]}}, {at(line=[line_of(K, n) for n in range(3)])}"),
    ("  - equivalent: [code, said]\n", ""),
    text=SPEC,
)
FUNCTION = swapped(("{file: loop.sass,", "{file: functions.sass, function: f,"), text=SPEC)
STATED = swapped((COMPILED, "address: tid*4"), text=SPEC)
IDLE = swapped(("R0;\n", "R0;\n      NOP;\n"), text=SPEC)
WEAKER: dict[str, tuple[str, list[tuple[str, str]], tuple[str, ...]]] = {
    "an address in its place": (SPEC, [(COMPILED, "address: tid*4")], BOTH),
    "a saved copy": (SPEC, [("k.ptx", "copy.ptx")], BOTH),
    "another file with the kernel": (SPEC, [(COMPILED, at(file="two.ptx", kernel="k"))], BOTH),
    "another kernel of the file": (NAMED, [("kernel: k", "kernel: k2"), (f"line: {FIRST}", f"line: {line_of(TWO, 3)}")],
                                   BOTH),
    "another store of the kernel": (SPEC, [(f"line: {FIRST}", f"line: {line_of(K, 1)}")], BOTH),
    "a store with another address": (SPEC, [(f"line: {FIRST}", f"line: {LAST}")], BOTH),
    "some of its stores": (EVERY, [(f", {LAST}]", "]"), ("[0, 1, 3]", "[0, 1]")], BOTH[1:]),
    "any array": (ARRAY, [(", array: tile", "")], BOTH),
    "another value of a parameter": (GIVEN, [("pitch: 4", "pitch: 8")], BOTH),
    "a listing's text in its place": (SPEC, [("file: loop.sass", TEXT)], LOOP),
    "a saved copy of a listing": (SPEC, [("loop.sass", "copy.sass")], LOOP),
    "another function": (FUNCTION, [("function: f", "function: g")], LOOP),
    "a shorter listing": (SPEC, [("      FFMA R0, R4, R5, R0;\n      FFMA R8, R6, R5, R8;\n", "")], SHORT),
    "a listing with others in its place": (SPEC, [("FFMA R8, R6, R5, R8;", "LDS R8, [R6];\n      NOP;")], SHORT),
}  # fmt: skip
"""A spec, edits of it, and the claims that then say less."""
KEPT: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "a declared access of the kernel": (SPEC, [(COMPILED, COMPILED), ("tid*4, base", "4*tid, base")]),
    "code in place of an address": (STATED, [("code: {instruction: st.shared.b32, threads: 32, address: tid*4",
                                              f"code: {{instruction: st.shared.b32, threads: 32, {COMPILED}")]),
    "the only kernel, named": (SPEC, [(COMPILED, at(kernel="k"))]),
    "another way to name the file": (SPEC, [("k.ptx", "./sub/../k.ptx")]),
    "an array that must be": (SPEC, [(COMPILED, at(array="tile"))]),
    "a parameter by number": (GIVEN, [("pitch: 4", "param1: 4")]),
    "a file in place of a text": (swapped(("file: loop.sass", TEXT), text=SPEC), [(TEXT, "file: loop.sass")]),
    "a longer listing": (SPEC, [("R6, R5, R8;\nclaims", "R6, R5, R8;\n      FADD R1, R2, R3;\nclaims")]),
    "other registers": (SPEC, [("FFMA R8, R6, R5, R8;\nclaims", "FFMA R9, R6, R5, R9;\nclaims")]),
    "fewer instructions that read no bank": (IDLE, [("      NOP;\n", "")]),
}  # fmt: skip
"""A spec, and edits after which no claim says less."""


@pytest.mark.parametrize("way", WEAKER)
def test_what_follows_the_code_no_more_is_weaker(way: str) -> None:
    before, edits, claims = WEAKER[way]
    found = outcome(before, swapped(*edits, text=before))
    assert {claim: found.get(claim) for claim in claims} == dict.fromkeys(claims, "weakened")
    assert outcome(before, before) == {}


@pytest.mark.parametrize("way", KEPT)
def test_what_follows_the_code_as_before_is_not_weaker(way: str) -> None:
    before, edits = KEPT[way]
    assert not {"weakened", "deleted"} & set(outcome(before, swapped(*edits, text=before)).values())


def test_a_failure_that_follows_the_code_no_more_says_less_too() -> None:
    before = SPEC.replace("[code, said]\n", "[code, said]\n    expect: refuted\n").replace("tid*4, base", "tid*8, base")
    assert outcome(before, before.replace(COMPILED, "address: tid*4"))[BOTH[0]] == "weakened"


def test_each_loss_is_told_in_words() -> None:
    after = swapped(("k.ptx", "copy.ptx"), (f"line: {FIRST}", f"line: {line_of(K, 1)}"), text=SPEC)
    after = swapped(("file: loop.sass", TEXT), text=after)
    told = {(each.what, each.before, each.after, each.note) for one in between(SPEC, after) for each in one.changes}
    assert ("file of access code", "k.ptx", "copy.ptx", "it no longer follows the code") in told
    assert ("listing loop", "read from loop.sass", "not read from the code", "it no longer follows the code") in told
    number = ("number 1 of 3 in the kernel", "number 2 of 3 in the kernel")
    assert ("instruction of access code", *number, "whether it is the same instruction cannot be told") in told


# --- when the kernel changes ---------------------------------------------------------------------------------------


def changed(repository: Repository, files: dict[str, str | None], run: Callable[..., Result]) -> Result:
    """What comes of a change, of a repository with a spec of the kernel alone."""
    repository.commit({"k.ptx": K, "a.swz.yaml": ONLY})
    repository.put(files)
    return run("diff", "HEAD", "--no-prove")


ONLY = SPEC[: SPEC.index("listings:")] + "claims:\n  - equivalent: [code, said]\n"
MORE = HEAD + kernel("k", stores(4, 4, 8, 8))


@pytest.mark.parametrize(
    ("ptx", "line", "code", "words"),
    [
        ("// a comment\n" + K, FIRST + 1, 0, "1 unchanged"),
        (HEAD + kernel("k", "membar.cta;\n" + stores(4, 4, 8)), FIRST + 1, 0, "1 unchanged"),
        (HEAD + kernel("k", stores(8, 4, 8)), FIRST, 0, "1 changed"),
        (HEAD + kernel("renamed", stores(4, 4, 8)), FIRST, 0, "1 unchanged"),
        (HEAD + kernel("k", stores(8, 4, 8)), line_of(K, 1), 1, "number 1 of 3 in the kernel -> number 2 of 3"),
        (MORE, FIRST, 1, "number 1 of 3 in the kernel -> number 1 of 4"),
        (MORE, line_of(MORE, 1), 1, "number 1 of 3 in the kernel -> number 2 of 4"),
    ],
    ids=["lines", "code before it", "its swizzle", "the kernel's name", "a harmless store", "one more", "the other"],
)
def test_the_spec_of_a_changed_kernel(
    ptx: str, line: int, code: int, words: str, repository: Repository, swzverify: Callable[..., Result]
) -> None:
    """A line may change with the kernel, as long as it is the same instruction of it."""
    spec = ONLY.replace(f"line: {FIRST}", f"line: {line}").replace("tid*4,", "4*tid," if code else "tid*4,")
    result = changed(repository, {"k.ptx": ptx, "a.swz.yaml": spec}, swzverify)
    assert (result.exit_code, words in " ".join(result.stdout.split())) == (code, True), result.stdout


def test_a_kernel_that_lost_its_swizzle_beside_its_saved_copy(
    repository: Repository, swzverify: Callable[..., Result]
) -> None:
    lost = {"k.ptx": HEAD + kernel("k", stores(8, 4, 8)), "saved.ptx": K}
    result = changed(repository, {**lost, "a.swz.yaml": ONLY.replace("k.ptx", "saved.ptx")}, swzverify)
    assert result.exit_code == 1
    assert "file of access code: k.ptx -> saved.ptx (it no longer follows the code)" in " ".join(result.stdout.split())


def test_a_spec_that_moves_takes_its_code_with_it_or_names_it_where_it_is(
    repository: Repository, swzverify: Callable[..., Result]
) -> None:
    """A copy beside the moved spec is not what the kernel becomes, if the kernel stays."""
    repository.commit({"src/k.ptx": K, "src/a.swz.yaml": ONLY})
    repository.put({"src/a.swz.yaml": None, "other/a.swz.yaml": ONLY, "other/k.ptx": K})
    copied = swzverify("diff", "HEAD", "--no-prove")
    repository.put({"src/k.ptx": None})
    moved = swzverify("diff", "HEAD", "--no-prove")
    repository.put({"src/k.ptx": K, "other/a.swz.yaml": ONLY.replace("k.ptx", "../src/k.ptx")})
    named = swzverify("diff", "HEAD", "--no-prove")
    assert [each.exit_code for each in (copied, moved, named)] == [1, 0, 0], copied.stdout


@pytest.mark.parametrize("name", ["loop.sass", "loop.SASS"])
def test_listings_of_each_side_count(name: str, repository: Repository, swzverify: Callable[..., Result]) -> None:
    spec = f"swzverify: 1\nlistings: {{loop: {{file: {name}, target: sm_52}}}}\n"
    spec += "claims: [{register_conflicts: {listing: loop, at_most: 3}}]\n"
    repository.commit({name: SASS, "a.swz.yaml": spec})
    assert "1 unchanged" in swzverify("diff", "HEAD", "--no-prove").stdout
    repository.put({name: OTHER_SASS})
    assert "1 changed" in swzverify("diff", "HEAD", "--no-prove").stdout
    repository.put({name: SASS.splitlines()[0] + "\n"})
    shorter = swzverify("diff", "HEAD", "--no-prove")
    assert (shorter.exit_code, "instructions are left out" in shorter.stdout) == (1, True)


# --- random edits --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reads:
    """What an access is read from, or an address in its place."""

    file: str | None
    kernel: str
    places: tuple[int, ...]
    array: bool
    pitch: int | None


COUNTS = {"k.ptx": {"k": 3}, "copy.ptx": {"k": 3}, "two.ptx": {"k": 3, "k2": 3}, "pitch.ptx": {"k": 1}}


def random_reads(rng: random.Random) -> Reads:
    file = rng.choice(list(COUNTS))
    kernel = rng.choice(list(COUNTS[file]))
    count = COUNTS[file][kernel]
    places = tuple(sorted(rng.sample(range(count), rng.randint(1, count))))
    return Reads(file, kernel, places, rng.random() < 0.3, rng.choice((4, 8)) if file == "pitch.ptx" else None)


def edited(rng: random.Random, reads: Reads) -> Reads:
    """One edit, or none."""
    other = random_reads(rng)
    match rng.randrange(7):
        case 0:
            return replace(reads, file=None)
        case 1:
            return replace(reads, array=not reads.array)
        case 2:
            return other
        case 3 if other.file != "pitch.ptx" and reads.file != "pitch.ptx":
            return replace(reads, file=other.file, kernel=other.kernel)
        case 4 if COUNTS[str(reads.file)][reads.kernel] == 3 and other.file != "pitch.ptx":
            return replace(reads, places=other.places)
        case 5 if reads.file == "two.ptx":
            return replace(reads, kernel={"k": "k2", "k2": "k"}[reads.kernel])
        case _:
            return reads if reads.pitch is None else replace(reads, pitch=other.pitch or 16)


def says_less(old: Reads, new: Reads) -> bool:
    """Whether the newer one must count as weaker, by what this file knows of its kernels."""
    same = (old.file, old.kernel, old.places) == (new.file, new.kernel, new.places)
    return not same or (old.array and not new.array) or old.pitch != new.pitch


def spec_of(reads: Reads) -> str:
    loop = f", for: {{i: {len(reads.places)}}}" if len(reads.places) > 1 else ""
    where = "address: tid*4"
    if reads.file is not None:
        text = {"k.ptx": K, "copy.ptx": K, "two.ptx": TWO, "pitch.ptx": PITCH}[reads.file]
        skipped = 3 if reads.kernel == "k2" else 0
        lines = [line_of(text, skipped + place) for place in reads.places]
        keys: dict[str, object] = {"file": reads.file, "line": lines[0] if len(lines) == 1 else lines}
        keys |= {"kernel": reads.kernel} if reads.file == "two.ptx" else {}
        keys |= {"array": "tile"} if reads.array else {}
        keys |= {"parameters": f"{{pitch: {reads.pitch}}}"} if reads.pitch is not None else {}
        where = at(**keys)
    access = f"{{instruction: st.shared.b32, threads: 32{loop}, {where}, base: {{align: 256}}}}"
    return f"swzverify: 1\ntarget: sm_90\naccesses:\n  code: {access}\nclaims: [{{conflict_free: code}}]\n"


def wrong_answers(seeds: range, tally: Counter[bool]) -> Iterator[str]:
    """Random edits after which `diff` says another thing than must be; `tally` counts those that say
    less.
    """
    for seed in seeds:
        rng = random.Random(seed)
        old = random_reads(rng)
        new = edited(rng, old)
        found = outcome(spec_of(old), spec_of(new)).get("code::conflict_free", "unchanged")
        less = says_less(old, new)
        tally[less] += 1
        if (found == "weakened") is not less:
            yield f"seed {seed}: {found}: {old} {new}"


@pytest.mark.parametrize("seeds", share([range(75), range(75, 150)], 2))
def test_random_edits(seeds: range) -> None:
    tally = Counter[bool]()
    assert not list(wrong_answers(seeds, tally))
    assert min(tally[True], tally[False]) > len(seeds) // 10


# --- planted mistakes ----------------------------------------------------------------------------------------------


def _blind_to(**same: object) -> Callable[[pytest.MonkeyPatch], None]:
    """Every access is read from one such thing."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        sound = followed._code

        def of(claim: object) -> object:
            return replace(claim, code=tuple(replace(each, **same) for each in claim.code))  # type: ignore[attr-defined, type-var]

        patch.setattr(followed, "_code", lambda before, after, gone: sound(of(before), of(after), gone))

    return plant


def _nothing_is_lost(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(followed, "_code", lambda *_: iter(()))


def _an_address_will_do(patch: pytest.MonkeyPatch) -> None:
    sound = followed._code
    patch.setattr(followed, "_code", lambda old, new, gone: sound(old, new, gone) if new.code else iter(()))


def _some_is_every(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ReadCode, "has_every_instruction", property(lambda _: True))


def _files_are_compared_by_their_end(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(followed, "_same_file", lambda one, other, _: one.file[-4:] == other.file[-4:])


PLANTED = [
    _nothing_is_lost,
    _an_address_will_do,
    _some_is_every,
    _files_are_compared_by_their_end,
    _blind_to(places=(), among=0),
    _blind_to(stated="", function=""),
    _blind_to(array=""),
    _blind_to(arguments=()),
]


@pytest.mark.parametrize("plant", PLANTED)
def test_a_planted_mistake_is_found_by_random_edits(
    monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None]
) -> None:
    plant(monkeypatch)
    assert next(wrong_answers(range(150), Counter()), "")


def test_a_listing_that_is_only_counted_by_lines_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mistake: whatever stands in a listing counts."""
    monkeypatch.setattr(subjects, "_COUNTED", frozenset(subjects.Work))
    before, edits, (claim,) = WEAKER["a listing with others in its place"]
    assert outcome(before, swapped(*edits, text=before))[claim] == "changed"


def test_a_copy_beside_a_moved_spec_that_counts_as_moved_is_found(
    monkeypatch: pytest.MonkeyPatch, repository: Repository, swzverify: Callable[..., Result]
) -> None:
    """A planted mistake: a file of the same name beside the spec is the same file."""
    monkeypatch.setattr(followed, "_same_file", lambda one, other, _: one.beside == other.beside)
    with pytest.raises(AssertionError):
        test_a_spec_that_moves_takes_its_code_with_it_or_names_it_where_it_is(repository, swzverify)


def test_files_are_named_as_they_are_seen() -> None:
    assert read_code.named_files("k.ptx", "src/a.swz.yaml") == ("src/k.ptx", "k.ptx")
