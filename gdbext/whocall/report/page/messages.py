"""The last words that runtimes keep in memory when they give up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from whocall.report.page.go_panic import go
from whocall.report.page.rust_panic import rust
from whocall.report.page.scene import Fact, Scene

LONGEST = 4096  # bytes of a message that is shown


def shown(data: bytes) -> str:
    """A message as one piece of text."""
    return data.decode("utf-8", "surrogateescape").strip()


class Kept(NamedTuple):
    """What glibc wrote when it gave up."""

    text: str
    place: int  # runtime address
    module: str  # path


def kept_by_glibc(scene: Scene) -> Kept | None:
    """glibc keeps what assert() and its own checks wrote in `__abort_msg`: a pointer to a length
    and the text, for debuggers. None where it is not glibc that aborted.
    """
    if scene.signal != "SIGABRT" or not _is_glibcs(scene):
        return None
    image = scene.image
    for module in image.modules:
        name = module.path.rpartition("/")[2]
        if not (name.startswith(("libc.so", "libc-")) or module.is_executable):
            continue
        variable = image.native.variable(module.index, "__abort_msg")
        held = image.word_at(variable)
        if not held:
            continue
        head = image.read(held, 4)
        size = int.from_bytes(head, "big" if image.byte_order == "big" else "little")
        text = shown(image.read(held + 4, min(size, LONGEST)).split(b"\0")[0])
        if text:
            return Kept(text, held, module.path)
    return None


def glibc(scene: Scene) -> Iterator[Fact]:
    """The message of assert() and of the C library's own checks."""
    kept = kept_by_glibc(scene)
    if kept is not None:
        proof = f"the C library keeps it at {kept.place:#x}, in __abort_msg of {kept.module}"
        yield _classed(kept.text, proof)


# By which functions of glibc's abort() is called, whatever stands in front of their names.
_COMPLAINING = ("assert_", "libc_message", "fortify_fail", "libc_fatal", "malloc_printerr")


def _is_glibcs(scene: Scene) -> bool:
    """Whether it is the C library that called abort().

    Situation: a program survives an abort by a jump out of its handler, and later calls abort() or
    raise() itself, or another thread is killed. The message is still there, and is of another end.
    Remedy: abort() has to be on the stack, called by the library, which in a static program is told
    by the name of the function.
    """
    level = scene.level_of("abort", "__GI_abort")
    abort, caller = (None, None) if level is None else (scene.frame(level), scene.frame(level + 1))
    if abort is None or caller is None or caller.module != abort.module:
        return False
    library = (abort.module or "").rpartition("/")[2]
    is_shared = library.startswith(("libc.so", "libc-"))
    name = (caller.function or "").lstrip("_").removeprefix("GI_").lstrip("_")
    return is_shared or name.startswith(_COMPLAINING)


def _classed(text: str, proof: str) -> Fact:
    if "Assertion `" in text or "Assertion '" in text:
        return Fact("assertion", f"an assertion failed: {text}", proof)
    if "stack smashing detected" in text:
        return Fact(
            "stack-smashing",
            f"the C library found the stack overwritten and gave up: {text}",
            proof,
        )
    return Fact("abort-message", f"the C library gave up: {text}", proof)


RUNTIMES: Sequence[Callable[[Scene], Iterator[Fact]]] = (glibc, go, rust)


def messages(scene: Scene) -> list[Fact]:
    """What runtimes left, where it is they who ended the program."""
    if not scene.gave_up:
        return []
    return [fact for runtime in RUNTIMES for fact in runtime(scene)]
