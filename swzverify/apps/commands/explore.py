"""`swzverify explore`: a page on which a layout is changed and proved anew."""

from __future__ import annotations

import click

from swzverify.apps.commands.terminal import say
from swzverify.apps.explorer.of_spec import Opened, state_of
from swzverify.apps.explorer.server import serve
from swzverify.apps.options.explore import ExploreOptions
from swzverify.apps.run.one_case import named, one_case
from swzverify.errors import SwzError
from swzverify.spec import load_spec


def explore_command(options: ExploreOptions) -> None:
    """Serve the page until Ctrl-C, and say its link."""
    if options.spec is None and options.access is not None:
        raise click.UsageError("--access names an access of a spec: name the spec's file, too")
    query = ""
    if options.spec is not None:
        opened = opened_spec(options.spec, options.access)
        query = opened.state.to_query()
        for each in opened.left_out:
            say(f"not on the page: {each}\n")
    serve(options.host, options.port, lambda link: _ready(link, opens=options.opens), query)


def opened_spec(path: str, access: str | None) -> Opened:
    """What the page begins with for an access of a spec.

    Raises:
        SpecError: The spec cannot be read.
        SwzError: SWZ581 for an unknown access, or several without a name; those of `state_of`.
    """
    case, _ = one_case(load_spec(path), {})
    if access is None and len(case.accesses) != 1:
        hint = " or ".join(f"--access {name}" for name in [*case.accesses][:8]) or "a spec with `accesses:`"
        raise SwzError("SWZ581", f"{path} has {len(case.accesses)} accesses; the page has one", hint=hint)
    return state_of(named(case.accesses, access or next(iter(case.accesses)), "access", path))


def _ready(link: str, *, opens: bool) -> None:
    say(f"{link} (Ctrl-C ends it)\n")
    if opens:
        click.launch(link)
