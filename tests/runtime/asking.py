"""Random programs that ask who called them: is each answer of status 0 true?

python3 -m runtime.asking --count 2000    (PYTHONPATH: tests and gdbext; WHOCALL_BUILD_DIR)
python3 -m runtime.asking --set arm --set mips    on other instruction sets, under qemu-user

The programs keep their own stacks of names, in which no unwinder has a part.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tracing.randomprograms import source

from runtime.foreign import SETS, Foreign, build_libraries
from runtime.lab import LIBRARIES, NATIVE

NO_TABLES = ("-g0", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-exceptions")
HOST = Foreign("x86-64", "", "")
BUILDS = {
    "O0": ("gcc", "-O0"),
    "O2": ("gcc", "-O2"),
    "Os, not PIE": ("gcc", "-Os", "-no-pie", "-fno-pie"),
    "O2, frame pointers alone": ("gcc", "-O2", *NO_TABLES, "-fno-omit-frame-pointer"),
    "O1, neither": ("gcc", "-O1", *NO_TABLES, "-fomit-frame-pointer"),
    "O2, neither": ("gcc", "-O2", *NO_TABLES, "-fomit-frame-pointer"),
    "O2, static": ("gcc", "-O2", "-static"),
    "O0, static without an index": ("gcc", "-O0", "-static", "-Wl,--no-eh-frame-hdr"),
    "O2, static, neither": ("gcc", "-O2", "-static", *NO_TABLES, "-fomit-frame-pointer"),
    "O1, static PIE": ("gcc", "-O1", "-static-pie"),
    "clang O2": ("clang", "-O2"),
    "clang O1, neither": ("clang", "-O1", *NO_TABLES, "-fomit-frame-pointer"),
    "clang O0, frame pointers alone": ("clang", "-O0", *NO_TABLES),
}
TABLES = "-funwind-tables"  # not every set's compiler writes them of itself
_FOREIGN = {
    "O0": ("-O0", TABLES),
    "O2": ("-O2", TABLES),
    "Os": ("-Os", TABLES),
    "O2, static": ("-O2", TABLES, "-static"),
    "O2, frame pointers alone": ("-O2", *NO_TABLES, "-fno-omit-frame-pointer"),
    "O1, neither": ("-O1", *NO_TABLES, "-fomit-frame-pointer"),
    "O2, neither": ("-O2", *NO_TABLES, "-fomit-frame-pointer"),
    "O2, static, neither": ("-O2", "-static", *NO_TABLES, "-fomit-frame-pointer"),
}
HEAD = r"""
#include <stdio.h>
#include <whocall.h>
static const char *current = "main";
static void leave(const char *const *above) { current = *above; }
static void tell(const char *own, const char *above, int status, const whocall_frame *frame) {
  printf("%s %s %d %s\n", own, above, status,
         status == 0 && frame->function != NULL ? frame->function : "?");
}
#define STEP() \
  __attribute__((cleanup(leave))) const char *const above_ = current; \
  current = __func__; \
  if (--fuel <= 0) { fflush(stdout); _Exit(0); } \
  if (fuel % 11 == 0) { \
    whocall_frame frame_; \
    const int status_ = who_call_me(&frame_); \
    tell(__func__, above_, status_, &frame_); \
  }
"""
_OWN = re.compile(r"f\d+|many\d|compare|main")


@dataclass
class Answers:
    """What came of them, by build."""

    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """A line for each build, and one for each wrong answer."""
        builds = list(dict.fromkeys(build for build, _ in self.kinds))
        rows = []
        for build in builds:
            true, unknown, wrong = (
                self.kinds[build, kind] for kind in ("true", "cannot tell", "wrong")
            )
            rows.append(f"{build:32} {true:8} true {unknown:8} cannot tell {wrong:4} wrong")
        return [*rows, *self.wrong]


def text_of(seed: int) -> str:
    """The random program, with a stack of names of its own."""
    lines = source(seed).split("\n")
    return "\n".join(HEAD if line.startswith("#define STEP()") else line for line in lines)


def kind_of(own: str, above: str, status: str, told: str) -> str:
    """A word for an answer."""
    name = told.partition(".")[0].partition("@")[0]
    if status == "0" and own == "compare":  # a function of the C library, maybe without a name
        return "wrong" if _OWN.fullmatch(name) else "true"
    if status != "0" or told == "?":
        return "cannot tell"
    return "true" if name == above else "wrong"


def builds_of(one: Foreign) -> dict[str, tuple[str, ...]]:
    """Compiler and options, by what the build is called."""
    if one == HOST:
        return BUILDS
    compiler = (f"{one.triple}-gcc", *one.flags)
    modes = {" A32": ("-marm",), " T32": ("-mthumb",)} if one.name == "arm" else {"": ()}
    return {
        f"{one.name}{mode} {name}": (*compiler, *more, *flags)
        for mode, more in modes.items()
        for name, flags in _FOREIGN.items()
    }


def ask(seed: int, one: Foreign, folder: Path, libraries: Path, answers: Answers) -> None:
    """One program, in the build whose turn it is."""
    builds = builds_of(one)
    build = list(builds)[seed % len(builds)]
    compiler, *flags = builds[build]
    (folder / "asking.c").write_text(text_of(seed))
    made = folder / "asking"
    command = [compiler, "-w", *flags, f"-I{NATIVE}/runtime", folder / "asking.c"]
    linked = [*command, libraries / "libwhocall.a", "-pthread", "-ldl", "-o", made]
    subprocess.run([*map(str, linked)], check=True)
    ran = one.run(made)
    assert ran.returncode == 0, (seed, build, ran)
    for line in ran.stdout.splitlines():
        own, above, status, told = line.split(maxsplit=3)
        kind = kind_of(own, above, status, told)
        answers.kinds[build, kind] += 1
        if kind == "wrong" and len(answers.wrong) < 20:
            answers.wrong.append(f"seed {seed}, {build}: {line}")


def run(count: int, first: int, folder: Path, one: Foreign, libraries: Path) -> Answers:
    """As many programs, from that seed on, in a folder of their own."""
    answers = Answers()
    for seed in range(first, first + count):
        ask(seed, one, folder, libraries, answers)
    return answers


def main() -> int:
    """0 where no answer is wrong."""
    sets = {one.name: one for one in (HOST, *SETS)}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--set", action="append", choices=sets, help="an instruction set")
    options = parser.parse_args()
    wrong = False
    for name in options.set or ["x86-64"]:
        with tempfile.TemporaryDirectory() as folder:
            libraries = LIBRARIES
            if sets[name] != HOST:
                libraries = Path(folder) / "libraries"
                build_libraries(sets[name], libraries)
            answers = run(options.count, options.first, Path(folder), sets[name], libraries)
        print("\n".join(answers.lines()), flush=True)
        wrong = wrong or bool(answers.wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
