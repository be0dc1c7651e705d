"""`whocall serve`: the cores of a directory as pages, for this machine alone and read-only."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from whocall.base.errors import Error
from whocall.base.sandbox import confine_now

if TYPE_CHECKING:
    from whocall.cli.arguments import Values


def run(arguments: Values) -> int:
    """`whocall serve`: until Ctrl-C."""
    from whocall.cli.core_server import Cores, CoreServer
    from whocall.cli.outputs import flush, write
    from whocall.cli.progress import leave
    from whocall.report.page.writing import needs_templates

    needs_templates("serve")
    arguments.title = ""
    if arguments.port > 0xFFFF:
        raise Error(f"there is no port {arguments.port}: they are 1 to 65535, and 0 for any")
    cores = Cores(arguments.directory, arguments)
    try:
        server = CoreServer(cores, arguments.port)
    except OSError as error:
        raise Error(
            f"port {arguments.port} cannot be had: {error.strerror}; choose another by --port"
        ) from error
    confine_now()  # a port can be had no more
    with server:
        cores.entries()  # what this finds out is kept: the first page comes at once
        leave()  # nobody waits here for what requests take
        write([f"{server.address}  (Ctrl-C ends it)"])
        flush()
        with suppress(KeyboardInterrupt):
            server.serve_forever()
        write([""])
    return 0
