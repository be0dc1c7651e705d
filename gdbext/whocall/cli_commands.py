"""What the commands of the command line do."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from whocall import jsonform, loader
from whocall.downloads import announcing
from whocall.errors import Error, UsageError
from whocall.options import split_list
from whocall.search import DEBUG_DIRECTORIES, Search
from whocall.style import style_for

if TYPE_CHECKING:
    from whocall.image import ProcessImage


def script_path() -> Path:
    """The file that the user sources in gdb."""
    for path in (loader.PACKAGE / "share" / "whocall.py", loader.PACKAGE.parent / "whocall.py"):
        if path.is_file():
            return path
    raise Error(f"whocall.py is not beside {loader.PACKAGE}; {loader.remedy()} puts it there")


def start_gdb(arguments: list[str]) -> int:
    """Becomes gdb, with the extension loaded before anything that `arguments` ask for."""
    gdb = os.environ.get("GDB", "gdb")
    try:
        os.execvp(gdb, [gdb, "-ex", f"source {script_path()}", *arguments])
    except OSError as error:
        raise Error(f"cannot start {gdb}: {error.strerror}; install gdb") from error


def _write(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(line + "\n")


def _warn(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        print(f"warning: {sentence}", file=sys.stderr)


def _is_core(path: str) -> bool:
    """Whether the file is an ELF core; unreadable files are for the opener to complain about."""
    try:
        if not Path(path).is_file():  # opening a pipe would wait for its writer
            return False
        with Path(path).open("rb") as file:
            head = file.read(18)
    except OSError:
        return False
    if len(head) < 18 or head[:4] != b"\x7fELF":
        return False
    return int.from_bytes(head[16:18], "big" if head[5] == 2 else "little") == 4


def _search(arguments: argparse.Namespace) -> Search:
    watched = sys.stderr.isatty() and not getattr(arguments, "json", False)
    return Search(
        sysroot=arguments.sysroot,
        directories=arguments.search,
        debug_directories=arguments.debug_directory or DEBUG_DIRECTORIES,
        symbol_files=arguments.symbols,
        signature_files=arguments.signatures,
        debuginfod=arguments.debuginfod,
        progress=announcing(_tell) if watched else None,
    )


def _tell(line: str) -> None:
    sys.stderr.write(line)
    sys.stderr.flush()


def _open_core(path: str, exe: str, arguments: argparse.Namespace) -> ProcessImage:
    from whocall.image import open_core

    return open_core(path, exe, search=_search(arguments))


def _open(arguments: argparse.Namespace) -> ProcessImage:
    if (arguments.core is None) == (arguments.pid is None):
        raise UsageError("bt takes a CORE or --pid N, one of the two")
    if arguments.pid is None:
        return _open_core(arguments.core, arguments.exe, arguments)
    from whocall.image import open_process

    return open_process(arguments.pid, search=_search(arguments))


def backtrace(arguments: argparse.Namespace) -> int:
    """`whocall bt`."""
    from whocall.render import TextForm, report_lines

    with _open(arguments) as image:
        from whocall.image import Walk

        walk = Walk(
            without=tuple(split_list(arguments.without)),
            explain=arguments.explain,
            registers=arguments.full,
            past_main=arguments.past_main,
            count=arguments.count,
        )
        indices = None if arguments.all else [image.index_of_crash()]
        report = image.report(indices, walk)
        if arguments.json:
            sys.stdout.write(jsonform.text(jsonform.backtrace_json(report)))
            return 0
        _warn(report.warnings)
        form = TextForm(
            full=arguments.full,
            explain=arguments.explain,
            every_thread=arguments.all,
            pointer_size=image.pointer_size,
            byte_order=image.byte_order,
            read=image.read,
        )
        _write(report_lines(report, form, style_for(sys.stdout)))
    return 0


def compare(arguments: argparse.Namespace) -> int:
    """`whocall compare`: gdb is run as the other voice."""
    from whocall.comparison import (
        compare_thread,
        comparison_json,
        comparison_lines,
        comparison_warnings,
    )
    from whocall.gdbvoice import gdb_stacks
    from whocall.image import Walk

    with _open_core(arguments.core, arguments.exe, arguments) as image:
        indices = range(len(image.threads)) if arguments.all else [image.index_of_crash()]
        traces = image.report(indices, Walk(past_main=True)).threads
        stacks = gdb_stacks(
            image, arguments.core, arguments.exe, [t.lwp for t in traces], arguments
        )
        found = [compare_thread(image, trace, stacks[trace.lwp]) for trace in traces]
        if arguments.json:
            sys.stdout.write(jsonform.text(comparison_json(image, found)))
            return 0
        _warn(comparison_warnings(image, found))
        style = style_for(sys.stdout)
        for at, comparison in enumerate(found):
            if arguments.all:
                _write([""] * (at > 0) + [f"Thread {comparison.trace.number}:"])
            _write(comparison_lines(comparison, image.pointer_size, style))
    return 0


def functions(arguments: argparse.Namespace) -> int:
    """`whocall functions`."""
    from whocall.functions import function_lines, functions_json, of_file, of_process

    if _is_core(arguments.file):
        image = _open_core(arguments.file, "", arguments)
        tables = list(of_process(image, arguments.module, arguments.regex, demangle=True))
        size = image.pointer_size
    else:
        if arguments.module:
            raise UsageError("--module chooses among the modules of a core")
        tables = [of_file(arguments.file, arguments.regex, True, _search(arguments))]
        size = 8
    if arguments.json:
        sys.stdout.write(jsonform.text(functions_json(tables)))
        return 0
    _warn(table.remark for table in tables if table.remark)
    for table in tables:
        if arguments.regex and not table.functions and len(tables) > 1:
            continue
        _write(function_lines(table, size, style_for(sys.stdout)))
    return 0


def _address(text: str) -> int:
    """Hexadecimal with or without 0x, as in every other tool and log."""
    try:
        address = int(text, 16)
    except ValueError:
        raise UsageError(f"{text!r} is not a hexadecimal address") from None
    if not 0 <= address < 1 << 64:
        raise UsageError(f"{text} is not an address: those are 0 to ffffffffffffffff")
    return address


def symbol(arguments: argparse.Namespace) -> int:
    """`whocall symbol`."""
    from whocall.image import open_names
    from whocall.module_warnings import warnings_on
    from whocall.places import file_symbol_lines, symbol_lines

    addresses = [_address(text) for text in arguments.addresses]
    style = style_for(sys.stdout)
    if _is_core(arguments.file):
        image = _open_core(arguments.file, "", arguments)
        _warn(warnings_on(image, addresses))
        _write(symbol_lines(image, addresses, True, style))
        return 0
    names = open_names(arguments.file, search=_search(arguments))
    if names.remark:
        print(f"warning: {names.remark}", file=sys.stderr)
    for address in addresses:
        _write(file_symbol_lines(names, address, True, style))
    return 0


def modules(arguments: argparse.Namespace) -> int:
    """`whocall modules`."""
    from whocall.module_table import module_lines
    from whocall.modules import Advice, all_facts, modules_json, warnings

    with _open_core(arguments.core, arguments.exe, arguments) as image:
        facts = all_facts(image, fetch=arguments.debuginfod)
        advice = Advice("--search DIR", "--debuginfod", arguments.debuginfod)
        if arguments.json:
            sys.stdout.write(jsonform.text(modules_json(image, facts, advice)))
            return 0
        _warn(warnings(image, facts))
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        _write(module_lines(facts, advice, style_for(sys.stdout), width))
    return 0


def audit(arguments: argparse.Namespace) -> int:
    """`whocall audit`."""
    from whocall.audit import DIFFERENCES, audit_file, audit_json, audit_lines

    limit = DIFFERENCES if arguments.limit is None else arguments.limit
    found = audit_file(arguments.file, limit)
    if arguments.json:
        sys.stdout.write(jsonform.text(audit_json(found)))
    else:
        _write(audit_lines(found, style_for(sys.stdout)))
    return 0


def signatures(arguments: argparse.Namespace) -> int:
    """`whocall signatures`."""
    from whocall.signatures import write_signatures

    _write(write_signatures(arguments.archives, arguments.output))
    return 0


def doctor(arguments: argparse.Namespace) -> int:
    """`whocall doctor`: exit status 1 when something is missing."""
    from whocall.doctor import examine, finding_lines, is_healthy

    findings = examine()
    _write(finding_lines(findings))
    return 0 if is_healthy(findings) else 1


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "bt": backtrace,
    "compare": compare,
    "functions": functions,
    "symbol": symbol,
    "modules": modules,
    "audit": audit,
    "signatures": signatures,
    "doctor": doctor,
}
