"""`llms.txt` and `AGENTS.md`: what programs that read the docs are told first, made from the docs."""

from __future__ import annotations

import re
from pathlib import Path

from swzverify.apps.cli import COMMANDS, options_of

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
_WRITTEN = "<!-- Written by `python docs/reference/generate.py` from the docs. -->"
_START = ("index", "why", "tutorial/index", "scan", "contracts", "pytest", "ci", "editors")
_REFERENCE = (
    "semantics", "hardware", "limits", "claims/index", "reference/spec", "reference/commands", "reference/python",
    "errors/index", "stability", "architecture",
)  # fmt: skip
_TRUST = ("certificates", "theorems", "mutation", "attacks", "crosscheck", "benchmarks", "scan_findings", "study/index")


def llms_text() -> str:
    """Every page with its first sentence, in four groups; the format is that of llmstxt.org."""
    title, summary = _head("index")
    named = {*_START, *_REFERENCE, *_TRUST}
    use = [page.stem for page in sorted(DOCS.glob("*.md")) if page.stem not in named]
    groups = (("Start", _START), ("Use", tuple(use)), ("Reference", _REFERENCE), ("Why trust it", _TRUST))
    lines = [f"# {title}", "", f"> {summary}"]
    for group, pages in groups:
        lines += ["", f"## {group}", "", *map(_line, pages)]
    return "\n".join([*lines, ""])


def _line(page: str) -> str:
    title, summary = _head(page)
    return f"- [{title}](docs/{page}.md): {summary}"


def _head(page: str) -> tuple[str, str]:
    """A page's title and the first sentence below it, on one line."""
    text = re.sub(r"<!--.*?-->\n?", "", (DOCS / f"{page}.md").read_text("utf-8"), flags=re.DOTALL)
    title = next(line for line in text.split("\n") if line.startswith("# ")).removeprefix("# ")
    blocks = text.partition(f"# {title}\n")[2].split("\n\n")
    prose = next((each for each in blocks if re.match(r"\s*[\w`*'\[]", each) and "```" not in each), "")
    line = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(prose.split()))
    return title, re.split(r"(?<=[.:!?]) (?=[A-Z`'])", line)[0].rstrip(":")


def agents_text() -> str:
    """What an agent needs to run swzverify, and where the rest stands."""
    title, summary = _head("index")
    json = _section("ci", "### JSON of each command").replace("](", "](docs/")
    server = (DOCS / "editors.md").read_text("utf-8")
    rows = [f"| `swzverify {name}` | {_first(name)} |" for name in COMMANDS]
    parts = [
        f"# {title}, for agents",
        _WRITTEN,
        summary,
        "[Install it](docs/ci.md#install-it) from a clone. [llms.txt](llms.txt) lists the pages of the docs.",
        "## Commands",
        "\n".join(["| command | does |", "|---|---|", *rows]),
        "`swzverify COMMAND --help` has the options; [commands](docs/reference/commands.md) has them all.",
        "## Exit codes",
        *(_codes(name) for name in ("prove", "scan", "synth")),
        "## JSON",
        json,
        "## Errors",
        "A message has a code, such as `SWZ104`, the place, the rule and the next step. `docs/errors/` has a page for "
        "each code, with an example: [all codes](docs/errors/index.md).",
        "## Rules for verdicts",
        "- `proved` holds for every value in the `scope` of the claim. `unknown` says nothing.\n"
        "- `refuted` has a counterexample, which was evaluated again in plain integers.\n"
        "- A spec states what a kernel does. When `prove --fix` or `synth --write` changes a spec, make the same "
        "change in the kernel.\n"
        "- Do not turn a failing claim into `expect: refuted` to pass: say in `because:` why it fails.",
        "## As tools",
        f"[`swzverify mcp`](docs/editors.md#a-server-for-agents) has the commands as tools. {_sentence(server)}",
        "## To change swzverify itself",
        "[CONTRIBUTING.md](CONTRIBUTING.md) says how to set up, test and commit; "
        "[architecture](docs/architecture.md) says which file has which rule, and which files a change touches.",
    ]
    return "\n\n".join(parts) + "\n"


def _sentence(text: str) -> str:
    found = re.search(r"The server reads[^.]*\.", " ".join(text.split()))
    return "" if found is None else found[0]


def _first(name: str) -> str:
    help_text = options_of(name).__doc__ or ""
    return " ".join(help_text.partition("\n\n")[0].split())


def _codes(name: str) -> str:
    """The exit codes in a command's help."""
    help_text = options_of(name).__doc__ or ""
    lines = help_text.partition("Exit codes:\n")[2].partition("\n\n")[0].strip().split("\n")
    rows = [re.sub(r"^\s*(\d+)\s+", r"| \1 | ", line) + " |" for line in lines]
    return "\n".join([f"`swzverify {name}`:", "", "| code | means |", "|---|---|", *rows])


def _section(page: str, heading: str) -> str:
    """What stands below a heading, up to the next one or the end of its table."""
    text = (DOCS / f"{page}.md").read_text("utf-8").partition(f"{heading}\n")[2]
    body = re.split(r"\n#{2,3} ", text)[0].strip()
    before, bar, after = body.partition("\n|---")
    return before + bar + after.partition("\n\n")[0] if bar else body
