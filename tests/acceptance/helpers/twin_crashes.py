"""Small programs that crash, stripped, and the names that their unstripped twins give to frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.build import run
from corpus.crash import crash
from corpus.elf import Elf

from acceptance.helpers import chains

if TYPE_CHECKING:
    from whocall.base.model import Backtrace
    from whocall.base.process_image import Walk


@dataclass(frozen=True)
class TwinCrash:
    """A program without symbols, its twin with them, and the core of the former."""

    exe: Path
    twin: Path
    core: Path

    @cached_property
    def elf(self) -> Elf:
        """The twin's symbols."""
        return Elf(self.twin.read_bytes())

    def trace(self, walk: Walk | None = None) -> Backtrace:
        """whocall's backtrace of the thread that crashed, which is the only one."""
        (trace,) = chains.of_core(self.core, self.exe, walk).values()
        return trace

    def named(self, trace: Backtrace) -> list[str]:
        """The frames of the program by the twin's names, innermost first."""
        names = []
        for frame in chains.physical(trace):
            if frame.module != str(self.exe) or frame.rva is None:
                continue
            back = 0 if frame.trust == "context" else 1
            found = self.elf.symtab.covering(frame.rva - back)
            names.append(found[0].name.partition(".")[0] if found else f"{frame.rva:#x}")
        return names


def build(source: str, place: Path, flags: Sequence[str], compiler: str = "gcc") -> TwinCrash:
    """Compiles a program, strips it and lets it crash."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "program.c").write_text(source, encoding="utf-8")
    twin, exe = place / "twin", place / "program"
    run([compiler, "-w", *flags, "program.c", "-o", str(twin)], place)
    run(["strip", "-o", str(exe), str(twin)], place)
    return TwinCrash(exe, twin, crash(exe, place).core)
