"""Files of signatures: what tells the functions of static libraries in stripped programs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from whocall.core.errors import Error, UsageError
from whocall.core.native_errors import native_errors


def write_signatures(archives: Sequence[str], output: str) -> Iterator[str]:
    """Writes the signatures of `archives`, all of them together, to `output`; yields what to say.

    The file appears whole or not at all. Raises Error when an archive cannot be read or the file
    cannot be written.
    """
    from whocall.core.engine import native

    if not archives:
        raise UsageError("name the static libraries first: whocall signatures ARCHIVE... -o FILE")
    if not output:
        raise UsageError("say where to write: whocall signatures ARCHIVE... -o FILE")
    with native_errors():
        contents, summary, remarks = native.build_signatures(
            [os.fsencode(path) for path in archives]
        )
    _write_whole(Path(output), contents)
    yield from remarks
    yield (
        f"{output}: {summary['functions']} functions of {summary['members']} object files"
        f" ({summary['arch']}), {len(contents)} bytes"
    )


def _write_whole(path: Path, contents: bytes) -> None:
    """Beside the file first, then in its place; with the permissions that a new file gets."""
    umask = os.umask(0)
    os.umask(umask)
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(contents)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise Error(
            f"{path}: cannot be written: {error.strerror}; choose another place",
            path=str(path),
            reason=f"cannot be written: {error.strerror}",
            remedy="Choose another place",
        ) from error


def require_readable(paths: Sequence[str]) -> None:
    """Raises Error for the first file that is no signature file, or a damaged one."""
    from whocall.core.engine import native

    with native_errors():
        for path in paths:
            native.signature_summary(os.fsencode(path))
