"""`whocall doctor`: what is there, what is missing, and the command that mends it.

Works without the native module: that is when it is needed.
"""

from __future__ import annotations

import ctypes
import platform
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass

from whocall.core import loader
from whocall.core.errors import Error
from whocall.core.version import __version__
from whocall.frontend import pythons


@dataclass(frozen=True)
class Finding:
    """One line of the report; `remedy` is set when something is wrong."""

    subject: str
    text: str
    remedy: str = ""


def _abi() -> str:
    return str(sysconfig.get_config_var("SOABI") or "unknown")


def _native_findings() -> list[Finding]:
    looked = loader.look()
    found = []
    for path in looked.others:
        found.append(Finding("other build", f"{path} (for {loader.python_of(path)})"))
    try:
        from whocall.core.engine import native
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
    """Only who asks debuginfod needs it: its absence is nothing to mend."""
    try:
        ctypes.CDLL("libdebuginfod.so.1")
    except OSError:
        text = "not installed, which only debuginfod needs: apt-get install libdebuginfod1"
    else:
        text = "found"
    return Finding("libdebuginfod", text)


def examine(gdb_version: str | None = None) -> list[Finding]:
    """Everything worth knowing when something does not work."""
    host = f"{platform.system()} {platform.machine()}"
    found = [Finding("whocall", f"{__version__}, {loader.package()}")]
    if gdb_version is not None:
        found.append(Finding("gdb", gdb_version))
    version = platform.python_version()
    found.append(Finding("Python", f"{version}, ABI {_abi()}, {loader.python_here()}, {host}"))
    return [*found, *_native_findings(), _debuginfod()]


def finding_lines(findings: Sequence[Finding]) -> list[str]:
    """The report as text; its last line says what to do."""
    width = max(len(finding.subject) for finding in findings) + 1
    lines = []
    for finding in findings:
        lines.append(f"{finding.subject + ':':<{width}} {finding.text}")
        if finding.remedy:
            lines.append(f"{'':<{width}} mend it with: {finding.remedy}")
    healthy = not any(finding.remedy for finding in findings)
    lines.append("Everything is in order." if healthy else "Something is missing: see above.")
    return lines


def is_healthy(findings: Sequence[Finding]) -> bool:
    """Whether nothing is missing."""
    return not any(finding.remedy for finding in findings)
