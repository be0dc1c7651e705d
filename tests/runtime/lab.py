"""Programs that crash, with the handler in them or before them, and what it wrote."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from corpus.dumper import leaving_core
from places.needs import allow_cores

from runtime.reports import Report, read_reports

PROGRAMS = Path(__file__).parent / "programs"
NATIVE = Path(__file__).resolve().parents[2] / "native"
LIBRARIES = Path(os.environ["WHOCALL_BUILD_DIR"]) / "whocall"
PRELOAD = LIBRARIES / "libwhocall-crash.so"
TIMEOUT_SECONDS = 120.0


def build(folder: Path, source: str, *flags: str, compiler: str = "gcc", name: str = "") -> Path:
    """Compile one of the programs; `flags` come behind the source, libraries among them."""
    made = folder / (name or Path(source).stem)
    command = [compiler, "-g", "-w", PROGRAMS / source, f"-I{NATIVE}/runtime", *flags, "-pthread"]
    subprocess.run([*map(str, command), "-ldl", "-o", str(made)], check=True)
    return made


@contextlib.contextmanager
def waiting_at_most(seconds: int) -> Iterator[None]:
    """A guard against hanging for ever: TimeoutError."""

    def stop(_number: int, _frame: object) -> None:
        raise TimeoutError(f"nothing happened in {seconds} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def crash(
    program: Path, *words: str, preload: bool = True, folder: Path | None = None, **settings: str
) -> tuple[list[Report], int, str]:
    """Run a program into its crash: the reports, its exit status (-11: SIGSEGV), its output."""
    environment = {**os.environ, **settings}
    if preload:
        environment["LD_PRELOAD"] = str(PRELOAD)
    command = [str(program), *words]
    ran = subprocess.run(
        leaving_core(command) if folder else command,
        cwd=folder or program.parent,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=TIMEOUT_SECONDS,
        preexec_fn=allow_cores if folder else None,
    )
    return read_reports(ran.stderr), ran.returncode, ran.stdout + ran.stderr
