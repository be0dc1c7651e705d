"""Every other program that whocall starts is started here, without a shell.

A command line is made of words that stand in the source, and of values that say what they are: a
path is absolute, the value of an option stands behind its "=". So no name of a file passes for an
option.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

from whocall.base.errors import Error
from whocall.base.gdb_lines import GdbLine
from whocall.base.limits import limit_time_of
from whocall.base.safe_paths import accepted
from whocall.base.sandbox import confine

StillRunning = subprocess.TimeoutExpired
_LONGEST = 128 << 10  # bytes of one argument, the kernel's MAX_ARG_STRLEN


class Argument(str):
    """One argument that means what it says."""

    __slots__ = ()


def words(*literals: str) -> list[Argument]:
    """What stands in the source."""
    return [Argument(literal) for literal in literals]


def name(text: str) -> Argument:
    """The name of a command of ours."""
    assert re.fullmatch(r"[a-z][a-z-]*", text), text
    return Argument(text)


def flag(text: str) -> Argument:
    """--NAME."""
    return Argument(f"--{name(text)}")


def option(what: str, value: object) -> Argument:
    """WHAT=VALUE, where WHAT stands in the source. Raises Error for what nobody can be given."""
    text = str(value)
    if "\0" in text or len(os.fsencode(text)) + len(what) + 2 > _LONGEST:
        raise Error(f"no program can be given a {what} of {text[:80]!r}: it holds a NUL or is huge")
    return Argument(f"{what}={text}")


def path(file: str | os.PathLike[str]) -> Argument:
    """A path by itself. Raises Error."""
    return Argument(accepted(file))


def behind_dashes(*values: str) -> list[Argument]:
    """What a program takes for no options, as it stands behind "--"."""
    for value in values:
        if "\0" in value:
            raise Error(f"no program can be given {value!r}: it holds a NUL")
    return [Argument("--"), *map(Argument, values)]


def gdb_option(letters: str, line: GdbLine) -> list[Argument]:
    """An option of gdb's with a command."""
    return [Argument(letters), Argument(line)]


def users_own(arguments: Sequence[str]) -> list[Argument]:
    """What the user himself has typed for that program."""
    return [Argument(argument) for argument in arguments]


class Child(subprocess.Popen[Any]):
    """A program that runs. Ctrl-C between its start and the moment when somebody holds it leaves
    nobody who could end it: then it ends with this object.
    """

    def __del__(self, *given: Any) -> None:
        if getattr(self, "pid", None) is not None and self.returncode is None:
            self.kill()
            self.wait()
        super().__del__(*given)


def _found(program: str) -> str:
    """The program's file, as the user's search path has it. Raises OSError."""
    place = program if "/" in program else shutil.which(program)
    if place is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), program)
    return str(Path(place).absolute())


def start(
    program: str,
    arguments: Sequence[Argument],
    *,
    given: bool = False,
    environment: Mapping[str, str] | None = None,
    folder: str | None = None,
    encoding: str | None = None,
    confined: bool = False,
    descriptors: Sequence[int] = (),
    seconds: int | None = None,
) -> Child:
    """Starts a program, whose outputs are read; `given`: its input is written too.

    It works in `folder`, else in ours; `encoding` is that of all three, which are bytes without
    one. It has our `descriptors`. One that is `confined` can write no files and reach nobody; we
    have one thread then. SIGXCPU ends it after so many `seconds` of the processor. Raises OSError.
    """
    end: int | IO[Any] = subprocess.PIPE if given else subprocess.DEVNULL
    child = Child(
        [_found(program), *arguments],
        stdin=end,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=folder,
        encoding=encoding,
        errors="surrogateescape" if encoding else None,
        pass_fds=descriptors,
        preexec_fn=(lambda: confine(programs=True)) if confined else None,
    )
    if seconds is not None:
        limit_time_of(child.pid, seconds)
    return child


def start_beside(
    program: str, arguments: Sequence[Argument], environment: Mapping[str, str]
) -> Child:
    """Starts a program that has our own input and outputs. Raises OSError."""
    return Child([_found(program), *arguments], env=environment)


def succeeds(
    program: str, arguments: Sequence[Argument], environment: Mapping[str, str], patience: float
) -> bool:
    """Whether it ends well within so many seconds."""
    try:
        with start(program, arguments, environment=environment) as child:
            try:
                child.communicate(timeout=patience)
            finally:
                child.kill()
            return child.returncode == 0
    except (OSError, StillRunning):
        return False


def become(program: str, arguments: Sequence[Argument]) -> NoReturn:
    """Goes on as another program. Raises OSError."""
    os.execvp(program, [program, *arguments])
