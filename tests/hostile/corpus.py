"""Bad files, each with a nastiness of its own: what a stranger could put into a pull request to
break the reader.

`corpus()` gives them by name. Every one must be refused with a place, in a second and 100 MB.
"""

from __future__ import annotations

from collections.abc import Iterator

from .corpus_specs import spec_files
from .corpus_yaml import yaml_files


def corpus() -> dict[str, bytes]:
    """Every file by its name; two with the same content or name are a mistake of the corpus."""
    files: dict[str, bytes] = {}
    for name, content in _all():
        data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
        assert name not in files, name
        files[name] = data
    assert len(set(files.values())) == len(files), "two files are the same"
    return files


def _all() -> Iterator[tuple[str, str | bytes]]:
    yield from yaml_files()
    yield from spec_files()
