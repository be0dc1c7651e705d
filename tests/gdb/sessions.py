"""gdb driven from outside: one batch session, and what it said."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Union

SCRIPT = Path(__file__).resolve().parents[2] / "gdbext" / "whocall.py"
GDB = os.environ.get("GDB", "gdb")
# Half of a short session would be the reading of the C library's debug file, each time anew.
INDEX = ["-iex", f"set index-cache directory {os.environ['XDG_CACHE_HOME']}/gdb",
         "-iex", "set index-cache enabled on"]  # fmt: skip

OF_THE_PLACE = re.compile(
    r"""(^\n)?warning:\ (
    Error\ disabling\ address\ space\ randomization:\ Operation\ not\ permitted
    |
    Section\ `\.reg-xstate/\d+'\ in\ core\ file\ too\ small\.
    |
    Unexpected\ size\ of\ section\ `\.reg-xstate/\d+'\ in\ core\ file\.
    )\n""",
    re.MULTILINE | re.VERBOSE,
)
"""gdb's own words on a place, which belong to no answer.

Situation: gdb writes as many bytes of vector registers as the processor has, and reading takes
those sizes only that it knows by heart, unless the kernel says more in another note.
Example: processors with AVX-512 and without protection keys (2432 bytes); cores of gdb 14 to 18
are too small for all of them, and the kernel's for gdb 13.
Remedy: the warning is left out, whose registers no stack hangs on.
"""


@dataclass(frozen=True)
class Said:
    """What a session printed, and its exit status."""

    out: str
    err: str
    status: int


def environment(**more: str) -> dict[str, str]:
    """The environment of a session: no colours, no network, our build."""
    kept = {k: v for k, v in os.environ.items() if k not in ("DEBUGINFOD_URLS", "PYTHONPATH")}
    build = Path(os.environ["WHOCALL_BUILD_DIR"]).resolve()
    return {**kept, "TERM": "dumb", "WHOCALL_BUILD_DIR": str(build), **more}


def batch(
    commands: Sequence[str],
    arguments: Sequence[str | Path] = (),
    *,
    script: Path | None = SCRIPT,
    folder: Path | None = None,
    **more: str,
) -> Said:
    """`gdb -batch` with the extension loaded unless `script` is None, then `commands`, in `folder`;
    `more` goes to the environment.
    """
    line = [GDB, "-nx", "-q", "-batch", *INDEX]
    line += [] if script is None else ["-ex", f"source {script}"]
    for command in commands:
        line += ["-ex", command]
    ran = subprocess.run(
        [*line, *map(str, arguments)],
        cwd=folder,
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
        timeout=120,
    )
    out, err = (OF_THE_PLACE.sub("", text) for text in (ran.stdout, ran.stderr))
    return Said(out, err, ran.returncode)


@dataclass(frozen=True)
class Answer:
    """What one question brought."""

    out: str
    err: str


Question = Union[str, tuple[str, ...]]  # a command, or several in their order
_MARK = "{next}\n"
_NEXT = f"python gdb.write({_MARK!r}); gdb.write({_MARK!r}, gdb.STDERR)"


def asked(
    questions: Iterable[Question],
    arguments: Sequence[str | Path] = (),
    *,
    script: Path = SCRIPT,
    **more: str,
) -> dict[Question, Answer]:
    """What one session answers to each question; none may hang on those before it."""
    wanted = list(dict.fromkeys(questions))
    lines: list[str] = []
    for question in wanted:
        lines += [_NEXT, *([question] if isinstance(question, str) else question)]
    said = batch(lines, arguments, script=script, **more)
    out, err = (text.split(_MARK)[1:] for text in (said.out, said.err))
    assert len(out) == len(err) == len(wanted), said
    return dict(zip(wanted, map(Answer, out, err)))


_REFUSAL = """python
try:
    gdb.execute({command!r})
    gdb.write('done')
except gdb.error as error:
    gdb.write('refused: ' + str(error))
"""


def refusals(
    commands: Iterable[str],
    arguments: Sequence[str | Path] = (),
    *,
    script: Path = SCRIPT,
    **more: str,
) -> dict[str, str]:
    """The error of each command; it has to have one, and nothing else to say but warnings."""
    questions = {command: _REFUSAL.format(command=command) for command in commands}
    answers = asked(questions.values(), arguments, script=script, **more)
    found = {command: answers[question].out for command, question in questions.items()}
    for command, question in questions.items():
        assert found[command].startswith("refused: "), f"{command}: {found[command]}"
        assert all(line.startswith("warning: ") for line in answers[question].err.splitlines())
    return {command: out.removeprefix("refused: ") for command, out in found.items()}
