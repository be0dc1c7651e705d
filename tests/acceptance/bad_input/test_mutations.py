"""Random damage to a core and to a program never kills the interpreter, never hangs it, never takes
all memory, and never raises anything but whocall's own error.

Examples are derandomized: a failure is one for everybody, and it names the bytes that were changed.
"""

from __future__ import annotations

import contextlib
import os
import select
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import whocall
from acceptance.helpers.broken_files import SCRIPT, Crash, crash, notes_first, offset_of, segments
from acceptance.helpers.source_programs import inlined

EXAMPLES = 200
PATIENCE_SECONDS = 60.0

Changes = list[tuple[float, int, int]]
"""(where in the chosen region as a share of it, which byte value or interesting word, region)."""

_WORDS = (0, 1, 0x7F, 0xFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 2**63 - 1, 2**63, 2**64 - 1, 2**64 - 8)

CHANGES = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True), st.integers(0, 255 + len(_WORDS)), st.integers(0, 9)
    ),
    min_size=1,
    max_size=12,
)


class Worker:
    """A process that uses damaged files; started anew when one has killed it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def use(self, path: Path) -> str:
        """The worker's answer on a file; `died` or `hangs` when there is none."""
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # it is dead: reading says so
            process.stdin.write(f"{path}\n")
            process.stdin.flush()
        if not select.select([process.stdout], [], [], PATIENCE_SECONDS)[0]:
            self.end()
            return "hangs"
        answer = process.stdout.readline()
        if not answer:
            status = process.wait()
            self.end()
            return f"died {status}"
        return answer.rstrip("\n")

    def end(self) -> None:
        """Kills the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(BrokenPipeError):
                    if stream is not None:
                        stream.close()
            self._process = None

    @staticmethod
    def _start() -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parent)}
        return subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("mutant_worker.py"))],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Crash:
    """The program with all its debug information, and its core."""
    return crash(tmp_path_factory.mktemp("crash"), "-g")


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    """One process for all examples, unless one kills it."""
    made = Worker()
    yield made
    made.end()


def mutate(data: bytes, regions: list[tuple[int, int]], changes: Changes) -> bytes:
    """`data` with bytes or 8-byte words replaced; a region is (begin, end) in the file."""
    damaged = bytearray(data)
    for share, what, which in changes:
        begin, end = regions[which % len(regions)]
        at = begin + int(share * (end - begin))
        if what < 256:
            damaged[at] = what
        else:
            word = struct.pack("<Q", _WORDS[what - 256])
            damaged[at : at + 8] = word[: len(damaged) - at]
    return bytes(damaged)


def core_regions(core: bytes, stack: int) -> list[tuple[int, int]]:
    """Where damage hurts: headers, notes, the stack, the dynamic linker's data, anywhere."""
    (note,) = ((at, at + size) for kind, at, _, size in segments(core) if kind == 4)
    top = offset_of(core, stack)
    return [(0, 64), (64, note[0]), note, note, (top, top + 400), (0, len(core))]


def object_regions(data: bytes) -> list[tuple[int, int]]:
    """Headers, section headers, and anywhere."""
    (sections,) = struct.unpack_from("<Q", data, 40)
    return [(0, 64), (64, 1000), (sections, len(data)), (sections, len(data)), (0, len(data))]


def debug_regions(path: Path) -> list[tuple[int, int]]:
    """The sections that tell of lines, each as likely as the others."""
    said = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True)
    regions = []
    for line in said.stdout.splitlines():
        name, _, _, offset, size = (*line.partition("]")[2].split()[:5], *[""] * 5)[:5]
        if name.startswith(".debug_") and name not in (".debug_aranges", ".debug_loclists"):
            regions.append((int(offset, 16), int(offset, 16) + int(size, 16)))
    return regions


def _check(worker: Worker, path: Path, regions: list[tuple[int, int]], seen: set[str]) -> None:
    original = path.read_bytes()

    @settings(
        max_examples=EXAMPLES, deadline=None, derandomize=True, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(changes=CHANGES)
    def damaged(changes: Changes) -> None:
        mutant = path.with_name(f"mutant{path.suffix}")
        mutant.write_bytes(mutate(original, regions, changes))
        said = worker.use(mutant)
        assert said.split(" ")[0] in ("fine", "refused"), said
        seen.add(said.split(" ")[0])

    damaged()


def test_damaged_cores(made: Crash, worker: Worker, tmp_path: Path) -> None:
    path = tmp_path / "small.core"
    core = notes_first(made.core.read_bytes())
    path.write_bytes(core)
    with whocall.open_core(str(path)) as image:
        stack = image.report().threads[0].sp
    seen: set[str] = set()
    _check(worker, path, core_regions(core, stack), seen)
    assert seen == {"fine", "refused"}, "the damage is too little or too much"


def test_damaged_programs(made: Crash, worker: Worker, tmp_path: Path) -> None:
    path = tmp_path / "program"
    path.write_bytes(made.twin.read_bytes())
    seen: set[str] = set()
    _check(worker, path, object_regions(path.read_bytes()), seen)
    assert seen == {"fine", "refused"}, "the damage is too little or too much"


@pytest.mark.parametrize(
    ("compiler", "flags"),
    [("g++", ("-gdwarf-2",)), ("g++", ("-gdwarf-4",)), ("g++", ("-gdwarf-5",)),
     ("clang++", ("-gdwarf-5",)), ("g++", ("-gdwarf-5", "-gsplit-dwarf")), ("g++", ("-g", "-gz"))],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)  # fmt: skip
def test_damaged_debug_info(
    worker: Worker, tmp_path: Path, compiler: str, flags: tuple[str, ...]
) -> None:
    """Lines of what is left, or none: the rest of the file is as good as it was."""
    path = inlined(tmp_path, compiler, *flags)
    table = whocall.open_symbols(str(path))
    assert (
        max(
            len(table.lines_at(at)) for symbol in table for at in range(symbol.start, symbol.end, 3)
        )
        >= 4
    )
    seen: set[str] = set()
    _check(worker, path, debug_regions(path), seen)
    assert seen == {"fine"}


def test_damage_is_noticed(worker: Worker) -> None:
    """A worker that dies is seen, and the next file gets a new one."""
    assert worker.use(Path("/nowhere/at/all.core")).startswith("refused ")
    process = worker._process
    assert process is not None
    process.kill()
    process.wait()
    assert worker.use(Path("/nowhere/at/all.core")) == "died -9"
    assert worker.use(Path("/nowhere/at/all")).startswith("refused ")
