"""What `import swzverify` gives, whatever was imported before it."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "before", ["", "import swzverify.prover", "import swzverify.prover.judgement", "import swzverify.run"]
)
def test_prove_is_the_function_and_not_the_folder_of_that_name(before: str) -> None:
    lines = [before, "from swzverify import prove", "assert prove.__name__ == 'prove' and callable(prove), prove"]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)
