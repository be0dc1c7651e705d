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
    if scene.signal != "SIGABRT" or _aborts_itself(scene):
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


def _aborts_itself(scene: Scene) -> bool:
    """Whether it is the program that called abort(): a message is of an abort that it survived."""
    level = scene.level_of("abort", "__GI_abort")
    abort, caller = (None, None) if level is None else (scene.frame(level), scene.frame(level + 1))
    return (
        abort is not None
        and caller is not None
        and caller.module is not None
        and caller.module != abort.module
    )


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
