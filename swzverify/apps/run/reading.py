"""From a spec file to its `Spec`, or to the problems that a report shows; never an exception."""

from __future__ import annotations

from swzverify.apps.run.fault import fault, what_to_send
from swzverify.errors import Problem, SwzError
from swzverify.spec import Spec, SpecError, load_spec
from swzverify.spec.load import load_bytes


def read_spec(file: str, target: str | None = None, data: bytes | None = None) -> Spec | list[Problem]:
    """The spec of a file, or everything that is wrong with it; with `data` these are its bytes.

    >>> [problem.code for problem in read_spec("no_such_file.swz.yaml")]
    ['SWZ101']
    """
    try:
        return load_spec(file, target=target) if data is None else load_bytes(data, path=file, target=target)
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
