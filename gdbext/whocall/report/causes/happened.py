"""What happened, in a sentence, with what shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whocall.report.causes.causes import causes
from whocall.report.causes.handed import command_line
from whocall.report.causes.scene import Fact, Scene, named
from whocall.report.form.jsonform import Json, hexes

if TYPE_CHECKING:
    from whocall.base.model import Backtrace, Frame
    from whocall.base.process_image import ProcessImage

# Of the runtime's own way to an end: the frame that a reader looks for lies above these.
_RUNTIME = frozenset(
    """
    __pthread_kill_implementation __pthread_kill_internal pthread_kill __pthread_kill
    raise gsignal __GI_raise abort __GI_abort __libc_message __fortify_fail __GI___fortify_fail
    __assert_fail __GI___assert_fail __assert_fail_base __stack_chk_fail __stack_chk_fail_local
    __chk_fail __GI___chk_fail malloc_printerr _int_free _int_malloc free cfree __libc_free
    __cxa_throw __cxa_rethrow std::terminate std::terminate() __gnu_cxx::__verbose_terminate_handler
    __gnu_cxx::__verbose_terminate_handler() __cxxabiv1::__terminate
    rust_panic rust_begin_unwind
    """.split()  # noqa: SIM905 - a table is easier to read so
)


_RUNTIME_PREFIXES = (
    *("runtime.", "core::panicking::", "core::option::", "core::result::", "std::panicking::"),
    *("std::process::", "std::sys::pal::", "std::sys::backtrace::__rust_end_short_backtrace"),
    "std::sys_common::backtrace::__rust_end_short_backtrace",  # its place until Rust 1.79
    *("__rustc::", "__rust_", "panic_abort::"),
)
_RUST_LIBRARIES = ("core::", "alloc::", "std::")  # of which any function may panic
_LIBRARIES = (
    *("libc.so", "libc-", "libc.musl", "libpthread", "libstdc++", "libc++", "libgcc_s"),
    *("ld-", "ld.so", "[vdso]"),
)
_DEEPEST = 256  # frames


def program_name(image: ProcessImage) -> str:
    """The last part of the program's path, or what else is known of it."""
    path = image.exe_path or next((m.path for m in image.modules if m.is_executable), "")
    if path:
        return path.rpartition("/")[2]
    return next((thread.name for thread in image.threads if thread.name), "the program")


def culprit(trace: Backtrace, gave_up: bool) -> Frame | None:
    """The innermost frame that is no part of a runtime's own way to the end; where the program
    `gave_up` that begins in the C library.
    """
    frames = trace.frames[:_DEEPEST]
    first = next((frame for frame in frames if not _is_runtime(frame, gave_up)), None)
    return first if first is not None else next(iter(frames), None)


def _is_runtime(frame: Frame, gave_up: bool) -> bool:
    if frame.signal_trampoline:
        return True
    library = (frame.module or "").rpartition("/")[2]
    if gave_up and library.startswith(_LIBRARIES):
        return True
    if frame.function is None:
        return False
    names = {name.partition(".cold")[0] for name in (frame.function, *frame.aliases)}
    return not names.isdisjoint(_RUNTIME) or frame.function.startswith(_RUNTIME_PREFIXES)


def _where(frame: Frame | None) -> str:
    if frame is None:
        return ""
    place = f" in {named(frame)}" if frame.module or frame.function else f" at {frame.pc:#x}"
    if frame.file is not None:
        line = "" if frame.line is None else f":{frame.line}"
        return f"{place} at {frame.file}{line}"
    return place + (f" of {frame.module.rpartition('/')[2]}" if frame.module else "")


def _subject(scene: Scene, image: ProcessImage) -> str:
    count = len(image.threads)
    if count == 1:
        return program_name(image)
    return f"Thread {scene.trace.number} of {count:,} of {program_name(image)}"


def _frame_to_name(scene: Scene, facts: list[Fact]) -> Frame | None:
    """The one that a reader looks for: where it has no name, of which it could be known to be no
    part of a runtime's, the facts tell which it is.
    """
    return _or_beyond(scene, facts, culprit(scene.trace, scene.signal == "SIGABRT"))


def _or_beyond(scene: Scene, facts: list[Fact], found: Frame | None) -> Frame | None:
    told = facts[0].level if facts else None
    beyond = None if told is None else scene.frame(told)
    if found is None:
        return None
    if beyond is not None and beyond.level > found.level and not _is_named(found):
        return beyond
    if not facts or facts[0].kind != "panic":
        return found
    outer = scene.trace.frames[found.level : _DEEPEST]
    return next((frame for frame in outer if not _is_of_rusts_library(frame)), found)


def _is_named(frame: Frame) -> bool:
    name = frame.function or ""
    return bool(name) and not frame.inferred and not name.startswith("sub_")


def _is_of_rusts_library(frame: Frame) -> bool:
    name = (frame.function or "").removeprefix("<")
    return _is_named(frame) and name.startswith(_RUST_LIBRARIES)


def _level_to_show(scene: Scene, facts: list[Fact]) -> int:
    """Of the frame that a reader looks at first: the program's own, where the thread ended in a
    library of the system or where no code is.
    """
    if not scene.trace.crashed:
        return 0
    for frame in scene.trace.frames[:_DEEPEST]:
        gone = scene.is_nowhere and frame.level == 0 and frame.module is None
        if not gone and not _is_runtime(frame, gave_up=True) and frame.function != "_start":
            own = _or_beyond(scene, facts, frame)
            return frame.level if own is None else own.level
    return 0


def as_sentence(text: str) -> str:
    """With one mark at its end, as a program's own words may have one."""
    return text if text.endswith(("!", "?")) else text.rstrip(".") + "."


def _sentence(scene: Scene, image: ProcessImage, facts: list[Fact]) -> str:
    subject = _subject(scene, image)
    if scene.signal is None or not scene.trace.crashed:
        return f"{subject} did not crash: it was stopped{_where(scene.frame(0))}."
    end = "stopped" if image.core_path is None else "ended"
    text = f"{subject} was {end} by {scene.signal}{_where(_frame_to_name(scene, facts))}"
    if facts:
        text += f": {facts[0].text}"
    return as_sentence(text)


def what_happened(image: ProcessImage, index: int, trace: Backtrace) -> Json:
    """The end of threads[index]; `trace` is its backtrace."""
    return _told(*_seen(image, index, trace))


def happened_on_page(image: ProcessImage, index: int, trace: Backtrace) -> Json:
    """The same, with the frame to show first and how the program was called."""
    scene, facts = _seen(image, index, trace)
    return {
        **_told(scene, facts),
        "level": _level_to_show(scene, facts),
        "command_line": command_line(trace) if trace.crashed and trace.frames else None,
    }


def _seen(image: ProcessImage, index: int, trace: Backtrace) -> tuple[Scene, list[Fact]]:
    scene = Scene(image, index, trace)
    return scene, causes(scene) if trace.crashed else []


def _told(scene: Scene, facts: list[Fact]) -> Json:
    trace = scene.trace
    verb, size = scene.fault_access or (None, 0)
    return {
        "sentence": _sentence(scene, scene.image, facts),
        "program": program_name(scene.image),
        "thread": trace.number,
        "signal": scene.signal if trace.crashed else None,
        "signal_code": scene.code,
        "signal_meaning": scene.meaning,
        "fault_address": hexes(scene.fault),
        "fault_access": verb,
        "fault_size": size or None,
        "pc": hexes(scene.pc),
        "instruction": scene.instruction,
        "facts": [{"kind": each.kind, "text": each.text, "proof": each.proof} for each in facts],
    }
