"""Structures and functions of native/runtime/whocall.h, as ctypes has them."""

from __future__ import annotations

import ctypes

TRUST = ("context", "cfi", "analysis", "frame-pointer")
"""By whocall_trust."""


class WhocallFrame(ctypes.Structure):
    """whocall_frame."""

    _fields_ = (
        ("address", ctypes.c_size_t),
        ("offset", ctypes.c_size_t),
        ("module", ctypes.c_char_p),
        ("build_id", ctypes.POINTER(ctypes.c_ubyte)),
        ("build_id_size", ctypes.c_size_t),
        ("function", ctypes.c_char_p),
        ("function_offset", ctypes.c_size_t),
        ("trust", ctypes.c_int),
    )


class WhocallCrashOptions(ctypes.Structure):
    """whocall_crash_options."""

    _fields_ = (
        ("size", ctypes.c_size_t),
        ("text_fd", ctypes.c_int),
        ("text_path", ctypes.c_char_p),
        ("record_fd", ctypes.c_int),
        ("record_path", ctypes.c_char_p),
        ("memory", ctypes.c_void_p),
        ("ring_path", ctypes.c_char_p),
        ("ring_size", ctypes.c_size_t),
        ("slot_size", ctypes.c_size_t),
        ("all_threads", ctypes.c_int),
        ("before_handlers", ctypes.c_int),
        ("question_signal", ctypes.c_int),
        ("receiver", ctypes.c_char_p),
    )


def declare(library: ctypes.CDLL) -> None:
    """Tells ctypes what the functions take and return."""
    library.whocall_backtrace.argtypes = [ctypes.POINTER(WhocallFrame), ctypes.c_size_t]
    library.whocall_backtrace.restype = ctypes.c_size_t
    library.whocall_install.argtypes = [ctypes.POINTER(WhocallCrashOptions)]
    library.whocall_install.restype = ctypes.c_int
    library.whocall_annotate.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    library.whocall_annotate.restype = ctypes.c_int
    library.whocall_prepare.argtypes = []
    library.whocall_prepare.restype = None
