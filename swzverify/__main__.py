"""The command `swzverify` and `python -m swzverify`: nothing is imported from the working folder.

That folder is often a stranger's: a checkout of a pull request. A `z3.py` in it must not come to
run.
"""

from __future__ import annotations

import os
import site
import sys

_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder that this package lies in."""


def main() -> None:
    """Run the command line; modules are not imported from the working folder."""
    leave_working_folder_out()
    start_quickly()
    # Only now: these import click, and much else after it.
    from swzverify.core.processes import collect_rarely, leave_to_system, load_recheck  # noqa: PLC0415

    load_recheck()
    collect_rarely()
    from swzverify.apps.cli import main as command  # noqa: PLC0415

    try:
        command(prog_name="swzverify")
    finally:
        leave_to_system()


def start_quickly() -> None:
    """Tell packages what they need not do on import, for this process and those that it starts.

    No plugin of the environment has a say in how specs are read: pydantic need not look for some.
    Nothing here multiplies matrices: numpy's library for that need not start a thread for every
    processor, which takes longer than the rest of numpy.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def leave_working_folder_out() -> None:
    """Take the working folder out of `sys.path`, for this process and for those that it starts.

    `python -m` and the `python -c` of a worker process put it first, an empty entry of PYTHONPATH
    wherever it stands. Where this package itself lies in that folder, which is so in a checkout of
    it, the folder comes last.
    """
    sys.path[:] = _elsewhere(sys.path)
    if _HOME not in sys.path:
        sys.path.append(_HOME)
    os.environ["PYTHONSAFEPATH"] = "1"
    if "PYTHONPATH" in os.environ:
        os.environ["PYTHONPATH"] = os.pathsep.join(_elsewhere(os.environ["PYTHONPATH"].split(os.pathsep)))


def _elsewhere(entries: list[str]) -> list[str]:
    """The entries that are absolute and not the working folder; installed packages always count."""
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # it has been deleted
        here = ""
    installed = {os.path.dirname(os.__file__), *site.getsitepackages(), site.getusersitepackages()}
    return [
        entry for entry in entries if entry in installed or (os.path.isabs(entry) and os.path.realpath(entry) != here)
    ]


if __name__ == "__main__":
    main()
