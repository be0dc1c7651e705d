"""The exception that ended a C++ program, out of the object that the unwinder holds.

std::terminate() is proven by its frame, of which the library's symbols tell, or by that of the
handler which says so on standard error, whose code refers to those words. Words of the frames
around point to the exception: a header of the ABI's, which begins with the mark of the library that
made it, behind the library's own, and before the object that was thrown. It is the one that
std::terminate() was called for where it is being handled and no other one that is has it below.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from whocall.base.named_tuples import NamedTuple
from whocall.base.operations import NUMBER, REGISTER
from whocall.report.causes.called import returned
from whocall.report.causes.constants import call_made, caller_of, code_of, refers_to
from whocall.report.causes.cxx_types import Type, exception_in, type_at
from whocall.report.causes.scene import Fact, Scene, named
from whocall.report.causes.speakers import TERMINATE_SAYS
from whocall.report.causes.texts import c_text_at, number_in

_TERMINATE = frozenset(
    {
        *("std::terminate()", "std::terminate", "__cxxabiv1::__terminate(void (*)())"),
        *("__gnu_cxx::__verbose_terminate_handler()", "std::__terminate(void (*)())"),
    }
)
_DEEPEST = 16  # frames
_MOST_WORDS, _MOST_CALLS, _MOST_SYMBOLS = 512, 256, 1 << 16
_MOST_OF_CALLER = 16  # instructions of the function that calls the handler
_LIBRARIES = ("libstdc++", "libc++")
_GNU, _LLVM = b"GNUCC++", b"CLNGC++"  # marks; behind them 0, and 1 of one that stands for another
_HEADER = 32  # bytes of the ABI's header, in front of the object
_MOST_HANDLERS, _MOST_OWNERS = 64, 1024


class Thrown(NamedTuple):
    """An exception that is being handled."""

    header: int  # address of the library's header
    below: int  # the same of the one that was being handled before; 0 for none
    type: Type
    object: int  # its address


def _terminate(scene: Scene) -> int | None:
    """The level of the frame that proves std::terminate()."""
    for level in range(min(_DEEPEST, len(scene.trace.frames))):
        frame = scene.trace.frames[level]
        if frame.inlined:
            continue
        names = (frame.function or "", *frame.aliases)
        if not _TERMINATE.isdisjoint(names) or _is_handler(scene, level):
            return level
    return None


def _is_handler(scene: Scene, level: int) -> bool:
    """Whether it is a function of the library's that says why it ends, or a part of one.

    Folklore. Situation: a program says the same when it has caught an exception, and aborts.
    Example: `std::cerr << "  what():  " << e.what()`. Remedy: the library's is called by a pointer,
    from a function that does nothing else.
    """
    if not refers_to(scene, level, TERMINATE_SAYS):
        return False
    if (scene.trace.frames[level].module or "").rpartition("/")[2].startswith(_LIBRARIES):
        return True
    caller = caller_of(scene, level)
    call = None if caller is None else call_made(scene, caller)
    if caller is None or call is None or len(code_of(scene, caller)) > _MOST_OF_CALLER:
        return False
    return len(call.operands) == 1 and call.operands[0].kind == REGISTER


def _words(scene: Scene, level: int) -> Iterator[int]:
    """The words of the frames around std::terminate(), each once."""
    seen = set[int]()
    for at in range(level, min(level + _DEEPEST, len(scene.trace.frames))):
        for value in scene.stack_words(at):
            if value not in seen and scene.is_writable(value):
                seen.add(value)
                yield value
                if len(seen) == _MOST_WORDS:
                    return
        if scene.functions[at : at + 1] == ["__cxa_throw"]:
            return


def _header(scene: Scene, at: int) -> int:
    """Where the library's header begins that stands in front of the ABI's at an address."""
    return at - (80 if scene.image.pointer_size == 8 else 48)


def _before(scene: Scene, library: bytes) -> int:
    """The size of what libc++abi's has in front of what it has in common with libstdc++'s."""
    return 2 * scene.image.pointer_size if library == _LLVM else 0


def _mark(scene: Scene, at: int) -> tuple[bytes, int] | None:
    """Which library made the exception whose header of the ABI's is at an address, and 1 where it
    stands for another one, else 0.
    """
    data = scene.image.read(at, 8)
    if scene.image.byte_order != "big":
        data = data[::-1]
    return (data[:7], data[7]) if data[:7] in (_GNU, _LLVM) and data[7:] in (b"\0", b"\1") else None


def _fields(scene: Scene, at: int) -> tuple[int, int, int] | None:
    """(type, the header below, handlers) of the library's header in front of the ABI's at an
    address.
    """
    image, word = scene.image, scene.image.pointer_size
    data = image.read(_header(scene, at), 5 * word + 4)
    if len(data) < 5 * word + 4:
        return None
    kind, destroy, _, terminate, below = (
        number_in(image, data[n * word : (n + 1) * word]) for n in range(5)
    )
    if not all(scene.is_known_code(each) for each in (destroy, terminate) if each):
        return None
    return kind, below, number_in(image, data[-4:])


def _has_owners(scene: Scene, at: int, library: bytes) -> bool:
    """Whether the exception, which counts who holds it, is alive."""
    word = scene.image.pointer_size
    place = _header(scene, at) - (16 if library == _GNU else word)
    return 0 < number_in(scene.image, scene.image.read(place, 4)) <= _MOST_OWNERS


def thrown_at(scene: Scene, at: int) -> Thrown | None:
    """The exception whose header of the ABI's is at an address, where it is being handled. One that
    std::rethrow_exception() threw stands for another, whose object it tells in the type's place.
    """
    mark = _mark(scene, at) if at % scene.image.pointer_size == 0 else None
    fields = None if mark is None else _fields(scene, at)
    if mark is None or fields is None or not 0 < fields[2] <= _MOST_HANDLERS:
        return None
    kind, below, _ = fields
    own, place = at, at + _HEADER
    if mark[1]:
        own, place = kind - _HEADER, kind
        other = _fields(scene, own) if _mark(scene, own) == (mark[0], 0) else None
        if other is None:
            return None
        kind = other[0]
    described = type_at(scene, kind) if _has_owners(scene, own, mark[0]) else None
    if described is None:
        return None
    return Thrown(_header(scene, at) - _before(scene, mark[0]), below, described, place)


def _held(scene: Scene, level: int) -> dict[int, Thrown]:
    """Those that words around std::terminate() point to, by the addresses of their headers: to the
    ABI's, the object behind it or the library's before it (std::rethrow_exception() by gcc 16).
    """
    found = dict[int, Thrown]()
    before = -_header(scene, 0)
    for word in _words(scene, level):
        for at in (word, word - _HEADER, word + before):
            one = thrown_at(scene, at)
            if one is not None:
                found[one.header] = one
    return found


def _globals(scene: Scene) -> int | None:
    """Where the thread keeps the exceptions that it handles, as a library's symbol tells."""
    for module in sorted(scene.image.modules, key=lambda module: module.is_executable):
        name = module.path.rpartition("/")[2]
        if not (name.startswith(_LIBRARIES) or module.is_executable):
            continue
        table = scene.image.native.symbols(module.index)
        for at in range(min(len(table), _MOST_SYMBOLS)):
            symbol = table[at]
            if symbol.name == "__cxa_get_globals":
                return returned(scene, scene.image.wrapped(symbol.start + module.bias))
    return None


