"""Starter specs: from a few options to the text of a commented spec.

`options` says what may be asked for, `choose` finds a swizzle, `accesses` says which lane goes
where, `plan` puts them together, and `text` writes. All are pure; `apps/commands/init` proves the text and
gives the expectations back to `text`.
"""

from swzverify.spec.starter.plan import StarterOptions, make_plan, parse_tile
from swzverify.spec.starter.text import Expectation, starter_text

__all__ = ["Expectation", "StarterOptions", "make_plan", "parse_tile", "starter_text"]
