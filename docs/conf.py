"""How `sphinx-build docs` makes a site of the Markdown pages, which read on GitHub as they are.

    sphinx-build --fail-on-warning --keep-going --nitpicky docs build/site

Nothing is fetched while it is built or read: no fonts, no scripts of others, formulas as MathML.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_site"))

_PROJECT = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))["project"]

project = _PROJECT["name"]
_FOUND = re.search(r'^__version__ = "(.+)"$', (HERE.parent / "swzverify" / "__init__.py").read_text("utf-8"), re.M)
release = version = _FOUND[1] if _FOUND else ""
html_title = f"{project} {release}"

extensions = ["myst_nb", "site_links", "site_maths", "site_navigation", "site_notebooks"]
exclude_patterns = ["_site"]
nitpicky = True

myst_heading_anchors = 4  # as GitHub makes them, so that links into pages hold in both places
myst_fence_as_directive = ["math"]
myst_enable_extensions: list[str] = []
nb_execution_mode = "off"  # the tests run the notebooks, and compare what they give with what the files have
highlight_language = "none"

repository_url = _PROJECT.get("urls", {}).get("Repository", "")
"""Where links to files outside docs/ lead; without one they are shown as the files' names."""

html_theme = "furo"
html_static_path = ["_site/style"]
html_css_files = ["swzverify.css"]
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
suppress_warnings = ["misc.highlighting_failure"]  # Pygments' PTX stumbles over the @ of a guard
pygments_style = "default"
pygments_dark_style = "github-dark"

# The four groups of pages, as in the README. The build warns of a page that no group names.
navigation = [
    ("Start", ["why", "tutorial/index", "scan", "from_kernel", "counterexamples", "notebooks/index"]),
    (
        "Use",
        [
            "costs",
            "explain",
            "show",
            "explore",
            "synth",
            "sweep",
            "study/index",
            "locality",
            "compiled",
            "contracts",
            "data",
            "walks",
            "hopper",
            "operands",
            "fragments",
            "registers",
            "races",
            "phases",
            "pytest",
            "ci",
            "diff",
            "html_report",
            "editors",
        ],
    ),
    (
        "Reference",
        [
            "claims/index",
            "reference/index",
            "errors/index",
            "semantics",
            "hardware",
            "scan_rules",
            "limits",
            "stability",
            "extend",
            "architecture",
        ],
    ),
    (
        "Why trust it",
        ["crosscheck", "certificates", "attacks", "mutation", "theorems", "scan_findings", "benchmarks"],
    ),
]
