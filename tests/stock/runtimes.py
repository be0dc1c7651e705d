"""Programs whose own code no unwind table describes: what compilers of other languages make, and
what interpreters write at run time. Each keeps its frames by a convention of its own.
"""

from __future__ import annotations

import base64
from pathlib import Path

from stock.arrival import READ, blocked_in, byte_written_and_computing, computing
from stock.catalogue import ONE_ARENA
from stock.program import StockProgram

LEVELS = 300
"""How deep the recursion of a script goes, with one frame on the stack for each level."""

JAVA_LEVELS = 400

JAVA_CLASS = (
    "yv66vgAAADQAIAoAAgADBwAEDAAFAAYBABBqYXZhL2xhbmcvT2JqZWN0AQAGPGluaXQ+AQADKClWCgAIAAkHAAoM"
    "AAsADAEABERlZXABAARkb3duAQAEKEkpSQkADgAPBwAQDAARABIBABBqYXZhL2xhbmcvU3lzdGVtAQADb3V0AQAV"
    "TGphdmEvaW8vUHJpbnRTdHJlYW07CgAUABUHABYMABcAGAEAE2phdmEvaW8vUHJpbnRTdHJlYW0BAAV3cml0ZQEA"
    "BChJKVYKABQAGgwAGwAGAQAFZmx1c2gBAARDb2RlAQANU3RhY2tNYXBUYWJsZQEABG1haW4BABYoW0xqYXZhL2xh"
    "bmcvU3RyaW5nOylWACEACAACAAAAAAADAAEABQAGAAEAHAAAABEAAQABAAAABSq3AAGxAAAAAAAIAAsADAABABwA"
    "AAA3AAIAAQAAACEangAMGgRkuAAHBGCssgANECG2ABOyAA22ABmEAAGn//0AAAABAB0AAAAEAAINDQAJAB4AHwAB"
    "ABwAAAAUAAEAAQAAAAgRAZC4AAdXsQAAAAAAAA=="
)
"""`javac --release 8 -g:none Deep.java`, whose 424 bytes spare us the compiler:

public class Deep {
  static int down(int n) {
    if (n > 0) return down(n - 1) + 1;
    System.out.write('!');
    System.out.flush();
    for (;;) n++;
  }
  public static void main(String[] words) { down(400); }
}
"""

SMALL_JAVA = (
    *("-Xint", "-Xmx16m", "-Xss8m", "-XX:ReservedCodeCacheSize=16m", "-XX:+UseSerialGC"),
    *("-XX:-UsePerfData", "-XX:CompressedClassSpaceSize=16m", "-Xshare:off"),
)

LIMITED = "ulimit -v 4000000; exec /usr/bin/shellcheck long.sh"
"""GHC's runtime reserves 1 TiB for its heap if it may, and gcore would write it out."""

SHELL_FUNCTIONS = 1000


def _script(name: str) -> str:
    return str(Path(__file__).parent / "scripts" / name)


def _write_class(directory: Path) -> None:
    (directory / "Deep.class").write_bytes(base64.b64decode(JAVA_CLASS))


def _write_shell_script(directory: Path) -> None:
    """Long enough that it takes seconds to check."""
    lines = [
        f"f{number}() {{ for x in $(ls *.txt); do echo $x | sed 's/a/b/' > out; done;"
        f" case $1 in a|b) b=`date`;; esac; printf '%s' \"$b\"; }}\n"
        for number in range(SHELL_FUNCTIONS)
    ]
    (directory / "long.sh").write_text("#!/bin/bash\n" + "".join(lines))


def runtimes() -> list[StockProgram]:
    """One situation each; how many threads a runtime starts is its own affair."""
    sbcl = ("/usr/bin/sbcl", "--dynamic-space-size", "64MB", "--script", _script("deep.lisp"))
    at_the_bottom = byte_written_and_computing(0.05)
    return [
        StockProgram("sbcl", sbcl, at_the_bottom, frames=LEVELS),
        StockProgram(
            "shellcheck",
            ("/bin/sh", "-c", LIMITED),
            computing(1.0),
            frames=5,
            prepare=_write_shell_script,
        ),
        StockProgram(
            "luajit",
            ("/usr/bin/luajit", "-joff", _script("deep.lua"), "60"),
            computing(0.2),
            frames=100,
        ),
        StockProgram(
            "luajit-flat",
            ("/usr/bin/luajit", "-joff", _script("flat.lua")),
            computing(0.2),
            frames=10,
        ),
        StockProgram(
            "chezscheme",
            ("/usr/bin/chezscheme", "--script", _script("deep.scm")),
            at_the_bottom,
            frames=8,
        ),
        StockProgram(
            "java",
            ("/usr/bin/java", *SMALL_JAVA, "-cp", ".", "Deep"),
            at_the_bottom,
            frames=JAVA_LEVELS,
            prepare=_write_class,
            environment=ONE_ARENA,
        ),
        *_guile(),
        *_valgrind(),
        StockProgram(
            "emacs",
            ("/usr/bin/emacs-nox", "-Q", "--batch", "-l", _script("deep.el")),
            at_the_bottom,
            frames=5 * LEVELS,
        ),
    ]


def _guile() -> list[StockProgram]:
    """Bytecode that is interpreted, and all of it compiled at run time."""
    return [
        StockProgram(
            f"guile-{how}",
            ("/usr/bin/guile-3.0", "--no-auto-compile", "-s", _script("deep_guile.scm")),
            byte_written_and_computing(0.05),
            frames=24,
            environment=ONE_ARENA | {"GUILE_JIT_THRESHOLD": threshold},
        )
        for how, threshold in (("interpreted", "-1"), ("compiled", "0"))
    ]


def _valgrind() -> list[StockProgram]:
    """Its tool is the process. It makes code of the program that it watches, and runs that on a
    stack of its own; where the program makes a system call, the tool makes it.
    """
    tool = ("/usr/bin/valgrind", "-q", "--tool=none")
    return [
        StockProgram(
            "valgrind",
            (*tool, "/bin/sh", _script("deep.sh")),
            byte_written_and_computing(0.2),
            frames=3,
        ),
        StockProgram("valgrind-call", (*tool, "/bin/cat"), blocked_in(READ, 0), frames=4),
    ]
