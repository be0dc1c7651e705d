"""`whocall signatures`: makes a file of signatures of static libraries and of linked files."""

from __future__ import annotations

from whocall.cli.outputs import require_no_terminal, require_other_file, write_beside

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.cli.arguments import Values


def run(arguments: Values) -> int:
    """`whocall signatures`."""
    from whocall.base.signatures import write_signatures

    require_no_terminal(arguments.output)
    require_other_file(arguments.output, *arguments.archives)
    write_beside(arguments.output, write_signatures(arguments.archives, arguments.output))
    return 0
