"""Another Python of this machine that can load the native module where this one cannot."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from whocall.base import loader, programs

_USUAL = ("/usr/bin", "/usr/local/bin", "/bin")
_OF_MANAGERS = ((".pyenv/versions", "{}.*/bin"), (".local/share/uv/python", "cpython-{}.*/bin"))
_PATIENCE = 20  # seconds for a Python to start and load the module
# Where Python writes what it has compiled, which is the same for all.
_KEPT = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
_LIBRARIES = ("LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT")


@dataclass(frozen=True)
class OtherPython:
    """A Python that has been seen to load a native module, and the environment that it needs."""

    path: str
    module: Path
    environment: Mapping[str, str]

    def command(self, arguments: Sequence[str]) -> list[str]:
        """The command line of whocall, run by it."""
        return [self.path, str(loader.script_path()), *arguments]


def find(modules: Iterable[Path]) -> OtherPython | None:
    """The first Python that can load the native module, which is tried; None without one.

    `modules` are the files of native modules that there are: their names tell which Pythons to
    look for.
    """
    tried = set()
    for module in modules:
        for path in _candidates(module):
            real = os.path.realpath(path)
            if real in tried:
                continue
            tried.add(real)
            for environment in _environments():
                if _can_load(path, environment):
                    return OtherPython(path, module, environment)
    return None


def _candidates(module: Path) -> Iterator[str]:
    """Paths of programs that may be the Python that `module` is built for, likeliest first."""
    version = loader.version_of(module)
    if version is None:
        return
    folders = [*_installed_prefix(module), *os.get_exec_path(), *_USUAL]
    for folder, name in _OF_MANAGERS:
        folders += map(str, Path(os.environ.get("HOME", "/"), folder).glob(name.format(version)))
    for path in [*_builder(module), *(f"{folder}/python{version}" for folder in folders)]:
        if path.startswith("/") and os.access(path, os.X_OK) and Path(path).is_file():
            yield path


def _installed_prefix(module: Path) -> Iterator[str]:
    """PREFIX/bin for PREFIX/lib/python3.11/site-packages/whocall: also that of an environment."""
    for parent in module.parents:
        if parent.name in ("site-packages", "dist-packages"):
            yield str(parent.parent.parent.parent / "bin")


def _builder(module: Path) -> Iterator[str]:
    """The Python that a build directory was configured for."""
    try:
        said = (module.parent.parent / "CMakeCache.txt").read_text(errors="surrogateescape")
    except OSError:
        return
    match = re.search(r"^Python_EXECUTABLE:[A-Z]+=(.+)$", said, re.MULTILINE)
    if match:
        yield match.group(1)


def _environments() -> Iterator[dict[str, str]]:
    """First without, then with the libraries that the environment puts before the system's.

    Wrappers around gdb set these, and PYTHONHOME, for the Python inside gdb: another Python with
    them finds the wrong files. There are Pythons, though, that need their libraries named.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTHON") or name in _KEPT
    }
    yield {name: value for name, value in kept.items() if name not in _LIBRARIES}
    if any(name in kept for name in _LIBRARIES):
        yield kept


def _can_load(python: str, environment: Mapping[str, str]) -> bool:
    # In place of the working directory, which `-c` puts first.
    attempt = programs.words(
        "-c", "import sys; sys.path[0] = sys.argv[1]; import whocall.base.native_module"
    )
    return programs.succeeds(
        python, [*attempt, programs.path(loader.package().parent)], environment, _PATIENCE
    )
