"""`whocall doctor`: what is there, what is missing, and the command that fixes it.

Works without the native module: that is when it is needed. What only some commands need, and only
on the command line, makes the report no worse than "in order, but for these".
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import sysconfig
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from whocall.base import loader
from whocall.base.errors import Error
from whocall.base.optional_packages import GDB, NEEDS, TOOLS, install_module
from whocall.base.version import __version__
from whocall.shared_front_end import pythons


@dataclass(frozen=True)
class Finding:
    """One line of the report; `remedy` is set when something is wrong, `only_for` when that
    disturbs these commands alone.
    """

    subject: str
    text: str
    remedy: str = ""
    only_for: tuple[str, ...] = ()


def _abi() -> str:
    return str(sysconfig.get_config_var("SOABI") or "unknown")


def _native_findings() -> list[Finding]:
    looked = loader.look()
    found = []
    for path in looked.others:
        found.append(Finding("other build", f"{path} (for {loader.python_of(path)})"))
    try:
        from whocall.base.native_module import native
    except Error as error:
        reason = getattr(error, "reason", "") or str(error)
        found.append(Finding("native module", f"MISSING: {reason}", loader.remedy()))
        other = pythons.find(looked.others)
        if other is not None:
            found.append(Finding("other Python", f"{other.path} runs whocall on core files"))
        return found
    where = getattr(native, "__file__", None) or looked.usable
    if native.__version__ == __version__:
        found.append(Finding("native module", f"{native.__version__}, {where}"))
    else:
        text = f"{native.__version__}, {where}: not the version of the package"
        found.append(Finding("native module", text, loader.remedy()))
    found.append(Finding("architectures", ", ".join(native.architectures())))
    found.append(Finding("strategies", ", ".join(native.strategies())))
    for library, version, package, loss in (
        ("libdw", native.libdw_version, "libdw1", "no source lines"),
        ("libbfd", native.libbfd_version, "binutils", "no formats but ELF"),
    ):
        try:
            found.append(Finding(library, version()))
        except native.Error as error:
            text = f"MISSING: {error.reason or error} ({loss})"
            found.append(Finding(library, text, error.remedy or f"apt-get install {package}"))
    return found


def _debuginfod() -> Finding:
    """Only who asks debuginfod needs it: its absence is nothing to fix."""
    try:
        ctypes.CDLL("libdebuginfod.so.1")
    except OSError:
        text = "not installed, which only debuginfod needs: apt-get install libdebuginfod1"
    else:
        text = "found"
    return Finding("libdebuginfod", text)


def _sandbox(subject: str, wanted: bool = True) -> list[Finding]:
    """What the sandbox is made of here, the command line's and that of gdb's helper: nothing that
    can be fixed.
    """
    try:
        from whocall.base.native_module import native
    except Error:
        return []
    if not wanted:
        return [Finding(subject, 'off, by "set whocall helper off": cores are read in gdb itself')]
    landlock, seccomp = native.sandbox_support()
    parts = [f"Landlock {landlock}"] * (landlock > 0) + ["seccomp"] * seccomp
    lacks = ["Landlock"] * (landlock == 0) + ["seccomp"] * (not seccomp)
    text = f"on, by {' and '.join(parts)}" if parts else "OFF"
    if lacks:
        text += f"; this kernel or container has no {' and no '.join(lacks)}"
    return [Finding(subject, text)]


def _has_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ValueError:  # something stands in sys.modules in its place
        return False


def _modules() -> Iterator[Finding]:
    """Of Python, which some commands import."""
    for library in dict.fromkeys(need.library for need in NEEDS):
        needs = [need for need in NEEDS if need.library == library]
        users = ", ".join(
            need.what if need.what.startswith(need.command) else f"{need.command} ({need.what})"
            for need in needs
        )
        if _has_module(library):
            yield Finding(library, f"found, for {users}")
        else:
            commands = tuple(dict.fromkeys(need.command for need in needs))
            yield Finding(library, f"MISSING, for {users}", install_module(library), commands)


def _tools() -> Iterator[Finding]:
    """Programs that some commands start."""
    for tool in TOOLS:
        program = os.environ.get("GDB", GDB.program) if tool is GDB else tool.program
        where = shutil.which(program)
        if where is not None:
            yield Finding(tool.program, f"{where}, for {tool.use}")
        else:
            text = f"MISSING ({program}), for {tool.use}"
            remedy = f"apt-get install {tool.package}"
            yield Finding(tool.program, text, remedy, tool.commands)


def examine(gdb_version: str | None = None, has_helper: bool = True) -> list[Finding]:
    """Everything worth knowing when something does not work; in gdb that has its helper or none."""
    host = f"{platform.system()} {platform.machine()}"
    found = [Finding("whocall", f"{__version__}, {loader.package()}")]
    if gdb_version is not None:
        found.append(Finding("gdb", gdb_version))
    version = platform.python_version()
    found.append(Finding("Python", f"{version}, ABI {_abi()}, {loader.python_here()}, {host}"))
    found += [*_native_findings(), _debuginfod()]
    if gdb_version is None:  # inside gdb there are no such commands
        found += [*_sandbox("sandbox"), *_modules(), *_tools()]
    else:
        found += _sandbox("helper", has_helper)
    return found


def _in_column(text: str, margin: int, columns: int) -> list[str]:
    """The text in lines that begin behind a margin; a word that is too long stays whole, as it may
    be a path. 0 columns: all fits.
    """
    room = max(columns - 1 - margin, 1) if columns else 1 << 30
    return textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]


def finding_lines(findings: Sequence[Finding], columns: int = 0) -> list[str]:
    """The report as text that is so wide; its last line says what to do."""
    width = max(len(finding.subject) for finding in findings) + 1
    lines = []
    for finding in findings:
        told = _in_column(finding.text, width + 1, columns)
        if finding.remedy:
            told += _in_column(f"fix it with: {finding.remedy}", width + 1, columns)
        heads = [f"{finding.subject}:", *[""] * (len(told) - 1)]
        lines += [f"{head:<{width}} {text}" for head, text in zip(heads, told)]
    disturbed = dict.fromkeys(command for finding in findings for command in finding.only_for)
    if not is_healthy(findings):
        lines.append("Something is missing: see above.")
    elif disturbed:
        lines.append(f"Everything is in order, but for {', '.join(disturbed)}: see above.")
    else:
        lines.append("Everything is in order.")
    return lines


def is_healthy(findings: Sequence[Finding]) -> bool:
    """Whether nothing is missing that all commands need."""
    return not any(finding.remedy and not finding.only_for for finding in findings)


def findings_json(findings: Sequence[Finding]) -> dict[str, Any]:
    """Schema whocall.doctor/1."""
    return {
        "schema": "whocall.doctor/1",
        "healthy": is_healthy(findings),
        "findings": [
            {
                "subject": finding.subject,
                "text": finding.text,
                "remedy": finding.remedy or None,
                "only_for": list(finding.only_for),
            }
            for finding in findings
        ],
    }
