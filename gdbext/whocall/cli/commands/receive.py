"""`whocall receive`: waits for processes that crash, and makes their reports."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from whocall.base.errors import Error, UsageError
from whocall.cli.outputs import flush, say, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from whocall.base.process_image import ProcessImage
    from whocall.cli.arguments import Values
    from whocall.receiving.greetings import Listener
    from whocall.receiving.receiver import Receiver
    from whocall.receiving.store import Place, Store
    from whocall.receiving.worker import Work

_SUFFIXES = (".txt", ".json")


def run(arguments: Values) -> int:
    """Until Ctrl-C or SIGTERM, or with a program until that ends."""
    import whocall.base.native_module  # noqa: F401  # before anybody waits for us
    from whocall.receiving.greetings import Listener
    from whocall.receiving.store import Store

    if not arguments.program and not arguments.socket:
        raise UsageError("receive takes --socket PATH, at which it listens, or -- PROGRAM to start")
    if arguments.everyone and os.geteuid() != 0:
        raise UsageError("--everyone takes root: nobody else may look at other users' processes")
    _load_what_reports_need()
    store = Store(arguments.output, arguments.quota)
    with _socket(arguments) as path:
        listener = Listener(path, everyone=arguments.everyone)
        try:
            return _receive(listener, store, arguments)
        finally:
            listener.close()


def _load_what_reports_need() -> None:
    """Whoever looks at another user's process may not be able to read our own files any more."""
    import pkgutil
    from importlib import import_module

    import whocall.base
    import whocall.report
    from whocall.cli import parsing, redirected  # noqa: F401
    from whocall.cli.commands import bt  # noqa: F401
    from whocall.dumps import origin  # noqa: F401

    for package in (whocall.base, whocall.report):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            import_module(found.name)


@contextmanager
def _socket(arguments: Values) -> Iterator[str]:
    """The path that is named, or for a program one of its own."""
    if arguments.socket:
        yield arguments.socket
        return
    with tempfile.TemporaryDirectory(prefix="whocall-") as folder:
        yield str(Path(folder) / "crashes")


def _receive(listener: Listener, store: Store, arguments: Values) -> int:
    from whocall.receiving.receiver import Receiver

    suffixes = [each for each in _SUFFIXES if each != ".json" or arguments.json]
    receiver = Receiver(listener, store, suffixes, _work_of(store, arguments), _tell)
    try:
        if arguments.program:
            return _with_program(receiver, str(listener.path), arguments.program)
        for number in _enders():
            signal.signal(number, signal.default_int_handler)
        write([f"{listener.path}  (hears of programs with WHOCALL_CRASH_RECEIVER; Ctrl-C ends it)"])
        flush()
        receiver.run(lambda: True)
    except KeyboardInterrupt:
        pass
    finally:
        receiver.close()
    return 0


def _enders() -> list[signal.Signals]:
    """What ends us: not the end of a terminal where that is ignored, as by nohup."""
    wanted = (signal.SIGTERM, signal.SIGHUP)
    return [each for each in wanted if signal.getsignal(each) != signal.SIG_IGN]


def _tell(sentence: str) -> None:
    """Where somebody reads it: whoever does not must not keep crashed processes waiting."""
    import select

    if select.select([], [sys.stderr.fileno()], [], 0)[1]:
        say(f"whocall: {sentence}")


def _with_program(receiver: Receiver, path: str, words: Sequence[str]) -> int:
    """Its status; 128 and the signal's number where that has ended it, as shells have it."""
    from whocall.base.programs import start_beside, users_own
    from whocall.inside.library import installed

    library = next(installed("libwhocall-crash.so"), None)
    if library is None:
        raise Error(
            "libwhocall-crash.so is not there: install whocall with its runtime, by pip or"
            " `cmake --install BUILD --component runtime`"
        )
    before = [value for value in [os.environ.get("LD_PRELOAD")] if value]
    variables = {"LD_PRELOAD": ":".join([library, *before]), "WHOCALL_CRASH_RECEIVER": path}
    try:
        child = start_beside(words[0], users_own(words[1:]), {**os.environ, **variables})
    except OSError as error:
        raise Error(f"{words[0]}: cannot be started: {error.strerror}") from error
    # What ends it is its own affair; a terminal's Ctrl-C comes to both.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in _enders():
        signal.signal(number, lambda number, _: child.send_signal(number))
    with child, _end_of(child.pid) as end:
        receiver.run(lambda: child.poll() is None, end)
        status: int = child.returncode
    return status if status >= 0 else 128 - status


@contextmanager
def _end_of(process: int) -> Iterator[int | None]:
    """A file that can be read when it has ended; None where the kernel has none."""
    try:
        file = os.pidfd_open(process)
    except OSError:
        yield None
        return
    try:
        yield file
    finally:
        os.close(file)


def _work_of(store: Store, arguments: Values) -> Callable[[Sequence[Place]], Work]:
    from whocall.base.file_search import Search
    from whocall.cli.inputs import debug_directories, require_directories
    from whocall.receiving.worker import Work
    from whocall.shared_front_end.caches import cache_folders

    require_directories(arguments.search)
    search = Search(
        directories=arguments.search,
        debug_directories=debug_directories(arguments.debug_directory),
    )
    caches = cache_folders(["facts"])
    jobs = max(os.cpu_count() or 1, 2)

    def work(places: Sequence[Place]) -> Work:
        def write_all(image: ProcessImage, heading: Sequence[str]) -> None:
            for place in places:
                _write_report(image, heading, place, arguments)

        return Work(write_all, search, caches, jobs, store.room())

    return work


def _write_report(
    image: ProcessImage, heading: Sequence[str], place: Place, arguments: Values
) -> None:
    """As `bt` has it; in a process that is there for that alone."""
    from whocall.cli.commands.bt import backtrace_of_image
    from whocall.cli.parsing import parse_command
    from whocall.cli.redirected import into

    form = parse_command(["bt", "--all", "--pid", str(image.native.pid)])
    assert form is not None
    form.color, form.json = "never", place.suffix == ".json"
    form.no_arguments, form.no_demangle = arguments.no_arguments, arguments.no_demangle
    form.without, form.max_frames = arguments.without, arguments.max_frames
    file = os.fdopen(
        place.descriptor, "w", encoding="utf-8", errors="surrogateescape", closefd=False
    )
    with file, into(file):
        if not form.json:
            write(heading)
        backtrace_of_image(image, form)
