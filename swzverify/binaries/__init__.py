"""PTX out of the files that people have: cubins, fatbins, programs, libraries, objects and `.cu`.

`ptx_of_file` is the way in. `kinds` says by its bytes what a file is, `fatbin` takes PTX out of a
binary with cuobjdump, `choice` picks the texts for a target, `cuda` compiles `.cu` with nvcc,
`tools` finds and runs both. Imports `errors` only.
"""

from swzverify.binaries.choice import Held
from swzverify.binaries.files import PtxText, ptx_of_file

__all__ = ["Held", "PtxText", "ptx_of_file"]
