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


def as_gdb_says(complaint: str) -> str:
    """`complaint` as gdb writes its own: a capital letter, unless it begins with a command, and a
    full stop.
    """
    if not complaint.startswith("whocall"):
        complaint = complaint[:1].upper() + complaint[1:]
    return complaint if complaint.endswith((".", "!", "?")) else f"{complaint}."
