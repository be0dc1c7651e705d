"""What the commands of the command line take: files, options, and the help on them.

Told to a parser of argparse or, as importing that takes longer than a short backtrace, to one that
takes the same words where they are plain.
"""

from __future__ import annotations

import sys

from whocall.core.model import FILE_DISPLAYS
from whocall.core.search import DEBUG_DIRECTORIES

TYPE_CHECKING = False

if TYPE_CHECKING:
    import argparse
    from types import SimpleNamespace
    from typing import Any, Protocol, Union

    Values = Union[argparse.Namespace, SimpleNamespace]

    class Options(Protocol):
        """What takes the options: a group of them, or a parser."""

        def add_argument(self, *names: str, **how: Any) -> Any:
            """As argparse's."""

    class Parser(Options, Protocol):
        """What is told what a command takes."""

        description: str | None
        epilog: str | None
        formatter_class: Any

        def add_mutually_exclusive_group(self) -> Options:
            """As argparse's."""


_SEARCH = "--search"
_GREATEST = (1 << 63) - 1  # number that native code takes
CORES_EXPLAINED = (
    "CORE may be packed (zstd, xz, gzip, lz4, bzip2), a minidump, a crash report of apport, a"
    " problem directory of ABRT, or - for standard input; with several, each is shown."
)


def hidden() -> str | None:
    """The help on options that are not shown: argparse knows it by identity, others need none."""
    argparse = sys.modules.get("argparse")
    return None if argparse is None else str(argparse.SUPPRESS)


def as_count(text: str) -> int:
    """For `type` of an option; a ValueError where the text is none."""
    count = int(text)
    if count == 0 or abs(count) > _GREATEST:
        raise ValueError
    return count


as_count.__name__ = "COUNT"


def as_file_display(text: str) -> str:
    """Likewise."""
    if text not in FILE_DISPLAYS:
        raise ValueError
    return text


as_file_display.__name__ = f"HOW ({', '.join(FILE_DISPLAYS)})"


def as_limit(text: str) -> int:
    """For `type` of an option; a ValueError where the text is none."""
    limit = int(text)
    if not 0 <= limit <= _GREATEST:
        raise ValueError
    return limit


as_limit.__name__ = "N"


def add_search(parser: Parser) -> None:
    """Where to look for files and names."""
    parser.add_argument(
        _SEARCH,
        metavar="DIR",
        action="append",
        default=[],
        help="look there for files that are missing or of another build; may be repeated",
    )
    parser.add_argument(
        "--sysroot", metavar="DIR", default="", help="copy of the root directory of the machine"
    )
    add_debug_directories(parser)
    add_sources_of_names(parser)


def add_debug_directories(parser: Parser) -> None:
    """Where to look for separate debug files."""
    parser.add_argument(
        "--debug-directory",
        metavar="DIR",
        action="append",
        default=[],
        help=f"look there for separate debug files instead of in {DEBUG_DIRECTORIES[0]}; "
        "may be repeated",
    )


def add_sources_of_names(parser: Parser) -> None:
    """What brings more names."""
    parser.add_argument(
        "--symbols",
        metavar="[MODULE=]FILE[@BASE]",
        action="append",
        default=[],
        help="names from a linker map, nm, a Breakpad .sym file, or CSV or JSON; may be repeated",
    )
    parser.add_argument(
        "--signatures",
        metavar="FILE",
        action="append",
        default=[],
        help="recognise functions of static libraries by this file; may be repeated",
    )
    parser.add_argument(
        "--debuginfod",
        action="store_true",
        help="ask the servers of DEBUGINFOD_URLS for missing files and debug info",
    )
    # Said by our commands in gdb when somebody watches its terminal, which we do not see.
    parser.add_argument("--announce", action="store_true", help=hidden())


def add_walk(parser: Parser) -> None:
    """How to walk."""
    parser.add_argument(
        "--without", metavar="LIST", default="", help="strategies not to use: cfi,frame-pointer"
    )
    parser.add_argument(
        "--max-frames", type=as_limit, metavar="N", help="look for no more frames of a thread"
    )


def add_threads(parser: Parser) -> None:
    """Which threads: all, or one."""
    # Said by our commands in gdb, which counts the threads of each of its inferiors.
    parser.add_argument("--inferior", default="", help=hidden())
    threads = parser.add_mutually_exclusive_group()
    threads.add_argument("--all", action="store_true", help="every thread")
    add_thread(threads)


def add_thread(threads: Options) -> None:
    """Which thread."""
    threads.add_argument(
        "--thread",
        type=int,
        metavar="LWP",
        help="the thread with this id of the kernel's instead of the one that crashed",
    )


def add_look(parser: Parser) -> None:
    """Colours, and the form of names."""
    parser.add_argument(
        "--color",
        metavar="WHEN",
        default="auto",
        help="auto (on terminals), always, never, or ROLE=CODES:... such as function=33:address=34",
    )
    parser.add_argument("--no-demangle", action="store_true", help="names as they are in the file")


def add_json(parser: Parser, *schemas: str) -> None:
    """JSON instead of text."""
    parser.add_argument("--json", action="store_true", help="schema " + ", ".join(schemas))


def add_doctor(parser: Parser) -> None:
    """`whocall doctor`."""
    add_json(parser, "whocall.doctor/1")


def add_exe(parser: Parser) -> None:
    """The program of a core, as an option."""
    parser.add_argument("--exe", metavar="EXE", default="", help="the program's file, of a core")


