"""Random programs that ask who called them: is each answer of status 0 true?

python3 -m runtime.asking --count 2000    (PYTHONPATH: tests and gdbext; WHOCALL_BUILD_DIR)

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

from runtime.lab import LIBRARIES, NATIVE

NO_TABLES = ("-g0", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-exceptions")
LIBRARY = str(LIBRARIES / "libwhocall.a")
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
    if status != "0" or told == "?":
        return "cannot tell"
    name = told.partition(".")[0].partition("@")[0]
    if own == "compare":  # a function of the C library calls it
        return "wrong" if _OWN.fullmatch(name) else "true"
    return "true" if name == above else "wrong"


def ask(seed: int, folder: Path, answers: Answers) -> None:
    """One program, in the build whose turn it is."""
    build = list(BUILDS)[seed % len(BUILDS)]
    compiler, *flags = BUILDS[build]
    (folder / "asking.c").write_text(text_of(seed))
    made = folder / "asking"
    command = [compiler, "-w", *flags, f"-I{NATIVE}/runtime", folder / "asking.c", LIBRARY]
    linked = [*command, "-pthread", "-ldl", "-o", made]
    subprocess.run([*map(str, linked)], check=True)
    ran = subprocess.run([made], capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 0, (seed, build, ran)
    for line in ran.stdout.splitlines():
        own, above, status, told = line.split(maxsplit=3)
        kind = kind_of(own, above, status, told)
        answers.kinds[build, kind] += 1
        if kind == "wrong" and len(answers.wrong) < 20:
            answers.wrong.append(f"seed {seed}, {build}: {line}")


def run(count: int, first: int, folder: Path) -> Answers:
    """As many programs, from that seed on."""
    answers = Answers()
    for seed in range(first, first + count):
        ask(seed, folder, answers)
    return answers


def main() -> int:
    """0 where no answer is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        answers = run(options.count, options.first, Path(folder))
    print("\n".join(answers.lines()))
    return 1 if answers.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
