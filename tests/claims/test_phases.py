"""Order of accesses: the claims on phases against brute force, at edges, at random, and with planted mistakes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from swzverify.claims import Outcome, RaceFree, ReadsWhatWasWritten
from swzverify.claims.phase_points import Pair
from swzverify.claims.run_points import RunPoints, Turn
from swzverify.engines.obligations import Side
from swzverify.ir.expr import TRUE
from swzverify.prover import Options, prove
from swzverify.spec import SpecError
from swzverify.spec.load import parse_spec
from swzverify.subjects import phase_order
from swzverify.subjects.phase import Sync, WaitGroup
from swzverify.subjects.phase_order import Who, Window
from tests.claims.phase_brute import last_writes, races
from tests.claims.phase_edges import HEAD, PHASES, READS, edge_spec
from tests.nightly import counts, share

RUNS = (0, 1, 2, 3, 6)
"""Numbers of iterations that brute force looks at of a loop with any number."""


def race_claim(name: str) -> RaceFree:
    claims = (each.claim for each in edge_spec().claims)
    return next(each for each in claims if isinstance(each, RaceFree) and each.phase.name == name)


def read_claim(name: str) -> ReadsWhatWasWritten:
    claims = (each.claim for each in edge_spec().claims)
    return next(each for each in claims if isinstance(each, ReadsWhatWasWritten) and each.phase.name == name)


def by_day(names: Iterable[str], night: set[str]) -> list[Any]:
    """The names as parameters; some take Z3 a second each, and have others like them by day."""
    return [pytest.param(name, marks=[pytest.mark.nightly] * (name in night)) for name in names]


@pytest.mark.parametrize("name", by_day(PHASES, {"copies", "copies_without_commit"}))
def test_races_of_edges(name: str) -> None:
    claim, free = race_claim(name), PHASES[name][1]
    counts = RUNS if claim.phase.count is None else (claim.phase.count,)
    assert free != any(races(claim.phase, count) for count in counts), "the edge is not what it says"
    verdict = prove(claim, options=Options(every_engine=True))
    assert verdict.outcome is (Outcome.PROVED if free else Outcome.REFUTED), verdict


@pytest.mark.parametrize("name", by_day(READS, {"ring_far_early", "copies_off_by_one", "copies_wait_all"}))
def test_reads_of_edges(name: str) -> None:
    claim, free = read_claim(name), READS[name][2]
    verdict = prove(claim, options=Options(every_engine=True))
    assert verdict.outcome is (Outcome.PROVED if free else Outcome.REFUTED), verdict
    if free:
        count = claim.phase.count or 6
        assert claim.phase.count is None or count == claim.phase.count
        found = last_writes(claim.phase, count, claim.read, claim.write)
        lag = claim.actual_lag or 0
        start = lag if claim.phase.before is None else 0
        run = claim.phase.runs
        number = next((each.follows.number for _, each in run if each.access is claim.write and each.follows), 0)
        for (iteration, _), writers in found.items():
            if iteration >= start:
                expected = -1 if name == "before_ordered" else iteration - lag + number
                assert writers == {expected}


@pytest.mark.parametrize(
    ("phase", "claim", "expected"),
    [
        ("steps: [get]", "race_free: p", Outcome.PROVED),
        ("for: {i: 0}, steps: [put, get_other_warp]", "race_free: p", Outcome.VACUOUS),
        ("for: {i: 0}, before: [put, get_other_warp], steps: [put]", "race_free: p", Outcome.REFUTED),
        (
            "for: {i: 2}, steps: [put, barrier, get_other_warp, barrier]",
            "reads_what_was_written: {read: get_other_warp, write: put, lag: 5}",
            Outcome.VACUOUS,
        ),
        (
            "for: {i: 2}, steps: [put_first, barrier, get_second, barrier]",
            "reads_what_was_written: {read: get_second, write: put_first}",
            Outcome.REFUTED,
        ),
        (
            "for: {i: any}, steps: [put, get, get_other_warp]",
            "reads_what_was_written: {read: get, write: put}",
            Outcome.PROVED,
        ),
    ],
)
def test_claims_that_say_little(phase: str, claim: str, expected: Outcome) -> None:
    spec = parse_spec(f"{HEAD}  p: {{{phase}}}\nclaims:\n  - {claim}\n")
    assert prove(spec.claims[0].claim).outcome is expected


def test_an_atomic_is_no_write_that_is_read() -> None:
    phase = "steps: [add, barrier, peek]"
    with pytest.raises(SpecError, match="no access that writes"):
        parse_spec(f"{HEAD}  p: {{{phase}}}\nclaims:\n  - reads_what_was_written: {{read: peek, write: add}}\n")


def test_a_write_of_unknown_bytes_is_refused() -> None:
    access = "  some: {tile: one, instruction: st.shared.b32, threads: 64, lanes: {u: 2}, coord: [u, lane]}\n"
    text = HEAD.replace("phases:\n", f"{access}phases:\n") + "  p: {steps: [some, barrier, get]}\n"
    with pytest.raises(SpecError, match="reads u"):
        parse_spec(f"{text}claims:\n  - reads_what_was_written: {{read: get, write: some}}\n")


def random_phase(rng: random.Random) -> str:
    """A phase of two to five steps around some of the accesses of the edges."""
    ringed = ["get2", "put2", "put2_next", "get3"]
    ringed += [f"{{access: {name}, at: {{k: i + %d}}}}" for name in ("put3", "copy3", "copy2")]
    plain = ["put", "get", "get_other_lane", "get_other_warp", "copy", "get_second", "put_first"]
    syncs = ["barrier", "barrier", "barrier", "syncwarp", "commit", "commit", "wait_all", "{wait_group: %d}"]
    pool = rng.choice([ringed, plain])

    def step(source: list[str]) -> str:
        text = rng.choice(source)
        return text % rng.randrange(3) if "%" in text else text

    def steps(count: int) -> str:
        return ", ".join(step(pool if rng.random() < 0.5 else syncs) for _ in range(count))

    often = rng.choice(["any", "any", 1, 2, 3])
    parts = [f"for: {{i: {often}}}", f"steps: [{steps(rng.randrange(2, 6))}, {step(pool)}]"]
    parts += [f"{part}: [{steps(rng.randrange(1, 4))}]" for part in ("before", "after") if rng.random() < 0.25]
    return f"{{{', '.join(parts)}}}"


@pytest.mark.parametrize("count", counts(20, 600))
def test_random_phases(count: int) -> None:
    tally = {Outcome.PROVED: 0, Outcome.REFUTED: 0, Outcome.VACUOUS: 0}
    for seed in range(count):
        text = random_phase(random.Random(seed))
        spec = parse_spec(f"{HEAD}  p: {text}\nclaims:\n  - race_free: p\n")
        claim = spec.claims[0].claim
        assert isinstance(claim, RaceFree)
        verdict = prove(claim)
        tally[verdict.outcome] += 1
        runs = RUNS if claim.phase.count is None else (claim.phase.count,)
        raced = any(races(claim.phase, each) for each in runs)
        assert (verdict.outcome is Outcome.REFUTED) == raced, (seed, text, verdict)
    assert min(tally[Outcome.PROVED], tally[Outcome.REFUTED]) >= count // 5, tally


Patch = pytest.MonkeyPatch


def back_edge_forgotten(patch: Patch) -> None:
    sound = phase_order.iterations
    patch.setattr(phase_order, "iterations", lambda phase, count: sound(phase, min(count, 1)))


def barrier_counted_twice(patch: Patch) -> None:
    """A barrier ends a copy too, as if it had been waited for."""

    def wrong(line: list[object]) -> int:
        return next((at for at, step in enumerate(line) if step is Sync.BARRIER), 0)

    patch.setattr(phase_order, "_end_of_copy", wrong)


def _taken_for(patch: Patch, true: Who, wrong: Who) -> None:
    sound = Window.who
    patch.setattr(Window, "who", lambda window, at: wrong if sound(window, at) is true else sound(window, at))


def own_copies_excluded(patch: Patch) -> None:
    _taken_for(patch, Who.ANY, Who.THREADS)


def lockstep_assumed(patch: Patch) -> None:
    _taken_for(patch, Who.THREADS, Who.WARPS)


def syncwarp_for_the_block(patch: Patch) -> None:
    sound = phase_order.window

    def wrong(line: list[phase_order.Step]) -> Window:
        found = sound(line)
        return replace(found, block=found.warp)

    patch.setattr(phase_order, "window", wrong)


def wait_group_off_by_one(patch: Patch) -> None:
    sound = phase_order._end_of_copy
    patch.setattr(
        phase_order,
        "_end_of_copy",
        lambda line: sound([WaitGroup(max(0, s.pending - 1)) if isinstance(s, WaitGroup) else s for s in line]),
    )


def copies_in_groups_without_commit(patch: Patch) -> None:
    sound = phase_order._end_of_copy
    patch.setattr(phase_order, "_end_of_copy", lambda line: sound([line[0], Sync.COMMIT, *line[1:]]) - 1)


def iteration_relation_dropped(patch: Patch) -> None:
    """Both steps run in the same iteration, whatever lies between."""
    sound = Pair.turns.func  # type: ignore[attr-defined]
    patch.setattr(Pair, "turns", property(lambda pair: (sound(pair)[0], replace(sound(pair)[1], first=0))))


def iterations_unrelated(patch: Patch) -> None:
    """The two steps run in any two iterations, whatever lies between."""
    sound = Pair.turns.func  # type: ignore[attr-defined]

    def wrong(pair: Pair) -> tuple[Turn, Turn]:
        return sound(Pair(pair.phase, replace(pair.meeting, unrelated=pair.phase.count is None)))

    patch.setattr(Pair, "turns", property(wrong))


def guards_forgotten(patch: Patch) -> None:
    sound = RunPoints.side

    def wrong(side: RunPoints, variables: tuple[phase_order.Place, ...]) -> Side:
        return replace(sound(side, variables), active=TRUE, is_active=None)  # type: ignore[arg-type]

    patch.setattr(RunPoints, "side", wrong)


def number_of_the_step_forgotten(patch: Patch) -> None:
    """`at: {k: i + 2}` is read as `at: {k: i}`."""
    sound = RunPoints.expression

    def wrong(side: RunPoints, root: object) -> object:
        run = replace(side.run, bound=tuple(replace(each, number=0) for each in side.run.bound))
        return sound(replace(side, run=run), root)  # type: ignore[arg-type]

    patch.setattr(RunPoints, "expression", wrong)


def threads_meet_themselves(patch: Patch) -> None:
    patch.setattr(Pair, "tags", ())


def atomics_are_plain(patch: Patch) -> None:
    patch.setattr(phase_order, "_matters", lambda *_: True)


def unbarred_loops_are_ordered(patch: Patch) -> None:
    sound = phase_order._in_loop
    patch.setattr(phase_order, "_in_loop", lambda phase: (each for each in sound(phase) if not each.unrelated))


MISTAKES: dict[Callable[[Patch], None], str] = {
    back_edge_forgotten: "twice_of_a_loop",
    barrier_counted_twice: "copies_without_commit",
    own_copies_excluded: "own_copy",
    lockstep_assumed: "lanes_synced_once",
    syncwarp_for_the_block: "matrix",
    wait_group_off_by_one: "copies_off_by_one",
    copies_in_groups_without_commit: "copies_off_by_one",
    iteration_relation_dropped: "one_barrier",
    iterations_unrelated: "one_barrier",
    guards_forgotten: "guarded",
    number_of_the_step_forgotten: "ring_write_far",
    threads_meet_themselves: "own_data",
    atomics_are_plain: "atomics",
    unbarred_loops_are_ordered: "lanes",
}
"""Each with an edge that shows it."""


@pytest.mark.parametrize("mistake", share(MISTAKES, 2), ids=lambda each: each.__name__)
def test_planted_mistakes_are_found(mistake: Callable[[Patch], None], monkeypatch: Patch) -> None:
    """The edge comes out otherwise than in `test_races_of_edges`, or the engines contradict the replay."""
    name = MISTAKES[mistake]
    right = Outcome.PROVED if PHASES[name][1] else Outcome.REFUTED
    mistake(monkeypatch)
    assert prove(RaceFree(race_claim(name).phase)).outcome is not right
