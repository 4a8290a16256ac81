"""Z3 as an engine: one obligation per file.

They share `query` (a question), `terms` (expressions) and `warp_rule`. Z3 is imported here and
nowhere else in the engines.
"""

from swzverify.engines.smt.engine import DEFAULT_RLIMIT, SMT

__all__ = ["DEFAULT_RLIMIT", "SMT"]
