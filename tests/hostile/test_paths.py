"""Paths that are no files: nothing waits, nothing goes round in circles, nothing is read that was
not named.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from swzverify.apps.cli import main
from swzverify.core.regular_file import NotRegularError, read_regular

pytestmark = pytest.mark.skipif(os.name == "nt", reason="file types of POSIX")

SPEC = "swzverify: 1\ntiles: {A: {bits: 16, layout: '(8,64):(64,1)'}}\nclaims: [{injective: A}]\n"
PRIVATE = "token: hunter2\n"


@pytest.fixture
def prove(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.chdir(tmp_path)

    def run(*paths: str) -> Result:
        started = time.perf_counter()
        result = CliRunner().invoke(main, ["prove", *paths])
        assert time.perf_counter() - started < 20, "ordinarily milliseconds: this only catches what would hang"
        assert result.exception is None or isinstance(result.exception, SystemExit), result.output
        return result

    return run


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/stdin", "/dev/tty", "/dev/random", "/dev/null", "/dev/full"])
def test_devices(prove: Callable[..., Result], path: str) -> None:
    if not os.path.lexists(path):
        pytest.skip("no such device here")
    result = prove(path)
    assert result.exit_code == 2
    assert "SWZ101" in result.output


def test_a_pipe_without_a_writer(prove: Callable[..., Result], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.swz.yaml")
    for path in ("a.swz.yaml", ".", "*.yaml"):
        result = prove(path)
        assert result.exit_code == 2
        assert "a.swz.yaml: SWZ101 not a regular file" in result.output


def test_a_file_that_becomes_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was a regular file when it was looked at: nobody waits for a writer, and nothing is read."""
    pipe, plain = tmp_path / "pipe", tmp_path / "plain"
    os.mkfifo(pipe)
    plain.write_bytes(b"0123456789")
    assert read_regular(plain, 4) == b"0123"
    regular = os.stat(plain)
    monkeypatch.setattr(os, "stat", lambda *_, **__: regular)
    with pytest.raises(NotRegularError, match="a pipe, a socket or a device"):
        read_regular(pipe, 4)


def test_a_socket(prove: Callable[..., Result], tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("a.swz.yaml" if len(str(tmp_path)) > 80 else str(tmp_path / "a.swz.yaml"))
        assert "not a regular file" in prove(".").output


@pytest.mark.parametrize("target", ["secret", "/dev/zero", "/etc/passwd", "/proc/self/environ"])
def test_a_link_reads_no_other_file(prove: Callable[..., Result], tmp_path: Path, target: str) -> None:
    (tmp_path / "secret").write_text(PRIVATE)
    (tmp_path / "a.swz.yaml").symlink_to(target)
    for path in (".", "a.swz.yaml", "**/*.yaml"):
        result = prove(path)
        assert result.exit_code == 2
        assert "a.swz.yaml: SWZ101 a symbolic link to a file that is not named *.swz.yaml" in result.output
        assert "hunter2" not in result.output
        assert "root:" not in result.output


def test_a_link_to_a_spec_is_read(prove: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "b.swz.yaml").write_text(SPEC)
    (tmp_path / "a.swz.yaml").symlink_to("there/b.swz.yaml")
    assert prove("a.swz.yaml").exit_code == 0


def test_links_that_go_round(prove: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "a.swz.yaml").symlink_to("a.swz.yaml")
    (tmp_path / "b.swz.yaml").symlink_to("c.swz.yaml")
    (tmp_path / "c.swz.yaml").symlink_to("b.swz.yaml")
    result = prove(".")
    assert result.exit_code == 2
    assert result.output.count("SWZ101") >= 1


def test_a_link_to_nothing(prove: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "a.swz.yaml").symlink_to("none.swz.yaml")
    assert "there is no such file" in prove("a.swz.yaml").output


def test_folders_that_go_round(prove: Callable[..., Result], tmp_path: Path) -> None:
    """Two links to the folder itself make 2^40 paths for whoever follows them."""
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (below / "x.swz.yaml").write_text(SPEC)
    for name in ("one", "two"):
        (below / name).symlink_to("..")
        (tmp_path / name).symlink_to(".")
    for path in (".", "**", "**/*.swz.yaml", "**/**/**/*.swz.yaml", "a/**/x.swz.yaml"):
        result = prove(path)
        assert result.exit_code == 0, result.output
        assert "1 proved" in result.output


def test_a_file_that_is_huge_but_empty(prove: Callable[..., Result], tmp_path: Path) -> None:
    with (tmp_path / "a.swz.yaml").open("wb") as file:
        file.truncate(1 << 40)
    result = prove("a.swz.yaml")
    assert result.exit_code == 2
    assert "a.swz.yaml:1:1: SWZ107 larger than 256 KiB" in result.output


@pytest.mark.parametrize("name", ["::error::x", "a\x1b[31m", "a\u202eb", "a\nb", "-", "a b", "$(x)", "##[error]y"])
def test_names_of_files_are_escaped(prove: Callable[..., Result], tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.swz.yaml").write_text("titl: x\n", encoding="utf-8")
    result = prove(".")
    assert result.exit_code == 2
    for line in result.output.splitlines():
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
        assert line.isprintable(), line
