"""What gdb works on, and its settings, as arguments of the command line in a subprocess."""

from __future__ import annotations

import os
import shlex

from whocall.base import loader
from whocall.base.errors import Error, NativeMissingError
from whocall.base.programs import Argument, option, path, words
from whocall.gdb.host import downloads, settings
from whocall.gdb.host.subprocess_backend import other_python
from whocall.gdb.target import walks
from whocall.gdb.target.executable import executable
from whocall.gdb.target.inferior import core_of, readable_selection
from whocall.shared_front_end.options import Parsed


def core_and_program() -> list[Argument]:
    """The core that gdb reads, and the program if it knows one. Raises Error for anything else."""
    inferior, _ = readable_selection()
    core = core_of(inferior)
    if core is None:
        raise Error(_live_complaint(executable(inferior)))
    exe = executable(inferior)
    return [path(core), path(exe)] if exe else [path(core)]


def _live_complaint(exe: str) -> str:
    """Nobody but gdb can read a program that gdb controls; of its core anybody can."""
    try:
        loader.load()
    except NativeMissingError as missing:
        python = other_python()
        assert python is not None
        command = " ".join(map(shlex.quote, python.command(["bt"])))
        program = f" {shlex.quote(exe)}" if exe else ""
        return (
            f"{missing}; until then a core of the running program can be read:"
            f' "generate-core-file FILE", then "shell {command} FILE{program}"'
        )
    return "the native module of whocall can be loaded now; repeat the command"


def search_arguments() -> list[Argument]:
    """Where to look for files and names, by the settings."""
    search = settings.search()
    found = [option("--sysroot", search.sysroot)] if search.sysroot else []
    there = filter(os.path.isdir, search.directories)  # gdb's settings may name what is not there
    found += [option("--search", folder) for folder in there]
    found += [option("--debug-directory", folder) for folder in search.debug_directories or [""]]
    found += [option("--symbols", file) for file in search.symbol_files]
    found += [option("--signatures", file) for file in search.signature_files]
    if search.debuginfod:
        found += words("--debuginfod")
    found += words("--announce") * downloads.is_watched()
    return found


def strategy_arguments(parsed: Parsed) -> list[Argument]:
    """How to walk, by the settings and the options."""
    found = [option("--max-frames", settings.max_frames())]
    without = walks.without(parsed)
    return [*found, option("--without", ",".join(without))] if without else found
