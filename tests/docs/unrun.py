"""What can be said of blocks and commands without running them: they parse, and commands and
options exist.
"""

from __future__ import annotations

import ast
import configparser
import json
import re
import tomllib

from click import Context, Group
from ruamel.yaml import YAML

from swzverify.apps.cli import main
from tests.docs.blocks import Block


class PageError(AssertionError):
    """A page that says what is not so."""


def check_unrun(block: Block) -> None:
    """What can be said of a block that is not run: it is not empty, its commands exist, its data
    parses.
    """
    if not block.mark("not run here"):
        raise PageError("`not run here` needs a reason")
    if block.language in {"sh", "console"}:
        for line in block.text.replace("\\\n", " ").splitlines():
            check_command(re.sub(r"\s+#\s.*$", "", line.removeprefix("$ ")).strip())
    elif block.language == "yaml":
        YAML(typ="safe", pure=True).load(block.text)
    elif block.language == "python":
        ast.parse(block.text)
    elif block.language in {"json", "toml", "ini"}:
        check_parsed(block)
    elif block.language not in {"text", "c", "cpp", "cuda", "diff"}:
        raise PageError(f"a block of `{block.language or 'no language'}`")


def check_command(command: str) -> None:
    """Refuse a command of ours that does not exist, or an option that it does not have."""
    words = command.split()
    if not words or words[0] != "swzverify" or len(words) == 1:
        return
    assert isinstance(main, Group)
    context = Context(main, info_name="swzverify")
    options = {name for option in main.params for name in option.opts}
    at = 1
    while at < len(words) and words[at].startswith("-"):
        _known(words[at], options | {"-h", "--help"}, "swzverify")
        at += 1
    if at == len(words):
        return
    sub = main.get_command(context, words[at])
    if sub is None:
        raise PageError(f"there is no command `swzverify {words[at]}`")
    options = {name for option in sub.params for name in (*option.opts, *option.secondary_opts)}
    if isinstance(sub, Group):
        return
    for word in words[at + 1 :]:
        if re.match(r"--?[a-zA-Z]", word):
            _known(word.partition("=")[0], options | {"-h", "--help"}, f"swzverify {sub.name}")


def _known(option: str, options: set[str], command: str) -> None:
    if option not in options:
        raise PageError(f"`{command}` has no option {option}")


def check_parsed(block: Block) -> None:
    try:
        match block.language:
            case "json":
                json.loads(block.text)
            case "toml":
                tomllib.loads(block.text)
            case _:
                configparser.ConfigParser().read_string(block.text)
    except (ValueError, configparser.Error) as error:
        raise PageError(f"no {block.language}: {error}") from None