def _keeps(scene: Scene, level: int, headers: Collection[int]) -> tuple[int, int] | None:
    """The one of these that is the thread's innermost, by a function that returns where the thread
    keeps it, and that the frames around std::terminate() call, as __cxa_throw does; with the level
    of that frame.
    """
    tried = set[int]()
    for at in range(level, min(level + _DEEPEST, len(scene.trace.frames))):
        calls = (each for each in code_of(scene, at) if each.flow == "call" and each.operands)
        for target in (each.operands[0] for each in calls):
            if target.kind != NUMBER or target.value in tried or len(tried) == _MOST_CALLS:
                continue
            tried.add(target.value)
            kept = returned(scene, target.value)
            header = scene.image.word_at(kept) if kept else None
            if header is not None and header in headers:
                return header, at
    return None


class _End(NamedTuple):
    """What is known of the exception for which std::terminate() was called."""

    thrown: Thrown | None
    is_none: bool  # it is proven that there was none
    thrower: int | None  # the level of the frame that threw it
    beyond: int | None  # of the one that called the library's functions


def _end(scene: Scene, level: int) -> _End:
    """Of the call of std::terminate() that the frame at a level proves.

    Folklore. Situation: an exception that was caught is kept, and its header is as if it were being
    handled. Example: std::exception_ptr, and then std::terminate(). Remedy: the thread keeps what
    it handles; where that cannot be told, __cxa_throw has to be on the stack.
    """
    kept, thrower = _globals(scene), _thrower(scene, level)
    innermost = scene.image.word_at(kept) if kept else None
    if innermost is not None:
        places = (innermost - _header(scene, 0) + _before(scene, each) for each in (_GNU, _LLVM))
        all_there = (thrown_at(scene, at) for at in places if innermost)
        thrown = next((each for each in all_there if each and each.header == innermost), None)
        return _End(thrown, innermost == 0, thrower, thrower)
    found = _held(scene, level)
    told = _keeps(scene, level, found) if found else None
    if told is not None:
        return _End(found[told[0]], False, thrower, caller_of(scene, told[1]))
    below = {each.below for each in found.values()}
    first = [each for each in found.values() if each.header not in below]
    if thrower is not None:
        return _End(first[0] if len(first) == 1 else None, False, thrower, thrower)
    # The handler is called by a function that std::terminate() calls.
    beyond = level + 3 if (scene.functions[level] or "sub_").startswith("sub_") else None
    return _End(None, False, None, beyond)


