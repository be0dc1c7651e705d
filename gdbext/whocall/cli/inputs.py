"""What the arguments of the command line name: files, processes, threads, addresses, settings."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence

from whocall.base.downloads import announcing
from whocall.base.errors import Error, UsageError
from whocall.base.file_search import DEBUG_DIRECTORIES, Search
from whocall.base.records import replace
from whocall.base.regular_file import open_regular
from whocall.cli.outputs import say
from whocall.report.form.style import Style, style_for

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.base.downloads import Progress
    from whocall.base.process_image import ProcessImage, Walk
    from whocall.cli.arguments import Values


def is_core(path: str) -> bool:
    """Whether there is a core in the file; unreadable ones are for the opener to complain about."""
    plain = is_plain_core(path)
    if plain is not None:
        return plain
    from whocall.dumps.kinds import kind_of_path

    return kind_of_path(path) != ""


def is_plain_core(path: str) -> bool | None:
    """Of an ELF file, whether it is a core; None for all else, and for what cannot be read."""
    try:
        with open_regular(path) as file:
            head = file.read(18)
    except OSError:
        return None
    if len(head) < 18 or head[:4] != b"\x7fELF":
        return None
    return int.from_bytes(head[16:18], "big" if head[5] == 2 else "little") == 4


def put_in_order(arguments: Values) -> None:
    """gdb takes the program first and the core behind it: which is which can be told."""
    core, exe = getattr(arguments, "core", None), getattr(arguments, "exe", None)
    if isinstance(core, list):
        if len(core) == 2 and not exe and hasattr(arguments, "exe"):
            _take_program_out(core, arguments)
    elif isinstance(core, str) and exe and is_plain_core(core) is False and is_core(exe):
        arguments.core, arguments.exe = exe, core


def _take_program_out(files: list[str], arguments: Values) -> None:
    """Of a program and its core, where a command takes several cores."""
    for program, core in (files, files[::-1]):
        if is_plain_core(program) is False and is_core(core):
            arguments.core, arguments.exe = [core], program
            break


def wanted_style(arguments: Values) -> Style:
    """By --color."""
    return style_for(sys.stdout, arguments.color)


def screen_columns() -> int | None:
    """None where what is written goes elsewhere."""
    if not sys.stdout.isatty():
        return None
    from shutil import get_terminal_size

    return get_terminal_size().columns


def wanted_columns(arguments: Values) -> int | None:
    """By --width, else of the screen; None where what is written goes elsewhere."""
    columns: int | None = arguments.width
    return screen_columns() if columns is None else columns


def parse_address(text: str) -> int:
    """Hexadecimal with or without 0x, as in every other tool and log."""
    try:
        address = int(text, 16)
    except ValueError:
        raise UsageError(f"{text!r} is not a hexadecimal address") from None
    if not 0 <= address < 1 << 64:
        raise UsageError(f"{text} is not an address: those are 0 to ffffffffffffffff")
    return address


def wanted_search(arguments: Values) -> Search:
    """Where to look for files and names. Raises Error for a directory that is not there: what lies
    in it was to be used, and nothing else in its place.
    """
    if arguments.sysroot:
        from whocall.container_images.container import require_root

        require_root(arguments.sysroot)
    require_directories(arguments.search)
    return Search(
        sysroot=arguments.sysroot,
        directories=arguments.search,
        debug_directories=debug_directories(arguments.debug_directory),
        symbol_files=arguments.symbols,
        signature_files=arguments.signatures,
        debuginfod=arguments.debuginfod,
        progress=watched_downloads(arguments),
    )


def watched_downloads(arguments: Values) -> Progress | None:
    """Who is told what is fetched: whoever watches."""
    watched = arguments.announce or sys.stderr.isatty()
    watched = watched and not getattr(arguments, "json", False)
    return announcing(say) if watched else None


def require_directories(searched: Sequence[str]) -> None:
    """Raises Error for the first that cannot be looked into."""
    for path in searched:
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            text = f"{path or repr(path)}: {error.strerror}; name a directory in --search"
            raise Error(text, path=path) from error
        if not stat.S_ISDIR(mode):
            raise Error(f"{path}: Not a directory; name one in --search", path=path)


def debug_directories(named: list[str]) -> Sequence[str]:
    """An empty one alone stands for none."""
    return [directory for directory in named if directory] if named else DEBUG_DIRECTORIES


def open_named_core(path: str, exe: str, arguments: Values) -> ProcessImage:
    """The core with the files that the arguments tell of, whatever it is packed in."""
    search = wanted_search(arguments)
    if search.sysroot or is_plain_core(path) is not True:
        from whocall.inputs.opening import open_core as open_any_core

        return open_any_core(path, exe, search=search)
    from whocall.base.process_image import open_core

    return open_core(path, exe, search=search)


def open_core_or_file(path: str, exe: str, arguments: Values) -> ProcessImage:
    """A core with its files, or a file alone."""
    if is_core(path):
        return open_named_core(path, exe, arguments)
    from whocall.base.process_image import open_file_image

    return open_file_image(path, search=wanted_search(arguments))


def open_image(arguments: Values) -> ProcessImage:
    """The core or the process that is named."""
    if getattr(arguments, "last", False) or getattr(arguments, "crash", ""):
        from whocall.cli.stored import open_stored

        return open_stored(arguments, wanted_search(arguments))
    if (arguments.core is None) == (arguments.pid is None):
        kept = ", or --last" if hasattr(arguments, "last") else ""
        said = "nothing was named" if arguments.core is None else "one of these, not several"
        raise UsageError(f"{said}: give a CORE, or --pid N{kept}")
    if arguments.pid is None:
        return open_named_core(arguments.core, arguments.exe, arguments)
    from whocall.base.process_image import open_process

    search = wanted_search(arguments)
    if search.sysroot:
        from whocall.inputs.opening import in_root

        return in_root(lambda where: open_process(arguments.pid, search=where), search)
    return open_process(arguments.pid, search=search)


def wanted_thread(image: ProcessImage, arguments: Values) -> int:
    """Index of the thread that is asked for, else of the one that crashed."""
    if arguments.thread is None:
        return image.index_of_crash()
    return image.index_of_lwp(arguments.thread)


def _names_in(text: str) -> tuple[str, ...]:
    if not text:
        return ()
    from whocall.shared_front_end.options import split_list

    return tuple(split_list(text))


def wanted_walk(arguments: Values) -> Walk:
    """What all commands that walk take, past main."""
    from whocall.base.process_image import Walk

    walk = Walk(
        without=_names_in(arguments.without),
        demangle=not getattr(arguments, "no_demangle", False),
        past_main=True,
    )
    return replace(walk, max_frames=arguments.max_frames) if arguments.max_frames else walk
