"""Random phases in which roles arrive at objects and wait for them at rates that need not agree.

A writer, perhaps a relay, and a reader, in loops that are longer than what a judge may unroll: a reader that waits
for fewer phases than are completed falls behind, slowly, and reads at last what is not known to be written.
"""

from __future__ import annotations

import random

from .yaml_values import Spec, Yaml

_LENGTHS = (14, 16, 20, 26, 30)


def _waits(source: random.Random, barrier: str, number: int, *, wrong: bool) -> list[Yaml]:
    """Waits for one phase after the other, `number` of them in each iteration."""
    shifts = (k + (wrong and source.random() < 0.3) for k in range(number))
    return [{"wait": barrier, "stage": 0, "phase": f"(i%2*{number}+{shift})%2"} for shift in shifts]


def rates_spec(source: random.Random) -> tuple[Spec, int]:
    """A spec, and the iterations of its loop."""
    count, shift, wrong = source.choice(_LENGTHS), source.choice((0, 0, 0, 1, 2)), source.random() < 0.15
    arrivals = source.choice((1, 2, 2, 3, 4, 6))
    waited = max(0, arrivals + source.choice((0, 0, 0, 0, -1, 1, -2)))
    barriers: dict[str, Yaml] = {"written": {"arrivals": 1}, "read": {"arrivals": 1}}
    roles: dict[str, Yaml] = {}
    write: list[Yaml] = ["write", *({"arrive": "written"} for _ in range(arrivals))]
    if source.random() < 0.2:
        write = [write[1], write[0], *write[2:]]
    hands_back = source.random() < 0.5
    if hands_back:
        write.insert(0, {"wait": "read", "stage": 0, "phase": source.choice(("(i+1)%2", "(i+1)%2", "i%2"))})
    last = "written"
    if source.random() < 0.3:
        sent = source.choice((1, 2, 3))
        steps = [*_waits(source, last, waited, wrong=wrong), *({"arrive": "relayed"} for _ in range(sent))]
        roles["relay"] = {"threads": "tid == 2", "steps": steps}
        barriers["relayed"] = {"arrivals": 1}
        last, waited = "relayed", max(0, sent + source.choice((0, 0, 0, -1, 1)))
    read = _waits(source, last, waited, wrong=wrong)
    is_behind, behind = source.random() < 0.35, list[Yaml]()
    (behind if is_behind else read).append("read")
    reader: dict[str, Yaml] = {"threads": "tid == 1", "steps": read, "after": behind}
    if hands_back or not read:
        read.append({"arrive": "read"})
    if source.random() < 0.2:
        reader["before"] = [{"wait": last, "stage": 0, "phase": 0}]
    earlier = f"4*(i < {shift} ? 100 : i - {shift})"
    place = source.choice((earlier, f"4*(i+{shift})", *([f"4*{source.choice((0, 1, 3, 5))}"] if is_behind else [])))
    common: dict[str, Yaml] = {"threads": 32, "for": {"i": 200}, "base": 0}
    spec: Spec = {
        "swzverify": 1,
        "target": "sm_90",
        "accesses": {
            "write": {"instruction": "st.shared.b32", "address": "4*i", **common},
            "read": {"instruction": "ld.shared.b32", "address": place, **common},
        },
        "phases": {
            "P": {
                "for": {"i": count},
                "barriers": barriers,
                "roles": {"writer": {"threads": "tid == 0", "steps": write}, "reader": reader, **roles},
            }
        },
        "claims": [{"race_free": "P"}],
    }
    return spec, count