def _what(scene: Scene, thrown: Thrown) -> str | None:
    """What the object's what() returns, where it is a std::exception."""
    at = exception_in(scene, thrown.type, thrown.object)
    vtable = None if at is None else scene.image.word_at(at)
    if at is None or not vtable:
        return None
    function = scene.image.word_at(vtable + 2 * scene.image.pointer_size)
    begin = returned(scene, function, at) if function else None
    return c_text_at(scene.image, begin) if begin else None


def _thrower(scene: Scene, end: int) -> int | None:
    """The level of the frame that called __cxa_throw, where that is on the stack."""
    throw = scene.level_of("__cxa_throw")
    above = () if throw is None or throw < end else scene.trace.frames[throw + 1 : throw + 16]
    for frame in above:
        if not (frame.module or "").rpartition("/")[2].startswith(_LIBRARIES):
            return frame.level
    return None


def terminate(scene: Scene) -> Fact | None:
    """C++'s end by std::terminate()."""
    level = _terminate(scene) if scene.gave_up else None
    if level is None:
        return None
    end = _end(scene, level)
    thrower = None if end.thrower is None else scene.frame(end.thrower)
    kind = "" if end.thrown is None else f" of type {end.thrown.type.name}"
    itself = scene.level_of("std::terminate()")
    proof = f"#{level} belongs to" if itself is None else f"#{itself} is"
    proof += " std::terminate()"
    if thrower is not None:
        throw = scene.level_of("__cxa_throw")
        by = named(thrower)
        how = f"that {by} threw" if thrower.level - 1 == throw else f"thrown in a call from {by}"
        text = f"an exception{kind} {how} was not caught"
        proof = f"#{throw} is __cxa_throw and {proof}"
    elif end.thrown is not None:
        text = f"std::terminate() was called with an active exception{kind}"
    else:
        text = "std::terminate() was called" + " without an active exception" * end.is_none
        proof += ", and the thread handles none" * end.is_none
    if end.thrown is None:
        return Fact("exception", text, proof, end.beyond)
    what = _what(scene, end.thrown)
    behind = "" if what is None else f": {what}"
    proof += f"; the exception lies at {end.thrown.object:#x}"
    said = end.thrown.type.name + behind
    return Fact("exception", text + behind, proof, end.beyond, said)
