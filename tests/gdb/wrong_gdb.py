"""A gdb whose Python the native module is not built for."""

from __future__ import annotations

from pathlib import Path

from sessions import SCRIPT

from whocall.base import loader

FOREIGN = ".cpython-399-x86_64-linux-gnu.so"  # no module has that, nor any Python


def usable() -> Path:
    """The native module for the Python that runs the tests."""
    path = loader.look().usable
    assert path is not None
    return path


def loading(script: Path, build: Path) -> Path:
    """Writes a script that loads the extension, with the modules in `build`, into a wrong gdb.

    A later gdb is wrong by itself; that of this system is made to take no module that there is.
    """
    suffix = usable().name.removeprefix("_native")
    script.write_text(
        "python import importlib.machinery, os\n"
        f"python os.environ['WHOCALL_BUILD_DIR'] = '{build}'\n"
        "python suffixes = importlib.machinery.EXTENSION_SUFFIXES\n"
        f"python if '{suffix}' in suffixes: suffixes[:] = ['{FOREIGN}']\n"
        f"source {SCRIPT}\n"
    )
    return script
