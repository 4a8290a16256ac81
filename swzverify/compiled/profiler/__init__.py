"""What Nsight Compute counted of each machine instruction.

`export` reads the CSV of its source page, `fitted` finds the kernel of a listing to which the counts
belong, `nsight` reads data frames of nsight-python, and `ncu` runs the profiler.
"""

from swzverify.compiled.profiler.export import Counts, Export, Profile, read_counters_of
from swzverify.compiled.profiler.fitted import fitted, may_be, spelled
from swzverify.compiled.profiler.ncu import Launch, profile
from swzverify.compiled.profiler.nsight import Total, Totals, totals_of_frame

__all__ = [
    "Counts",
    "Export",
    "Launch",
    "Profile",
    "Total",
    "Totals",
    "fitted",
    "may_be",
    "profile",
    "read_counters_of",
    "spelled",
    "totals_of_frame",
]
