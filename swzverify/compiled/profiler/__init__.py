"""What Nsight Compute counted of each machine instruction.

`export` reads the CSV of its source page, `fitted` finds the kernel of a listing that the counts are
of, `launches` reads the raw page, and `ncu` runs the profiler. Imports `sass`, `binaries` and `errors`.
"""

from swzverify.compiled.profiler.counts import Counts
from swzverify.compiled.profiler.export import Export, Profile, read_export
from swzverify.compiled.profiler.fitted import Fit, fitted, spelled
from swzverify.compiled.profiler.launches import Launch
from swzverify.compiled.profiler.ncu import profile

__all__ = ["Counts", "Export", "Fit", "Launch", "Profile", "fitted", "profile", "read_export", "spelled"]
