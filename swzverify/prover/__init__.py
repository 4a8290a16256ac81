"""From a claim to a verdict: engines, the two-engine rule, replay, vacuity and worst cases."""

from typing import TYPE_CHECKING

from swzverify.core.lazy import importer, lister

if TYPE_CHECKING:
    from swzverify.prover.isolation import Limits
    from swzverify.prover.judgement import Judgement, judge, prove
    from swzverify.prover.options import DEFAULT_RLIMIT, Options

__all__ = ["DEFAULT_RLIMIT", "Judgement", "Limits", "Options", "judge", "prove"]

_HOMES = {
    "isolation": ("Limits",),
    "judgement": ("Judgement", "judge", "prove"),
    "options": ("DEFAULT_RLIMIT", "Options"),
}
# What asks Z3 alone, as a scan does, waits for no claims.
__getattr__ = importer("swzverify.prover", {name: f".{home}" for home, names in _HOMES.items() for name in names})
__dir__ = lister("swzverify.prover", __all__)
