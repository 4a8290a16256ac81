"""What was found at the functions of a scan so far: who hears of it, and the report on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from swzverify.apps.run.scan_jobs import Fault, Job, Scanned, Told
from swzverify.compiled.binaries import NOT_GIVEN
from swzverify.compiled.order.verdict import KernelRaces
from swzverify.compiled.ptx import Function, Module
from swzverify.compiled.sass import Listing
from swzverify.compiled.scan import AnyOperand, LaunchedBlock, ScannedAccess, ScannedStage, Verdict, synchronizations
from swzverify.core.words import counted
from swzverify.errors import InternalError, Problem, SwzError
from swzverify.report.escape import visible
from swzverify.report.scan import INTERRUPTED, ScannedFile


@dataclass(frozen=True, slots=True)
class ScanProgress:
    """How far a scan is.

    Attributes:
        functions: How many functions there are.
        judged: How many of them are judged.
        accesses: How many accesses these have.
        conflicts: How many of these conflict.
        latest: The function that is being judged, or the last one that was.
    """

    functions: int
    judged: int = 0
    accesses: int = 0
    conflicts: int = 0
    latest: str = ""


class InterruptedScanError(KeyboardInterrupt):
    """Ctrl-C ended a scan: how far it was, and `files`, the report on the functions that were judged."""

    def __init__(self, files: Sequence[ScannedFile], progress: ScanProgress) -> None:
        super().__init__(interrupted_words(progress.judged, progress.functions))
        self.files = tuple(files)


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who hears of a scan while it goes on.

    Attributes:
        begin: Gets the names of all functions and the problems of all texts, before the first part.
        part: Gets the report on each function, in the order of the texts.
        watch: Sees how far the scan is.
    """

    begin: Callable[[Sequence[str], Sequence[Problem]], object] = lambda _, __: None
    part: Callable[[ScannedFile], object] = lambda _: None
    watch: Callable[[ScanProgress], object] = lambda _: None


@dataclass(frozen=True, slots=True)
class ReadText:
    """A PTX text that was read, with its module.

    `name` is the file's name, and `origin` the place of the text in it. `machine` is its machine code;
    `no_machine` says why there is none. `launched` has blocks of launches that stand in its sources.
    """

    name: str
    origin: str
    text: str
    module: Module
    machine: Listing | None = None
    no_machine: str = NOT_GIVEN
    launched: Mapping[str, LaunchedBlock] = field(default_factory=dict[str, LaunchedBlock])


class ScanRun:
    """What was found so far, and the reports on it."""

    def __init__(
        self,
        texts: Sequence[ReadText],
        jobs: Sequence[Job],
        given: Mapping[Function, tuple[str, ...]],
        to: Listeners,
    ) -> None:
        self.found: dict[Job, Told] = {}
        self._texts, self._jobs, self._given, self._to = texts, jobs, given, to
        self.progress = ScanProgress(len(jobs))
        self._reported = 0

    def begin(self, job: Job) -> None:
        """Say which function is judged now."""
        self.progress = replace(self.progress, latest=self._function(job).name)
        self._to.watch(self.progress)

    def knows(self, job: Job, told: Told | None) -> bool:
        """Whether something was found at a function before; it is taken then."""
        if told is not None:
            self.take(job, told)
        return told is not None

    def take(self, job: Job, told: Told) -> None:
        """Take what was found at a function, and report on what is next in order.

        Raises:
            SwzError: SWZ902 if its process died.
        """
        _refuse_fault(told, self._texts[job[0]].name)
        self.found[job] = told
        verdicts = [each.decision.verdict for each in told.accesses] if isinstance(told, Scanned) else []
        self.progress = replace(
            self.progress,
            judged=len(self.found),
            accesses=self.progress.accesses + len(verdicts),
            conflicts=self.progress.conflicts + verdicts.count(Verdict.CONFLICT),
            latest=self._function(job).name,
        )
        self._to.watch(self.progress)
        while self._reported < len(self._jobs) and (job := self._jobs[self._reported]) in self.found:
            if not self._reported:
                names = dict.fromkeys(self._function(each).name for each in self._jobs)
                self._to.begin([*names], [each for text in self._texts for each in _problems(text)])
            text, function = self._texts[job[0]], self._function(job)
            self._to.part(_file(text, {job[1]: self.found[job]}, {function: self._given[function]}))
            self._reported += 1

    def files(self) -> list[ScannedFile]:
        """The report on all that was found; if that is not all there is, it says so."""
        found: list[ScannedFile] = []
        for number, text in enumerate(self._texts):
            jobs = [job for job in self._jobs if job[0] == number]
            judged = [job for job in jobs if job in self.found]
            given = {each: self._given[each] for each in map(self._function, judged)}
            file = _file(text, {job[1]: self.found[job] for job in judged}, given)
            if len(judged) < len(jobs):
                words = f"{interrupted_words(len(judged), len(jobs))}; the others have no verdict"
                problem = Problem(INTERRUPTED, words, file=text.name)
                file = replace(file, problems=(*file.problems, problem))
            found.append(file)
        return found

    def _function(self, job: Job) -> Function:
        return self._texts[job[0]].module.functions[job[1]]


def interrupted_words(judged: int, functions: int) -> str:
    """How far a scan was when it was interrupted.

    >>> interrupted_words(1, 3)
    'interrupted: 1 of 3 functions judged'
    """
    return f"interrupted: {judged} of {counted(functions, 'function')} judged"


def _refuse_fault(told: Told, name: str) -> None:
    if not isinstance(told, Fault):
        return
    if told.is_ours:
        raise InternalError(told.words)
    raise SwzError("SWZ902", f"{visible(name)}: {told.words}", hint="use fewer processes: -j 1")


def _problems(text: ReadText) -> tuple[Problem, ...]:
    return tuple(replace(each, file=text.name) for each in text.module.problems)


def _file(text: ReadText, told: Mapping[int, Told], given: Mapping[Function, tuple[str, ...]]) -> ScannedFile:
    accesses: list[ScannedAccess] = []
    operands: list[AnyOperand] = []
    stages: list[ScannedStage] = []
    races: dict[str, KernelRaces] = {}
    for place, each in told.items():
        if isinstance(each, Scanned):
            accesses += each.accesses
            operands += each.operands
            stages += each.stages
            if each.races is not None:
                races[text.module.functions[place].name] = each.races
    scanned = [each for each in text.module.functions if each in given]
    applied = {each.name: texts for each in scanned if (texts := given[each])}
    barriers = {each.name: count for each in scanned if (count := synchronizations(text.module, each))}
    files, code = dict(text.module.files), "" if text.machine is None else text.machine.target
    return ScannedFile(
        text.name,
        tuple(accesses),
        files,
        _problems(text),
        text.origin,
        applied,
        code,
        text.no_machine,
        text.machine,
        barriers=barriers,
        operands=tuple(operands),
        races=races,
        stages=tuple(stages),
    )
