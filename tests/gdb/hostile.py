"""Crashes whose programs, libraries and cores are called like commands of gdb's or of a shell's."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from corpus.dumper import leaving_core
from places.needs import allow_cores
from plugins import LIBRARY
from programs import HARD, compiled, once
from sessions import SCRIPT, Said, batch, environment

PROOF = "PROOF"  # what every name would make of a command that is obeyed, in the working directory
NAMES = {
    "line": f"lib\nshell touch {PROOF}\n",
    "option": f"-ex=shell touch {PROOF}",
    "pipe": f"| touch {PROOF}",
    "quote": f'"; shell touch {PROOF}; "',
    "single": f"'; shell touch {PROOF}; '",
    "backslash": f'\\"\nshell touch {PROOF}',
    "substitution": f"$(touch {PROOF})`touch {PROOF}`",
    "python": f"x'); __import__('os').system('touch {PROOF}') #",
    "blank": f" shell touch {PROOF} ",
    "return": f"lib\rshell touch {PROOF}\r",
}

LOADER = """
#include <dlfcn.h>
__attribute__((noinline)) int using(void *loaded) {
  int (*entry)(int *) = (int (*)(int *))dlsym(loaded, "entered");
  return entry(0) + 1; }
int main(int count, char **words) { return count < 2 ? 2 : using(dlopen(words[1], RTLD_NOW)); }
"""


@dataclass(frozen=True)
class Hostile:
    """A crash in a library; all three files have the name, in folders of their own."""

    folder: Path
    exe: Path
    library: Path
    core: Path

    @property
    def plain(self) -> Path:
        """A link to the core, of a name that can be typed."""
        return self.folder / "plain"

    def proven(self) -> bool:
        """Whether a name was obeyed; sessions work in the folder."""
        return any(path.name.startswith(PROOF) for path in self.folder.iterdir())

    def in_gdb(
        self, commands: list[str], *arguments: str | Path, script: Path = SCRIPT, **more: str
    ) -> Said:
        """A session, and that it lives on and has executed nothing."""
        lines = [*commands, "echo {alive}\\n"]
        said = batch(lines, arguments, script=script, folder=self.folder, **more)
        assert not self.proven(), said
        assert said.out.endswith("{alive}\n"), said
        assert "Traceback" not in said.err and "Python Exception" not in said.err, said.err
        return said

    def outside(self, *arguments: str | Path, **more: str) -> Said:
        """The command line, which has executed nothing."""
        ran = subprocess.run(
            [sys.executable, SCRIPT, *arguments],
            cwd=self.folder,
            env=environment(**more),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
            timeout=120,
        )
        assert not self.proven(), ran
        assert "Traceback" not in ran.stderr, ran.stderr
        return Said(ran.stdout, ran.stderr, ran.returncode)


def _fill(folder: Path) -> None:
    compiled(folder, "lib.so", LIBRARY, f"{HARD} -shared -fPIC")
    compiled(folder, "prog", LOADER)
    subprocess.run(["strip", "lib.so", "prog"], cwd=folder, check=True)


def _also_begins(file: Path) -> None:
    """What a name's first line alone names is there too, so that gdb comes to the next."""
    first = file.with_name(file.name.splitlines()[0])
    if first != file:
        shutil.copy(file, first)


def hostile(folder: Path, name: str) -> Hostile:
    """Copies program and library under that name, and lets them crash."""
    made = once("hostile", f"{LIBRARY}{LOADER}", _fill)
    crash = Hostile(folder, *(folder / kind / name for kind in ("exe", "lib", "core")))
    for source, target in (("prog", crash.exe), ("lib.so", crash.library)):
        target.parent.mkdir()
        shutil.copy(made / source, target)
        _also_begins(target)
    crash.core.parent.mkdir()
    place = folder / "run"
    place.mkdir()
    command = leaving_core([crash.exe, crash.library])
    subprocess.run(command, cwd=place, check=False, preexec_fn=allow_cores)
    (core,) = place.iterdir()
    core.rename(crash.core)
    _also_begins(crash.core)
    (folder / "plain").symlink_to(crash.core)
    return crash
