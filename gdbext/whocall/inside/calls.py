"""What a Python program asks libwhocall."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator

from whocall.base.errors import Error, UsageError
from whocall.base.records import dataclass
from whocall.inside.layout import TRUST, WhocallCrashOptions, WhocallFrame
from whocall.inside.library import library

_MOST_FRAMES = 4096
_CTYPES = ("libffi.so", "_ctypes.")  # by the beginnings of files' names
_CTYPES_FUNCTIONS = ("ffi_call", "_ctypes_callproc", "_call_function_pointer", "PyCFuncPtr_call")

_kept: list[WhocallCrashOptions] = []
"""Strings of options have to stay as long as the process."""


@dataclass(frozen=True)
class Frame:
    """A native frame of this thread, as whocall.h describes it."""

    address: int  # where the frame goes on: the return address
    offset: int  # the same as an address in the module's file (its link address)
    module: str  # path; "" where the address lies in no loaded file
    build_id: str  # hex; "" without one
    function: str  # as the linker knows it; "" where no symbol covers the address
    function_offset: int  # bytes from the function's first byte
    trust: str  # "context", "cfi", "analysis" or "frame-pointer"

    def __str__(self) -> str:
        where = f"{self.module}(+{self.offset:#x})" if self.module else "?"
        name = f"{self.function}+{self.function_offset:#x}" if self.function else "?"
        return f"{self.address:#018x} {where} {name} [{self.trust}]"


def _text(value: bytes | None) -> str:
    return os.fsdecode(value or b"")


def _frame(made: WhocallFrame) -> Frame:
    build_id = bytes(made.build_id[: made.build_id_size]) if made.build_id else b""
    return Frame(
        address=made.address,
        offset=made.offset,
        module=_text(made.module),
        build_id=build_id.hex(),
        function=_text(made.function),
        function_offset=made.function_offset,
        trust=TRUST[made.trust],
    )


def _is_of_ctypes(frame: Frame) -> bool:
    file = frame.module.rpartition("/")[2]
    return file.startswith(_CTYPES) or frame.function.startswith(_CTYPES_FUNCTIONS)


def _without_ctypes(frames: list[Frame]) -> Iterator[Frame]:
    """Less the innermost ones that the question itself has put there."""
    asking = True
    for frame in frames:
        asking = asking and _is_of_ctypes(frame)
        if not asking:
            yield frame


def backtrace(most: int = 256) -> list[Frame]:
    """The native frames of this thread, innermost first: those of the interpreter among them.

    `most` is how many are looked at, 4,096 at most. Raises Error where there is no libwhocall.
    """
    if most < 0:
        raise UsageError(f"{most} frames are no number of frames")
    made = (WhocallFrame * min(most, _MOST_FRAMES))()
    count = library().whocall_backtrace(made, len(made))
    return list(_without_ctypes([_frame(each) for each in made[:count]]))


def install(
    text_path: str | os.PathLike[str] | None = None,
    *,
    text_fd: int = 2,
    record_path: str | os.PathLike[str] | None = None,
    ring_path: str | os.PathLike[str] | None = None,
    ring_size: int = 65536,
    all_threads: bool = False,
    before_handlers: bool = False,
    question_signal: int = 0,
    receiver: str | os.PathLike[str] | None = None,
) -> None:
    """From now on crashes of this process make a report, as whocall_install() says.

    Call it before threads begin; `faulthandler`, where it is enabled, has its say first. Raises
    Error where it cannot be done.
    """
    options = WhocallCrashOptions(
        size=ctypes.sizeof(WhocallCrashOptions),
        text_fd=text_fd,
        text_path=None if text_path is None else os.fsencode(text_path),
        record_fd=-1,
        record_path=None if record_path is None else os.fsencode(record_path),
        ring_path=None if ring_path is None else os.fsencode(ring_path),
        ring_size=ring_size if ring_path is not None else 0,
        all_threads=all_threads,
        before_handlers=before_handlers,
        question_signal=question_signal,
        receiver=None if receiver is None else os.fsencode(receiver),
    )
    _kept.append(options)
    if library().whocall_install(ctypes.byref(options)) != 0:
        raise Error(f"libwhocall cannot be installed: {os.strerror(ctypes.get_errno())}")


def annotate(key: str, value: str | None) -> None:
    """Reports of crashes tell it from now on; None: no longer.

    Raises Error for a key of more than 31 bytes, one with "=" or control letters, and the
    seventeenth.
    """
    if "\0" in key or "\0" in (value or ""):
        raise UsageError("keys and values of annotations have no zero in them")
    told = None if value is None else value.encode(errors="replace")
    if library().whocall_annotate(key.encode(errors="replace"), told) != 0:
        raise Error(f"{key!r} cannot be told in reports: {os.strerror(ctypes.get_errno())}")


def prepare() -> None:
    """Does ahead what the first question would do: opens files that have names, sorts rules."""
    library().whocall_prepare()
