"""`whocall open` in gdb: loads crashes that gdb itself cannot read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import gdb

from whocall.base import loader
from whocall.base.errors import Error, UsageError
from whocall.base.gdb_lines import named
from whocall.dumps import sparse
from whocall.gdb.host import console
from whocall.gdb.host.output import warn, write
from whocall.gdb.target.answering import unpacked
from whocall.shared_front_end.options import Parsed, syntax

if TYPE_CHECKING:
    from whocall.inputs.unpacking import PlacedFile, Unpacked

# gdb opens the file of a core by its name again and again; this one's is that of our descriptor.
_kept: dict[int, BinaryIO] = {}


def wanted(parsed: Parsed) -> tuple[str, str]:
    """The file to open, and the program or "". Raises Error."""
    stored = parsed.has("last") or parsed.has("crash")
    if not parsed.arguments and not stored:
        raise UsageError('"whocall open" needs a FILE, -last or -crash WHICH')
    if stored:
        from whocall.dumps.systemd_coredumps import crashes, newest_with_core

        which = parsed.values.get("crash", "")
        if len(parsed.arguments) > 1:
            raise UsageError('"whocall open" takes a FILE, or -last or -crash WHICH, not both')
        complaints: list[str] = []
        found = crashes(match=which, complaints=complaints)
        warn(complaints)
        return newest_with_core(found, which).path, "".join(parsed.arguments)
    path, *exe = (str(Path(word).expanduser()) for word in parsed.arguments)
    if path == "-":
        raise UsageError("the standard input is gdb's own: name a FILE")
    return path, "".join(exe)


def run(line: str) -> None:
    """Unpacks or converts the file, and makes it gdb's core."""
    path, exe = wanted(syntax("open").parse(line))
    loader.load()
    from whocall.inputs.unpacking import is_plain

    if is_plain(path):
        load_plain(path, exe)
        return
    core = sparse.temporary()
    load(core, unpacked_from(unpacked(path, exe, core)))


def unpacked_from(told: Any) -> Unpacked:
    """What whocall.unpacked/1 says. Raises Error."""
    from whocall.inputs.unpacking import of_json

    try:
        return of_json(told)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Error("whocall's helper answers what is no core") from error


def load_plain(path: str, exe: str) -> None:
    """A core as it is. Raises Error for names that gdb cannot be given."""
    core, program = named(path), named(exe) if exe else None
    if program is not None:
        console.run("file", program)
    console.run("core-file", core)


def load(core: BinaryIO, made: Unpacked) -> None:
    """Makes the new core gdb's, with the program and the files of its modules."""
    from whocall.dumps.origin import told

    warn(made.remarks)
    write(told(made.origin))
    if made.exe:
        _give_program(made.exe)
    console.run("core-file", named(sparse.path_of(core)))
    _kept[gdb.selected_inferior().num] = core
    for file in made.files:
        if file.path != made.exe:
            _add_symbols(file)


def _give_program(exe: str) -> None:
    """Goes on without a program that the core names and gdb cannot be given."""
    try:
        console.said("file", named(exe))
    except Error as error:
        warn([f"gdb is given no program: {error}."])


def _add_symbols(file: PlacedFile) -> None:
    """Where gdb has no list of libraries, as of minidumps, each is told to it."""
    known = {objfile.filename for objfile in gdb.objfiles()}
    if file.path in known or str(Path(file.path).resolve()) in known:
        return
    try:
        console.said("add-symbol-file -o", file.bias, named(file.path))
    except Error as error:
        warn([f"gdb is given no symbols of it: {error}."])
    except gdb.error as error:
        warn([f"gdb has no symbols of {file.path}: {error}."])


def run_elsewhere(line: str) -> None:
    """The same by another Python."""
    import json

    from whocall.base.programs import behind_dashes, option, words
    from whocall.gdb.commands.elsewhere import ran
    from whocall.gdb.target.backend_arguments import search_arguments
    from whocall.inputs.unpacking import is_plain, of_json

    path, exe = wanted(syntax("open").parse(line))
    if is_plain(path):
        load_plain(path, exe)
        return
    core = sparse.temporary()
    output = option("--output", sparse.path_of(core))
    arguments = [output, *words("--json"), *search_arguments()]
    arguments += [option("--exe", exe)] if exe else []
    load(core, of_json(json.loads(ran("unpack", [*arguments, *behind_dashes(path)]))))
