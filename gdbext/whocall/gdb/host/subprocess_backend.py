"""Runs the command line in a subprocess, by another Python of the machine.

That is for gdbs whose own Python cannot load the native module.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from whocall.base import loader, programs
from whocall.base.errors import Error, NativeMissingError
from whocall.base.programs import Argument
from whocall.gdb.host.output import say, warn
from whocall.gdb.host.settings import debuginfod_servers
from whocall.shared_front_end import pythons
from whocall.shared_front_end.pythons import OtherPython

_LOOK_UP = 0.1  # seconds after which an interrupt is noticed that reached gdb alone
_INTERRUPTED = 130  # the command line's exit status then
_COMPLAINT = "whocall: "

_announced = False


@lru_cache(maxsize=1)
def _find(modules: tuple[Path, ...]) -> OtherPython | None:
    """Searched once, until other native modules are there."""
    return pythons.find(modules)


def other_python() -> OtherPython | None:
    """The Python that can load a native module; None when there is none."""
    looked = loader.look()
    return _find(tuple(looked.others) + ((looked.usable,) if looked.usable else ()))


def run_in_subprocess(arguments: Sequence[Argument], given: str = "") -> str:
    """What `whocall ARGUMENTS` prints, run by another Python; `given` is its standard input.

    Its warnings become gdb's; the first time in a session one says why it runs there. Raises Error
    with its complaint, NativeMissingError when no Python can load a native module, and
    KeyboardInterrupt, after which it runs no more.
    """
    python = other_python()
    if python is None:
        loader.load()
        raise Error("the native module of whocall can be loaded now; repeat the command")
    announce("runs whocall on core files instead")
    status, out, rest = _finished(python, arguments, given)
    if status == 0:
        _pass_on(rest)
        return out
    if status == _INTERRUPTED:
        raise KeyboardInterrupt
    raise _complaint(python, status, rest)


def announce(instead: str) -> None:
    """Says once in a session why another Python does the work. Raises NativeMissingError when there
    is none.
    """
    global _announced
    try:
        loader.load()
    except NativeMissingError as missing:
        python = other_python()
        if python is None:
            raise
        if not _announced:
            warn(
                [
                    "the native module of whocall cannot be used in this gdb:"
                    f" {missing.reason}; {python.path} {instead}; fix it with: {missing.remedy}"
                ]
            )
        _announced = True


def _finished(
    python: OtherPython, arguments: Sequence[Argument], given: str
) -> tuple[int, str, list[str]]:
    """Exit status, output, and what it said last on its error stream, of which the rest is passed
    on as it comes. An interrupt ends the process at once.
    """
    environment = dict(python.environment)
    servers = debuginfod_servers()
    if servers:
        environment["DEBUGINFOD_URLS"] = servers
    environment["PYTHONIOENCODING"] = "utf-8"
    wanted: str | None = given
    shown = 0
    child = None
    try:
        try:
            child = programs.start(
                python.path,
                [programs.path(loader.script_path()), *arguments],
                given=True,
                environment=environment,
                encoding="utf-8",
            )
        except OSError as error:
            raise Error(f"{python.path} cannot be started: {error.strerror}") from error
        while True:
            try:
                out, err = child.communicate(wanted, timeout=_LOOK_UP)
                return child.returncode, out, _lines(err)[shown:]
            except programs.StillRunning as waiting:
                wanted = None  # has been taken over
                lines = _so_far(waiting.stderr)[shown:]
                _pass_on(lines)
                shown += len(lines)
    finally:
        if child is not None and child.poll() is None:
            child.kill()
            child.communicate()


def _lines(said: str) -> list[str]:
    """Without a last one that is not whole."""
    return said.split("\n")[:-1]


def _so_far(said: bytes | None) -> list[str]:
    """The lines but for the complaint, which is the end."""
    lines = _lines((said or b"").decode("utf-8", "surrogateescape"))
    return [line for line in lines if not line.startswith(_COMPLAINT)]


def _pass_on(lines: Sequence[str]) -> None:
    for line in lines:
        say(line)


def _complaint(python: OtherPython, status: int, lines: Sequence[str]) -> Error:
    """Its error; what it said before is passed on."""
    if lines and lines[-1].startswith(_COMPLAINT):
        _pass_on(lines[:-1])
        return Error(lines[-1][len(_COMPLAINT) :])
    said = f": {lines[-1]}" if lines else ""
    ended = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
    return Error(f"whocall in {python.path} {ended}{said}")
