"""Finds and loads the native module `_native`.

It is bound to one minor version of Python, and the Python inside gdb is the distribution's, not
the user's: a module built for another version is a normal case and is explained, not a crash.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader

from whocall.base.blocked_signals import held
from whocall.base.errors import Error, NativeMissingError
from whocall.base.records import dataclass

TYPE_CHECKING = False

# load() is the beginning of every command: what only its failure and the doctor need is imported
# there, above all pathlib, which is dearer than all that load() does to find the module.
if TYPE_CHECKING:
    from pathlib import Path

NAME = "whocall._native"
_DISTRIBUTION = "/usr/lib/python3/dist-packages"  # where Debian's package is, and pip puts nothing
_PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


@dataclass(frozen=True)
class Findings:
    """Where the native module was looked for."""

    directories: list[Path]
    usable: Path | None
    others: list[Path]  # built for other versions of Python


def package() -> Path:
    """The folder of whocall itself."""
    from pathlib import Path

    return Path(_PACKAGE)


def _checkout() -> str | None:
    root = os.path.dirname(os.path.dirname(_PACKAGE))
    return root if os.path.isfile(os.path.join(root, "scripts", "prepare")) else None


def script_path() -> Path:
    """The file that the user sources in gdb."""
    for path in (package() / "share" / "whocall.py", package().parent / "whocall.py"):
        if path.is_file():
            return path
    raise Error(f"whocall.py is not beside {_PACKAGE}; {remedy()} puts it there")


def native_directories() -> list[str]:
    """Folders that may hold the module, most wanted first."""
    found = []
    named = os.environ.get("WHOCALL_BUILD_DIR")
    if named:
        build = named if os.path.isabs(named) else os.path.join(os.getcwd(), named)
        found.append(os.path.join(build, "whocall"))
    found.append(_PACKAGE)
    root = _checkout()
    if root is not None:
        found.append(os.path.join(root, "build", "release", "whocall"))
    return list(dict.fromkeys(found))


def _fitting(place: str) -> list[str]:
    """The names that a module for the Python that runs this may have in the folder `place`."""
    return [os.path.join(place, f"_native{suffix}") for suffix in EXTENSION_SUFFIXES]


def _usable() -> str | None:
    """The module for the Python that runs this."""
    paths = (path for place in native_directories() for path in _fitting(place))
    return next(filter(os.path.isfile, paths), None)


def look() -> Findings:
    """Looks for the module without loading it, and for those of other Pythons."""
    from pathlib import Path

    places = [Path(place) for place in native_directories()]
    others: list[Path] = []
    for place in places:
        fitting = [Path(path) for path in _fitting(str(place))]
        others += [path for path in sorted(place.glob("_native*.so")) if path not in fitting]
    usable = _usable()
    return Findings(places, None if usable is None else Path(usable), others)


def version_of(module: Path) -> str | None:
    """`3.11` for `_native.cpython-311-x86_64-linux-gnu.so`; None when the name does not tell."""
    import re

    # 3.13t, with its own ABI, is 313t.
    match = re.match(r"_native\.cpython-(\d)(\d+[a-z]*)-", module.name)
    return f"{match.group(1)}.{match.group(2)}" if match else None


def python_of(module: Path) -> str:
    """`Python 3.11`, or `another Python`."""
    version = version_of(module)
    return "another Python" if version is None else f"Python {version}"


def python_here() -> str:
    """A command that starts the Python that runs this, also inside gdb.

    There sys.executable is what gdb's build was told, and may not exist.
    """
    from pathlib import Path

    if sys.prefix != sys.base_prefix and Path(sys.executable or "").is_file():
        return sys.executable  # that of a virtual environment, where things are to be installed
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    beside = Path(sys.base_prefix) / "bin" / version
    if beside.is_file():
        return str(beside)
    if sys.executable and Path(sys.executable).is_file() and "python" in Path(sys.executable).name:
        return sys.executable
    return version


def _unusual_gdb() -> str:
    """The gdb that this runs in, when scripts/prepare would ask another one; "" elsewhere."""
    import shutil

    try:
        here = os.path.realpath("/proc/self/exe")
    except OSError:
        return ""
    asked = shutil.which(os.environ.get("GDB") or "gdb")
    if "gdb" in os.path.basename(here):
        return "" if asked is not None and os.path.realpath(asked) == here else here
    # A gdb that a script starts by a dynamic loader of its own: only its user knows that script.
    inside = "gdb" in sys.modules and not os.environ.get("GDB")
    return "PATH-OF-THIS-GDB" if inside else ""


def of_distribution() -> bool:
    """Whether this is what Debian's package holds: what is missing there comes from Debian too."""
    return os.path.dirname(_PACKAGE) == _DISTRIBUTION


def remedy() -> str:
    """The command that builds the module for the Python that runs this."""
    import shlex

    root = _checkout()
    if root is not None:
        gdb = _unusual_gdb()
        named = f"GDB={shlex.quote(gdb)} " if gdb else ""
        return f"{named}{shlex.quote(os.path.join(root, 'scripts', 'prepare'))} demo"
    if of_distribution():
        return "apt-get install --reinstall whocall"
    return f"{python_here()} -m pip install --force-reinstall whocall"


def _complaint() -> NativeMissingError:
    findings = look()
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if findings.others:
        first = {python_of(path): path for path in reversed(findings.others)}
        built = " and ".join(f"{python} ({path})" for python, path in first.items())
        reason = f"it is built for {built}, and this is Python {version}"
    else:
        reason = "it is not built; looked in " + ", ".join(map(str, findings.directories))
    return _missing(reason)


def _missing(reason: str) -> NativeMissingError:
    fix = remedy()
    return NativeMissingError(
        f"the native module of whocall cannot be used: {reason}; fix it with: {fix}",
        reason=reason,
        remedy=fix,
    )


def load() -> None:
    """Puts the native module into sys.modules; raises NativeMissingError with the remedy."""
    if NAME in sys.modules:
        return
    path = _usable()
    if path is None:
        raise _complaint()
    spec = importlib.util.spec_from_file_location(
        NAME, path, loader=ExtensionFileLoader(NAME, path)
    )
    if spec is None or spec.loader is None:
        raise _missing(f"{path} is not a module")
    try:
        # One that was interrupted in the middle of its initialisation could not be loaded any more
        # in this process: its types are registered already.
        with held((signal.SIGINT,)):
            module = importlib.util.module_from_spec(spec)
            sys.modules[NAME] = module
            spec.loader.exec_module(module)
    except ImportError as error:
        sys.modules.pop(NAME, None)
        raise _missing(f"{path}: {error}") from error
