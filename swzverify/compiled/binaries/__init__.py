"""PTX out of the files that people have: cubins, fatbins, programs, libraries, objects and `.cu`.

`ptx_of_file` in `files` is the entry point. `kinds` says by its bytes what a file is, `fatbin` takes PTX out
of a binary with cuobjdump, `choice` picks the texts for a target, `tools` finds and runs nvcc and NVIDIA's other
tools. `machine_of_file` in `machine` finds the machine code that was made of a text, and has nvdisasm list it;
`ptx_table` reads the PTX that a cubin holds.
"""

from typing import TYPE_CHECKING

from swzverify.core.lazy import importer, lister

if TYPE_CHECKING:
    from swzverify.compiled.binaries.choice import Held
    from swzverify.compiled.binaries.files import PtxText, ptx_of_file
    from swzverify.compiled.binaries.machine import NOT_GIVEN, Machine, machine_of_file

__all__ = [
    "NOT_GIVEN",
    "Held",
    "Machine",
    "PtxText",
    "machine_of_file",
    "ptx_of_file",
]

__getattr__ = importer(
    "swzverify.compiled.binaries",
    {
        "Held": ".choice",
        **dict.fromkeys(("PtxText", "ptx_of_file"), ".files"),
        **dict.fromkeys(("NOT_GIVEN", "Machine", "machine_of_file"), ".machine"),
    },
)
__dir__ = lister("swzverify.compiled.binaries", __all__)
