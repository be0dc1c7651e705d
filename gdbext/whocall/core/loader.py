"""Finds and loads the native module `_native`.

It is bound to one minor version of Python, and the Python inside gdb is the distribution's, not
the user's: a module built for another version is a normal case and is explained, not a crash.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from pathlib import Path

from whocall.core.errors import Error, NativeMissingError

NAME = "whocall._native"
PACKAGE = Path(__file__).resolve().parents[1]  # whocall itself
_TAG = re.compile(r"_native\.cpython-(\d)(\d+[a-z]*)-")  # 3.13t, with its own ABI, is 313t


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


def script_path() -> Path:
    """The file that the user sources in gdb."""
    for path in (PACKAGE / "share" / "whocall.py", PACKAGE.parent / "whocall.py"):
        if path.is_file():
            return path
    raise Error(f"whocall.py is not beside {PACKAGE}; {remedy()} puts it there")


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
    return list(dict.fromkeys(found))


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


def version_of(module: Path) -> str | None:
    """`3.11` for `_native.cpython-311-x86_64-linux-gnu.so`; None when the name does not tell."""
    match = _TAG.match(module.name)
    return f"{match.group(1)}.{match.group(2)}" if match else None


def python_of(module: Path) -> str:
    """`Python 3.11`, or `another Python`."""
    version = version_of(module)
    return "another Python" if version is None else f"Python {version}"


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


def _unusual_gdb() -> str:
    """The gdb that this runs in, when scripts/prepare would ask another one; "" elsewhere."""
    try:
        here = os.path.realpath("/proc/self/exe")
    except OSError:
        return ""
    asked = shutil.which(os.environ.get("GDB") or "gdb")
    if "gdb" in Path(here).name:
        return "" if asked is not None and os.path.realpath(asked) == here else here
    # A gdb that a script starts by a dynamic loader of its own: only its user knows that script.
    inside = "gdb" in sys.modules and not os.environ.get("GDB")
    return "PATH-OF-THIS-GDB" if inside else ""


def remedy() -> str:
    """The command that builds the module for the Python that runs this."""
    root = checkout()
    if root is not None:
        gdb = _unusual_gdb()
        named = f"GDB={shlex.quote(gdb)} " if gdb else ""
        return f"{named}{shlex.quote(str(root / 'scripts' / 'prepare'))} demo"
    return f"{python_here()} -m pip install --force-reinstall whocall"


def _complaint(findings: Findings) -> NativeMissingError:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if findings.others:
        first = {python_of(path): path for path in reversed(findings.others)}
        built = " and ".join(f"{python} ({path})" for python, path in first.items())
        reason = f"it is built for {built}, and this is Python {version}"
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


@contextmanager
def _interrupts_postponed() -> Iterator[None]:
    """Ctrl-C waits. A native module that was interrupted in the middle of its initialisation could
    not be loaded any more in this process: its types are registered already.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
        with _interrupts_postponed():
            module = importlib.util.module_from_spec(spec)
            sys.modules[NAME] = module
            spec.loader.exec_module(module)
    except ImportError as error:
        sys.modules.pop(NAME, None)
        raise _missing(f"{path}: {error}") from error
