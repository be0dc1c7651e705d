"""Where files and names are looked for: one value that goes from the user to the native module."""

from __future__ import annotations

import os

from whocall.base.records import dataclass, replace

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    import whocall._native as native
    from whocall.base.downloads import Progress

DEBUG_DIRECTORIES = ("/usr/lib/debug",)  # where distributions put separate debug files


@dataclass(frozen=True)
class Search:
    """Where to look for what a process names.

    `directories` are searched by file name and by build id for files that are not at their places;
    `debug_directories` for separate debug files, as gdb does. `symbol_files` are lists of names, as
    `[MODULE=]FILE[@BASE]`; `signature_files` what `whocall signatures` wrote. `debuginfod` asks the
    servers of the environment variable DEBUGINFOD_URLS for what is missing, and `progress` is
    told what they send.
    """

    sysroot: str = ""  # a copy of the root directory of the machine
    directories: Sequence[str] = ()
    debug_directories: Sequence[str] = DEBUG_DIRECTORIES
    symbol_files: Sequence[str] = ()
    signature_files: Sequence[str] = ()
    debuginfod: bool = False
    progress: Progress | None = None

    def native(self, exe: str = "") -> native.FileSearch:
        """As the native module takes it; `exe` is the program that the user named.

        Raises Error when a signature file cannot be used.
        """
        from whocall.base.native_module import native

        if self.signature_files:
            from whocall.base.signatures import require_readable

            require_readable(self.signature_files)
        found = native.FileSearch()
        found.exe = os.fsencode(exe)
        found.sysroot = os.fsencode(self.sysroot)
        found.directories = _encoded(self.directories)
        found.debug_directories = _encoded(self.debug_directories)
        found.symbol_files = _encoded(self.symbol_files)
        found.signature_files = _encoded(self.signature_files)
        if self.debuginfod:
            found.ask_debuginfod(self.progress)
        return found

    def names_only(self) -> Search:
        """The same for a file that was found: only what lends it names."""
        return replace(self, sysroot="", directories=())


def _encoded(paths: Sequence[str]) -> list[bytes]:
    return [os.fsencode(path) for path in paths]
