"""Files of signatures: what tells the functions of static libraries, and of other builds, in
stripped programs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from whocall.base.counted import counted
from whocall.base.errors import UsageError
from whocall.base.native_errors import native_errors
from whocall.base.output_file import write_bytes


def write_signatures(archives: Sequence[str], output: str) -> Iterator[str]:
    """Writes the signatures of `archives`, all of them together, to `output`; yields what to say.

    The file appears whole or not at all. Raises Error when an archive cannot be read or the file
    cannot be written.
    """
    require_both(archives, output)
    contents, said = signatures_of(archives, output)
    write_bytes(output, contents, private=False)
    yield from said


def require_both(archives: Sequence[str], output: str) -> None:
    """Raises UsageError where one is not named."""
    if not archives:
        raise UsageError(
            "name the libraries or programs first: whocall signatures BINARY... -o FILE"
        )
    if not output:
        raise UsageError("say where to write: whocall signatures BINARY... -o FILE")


def signatures_of(archives: Sequence[str], output: str) -> tuple[bytes, list[str]]:
    """What is to become the file `output`, and what to say then. Raises Error."""
    from whocall.base.native_module import native

    with native_errors():
        contents, summary, remarks = native.build_signatures(
            [os.fsencode(path) for path in archives]
        )
    numbers = {"object file": summary["members"], "linked file": summary["builds"]}
    members = " and ".join(counted(number, word) for word, number in numbers.items() if number)
    made = (
        f"{output}: {counted(summary['functions'], 'function')} of {members}"
        f" ({summary['arch']}), {len(contents)} bytes"
    )
    return contents, [*remarks, made]


def require_readable(paths: Sequence[str]) -> None:
    """Raises Error for the first file that is no signature file, or a damaged one."""
    from whocall.base.native_module import native

    with native_errors():
        for path in paths:
            native.signature_summary(os.fsencode(path))
