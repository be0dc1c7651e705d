"""How text names files, by gdb's `set filename-display`: as native code does in backtraces."""

from __future__ import annotations

from collections.abc import Iterable


def last_part(path: str) -> str:
    """The base name; the path itself where it ends in a slash."""
    return path[path.rfind("/") + 1 :] or path


class FileNames:
    """`display` is one of core.model's FILE_DISPLAYS. Two modules with one base name are told by
    their paths.
    """

    def __init__(self, display: str, modules: Iterable[str]) -> None:
        self.absolute = display == "absolute"
        self._display = display
        paths: dict[str, str] = {}
        self._shared = {
            last_part(path) for path in modules if paths.setdefault(last_part(path), path) != path
        }

    def module(self, path: str) -> str:
        """Of one of the modules."""
        base = last_part(path)
        return path if self._display == "absolute" or base in self._shared else base

    def source(self, path: str, whole: str = "") -> str:
        """Of a source file, from the path that debug info has, and the absolute one."""
        if self._display == "absolute":
            return whole or path
        return last_part(path) if self._display == "basename" else path
