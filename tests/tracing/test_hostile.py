"""Programs that do to the hooks what programs do: each says itself whether it went well."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tracing.lab import NATIVE, PROGRAMS, build, profile, run

MACHINES = {
    "x86-64": (["gcc"], []),
    "i386": (["gcc", "-m32"], []),
    "arm": (["arm-linux-gnueabihf-gcc"], ["qemu-arm"]),
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("hostile"), "hostile.c", "-O1")


@pytest.fixture(scope="module", params=MACHINES)
def foreign(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[str]]:
    """The program of another instruction set, the library in it, and what runs it."""
    compiler, emulator = MACHINES[request.param]
    folder = tmp_path_factory.mktemp("foreign")
    common = [*compiler, "-std=gnu11", "-w", "-O2", f"-I{NATIVE}"]
    library = map(str, sorted((NATIVE / "runtime" / "trace").glob("*.c")))
    subprocess.run([*common, "-c", *library], cwd=folder, check=True)
    program = [*common, "-finstrument-functions", str(PROGRAMS / "hostile.c")]
    objects = map(str, sorted(folder.glob("*.o")))
    subprocess.run(
        [*program, *objects, "-static", "-pthread", "-ldl", "-o", "hostile"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return folder / "hostile", emulator


def test_on_several_machines(foreign: tuple[Path, list[str]]) -> None:
    """A return address that is nowhere on the stack; threads by the thousand, but under an
    emulator, whose own memory would be measured.
    """
    program, emulator = foreign
    for case in ("calls_hooks",) if emulator else ("calls_hooks", "many_threads"):
        ran = subprocess.run(
            [*emulator, str(program), case],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert ran.returncode == 0, ran
        lines = ran.stdout.splitlines()
        assert lines
        assert all(line.startswith("ok") for line in lines), lines


@pytest.mark.parametrize(
    ("case", "settings"),
    [
        ("without_memory", {}),
        ("records", {"WHOCALL_TRACE_THREADS": "1"}),
        ("forgets", {}),
    ],
)
def test_a_case(hostile: Path, case: str, settings: dict[str, str]) -> None:
    ran = run(hostile, case, **settings)
    lines = ran.output.splitlines()
    assert ran.status == 0, ran
    assert lines
    assert all(line.startswith("ok") for line in lines), lines


def test_a_daemon_that_closes_all(hostile: Path, tmp_path: Path) -> None:
    """Nothing is written to the program's own file, and the trace's own is found again."""
    trace = tmp_path / "trace"
    ran = run(hostile, "closes_all", "own", folder=tmp_path, WHOCALL_TRACE_FILE="trace")
    assert ran.status == 0
    assert [line[:2] for line in ran.output.splitlines()] == ["ok", "ok"], ran.output
    assert (tmp_path / "own").read_bytes() == b""
    assert profile(trace) == {"leaf": 2}


def test_the_latest_threads_stay(hostile: Path, tmp_path: Path) -> None:
    ran = run(hostile, "early_and_late", folder=tmp_path, WHOCALL_TRACE_THREADS="10")
    assert profile(ran.core) == {"late": 10}


def test_a_child_made_in_the_middle_of_a_hook(hostile: Path, tmp_path: Path) -> None:
    """What it records is in its own memory, and not in its parent's file."""
    trace = tmp_path / "trace"
    ran = run(hostile, "forks_in_hooks", folder=tmp_path, dumps=False,
              WHOCALL_TRACE_FILE=str(trace), WHOCALL_TRACE_EVENTS="65536")  # fmt: skip
    counted = ran.counts()
    assert counted["work"] > 100
    assert profile(trace) == counted
