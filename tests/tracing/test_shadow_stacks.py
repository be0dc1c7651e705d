"""Shadow stacks stay right where functions end without a return; programs judge themselves."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tracing.lab import NATIVE, PROGRAMS, SHARED, STATIC, build, profile, run, wrong_lines


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O0", "-O2", "-Os"])
def test_functions_that_are_left(tmp_path: Path, compiler: str, level: str) -> None:
    """longjmp, signal stacks, tail calls, inlined functions, alloca, too deep a recursion, fork."""
    ran = run(build(tmp_path, "shadow_cases.c", level, compiler=compiler))
    assert wrong_lines(ran.output) == []
    assert ran.status == 0
    assert ran.output.count("ok:") > 30


MACHINES = {
    "i386": (["gcc", "-m32"], []),
    "aarch64": (["aarch64-linux-gnu-gcc"], ["qemu-aarch64"]),
    "arm": (["arm-linux-gnueabihf-gcc"], ["qemu-arm"]),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_other_instruction_sets(tmp_path: Path, machine: str) -> None:
    """Where return addresses lie in frames, and how hooks are called, is another matter there."""
    compiler, emulator = MACHINES[machine]
    runtime = sorted((NATIVE / "runtime" / "trace").glob("*.c"))
    common = ["-std=gnu11", "-w", f"-I{NATIVE}", "-O2"]
    library = [*compiler, *common, "-c", *map(str, runtime)]
    subprocess.run(library, cwd=tmp_path, check=True)
    objects = sorted(str(path) for path in tmp_path.glob("*.o"))
    program = [*compiler, *common, "-finstrument-functions", str(PROGRAMS / "shadow_cases.c")]
    subprocess.run([*program, *objects, "-static", "-pthread", "-ldl", "-o", "cases"],
                   cwd=tmp_path, check=True, capture_output=True)  # fmt: skip
    ran = subprocess.run(
        [*emulator, str(tmp_path / "cases")],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert wrong_lines(ran.stdout) == []
    assert ran.returncode == 0
    assert ran.stdout.count("ok:") > 30


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_exceptions(tmp_path: Path, compiler: str) -> None:
    """GCC calls the hooks of functions that an exception leaves, clang does not."""
    ran = run(build(tmp_path, "thrown.cpp", "-O1", compiler=compiler, library=SHARED))
    assert wrong_lines(ran.output) == []
    assert ran.output.count("ok:") == 3


@pytest.mark.parametrize("words", [(), ("above",)], ids=["one stack", "a stack above"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_signals_between_any_two_instructions_of_hooks(
    tmp_path: Path, level: str, words: tuple[str, ...]
) -> None:
    """No event is lost, and no entry: the handler's functions have hooks too."""
    trace = tmp_path / "trace"
    exe = build(tmp_path, "interrupted.c", level, library=STATIC)
    ran = run(exe, *words, WHOCALL_TRACE_FILE=str(trace), WHOCALL_TRACE_EVENTS="200000")
    counted = ran.counts()
    assert counted.pop("wrong") == 0
    assert counted["handler"] > 2000
    assert profile(trace) == {**counted, "turns": 1, "work": 10}
