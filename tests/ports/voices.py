"""What each tool makes of a core: whocall, gdb-multiarch, eu-stack and lldb."""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from pathlib import Path

from corpus.voices import WALK
from kept import Tool, kept
from oracles.lldb_bt import parse as parse_lldb
from oracles.tools import ToolError, environment

import whocall
from ports.case import BuiltCase
from ports.judge import Frame
from ports.sets import InstructionSet
from whocall.core.errors import Error
from whocall.core.image import Walk, open_file_image
from whocall.core.search import Search

Chains = dict[int, list[Frame]]
TIMEOUT = 60
REPAIR_TIMEOUT = 25
"""seconds; gdb 13 itself never comes back from some of qemu's signal frames on AArch64."""


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


def ask_whocall(built: BuiltCase) -> Chains:
    """The stripped program, and the sysroot."""
    search = Search(sysroot=built.case.of.sysroot)
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


def _said(command: list[str], built: BuiltCase) -> str:
    def ask(_: Path) -> str:
        try:
            done = subprocess.run(
                command,
                env=environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT,
                check=False,
            )
        except (FileNotFoundError, subprocess.TimeoutExpired):
            return ""
        return done.stdout

    # The core's place says all that the case's recipe does.
    return kept(("port's voice", command, Tool(command[0]), built.core.stat().st_mtime_ns), ask)


def gdb_command(built: BuiltCase, *more: str) -> list[str]:
    """gdb-multiarch on the core, told all that whocall is."""
    settings = (
        "set debuginfod enabled off",
        f"set sysroot {built.case.of.sysroot}",
        "set auto-load off",
        "set backtrace past-main on",
        "set backtrace past-entry on",
        "set backtrace limit unlimited",
    )
    command = ["gdb-multiarch", "-nx", "-q", "-batch"]
    for setting in settings:
        command += ["-iex", setting]
    command += [str(built.exe), "-c", str(built.core)]
    for each in more:
        command += ["-ex", each]
    return [*command, "-ex", f"source {WALK}"]


def walks_in(said: str) -> Chains:
    """What `gdb_walk.py` printed."""
    line = next((line for line in said.splitlines() if line.startswith("WALK ")), "WALK {}")
    return {int(tid): [Frame(pc) for pc in pcs] for tid, pcs in json.loads(line[5:]).items()}


def ask_gdb(built: BuiltCase) -> Chains:
    """gdb-multiarch alone."""
    return walks_in(_said(gdb_command(built), built))


def ask_eu_stack(built: BuiltCase) -> Chains:
    """eu-stack has no sysroot."""
    command = ["eu-stack", "-n", "0", f"--core={built.core}", f"--executable={built.exe}"]
    chains: Chains = {}
    chain: list[Frame] = []
    for line in _said(command, built).splitlines():
        if match := re.match(r"TID (\d+):", line):
            chain = chains.setdefault(int(match[1]), [])
        elif match := re.match(r"#\d+\s+0x([0-9a-f]+)", line):
            chain.append(Frame(int(match[1], 16)))
    return chains


def ask_lldb(built: BuiltCase) -> Chains:
    """lldb, with the sysroot as its platform's."""
    target = f'target create --core "{built.core}" "{built.exe}"'
    steps = (target, "thread list", "thread backtrace all")
    command = ["lldb", "--no-lldbinit", "--batch"]
    for step in steps:
        command += ["-o", step]
    try:
        said = parse_lldb(_said(command, built))
    except (KeyError, ToolError):  # of a core that it cannot read
        return {}
    return {tid: [Frame(pc) for pc in pcs] for tid, pcs in said.items()}


def ask_repaired(built: BuiltCase, entry: Path) -> Chains:
    """gdb-multiarch after `whocall repair`: its own frames."""
    command = gdb_command(built, f"source {entry}", "whocall repair")
    try:
        done = subprocess.run(
            command,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=REPAIR_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {}
    return walks_in(done.stdout)


VOICES = {"gdb-multiarch": ask_gdb, "eu-stack": ask_eu_stack, "lldb": ask_lldb}
