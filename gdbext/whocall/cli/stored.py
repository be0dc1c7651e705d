"""`whocall bt --list`, `--last` and `--crash`: crashes that systemd-coredump keeps."""

from __future__ import annotations

from whocall.base.errors import UsageError
from whocall.base.printable import printable
from whocall.base.sandbox import confine_now
from whocall.cli.outputs import warn, write, write_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whocall.base.file_search import Search
    from whocall.base.process_image import ProcessImage
    from whocall.cli.arguments import Values
    from whocall.dumps.systemd_coredumps import StoredCrash


def _found(arguments: Values) -> list[StoredCrash]:
    from whocall.dumps.systemd_coredumps import crashes

    if arguments.core is not None or arguments.pid is not None:
        listing = "--list, " if hasattr(arguments, "list") else ""
        raise UsageError(f"{listing}--last and --crash take no CORE and no --pid")
    complaints: list[str] = []
    found = crashes(arguments.store, arguments.journal, arguments.crash, complaints)
    warn(complaints)
    return found


def open_stored(arguments: Values, search: Search) -> ProcessImage:
    """The newest of the crashes that are asked for. All of the journal is read before its core."""
    from whocall.dumps.arrival import receive
    from whocall.dumps.systemd_coredumps import all_fields, newest_with_core
    from whocall.inputs.opening import open_received

    crash = newest_with_core(_found(arguments), arguments.crash)
    noted = all_fields(crash, arguments.journal)
    confine_now()
    arrived = receive(crash.path, search.sysroot)
    arrived.fields = {**arrived.fields, **noted}
    return open_received(arrived, arguments.exe, search)


def _rows(found: list[StoredCrash]) -> Iterator[tuple[str, ...]]:
    from whocall.dumps.origin import known

    yield "TIME", "PID", "UID", "SIGNAL", "CORE", "UNIT", "EXE"
    for crash in found:
        names = known(crash.fields)
        cells = (names.get(word, "-") for word in ("time", "pid", "uid", "signal"))
        exe = names.get("exe") or names.get("comm", "-")
        there = "there" if crash.path else "gone"
        yield tuple(printable(cell) for cell in (*cells, there, crash.unit or "-", exe))


def list_stored(arguments: Values) -> int:
    """`--list`: the newest first."""
    found = _found(arguments)
    confine_now()
    if arguments.json:
        from whocall.report.form import jsonform

        all_of_them = [{"core": crash.path or None, "origin": crash.fields} for crash in found]
        write_json([jsonform.text({"schema": "whocall.crashes/1", "crashes": all_of_them})])
        return 0
    rows = list(_rows(found))
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    write("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return 0
