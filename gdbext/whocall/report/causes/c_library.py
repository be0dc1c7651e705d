"""What C libraries wrote when they gave up: assert(), and their own checks.

glibc keeps what it wrote, for debuggers. musl keeps nothing, and a stripped static program does not
tell where: then the library's function is known by the words that its code refers to, and what it
was given by the code that called it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from whocall.base.named_tuples import NamedTuple
from whocall.report.causes.constants import caller_of, handed_over, handed_texts, refers_to
from whocall.report.causes.scene import Fact, Scene
from whocall.report.causes.speakers import (
    ANY_TEXT,
    CHECKS,
    CXX_ASSERTS,
    GLIBC_ASSERTS,
    LATER_GLIBC_ASSERTS,
    MUSL_ASSERTS,
)
from whocall.report.causes.texts import LONGEST, as_text, c_text_at, number_in

_PAGE = 4096  # bytes: the unit in which glibc asks for memory to keep its message in
_LARGEST = 1 << 16  # of that memory
_DEEPEST = 10  # frames
_ASSERTED = re.compile(r".*?:\d+: (.*: )?(Assertion `.*' failed|Unexpected error: .*)\.\n", re.S)
_ALLOCATOR = re.compile(
    r"(free|malloc|realloc|calloc|m(un|re)map_chunk|malloc_consolidate|tcache_\w+|_int_\w+)\(\): \w"
    r"|corrupted (size vs\. prev_size|double-linked list)|double free or corruption \("
    r"|invalid fastbin entry|break adjusted to free malloc space"
)
_MUSL_ASSERTED = "Assertion failed: "
_ASSERTS = (CXX_ASSERTS, GLIBC_ASSERTS, LATER_GLIBC_ASSERTS, MUSL_ASSERTS)
_FORMS = (*_ASSERTS, CHECKS, ANY_TEXT)
_NAMED_MEMORY = "glibc: "  # how the library calls the memory that it keeps a message in


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
        text = _message(scene, held) if held else None
        if held and text:
            return Kept(text, held, module.path)
    return None


def _message(scene: Scene, held: int) -> str | None:
    """What glibc wrote there: into whole pages of its own, as one line or more; the rest is zero.

    Folklore. Situation: the program writes through wild pointers, on its way to the end or in a
    handler of it. Example: twenty letters over the message. Remedy: what is not as glibc leaves it
    is not told.
    """
    size = number_in(scene.image, scene.image.read(held, 4))
    if held % _PAGE or not size or size % _PAGE or size > _LARGEST:
        return None
    data = scene.image.read(held + 4, size - 4)
    text, _, rest = data.partition(b"\0")
    if len(data) < size - 4 or rest.strip(b"\0") or not text.endswith(b"\n"):
        return None
    told = text.decode("utf-8", "surrogateescape")
    if "Assertion `" in told:
        return told[:LONGEST].strip() if _ASSERTED.fullmatch(told) else None
    return told[:LONGEST].strip() if as_text(text) is not None else None


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


def _is_printerr(scene: Scene, level: int) -> bool:
    """Whether the function at a level hands the form for any text to glibc's __libc_message, which
    takes no stream: first what is to be done, abort, or since 2.39 nothing but form and text, or
    since 2.43 what the memory is called that they are kept in.
    """
    given, texts = handed_over(scene, level), handed_texts(scene, level)
    says = ANY_TEXT.decode().rstrip("\0")
    named = bool(texts) and (texts[0] or "").startswith(_NAMED_MEMORY)
    return texts[:1] == [says] or ((given[:1] == [1] or named) and texts[1:2] == [says])


def _held(scene: Scene, level: int) -> tuple[str, int] | None:
    """The allocator's complaint that a frame holds, and the frame's level: the one that the
    function at a level called to write it.

    Folklore. Situation: nobody on the stack handed the text over. Example: glibc 2.43's free()
    jumps to what complains. Remedy: what writes it takes a variable number of arguments, and keeps
    those that came in registers.
    """
    if not _is_printerr(scene, level):
        return None
    inner = next((at for at in range(level - 1, -1, -1) if not scene.trace.frames[at].inlined), 0)
    words = {each for each in scene.stack_words(inner) if scene.is_constant(each)}
    texts = (c_text_at(scene.image, each) for each in words)
    found = {each for each in texts if each is not None and _ALLOCATOR.match(each)}
    return (found.pop(), inner) if len(found) == 1 else None


def _written(scene: Scene, form: bytes, level: int, caller: int) -> str | None:
    """What the function at a level wrote in that form, with what its caller handed over."""
    given, texts = handed_over(scene, caller), handed_texts(scene, caller)
    if not texts or texts[0] is None:
        return None
    if form == CHECKS:
        return f"*** {texts[0]} ***: terminated"
    if form == ANY_TEXT:
        known = _ALLOCATOR.match(texts[0]) and _is_printerr(scene, level)
        return texts[0] if known else None
    if form == CXX_ASSERTS:
        file, _, function, condition = texts
        if file is None or function is None or condition is None or not given[1]:
            return None
        return f"{file}:{given[1]}: {function}: Assertion '{condition}' failed."
    what, file, _, function = texts
    if file is None or function is None or not given[2]:
        return None
    if form == MUSL_ASSERTS:
        return f"{_MUSL_ASSERTED}{what} ({file}: {function}: {given[2]})"
    return f"{file}:{given[2]}: {function}: Assertion `{what}' failed."


def _by_the_code(scene: Scene, forms: Sequence[bytes]) -> Iterator[Fact]:
    """The message, by the code of who called the library's function."""
    for level in range(1, min(_DEEPEST, len(scene.trace.frames))):
        form = refers_to(scene, level, forms)
        caller = None if form is None else caller_of(scene, level)
        if form is None or caller is None:
            continue
        text, proof = _written(scene, form, level, caller), f"the code of #{caller} hands it to"
        held = _held(scene, level) if text is None and form == ANY_TEXT else None
        if held is not None:
            text, proof = held[0], f"#{held[1]} keeps it, which was called by"
        if text is not None:
            words = form.decode().strip("\n\0")
            own = caller if form in _ASSERTS else caller_of(scene, caller)
            yield _classed(text, f"{proof} #{level}, whose code refers to `{words}`", own)
            return


def c_library(scene: Scene) -> Iterator[Fact]:
    """The message of assert() and of the C library's own checks."""
    kept = kept_by_glibc(scene)
    if kept is not None:
        proof = f"the C library keeps it at {kept.place:#x}, in __abort_msg of {kept.module}"
        yield _classed(kept.text, proof)
    elif scene.signal == "SIGABRT":
        yield from _by_the_code(scene, _FORMS[:1] if _keeps_messages(scene) else _FORMS)


def _keeps_messages(scene: Scene) -> bool:
    """Whether there is a shared glibc, which keeps what it writes."""
    image = scene.image
    libraries = (m for m in image.modules if m.path.rpartition("/")[2].startswith("libc"))
    return any(image.native.variable(each.index, "__abort_msg") for each in libraries)


def _classed(text: str, proof: str, level: int | None = None) -> Fact:
    told = text.removeprefix(_MUSL_ASSERTED)
    if "Assertion `" in text or "Assertion '" in text or told != text:
        return Fact("assertion", f"an assertion failed: {told}", proof, level, told)
    if "stack smashing detected" in text:
        return Fact(
            "stack-smashing",
            f"the C library found the stack overwritten and gave up: {text}",
            proof,
            level,
            text,
        )
    return Fact("abort-message", f"the C library gave up: {text}", proof, level, text)
