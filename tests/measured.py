"""The measured patterns (tests/data/README.md): their names for the instructions, and their warps."""

from __future__ import annotations

import numpy as np

OPS = {
    "LDS8": "ld.shared.b8",
    "LDS16": "ld.shared.b16",
    "LDS32": "ld.shared.b32",
    "LDS64": "ld.shared.v2.b32",
    "LDS128": "ld.shared.v4.b32",
    "STS8": "st.shared.b8",
    "STS16": "st.shared.b16",
    "STS32": "st.shared.b32",
    "STS64": "st.shared.v2.b32",
    "STS128": "st.shared.v4.b32",
    "LDSM1": "ldmatrix.x1",
    "LDSM2": "ldmatrix.x2",
    "LDSM4": "ldmatrix.x4",
    "LDSM1T": "ldmatrix.x1.trans",
    "LDSM2T": "ldmatrix.x2.trans",
    "LDSM4T": "ldmatrix.x4.trans",
    "STSM1": "stmatrix.x1",
    "STSM2": "stmatrix.x2",
    "STSM4": "stmatrix.x4",
    "CPASYNC4": "cp.async.4",
    "CPASYNC8": "cp.async.8",
    "ATOMS_ADD": "atom.shared.add.u32",
}


def warps_of(addresses: np.ndarray, active: np.ndarray) -> list[list[int | None]]:
    """The address of each lane in each warp; None for a lane that is not active."""
    return [
        [int(address) if on else None for address, on in zip(*rows, strict=True)]
        for rows in zip(addresses, active, strict=True)
    ]
