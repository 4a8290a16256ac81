"""Compares an installed swzverify with the checkout: `python -I installed.py ENVIRONMENT CHECKOUT`.

`.ci/packages` runs it with the Python of the environment.
"""

from __future__ import annotations

import sys
from importlib.metadata import distribution
from pathlib import Path


def files(root: Path) -> dict[str, bytes]:
    found = (path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def check(environment: Path, checkout: Path) -> str:
    import swzverify

    package = Path(swzverify.__file__).resolve().parent
    assert package.is_relative_to(environment), f"swzverify is imported from {package}, not from {environment}"

    wanted = files(checkout / "swzverify")
    second = files(package.parent / "swzrecheck")
    assert second == files(checkout / "swzrecheck"), "swzrecheck is not that of the checkout"
    wanted |= {f"proofs/{name}": text for name, text in files(checkout / "proofs").items()}
    have = files(package)
    wrong = sorted(name for name in wanted.keys() | have.keys() if wanted.get(name) != have.get(name))
    assert not wrong, f"missing, different, or not in the checkout: {wrong}"
    assert {"py.typed", "gpu/cuda/prelude.cuh", "proofs/padding.py"} <= have.keys()

    dist = distribution("swzverify")
    assert dist.version == swzverify.__version__
    (plugin,) = [entry for entry in dist.entry_points if entry.group == "pytest11"]
    assert f"{plugin.value.removeprefix('swzverify.')}.py" in have, plugin
    return f"{len(have) + len(second)} files of swzverify {dist.version}, the same as in the checkout"


if __name__ == "__main__":
    print(check(*(Path(argument).resolve() for argument in sys.argv[1:])))
