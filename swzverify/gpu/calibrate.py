"""Taking a calibration on the device at hand."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from pathlib import Path

from swzverify.gpu.calibration import About, Calibration, every_instruction
from swzverify.gpu.counters import count
from swzverify.gpu.crosscheck import work
from swzverify.gpu.device_facts import DeviceFacts
from swzverify.gpu.draw import drawn
from swzverify.hardware import find_instruction


def calibrate(folder: Path, names: Sequence[str], patterns: int, seed: int) -> Calibration:
    """Count so many patterns of each instruction (none named: of all that the device has).

    Raises:
        SwzError: SWZ701, SWZ702, SWZ711 to SWZ713.
    """
    facts = device_facts(folder)
    chosen = [find_instruction(name).name for name in names] or every_instruction(facts.capability)
    by_name = {name: drawn(find_instruction(name), patterns, seed) for name in chosen}
    counted = count(folder / "counts", by_name)
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    return Calibration(About(facts.name, facts.capability, facts.driver, today, seed), by_name, counted)


def device_facts(folder: Path) -> DeviceFacts:
    """What the device says of itself.

    Raises:
        SwzError: SWZ701, SWZ702.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "jobs.json").write_text("[]")
    work(folder, ["functions", str(folder)])
    return DeviceFacts(**json.loads((folder / "device.json").read_text()))
