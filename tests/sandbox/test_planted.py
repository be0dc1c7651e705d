"""A parser that was made to run a program, to connect or to write comes to nothing."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults.commands import Place, lines_of
from places.needs import CONTAINERS, OWN_ROOT, UNPRIVILEGED, as_root

PLANTED = Path(__file__).with_name("planted.py")
# These call no native code, or read nothing but what is typed.
OTHERS = {"bt --list", "doctor", "receive", "--help", "bt --help", "--version", "--script-path"}
READERS = [
    "audit", "bt", "bt --all", "bt --json", "caller", "compare", "export", "functions", "modules",
    "repair-plan", "report", "resolve", "resolve --json", "serve", "shrink", "signatures", "symbol",
    "trace", "triage", "triage --json", "unpack", "waits", "why",
]  # fmt: skip
# What is read without native code.
PLAIN = {"resolve", "resolve --json", "unpack"}
# That of `serve` ends a process of its own alone: test_serve_faults.py.
PLANTED_IN = sorted(set(READERS) - PLAIN - {"serve"})


@pytest.fixture
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of the user's, with somebody who listens."""
    folder = tmp_path_factory.mktemp("target")
    (folder / "there").write_text("text")
    with socket.create_server(("127.0.0.1", 0)) as inet, socket.socket(socket.AF_UNIX) as unix:
        (folder / "port").write_text(str(inet.getsockname()[1]))
        unix.bind(str(folder / "socket"))
        unix.listen()
        yield folder


def ran(
    target: Path, arguments: list[str | Path], start: list[str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [*(start or []), sys.executable, str(PLANTED), str(target), *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def test_every_command_is_here(place: Place) -> None:
    assert set(READERS) | OTHERS == set(lines_of(place))


@pytest.mark.parametrize("name", PLANTED_IN)
def test_a_parser_that_was_taken_over(name: str, place: Place, target: Path) -> None:
    arguments = lines_of(place)[name]
    said = ran(target, arguments)
    assert "TRIED" in said.stderr
    assert "SUCCEEDED" not in said.stderr + said.stdout
    assert "the sandbox ended this" in said.stderr
    assert said.returncode == 1
    assert sorted(path.name for path in target.iterdir()) == ["port", "socket", "there"]
    assert (target / "there").read_text() == "text"


def test_without_it_all_of_that_succeeds(place: Place, target: Path) -> None:
    said = ran(target, [*lines_of(place)["bt"], "--no-sandbox"])
    for what in ("write", "make", "folder", "link", "rename", "inet", "unix", "own memory", "exec"):
        assert f"SUCCEEDED {what}\n" in said.stderr + said.stdout


@pytest.mark.parametrize(
    "start",
    [
        pytest.param([*as_root(), "chroot", "/"], marks=pytest.mark.needs(OWN_ROOT)),
        pytest.param([sys.executable, str(UNPRIVILEGED)], marks=pytest.mark.needs(CONTAINERS)),
    ],
)
def test_in_a_chroot_and_in_a_container(start: list[str], place: Place, target: Path) -> None:
    said = ran(target, lines_of(place)["bt"], start)
    assert "TRIED" in said.stderr
    assert "SUCCEEDED" not in said.stderr + said.stdout
    assert "the sandbox ended this" in said.stderr
