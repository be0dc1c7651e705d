"""The text of a Rust panic, out of the frame of std::panicking::rust_panic_with_hook.

What was panicked with comes to that function as a reference to a `dyn` trait, two words: where the
value lies, in the frame of its caller, and its vtable, a constant: how it is dropped, its size and
its alignment stand first. A message that was formatted is a String (a pointer, a length and a
capacity, in an order that the compiler chooses), a literal a pointer and a length. Beside it lies a
pointer to the place, a constant `Location` (file, line, column).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from whocall.report.causes.constants import caller_of, refers_to
from whocall.report.causes.scene import Fact, Scene
from whocall.report.causes.speakers import PANIC_SAYS
from whocall.report.causes.texts import LARGEST, number_in, text_at

# Up to 1.85 at least, and by 1.97; the second of each is the handler that the first may be inlined
# into.
_NAMED = re.compile(
    r"\bstd::panicking::(rust_panic_with_hook|begin_panic_handler|panic_with_hook|panic_handler)\b"
)
_DEEPEST = 32  # frames
_LIBRARY = ("core", "alloc", "std")  # crates
_MACHINERY = 5  # frames of the standard library's around it, its own not counted
_NEAR = 1024  # bytes: how far above its frame what it was given lies
_LONGEST_PATH = 1024  # bytes


def _numbers(scene: Scene, begin: int, count: int) -> list[int] | None:
    """That many words at an address; None where they cannot be read."""
    found = [scene.image.word_at(begin + at * scene.image.pointer_size) for at in range(count)]
    known = [each for each in found if each is not None]
    return known if len(known) == count else None


def _string(scene: Scene, words: list[int]) -> str | None:
    """The text of a String: one pointer to memory that the program writes, and two numbers, of
    which the length is the lesser.
    """
    pointers = [each for each in words if scene.is_writable(each)]
    numbers = [each for each in words if each < LARGEST]
    if len(pointers) != 1 or len(numbers) != 2:
        return None
    return text_at(scene.image, pointers[0], min(numbers))


def _literal(scene: Scene, words: list[int]) -> str | None:
    """The text of a string slice that is part of the program."""
    begin, size = words
    return text_at(scene.image, begin, size) if scene.is_constant(begin) else None


def _value(scene: Scene, data: int, vtable: int) -> str | None:
    """The text that the two words of a reference to a `dyn` trait stand for."""
    word = scene.image.pointer_size
    described = _numbers(scene, vtable, 4) if scene.is_constant(vtable) else None
    if described is None or described[2] != word:
        return None
    dropped, size, _, method = described
    if (dropped and not scene.is_known_code(dropped)) or not scene.is_known_code(method):
        return None
    held = _numbers(scene, data, size // word) if size in (2 * word, 3 * word, 4 * word) else None
    if held is None:
        return None
    if len(held) == 2:
        return _literal(scene, held)
    # Four words are a String and what it is to be formatted of.
    return _string(scene, held[:3]) or (_string(scene, held[1:]) if len(held) == 4 else None)


def _texts(scene: Scene, level: int, words: list[int]) -> set[tuple[int, str]]:
    """What the function was given: where it lies, and its text."""
    extent = scene.stack_of(level)
    above = 0 if extent is None else extent[1]
    found = set()
    for data, vtable in zip(words, words[1:]):
        if above <= data < above + _NEAR and data % scene.image.pointer_size == 0:
            text = _value(scene, data, vtable)
            if text is not None:
                found.add((data, text))
    return found or _of_both(scene, level, words)


def _of_both(scene: Scene, level: int, words: list[int]) -> set[tuple[int, str]]:
    """Texts that the function and its caller both have.

    Folklore. Situation: the optimizer has seen all of the program, and hands no vtables over.
    Example: rustc 1.63 with `-C lto`. Remedy: the caller's frame holds the String, or the literal,
    and the function's own has what it printed: the same pointer and length side by side.
    """
    caller = caller_of(scene, level)
    theirs = [] if caller is None else scene.stack_words(caller)
    slices = set(zip(words, words[1:]))
    begin = (scene.stack_of(level) or (0, 0))[1]
    found = set()
    for at in range(len(theirs) - 1):
        three = theirs[at : at + 3]
        text = _literal(scene, three[:2]) if tuple(three[:2]) in slices else None
        if text is None and len(three) == 3:
            pointer = next((each for each in three if scene.is_writable(each)), 0)
            size = min((each for each in three if each < LARGEST), default=0)
            text = _string(scene, three) if (pointer, size) in slices else None
        if text is not None:
            found.add((begin + at * scene.image.pointer_size, text))
    return found


def _location(scene: Scene, address: int) -> str | None:
    """`src/main.rs:4:9`, where the address is that of a Location."""
    word = scene.image.pointer_size
    data = scene.image.read(address, 2 * word + 8) if scene.is_constant(address) else b""
    if len(data) < 2 * word + 8:
        return None
    ends = (0, word, 2 * word, 2 * word + 4, 2 * word + 8)
    begin, size, line, column = (number_in(scene.image, data[a:b]) for a, b in zip(ends, ends[1:]))
    if not 3 < size < _LONGEST_PATH or not scene.is_constant(begin) or not line or not column:
        return None
    file = text_at(scene.image, begin, size)
    return f"{file}:{line}:{column}" if file is not None and file.endswith(".rs") else None


def _place(scene: Scene, level: int, words: list[int]) -> str | None:
    """`src/main.rs:4:9`, where it is one place alone that the function was handed.

    Folklore. Situation: its frame has room for words of calls before. Example: of the first of two
    panics the place lies there still. Remedy: its callers had the place, too.
    """
    callers = {word for at in range(level + 1, level + 6) for word in scene.stack_words(at)}
    told = {_location(scene, word) for word in callers.intersection(words)} - {None}
    return told.pop() if len(told) == 1 else None


def _is_hook(scene: Scene, level: int) -> bool:
    """Whether that is the function."""
    frame = scene.frame(level)
    if frame is None or frame.inlined or frame.cfa is None:
        return False
    if frame.function and not frame.inferred and not frame.function.startswith("sub_"):
        return _NAMED.search(frame.function) is not None
    return refers_to(scene, level, PANIC_SAYS) is not None


def _beyond(scene: Scene, level: int) -> int | None:
    """The level of the frame that called what leads to the function: panic_fmt calls the handler,
    that a function which ends short backtraces, that a closure, and that the function.
    """
    at: int | None = level
    for _ in range(_MACHINERY):
        at = None if at is None else caller_of(scene, at)
    return at


def _own(scene: Scene, beyond: int | None, place: str | None) -> int | None:
    """The level of the frame that the panic is told of, from that one on which lies `beyond` the
    handlers of all panics.

    Folklore. Situation: functions of core stand between, and nothing tells them from the program's
    own in a stripped one. Example: panic_bounds_check, Option::unwrap's failure, assert_failed.
    Remedy: the place of the panic is a constant that the code of the function names in which it
    happened, or a copy of core's that the optimizer made for that place alone. Places of the
    library's own are no better than the frame that is known.
    """
    if beyond is None or place is None:
        return beyond
    for frame in scene.trace.frames[beyond : beyond + _DEEPEST]:
        for file, line, column, _, crate, *_ in frame.source_hints:
            if f"{file}:{line}:{column}" == place and crate not in _LIBRARY:
                return frame.level
    return beyond


def rust(scene: Scene) -> Iterator[Fact]:
    """The panic that ended the program."""
    for level in range(min(_DEEPEST, len(scene.trace.frames))):
        if not _is_hook(scene, level):
            continue
        words = scene.stack_words(level)
        found = _texts(scene, level, words)
        if len({text for _, text in found}) == 1:
            address, text = min(found)
            place = _place(scene, level, words)
            yield Fact(
                "panic",
                f"it panicked{f' at {place}' if place else ''}: {text}",
                f"the value at {address:#x} that #{level}, the function that runs Rust's panic "
                "hook, was given",
                _own(scene, _beyond(scene, level), place),
                text,
            )
        return
