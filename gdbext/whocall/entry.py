"""Where a process begins that is the command line.

While the parts of the package are loaded there is nothing to put in order, so that Ctrl-C just ends
it: as an exception it would come out of the middle of an import, with a traceback.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from signal import SIG_DFL, SIGINT, default_int_handler, getsignal, signal
else:
    from _signal import SIG_DFL, SIGINT, default_int_handler, getsignal, signal


def run() -> int:
    """The exit status. Who has Ctrl-C ignored, as shells for what runs behind, keeps that."""
    if getsignal(SIGINT) is default_int_handler:
        signal(SIGINT, SIG_DFL)
    from whocall.cli.main import main

    return main()
