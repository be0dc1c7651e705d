"""Decoders of zstd and lz4 frames, by the C libraries that the system has anyway.

They have the interface of bz2.BZ2Decompressor: decompress(), eof, needs_input, unused_data.
"""

from __future__ import annotations

import ctypes
from typing import Any

from whocall.core.errors import Error

_size = ctypes.c_size_t
_pointer = ctypes.c_void_p


def _library(name: str, package: str, kind: str) -> Any:
    try:
        return ctypes.CDLL(name)
    except OSError:
        raise Error(
            f"a file packed by {kind} needs the library {name}; install {package}",
            reason=f"{name} is missing",
            remedy=f"install {package}",
        ) from None


class _Decoder:
    """Keeps what the library has not taken yet of what it was given."""

    def __init__(self) -> None:
        self.eof = False
        self.unused_data = b""
        self.needs_input = True
        self._rest = b""
        self._at = 0
        self._room: Any = None

    def decompress(self, data: bytes, most: int) -> bytes:
        """At most `most` bytes; raises ValueError where the data is damaged."""
        self._rest = self._rest[self._at :] + data
        self._at = 0
        if self._room is None:
            self._room = ctypes.create_string_buffer(most)
        taken, made, ended = self._step(self._rest, self._room, most)
        self._at = taken
        self.eof = ended
        if ended:
            self.unused_data = self._rest[taken:]
        # A full buffer may leave more behind that needs no further input.
        self.needs_input = not ended and made < most and taken == len(self._rest)
        if not ended and made == 0 and not self.needs_input and taken == 0:
            raise ValueError("it makes no progress")
        whole: bytes = self._room.raw
        return whole if made == most else whole[:made]

    def _step(self, data: bytes, room: Any, most: int) -> tuple[int, int, bool]:
        raise NotImplementedError


class _Buffer(ctypes.Structure):
    _fields_ = [("start", _pointer), ("size", _size), ("position", _size)]


class ZstdDecoder(_Decoder):
    """One frame; windows of up to 128 MiB, as the zstd program takes by default."""

    def __init__(self) -> None:
        super().__init__()
        self._library = _library("libzstd.so.1", "libzstd1", "zstd")
        self._library.ZSTD_createDCtx.restype = _pointer
        self._library.ZSTD_freeDCtx.argtypes = [_pointer]
        self._library.ZSTD_decompressStream.restype = _size
        self._library.ZSTD_decompressStream.argtypes = [_pointer, _pointer, _pointer]
        self._library.ZSTD_isError.argtypes = [_size]
        self._library.ZSTD_getErrorName.argtypes = [_size]
        self._library.ZSTD_getErrorName.restype = ctypes.c_char_p
        self._context = self._library.ZSTD_createDCtx()

    def __del__(self) -> None:
        if getattr(self, "_context", None):
            self._library.ZSTD_freeDCtx(self._context)

    def _step(self, data: bytes, room: Any, most: int) -> tuple[int, int, bool]:
        source = _Buffer(ctypes.cast(ctypes.c_char_p(data), _pointer), len(data), 0)
        target = _Buffer(ctypes.cast(room, _pointer), most, 0)
        left = self._library.ZSTD_decompressStream(
            self._context, ctypes.byref(target), ctypes.byref(source)
        )
        if self._library.ZSTD_isError(left):
            raise ValueError(self._library.ZSTD_getErrorName(left).decode("ascii", "replace"))
        return source.position, target.position, left == 0


class Lz4Decoder(_Decoder):
    """One frame."""

    _VERSION = 100

    def __init__(self) -> None:
        super().__init__()
        self._library = _library("liblz4.so.1", "liblz4-1", "lz4")
        self._library.LZ4F_createDecompressionContext.restype = _size
        self._library.LZ4F_freeDecompressionContext.argtypes = [_pointer]
        self._library.LZ4F_decompress.restype = _size
        self._library.LZ4F_decompress.argtypes = [_pointer] * 6
        self._library.LZ4F_isError.argtypes = [_size]
        self._library.LZ4F_getErrorName.argtypes = [_size]
        self._library.LZ4F_getErrorName.restype = ctypes.c_char_p
        self._context = _pointer()
        self._library.LZ4F_createDecompressionContext(ctypes.byref(self._context), self._VERSION)

    def __del__(self) -> None:
        if getattr(self, "_context", None):
            self._library.LZ4F_freeDecompressionContext(self._context)

    def _step(self, data: bytes, room: Any, most: int) -> tuple[int, int, bool]:
        taken, made = _size(len(data)), _size(most)
        left = self._library.LZ4F_decompress(
            self._context,
            ctypes.cast(room, _pointer),
            ctypes.byref(made),
            ctypes.cast(ctypes.c_char_p(data), _pointer),
            ctypes.byref(taken),
            None,
        )
        if self._library.LZ4F_isError(left):
            raise ValueError(self._library.LZ4F_getErrorName(left).decode("ascii", "replace"))
        return taken.value, made.value, left == 0