def add_core(parser: Parser) -> None:
    """A core, its program, and where to look for files and names."""
    parser.add_argument("core", metavar="CORE", help="the core file")
    parser.add_argument("exe", metavar="EXE", nargs="?", default="", help="the program's file")
    add_search(parser)


def add_store(parser: Parser) -> None:
    """Crashes that systemd-coredump keeps."""
    parser.add_argument(
        "--last", action="store_true", help="the newest crash that systemd-coredump keeps"
    )
    parser.add_argument(
        "--crash",
        metavar="WHICH",
        default="",
        help="the newest with this pid, unit, executable or process name",
    )
    parser.add_argument(
        "--list", action="store_true", help="which crashes it keeps (with --crash: of those)"
    )
    parser.add_argument(
        "--store", metavar="DIR", default="", help="its cores, when they lie elsewhere"
    )
    parser.add_argument(
        "--journal", metavar="DIR", default="", help="its journal, when it lies elsewhere"
    )


def add_bt(parser: Parser) -> None:
    """`whocall bt`."""
    parser.epilog = CORES_EXPLAINED
    parser.add_argument("core", metavar="CORE", nargs="?", help="the core file")
    parser.add_argument("exe", metavar="EXE", nargs="?", default="", help="the program's file")
    parser.add_argument("more", metavar="CORE", nargs="*", default=[], help="more cores")
    parser.add_argument("--pid", type=int, metavar="N", help="a running process instead of a core")
    add_store(parser)
    add_search(parser)
    add_threads(parser)
    add_walk(parser)
    add_look(parser)
    parser.add_argument(
        "--full", action="store_true", help="registers, CFA and stack words of each frame"
    )
    parser.add_argument(
        "--explain", action="store_true", help="one sentence a frame on how it was found"
    )
    parser.add_argument(
        "--no-fold", action="store_true", help="every frame, also those of an endless recursion"
    )
    parser.add_argument("--past-main", action="store_true", help="also the frames that called main")
    parser.add_argument(
        "-n",
        "--count",
        type=as_count,
        metavar="COUNT",
        help="only the innermost COUNT frames, or the outermost for -COUNT",
    )
    add_width(parser, "lines that are longer are shortened, or broken before the file")
    parser.add_argument(
        "--filename-display",
        type=as_file_display,
        metavar="HOW",
        default=FILE_DISPLAYS[0],
        help="as gdb's setting: relative (modules by base names), basename (sources too), absolute",
    )
    add_json(parser, "whocall.backtrace/1")
    parser.add_argument(
        "--format",
        metavar="NAME",
        help="of all threads: speedscope, firefox (profiler), folded (stacks), flamegraph (SVG); "
        "of the crashed one, or with --all: sarif, markdown (GitHub's), mail (plain text)",
    )


def add_caller(parser: Parser) -> None:
    """`whocall caller`."""
    add_core(parser)
    add_thread(parser)
    add_walk(parser)
    add_look(parser)
    parser.add_argument(
        "--frame", type=as_limit, metavar="LEVEL", default=0, help="not the innermost but this one"
    )
    parser.add_argument(
        "--pc", metavar="ADDR", help="of the frame that gdb calls LEVEL: whocall's may be another"
    )
    add_json(parser, "whocall.caller/1")


def add_why(parser: Parser) -> None:
    """`whocall why`."""
    parser.description = (
        "What happened to the thread that crashed, in a sentence, and what shows it. A cause is"
        " told where registers, memory and the kernel's own words prove it."
    )
    add_core(parser)
    add_walk(parser)
    add_look(parser)
    add_json(parser, "whocall.why/1")


def add_compare(parser: Parser) -> None:
    """`whocall compare`."""
    import argparse

    from whocall.frontend.options import VERDICTS_EXPLAINED

    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = VERDICTS_EXPLAINED
    add_core(parser)
    add_threads(parser)
    add_walk(parser)
    add_look(parser)
    parser.add_argument(
        "--gdb-frames",
        metavar="FILE",
        help="gdb's frames by LWP as JSON (- for standard input); without it gdb is run for them",
    )
    parser.add_argument(
        "--shadow", action="store_true", help="not gdb's frames but the program's shadow stack"
    )
    add_width(parser, "below 110 columns gdb's frames stand below whocall's")
    add_json(parser, "whocall.compare/1", "whocall.shadow/1")


def add_width(parser: Parser, told: str) -> None:
    """How many columns the screen has."""
    parser.add_argument("--width", type=as_limit, metavar="N", help=told)


def add_modules(parser: Parser) -> None:
    """`whocall modules`."""
    parser.description = (
        "The loaded files: addresses; found, missing, of another build (MISMATCH) or "
        "in memory; the share of code with unwind tables; named functions by source of the name; "
        "path and debug file. Below a file that lacks something stands what to do about it."
    )
    parser.epilog = (
        "Files are looked for below --sysroot, at their own paths, in --search by name and "
        "by build id, in --debug-directory by build id, and last by --debuginfod, which asks here "
        "for the debug info of every file."
    )
    add_core(parser)
    add_width(parser, "longer paths get a line of their own")
    add_look(parser)
    add_json(parser, "whocall.modules/1")
    # Said by our commands in gdb, where advice on options would be of no use.
    parser.add_argument("--settings-of-gdb", action="store_true", help=hidden())
