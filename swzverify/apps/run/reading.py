"""From a spec file to its `Spec`, or to the problems that a report shows; never an exception."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from swzverify.apps.run.fault import fault, what_to_send
from swzverify.errors import Problem, SwzError
from swzverify.spec import Spec, SpecError, load_spec
from swzverify.spec.load import load_bytes, parse_spec
from swzverify.spec.sources.languages import Language

MOST_READ = 64
"""A run keeps so many specs, the newest."""
_OF_OTHER_FILES = ("file", "from_source", "\\")
"""Keys that name files, by name or as the spec's own: claims tell where constants were read. YAML may write keys with
a backslash, too.
"""


@dataclass(slots=True)
class Readings:
    """The specs that a run has read, by their text, of texts that name no other file."""

    specs: dict[tuple[str, str | None, Language | None], Spec] = field(
        default_factory=dict[tuple[str, str | None, Language | None], Spec]
    )

    def parse(self, text: str, *, path: str, target: str | None, language: Language | None) -> Spec:
        """The spec in a text, as `parse_spec`."""
        if any(word in text for word in _OF_OTHER_FILES):
            return parse_spec(text, path=path, target=target, language=language)
        key = (text, target, language)
        if key in self.specs:
            return self.specs[key].at(path)
        spec = self.specs[key] = parse_spec(text, path=path, target=target, language=language)
        if len(self.specs) > MOST_READ:
            del self.specs[next(iter(self.specs))]
        return spec


def read_spec(
    file: str, target: str | None = None, data: bytes | None = None, parse: Callable[..., Spec] | None = None
) -> Spec | list[Problem]:
    """The spec of a file, or everything that is wrong with it; with `data` these are its bytes.

    `parse` stands for `parse_spec`.

    >>> [problem.code for problem in read_spec("no_such_file.swz.yaml")]
    ['SWZ101']
    """
    try:
        return (
            load_spec(file, target=target, parse=parse) if data is None else load_bytes(data, path=file, target=target)
        )
    except SpecError as error:
        problems = list(error.problems)
        if error.left_out:
            problems.append(Problem("SWZ107", f"{error.left_out} more problems are not shown", file=file))
        return problems
    except SwzError as error:
        return [Problem(error.code, error.message, error.hint, file)]
    except OSError as error:
        return [Problem("SWZ503", f"cannot read the file: {error.strerror or error}", file=file)]
    except Exception as error:  # noqa: BLE001 - the other specs of the run must still be proved
        return [Problem("SWZ901", f"reading this spec failed: {fault(error)}", what_to_send(), file)]
