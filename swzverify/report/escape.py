"""Makes text from a spec safe wherever a report puts it: one function for each place.

Nothing in a terminal moves the cursor, changes colours or reorders a line; nothing in HTML,
Markdown, SARIF or the log of a GitHub workflow is read as markup, a link or a command. What is made
for one place is not safe in another.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\x1b"}


def _escaped(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def visible(text: str) -> str:
    r"""One line of text, with every control, format or unassigned character spelled as an escape.

    Bidirectional marks, lone surrogates and line separators are among them; letters of any script
    stay as they are.

    >>> visible("A\x1b[31m\u202e")
    'A\\x1b[31m\\u202e'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(char) if unicodedata.category(char) in _UNSAFE else char for char in text)


def prose(text: str) -> str:
    r"""A sentence on one line: runs of white space become one space, the rest is as in `visible`.

    >>> prose("one bank,\n   32 rows\n")
    'one bank, 32 rows'
    """
    return visible(" ".join(text.split()))


def visible_lines(text: str) -> list[str]:
    r"""The lines of a longer text, each made visible; only the line feed counts as a line's end.

    >>> visible_lines("a\nb\rc")
    ['a', 'b\\rc']
    """
    return [visible(line) for line in text.rstrip("\n").split("\n")]


_COMMAND = re.compile(r"^(\s*):(?=:)|##(?=\[|[A-Za-z]+\[)", re.MULTILINE)
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def log_lines(text: str) -> str:
    r"""Lines for a log that a CI service reads: none is one of its commands.

    GitHub's runner takes `::name::` after white space at the beginning of a line as a command, and
    `##[name]` anywhere; Azure's and TeamCity's take `##vso[` and `##teamcity[`. What looks so gets
    a character spelled as an escape. Source: GitHub Actions runner, ActionCommand.cs; Azure
    Pipelines and TeamCity, their pages on logging commands.

    >>> log_lines("  ::add-mask::a\na.yaml::A::injective\n##[error]x")
    '  \\x3a:add-mask::a\na.yaml::A::injective\n\\x23#[error]x'
    """
    return _COMMAND.sub(lambda found: "\\x23#" if found[0] == "##" else f"{found[1]}\\x3a", text)


def shortened(text: str, most: int) -> str:
    """The first characters of a text, with a word on how many are left out; cut before escaping.

    >>> shortened("abcdef", 4), shortened("abcd", 4)
    ('abcd... (2 characters left out)', 'abcd')
    """
    return text if len(text) <= most else f"{text[:most]}... ({len(text) - most} characters left out)"


def shown_names(names: Sequence[str]) -> str:
    r"""The first of some files' names on one line, and how many more there are.

    >>> shown_names(["a.yaml", "b\n.yaml"]), shown_names(["a", "b", "c", "d", "e"])
    ('a.yaml, b\\n.yaml', 'a, b, c and 2 more')
    """
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(map(visible, names[:3])) + more


def xml_text(text: str) -> str:
    r"""Text for XML 1.0: characters that it cannot hold, not even as a reference, become escapes.

    What is markup (`<`, `&`, `]]>`, quotes) is for the XML writer, which knows whether it writes
    text or an attribute. Source: XML 1.0, fifth edition, section 2.2, production Char.

    >>> xml_text("<a>\x00\ufffe")
    '<a>\\x00\\ufffe'
    """
    return "\n".join(visible_lines(text))


def html_text(text: str) -> str:
    r"""Text for HTML, between tags or in a quoted attribute; not in `<script>`, `<style>` or a URL.

    A page may go to standard output, and so to a log: line feeds and `##` are references, which no CI
    service reads as a command; see `log_lines`.

    >>> html_text("<b title='x'>&")
    '&lt;b title=&#x27;x&#x27;&gt;&amp;'
    >>> html_text("a\n::error::x ##[error]")
    'a&#10;::error::x #&#35;[error]'
    """
    from html import escape  # noqa: PLC0415 - most reports are text

    lines = (escape(line, quote=True).replace("##", "#&#35;") for line in visible_lines(text))
    return "&#10;".join(lines)


def github_message(text: str) -> str:
    r"""Text for a workflow command's message, `::error file=a.yaml::message`; lines stay lines.

    Source: actions/toolkit, packages/core/src/command.ts, escapeData.

    >>> github_message("100 %\n::error::x")
    '100 %25%0A::error::x'
    """
    return "%0A".join(line.replace("%", "%25") for line in visible_lines(text))


def github_property(text: str) -> str:
    """Text for a property of a workflow command, such as `file=` or `title=`.

    Source: actions/toolkit, packages/core/src/command.ts, escapeProperty.

    >>> github_property("a,b:c.yaml")
    'a%2Cb%3Ac.yaml'
    """
    return visible(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")


def markdown_text(text: str) -> str:
    r"""A line of prose for GitHub's Markdown, also in a table: no markup, link, HTML or mention.

    Every punctuation character of ASCII can be escaped so (CommonMark 2.4); an `@` would still name
    a user, and is kept apart from the name by an empty comment.

    >>> markdown_text("*a* | <b> @me")
    '\\*a\\* \\| \\<b\\> @<!-- -->me'
    """
    return _PUNCTUATION.sub(lambda found: "@<!-- -->" if found[0] == "@" else f"\\{found[0]}", prose(text))


def markdown_code(text: str) -> str:
    """One line as a code span for Markdown, also in a table's cell.

    The fence is longer than any run of backticks inside. A cell would end at a `|`, and outside of
    tables a code span has no escape for it, so it is written as its fullwidth twin.

    >>> markdown_code("a `b` c"), markdown_code("x|y")
    ('`` a `b` c ``', '` x\uff5cy `')
    """
    shown = visible(text).replace("|", "\uff5c")
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {shown} {fence}"


def sarif_text(text: str) -> str:
    """Text for a SARIF message: no embedded link, no placeholder. The JSON writer escapes for JSON.

    Source: SARIF 2.1.0, sections 3.11.5 (placeholders, `{0}`) and 3.11.6 (embedded links,
    `[text](target)`).

    >>> sarif_text("see [this](http://example.org) and {0}")
    'see [this] (http://example.org) and {{0}}'
    """
    lines = "\n".join(visible_lines(text))
    return lines.replace("](", "] (").replace("{", "{{").replace("}", "}}")


def sarif_markdown(text: str) -> str:
    r"""Our Markdown for a SARIF message, without placeholders.

    Text from a spec must already be escaped.

    >>> sarif_markdown("a \\{0\\}")
    'a \\{{0\\}}'
    """
    return text.replace("{", "{{").replace("}", "}}")


def sarif_uri(path: str) -> str:
    """A relative path as the URI of a SARIF artifact: no scheme, no host, nothing unescaped.

    >>> sarif_uri("a b:c#d.yaml"), sarif_uri("//host/x")
    ('a%20b%3Ac%23d.yaml', 'host/x')
    """
    from urllib.parse import quote  # noqa: PLC0415 - as above

    return quote(path.replace("\\", "/").lstrip("/"), safe="/", errors="backslashreplace")
