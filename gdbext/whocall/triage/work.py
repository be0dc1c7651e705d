"""What a worker does: one core after the other, in a process of its own."""

from __future__ import annotations

import os
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whocall.base.errors import Error
from whocall.base.file_search import Search
from whocall.base.long_work import left_out
from whocall.base.version import __version__

if TYPE_CHECKING:
    from whocall.triage.facts import Facts

Json = dict[str, Any]

_ABSENT = (
    "signature", "program", "build_id", "module", "signal", "kind", "address", "host", "time",
    "cost", "called", "near", "message", "said", "frames", "through", "recursive",
)  # fmt: skip
RESULT_KEYS = frozenset((*_ABSENT, "path", "size", "mtime", "engine", "reason", "left_out"))


@dataclass(frozen=True)
class Settings:
    """What results hang on beside the core."""

    search: Search = Search()
    limit: float = 60.0  # seconds for a core; 0 for none
    memory: int = 0  # bytes that a worker may take; 0 for its share of the machine
    remember: bool = True  # what is known of functions, in the user's cache

    @property
    def engine(self) -> str:
        """Of results that were found in the same way; those of another one are found anew."""
        from whocall.triage.facts import FORM as CODE
        from whocall.triage.said import FORM as SAID
        from whocall.triage.severity import FORM as SEVERITY
        from whocall.triage.signature import FORM as SIGNATURE

        said = self.search
        places = (said.sysroot, *said.directories, *said.debug_directories, *said.symbol_files)
        tail = zlib.crc32("\0".join(places).encode("utf-8", "surrogateescape"))
        return f"{__version__}/{CODE}/{SIGNATURE}.{SEVERITY}.{SAID}/{tail:08x}"


_facts: dict[bool, Facts] = {}


def known(settings: Settings) -> Facts:
    """What this process knows of functions."""
    from whocall.triage.facts import Facts, own_folder

    if settings.remember not in _facts:
        _facts[settings.remember] = Facts(own_folder() if settings.remember else None)
    return _facts[settings.remember]


def identity(path: str) -> tuple[int, int]:
    """Size in bytes and time of the last change in nanoseconds; (-1, 0) where there is none."""
    try:
        status = Path(path).stat()
    except OSError:
        return -1, 0
    return status.st_size, status.st_mtime_ns


def failure(path: str, reason: str, settings: Settings) -> Json:
    """The result of a core that could not be read."""
    size, mtime = identity(path)
    return {
        **dict.fromkeys(_ABSENT),
        "path": path,
        "size": size,
        "mtime": mtime,
        "engine": settings.engine,
        "reason": " ".join(reason.split()),
        "left_out": left_out(),
    }


def work(path: str, settings: Settings, ledger: str = "") -> Json:
    """The result of the core `path`. Never raises; a process that takes longer than the limit ends.

    `ledger` is a folder where it stands, while it lasts, which process works at what and since when
    (CLOCK_MONOTONIC).
    """
    import faulthandler

    note = Path(ledger) / str(os.getpid()) if ledger else None
    if note is not None:
        note.write_text(f"{time.monotonic()}\n{path}", encoding="utf-8", errors="surrogateescape")
    if settings.limit > 0:
        # Nothing in this process may be able to run any more but the thread that this starts.
        faulthandler.dump_traceback_later(settings.limit, exit=True, file=_nowhere())
    try:
        return _examined(path, settings)
    finally:
        if settings.limit > 0:
            faulthandler.cancel_dump_traceback_later()
        if note is not None:
            os.truncate(note, 0)


_sink: list[Any] = []


def _nowhere() -> Any:
    if not _sink:
        _sink.append(Path(os.devnull).open("w"))  # noqa: SIM115 - as long as the process lives
    return _sink[0]


def _examined(path: str, settings: Settings) -> Json:
    from whocall.triage.examine import examine

    size, mtime = identity(path)
    try:
        found = examine(path, settings.search, known(settings))
    except Error as error:
        return failure(path, str(error), settings)
    except MemoryError:
        most = "it takes more memory than one core is given; see --memory-limit"
        return failure(path, most, settings)
    except Exception as error:  # a fault of ours is a row as well
        return failure(path, f"whocall failed: {type(error).__name__}: {error}", settings)
    found.update(path=path, size=size, mtime=mtime, engine=settings.engine, reason=None)
    found["left_out"] = left_out()
    found["module"] = found["frames"][0]["module"] if found["frames"] else found["called"]
    return found
