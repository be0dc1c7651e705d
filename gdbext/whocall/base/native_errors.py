"""The native module's errors as those of the package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from whocall.base.errors import Error, UsageError


@contextmanager
def native_errors() -> Iterator[None]:
    """Turns the native module's errors into `Error`, and its complaints about values as well.

    KeyboardInterrupt passes through.
    """
    from whocall.base.native_module import native

    try:
        yield
    except native.Error as error:
        raise Error(
            str(error), path=error.path, reason=error.reason, remedy=error.remedy
        ) from error
    except ValueError as error:
        raise UsageError(str(error)) from error


@contextmanager
def native_sentences() -> Iterator[None]:
    """The same of errors whose reason is what is said of the path: `core.gz cannot be unpacked`."""
    from whocall.base.native_module import native

    try:
        yield
    except native.Error as error:
        remedy = error.remedy[:1].lower() + error.remedy[1:]
        raise Error(
            f"{error.path} {error.reason}; {remedy}",
            path=error.path,
            reason=error.reason,
            remedy=error.remedy,
        ) from error
