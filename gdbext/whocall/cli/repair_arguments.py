"""What the commands that serve debuggers take: `export` and `repair-plan`."""

from __future__ import annotations

from whocall.cli.arguments import add_core, add_exe, add_search, add_thread, add_walk

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.cli.arguments import Parser


def add_export(parser: Parser) -> None:
    """`whocall export`."""
    parser.description = (
        "Writes a symbol file for gdb: the names that whocall finds for the"
        " functions of FILE, and unwinding rules of those that no unwind table covers. With it"
        " any gdb prints true backtraces of the stripped program."
    )
    parser.add_argument("file", metavar="FILE", help="a program, a library, or a core")
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help="the new file")
    parser.add_argument(
        "--module",
        metavar="M",
        default="",
        help="of a core: of the module whose path ends so, not of the program",
    )
    add_exe(parser)
    add_search(parser)


def add_repair_plan(parser: Parser) -> None:
    """`whocall repair-plan`."""
    parser.description = (
        "Prints what makes a debugger's own stacks of a core those that whocall"
        " finds: the frames of each thread with the registers of their callers, and for each"
        " module in which frames lie the symbol files with names and rules, which are made in"
        " --folder where the cache has none. Of a program or a library instead of a core only"
        ' its symbol file. "whocall repair" in a gdb that cannot load the native module runs'
        " this."
    )
    add_core(parser)
    add_thread(parser)
    add_walk(parser)
    parser.add_argument(
        "--folder", metavar="DIR", required=True, help="where new symbol files are put"
    )
    parser.add_argument(
        "--module",
        metavar="M",
        action="append",
        default=[],
        help="also the module whose path ends so; may be repeated",
    )
    parser.add_argument("--every-module", action="store_true", help="all modules of the core")
    parser.add_argument(
        "--attached",
        metavar="FILE",
        help="what the debugger was told before: the `path`, `build_id`, `bias` (null: wherever it"
        " lies) and `state` of modules in a list, as JSON (- for standard input)",
    )
