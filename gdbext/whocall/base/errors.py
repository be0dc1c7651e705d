"""The errors that whocall raises. str() is a whole sentence that says what to do."""

from __future__ import annotations


class Error(Exception):
    """Something could not be opened, parsed or done.

    `path` names the file concerned, `reason` what is wrong with it, `remedy` what fixes it; each
    may be empty.
    """

    def __init__(self, message: str, *, path: str = "", reason: str = "", remedy: str = "") -> None:
        super().__init__(message)
        self.path = path
        self.reason = reason
        self.remedy = remedy


class UsageError(Error):
    """A command was called with arguments that it does not take."""


class NativeMissingError(Error):
    """The native module is not there, or is built for another Python."""

    @property
    def complaint(self) -> str:
        """The sentence without the remedy."""
        return f"the native module of whocall cannot be used: {self.reason}"


class MemoryShortError(Error):
    """There was not enough memory for what was asked."""

    def __init__(self) -> None:
        super().__init__(
            "there is not enough memory for this; give the process more (ulimit -v), or ask for"
            " less: one thread, one module"
        )


_VERBS = frozenset(("became", "cannot", "does", "has", "holds", "is", "names", "takes", "was"))
_NO_NAMES = frozenset(("it", "memory", "nothing", "that", "there", "this"))


def _begins_with_name(complaint: str) -> bool:
    """Of a file, a command or an option: it stays as it is written."""
    first, _, rest = complaint.partition(" ")
    verb = rest.partition(" ")[0]
    return first == "whocall" or not first.isalpha() or (verb in _VERBS and first not in _NO_NAMES)


def as_gdb_says(complaint: str) -> str:
    """`complaint` as gdb writes its own: a capital letter, unless it begins with the name of
    something, and a full stop.
    """
    if not _begins_with_name(complaint):
        complaint = complaint[:1].upper() + complaint[1:]
    return complaint if complaint.endswith((".", "!", "?")) else f"{complaint}."
