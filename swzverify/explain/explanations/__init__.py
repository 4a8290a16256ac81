"""Explanations: why an access takes its wavefronts, and what other parameters would do.

An explanation is a list of statements of fixed kinds; `report` puts them into words.
"""

from swzverify.explain.explanations.explain import explain_access, explain_tile
from swzverify.explain.explanations.statements import Explanation, Statement

__all__ = ["Explanation", "Statement", "explain_access", "explain_tile"]
