"""Finds and loads the native module `_native`.

It is bound to one minor version of Python, and the Python inside gdb is the distribution's, not
the user's: a module built for another version is a normal case and is explained, not a crash.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from pathlib import Path

from whocall.errors import NativeMissingError

NAME = "whocall._native"
PACKAGE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Findings:
    """Where the native module was looked for."""

    directories: list[Path]
    usable: Path | None
    others: list[Path]  # built for other versions of Python


def checkout() -> Path | None:
    """The folder of the source checkout that this package lies in; None when installed."""
    root = PACKAGE.parent.parent
    return root if (root / "scripts" / "prepare").is_file() else None


def directories() -> list[Path]:
    """Folders that may hold the module, most wanted first."""
    found = []
    named = os.environ.get("WHOCALL_BUILD_DIR")
    if named:
        found.append(Path(named).absolute() / "whocall")
    found.append(PACKAGE)
    root = checkout()
    if root is not None:
        found.append(root / "build" / "release" / "whocall")
    return found


def look() -> Findings:
    """Looks for the module without loading it."""
    usable: Path | None = None
    others: list[Path] = []
    places = directories()
    for place in places:
        fitting = [place / f"_native{suffix}" for suffix in EXTENSION_SUFFIXES]
        usable = usable or next((path for path in fitting if path.is_file()), None)
        others += [path for path in sorted(place.glob("_native*.so")) if path not in fitting]
    return Findings(places, usable, others)


def python_here() -> str:
    """A command that starts the Python that runs this, also inside gdb.

    There sys.executable is what gdb's build was told, and may not exist.
    """
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    beside = Path(sys.base_prefix) / "bin" / version
    if beside.is_file():
        return str(beside)
    if sys.executable and Path(sys.executable).is_file() and "python" in Path(sys.executable).name:
        return sys.executable
    return version


def remedy() -> str:
    """The command that builds the module for the Python that runs this."""
    root = checkout()
    if root is not None:
        return f"{root / 'scripts' / 'prepare'} demo"
    return f"{python_here()} -m pip install --force-reinstall whocall"


def _complaint(findings: Findings) -> NativeMissingError:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if findings.others:
        names = ", ".join(str(path) for path in findings.others)
        reason = f"it is built for another Python ({names}), and this is Python {version}"
    else:
        reason = "it is not built; looked in " + ", ".join(map(str, findings.directories))
    return _missing(reason)


def _missing(reason: str) -> NativeMissingError:
    mend = remedy()
    return NativeMissingError(
        f"the native module of whocall cannot be used: {reason}; mend it with: {mend}",
        reason=reason,
        remedy=mend,
    )


def load() -> None:
    """Puts the native module into sys.modules; raises NativeMissingError with the remedy."""
    if NAME in sys.modules:
        return
    findings = look()
    if findings.usable is None:
        raise _complaint(findings)
    path = str(findings.usable)
    spec = importlib.util.spec_from_file_location(
        NAME, path, loader=ExtensionFileLoader(NAME, path)
    )
    if spec is None or spec.loader is None:
        raise _missing(f"{path} is not a module")
    try:
        module = importlib.util.module_from_spec(spec)
        sys.modules[NAME] = module
        spec.loader.exec_module(module)
    except ImportError as error:
        sys.modules.pop(NAME, None)
        raise _missing(f"{path}: {error}") from error
