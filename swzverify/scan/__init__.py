"""Scanning compiled kernels: a verdict, or a reason, for every access to shared memory.

`scan_module` is the way in. `given` is what the user says of parameters, `split` sorts an address's
terms, `collide` asks the SMT engine whether two lanes meet, `price` costs warps natively, `decide`
joins both to a verdict, `spell` writes addresses for people. Imports `kernel`, `prover`, `ptx`,
`hardware`, `ir` and `errors`.
"""

from swzverify.scan.decide import ScannedAccess, scan_function, scan_module
from swzverify.scan.given import NOTHING_GIVEN, Given, facts_of, unknown_names
from swzverify.scan.verdict import LaneRow, Verdict

__all__ = [
    "NOTHING_GIVEN",
    "Given",
    "LaneRow",
    "ScannedAccess",
    "Verdict",
    "facts_of",
    "scan_function",
    "scan_module",
    "unknown_names",
]
