"""What the commands on files take: functions, symbol, audit, signatures."""

from __future__ import annotations

from whocall.cli.arguments import add_exe, add_json, add_look, add_search, as_limit

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.cli.arguments import Parser


def add_functions(parser: Parser) -> None:
    """`whocall functions`."""
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("regex", metavar="REGEX", nargs="?", default="")
    parser.add_argument(
        "--module", metavar="M", default="", help="of a core: only the module whose path ends so"
    )
    add_json(parser, "whocall.functions/1")
    add_exe(parser)
    add_search(parser)
    add_look(parser)


def add_symbol(parser: Parser) -> None:
    """`whocall symbol`."""
    parser.add_argument("file", metavar="FILE")
    parser.add_argument(
        "addresses", metavar="ADDR", nargs="+", help="or the name of a function, as outputs show it"
    )
    add_exe(parser)
    add_search(parser)
    add_look(parser)
    add_json(parser, "whocall.symbol/1")


def add_audit(parser: Parser) -> None:
    """`whocall audit`."""
    parser.add_argument("file", metavar="FILE")
    parser.add_argument(
        "--limit", type=as_limit, metavar="N", help="at most N differences in full (default: 5)"
    )
    add_look(parser)
    add_json(parser, "whocall.audit/1")


def add_signatures(parser: Parser) -> None:
    """`whocall signatures`."""
    parser.description = (
        "Makes a file by which --signatures recognises the functions of static"
        " libraries in stripped programs that were linked with them. Libraries that are linked"
        " together, such as libc.a, libm.a and libgcc_eh.a, belong into one file."
    )
    parser.add_argument("archives", metavar="ARCHIVE", nargs="+", help="libc.a, crt1.o, ...")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the new file")
