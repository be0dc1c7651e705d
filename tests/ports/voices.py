"""What each tool makes of a core: whocall, gdb-multiarch, eu-stack and lldb."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

from corpus.voices import WALK
from oracles import eu_stack, lldb_bt
from oracles.remembered import remembered
from oracles.tools import ToolError, asked

import whocall
from ports.judge import Frame
from ports.sets import InstructionSet
from whocall.base.errors import Error
from whocall.base.file_search import Search
from whocall.base.process_image import Walk, open_file_image


class Crashed(Protocol):
    """What tools are asked about."""

    @property
    def core(self) -> Path:
        """The core file."""

    @property
    def exe(self) -> Path:
        """Its program."""

    @property
    def sysroot(self) -> str:
        """Where its libraries lie."""


Pcs = dict[int, list[int]]
"""Of each thread, innermost first."""
Chains = dict[int, list[Frame]]
MULTIARCH = "gdb-multiarch"
NEXT = "=== next core"
WORK = 5
"""Seconds of processor time of a session for one core, of which most take a tenth; gdb 13 itself
never comes back from some of qemu's signal frames on AArch64."""
WORK_ON_ALL = 40
"""The same of a session for all cores of a set, which takes less than ten."""
LONGEST = 120
"""Seconds that it may sleep and wait besides."""


@cache
def is_ported(one: InstructionSet) -> bool:
    """Whether whocall knows the instruction set."""
    try:
        open_file_image(f"{one.sysroot}/lib/libc.so.6").close()
    except Error as error:
        if "does not know" in str(error):
            return False
        raise
    return True


def ask_whocall(built: Crashed) -> Chains:
    """The stripped program, and the sysroot."""
    search = Search(sysroot=built.sysroot)
    walk = Walk(past_main=True, lines=False, demangle=False)
    with whocall.open_core(str(built.core), str(built.exe), search=search) as image:
        traces = image.report(walk=walk).threads
        return {
            trace.lwp: [
                Frame(frame.pc, frame.trust != "scan")
                for frame in trace.frames
                if not frame.inlined
            ]
            for trace in traces
        }


def _settings(built: Crashed) -> tuple[str, ...]:
    """gdb-multiarch is told all that whocall is."""
    return (
        "set debuginfod enabled off",
        f"set sysroot {built.sysroot}",
        "set auto-load off",
        "set backtrace past-main on",
        "set backtrace past-entry on",
        "set backtrace limit unlimited",
    )


def _session(
    cases: Sequence[Crashed], work: int, load: Sequence[str] = (), each: Sequence[str] = ()
) -> str:
    """What one gdb-multiarch says of cores with one sysroot, each after some commands."""
    command = [MULTIARCH, "-nx", "-q", "-batch"]
    for setting in _settings(cases[0]):
        command += ["-iex", setting]
    steps = [*load]
    for built in cases:
        steps += [f"file {built.exe}", f"core-file {built.core}", *each]
        steps += [f"source {WALK}", f"echo {NEXT}\\n"]
    for step in steps:
        command += ["-ex", step]
    return asked(command, timeout=LONGEST, work=work).stdout


def _walk_in(said: str) -> Pcs:
    line = next((line for line in said.splitlines() if line.startswith("WALK ")), "WALK {}")
    return {int(tid): pcs for tid, pcs in json.loads(line[5:]).items()}


def _or_nothing(ask: Callable[[], Pcs]) -> Pcs:
    """A tool that fails has found no frames."""
    try:
        return ask()
    except ToolError:
        return {}


def _once(tool: str, built: Crashed, more: object, ask: Callable[[], Pcs]) -> Chains:
    """What another tool says, or that it says nothing: whocall has no part in either."""
    recipe = ("ports", more)
    return _chains(remembered(tool, built.core, built.exe, recipe, lambda: _or_nothing(ask)))


def _chains(found: Pcs) -> Chains:
    return {tid: [Frame(pc) for pc in pcs] for tid, pcs in found.items()}


def ask_gdb(built: Crashed) -> Chains:
    """gdb-multiarch alone."""
    return _once(
        MULTIARCH, built, (_settings(built), WALK), lambda: _walk_in(_session([built], WORK))
    )


def ask_eu_stack(built: Crashed) -> Chains:
    """eu-stack has no sysroot."""
    return _once("eu-stack", built, (), lambda: eu_stack.of_core(built.core, built.exe).pcs())


def ask_lldb(built: Crashed) -> Chains:
    """lldb is told no sysroot."""
    return _once("lldb", built, (), lambda: lldb_bt.of_core(built.core, built.exe))


def ask_repaired(cases: Sequence[Crashed], entry: Path) -> list[Chains]:
    """gdb-multiarch's own frames after `whocall repair`, case by case.

    Starting it takes longer than a core does, so one session takes many; where it dies or has to be
    stopped, that core has no frames, and another session goes on behind it.
    """
    found: list[Chains] = []
    while len(found) < len(cases):
        try:
            rest, load = cases[len(found) :], [f"source {entry}"]
            said = _session(rest, WORK_ON_ALL, load, ["whocall repair"])
        except ToolError as error:
            said = error.said
        *whole, _ = said.split(f"{NEXT}\n")
        found += [_chains(_walk_in(one)) for one in whole]
        if len(found) < len(cases):
            found.append({})
    return found


VOICES = {"gdb-multiarch": ask_gdb, "eu-stack": ask_eu_stack, "lldb": ask_lldb}
