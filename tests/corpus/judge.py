"""Whether a chain of frames can be true, given what the program itself recorded."""

from __future__ import annotations

from collections.abc import Sequence

from corpus.corefile import CoreThread
from corpus.frames import TrueFrame
from corpus.names import ModuleMap
from corpus.shadow import Record

OUTERMOST = frozenset(
    {
        "_start",
        "__start",
        "clone",
        "clone3",
        "__clone",
        "__clone3",
        "__GI___clone",
        "__GI___clone3",
        "__start_context",
        "makecontext",
        "_dl_start_user",
        "_dlstart",
    }
)


def is_function(frame: TrueFrame, name: str) -> bool:
    """Whether the frame runs the function called so in the source (mangled names contain it)."""
    return any(name in symbol for symbol in frame.true_names)


def is_outermost(frame: TrueFrame) -> bool:
    """Whether nothing can call this frame's function: the kernel or a context switch began it."""
    return any(name in OUTERMOST for name in frame.true_names)


def complaints(
    frames: Sequence[TrueFrame],
    thread: CoreThread,
    records: Sequence[Record],
    recorded: set[str],
    modules: ModuleMap,
) -> list[str]:
    """Why the chain cannot be true; empty when it can.

    Records are matched from the outermost inwards: in a recursion that overflowed in a prologue,
    the innermost frame has no record yet, and every return address is the same. A return through an
    overwritten word may have left code altogether: the wild pc then stands for its caller.
    """
    if not frames or frames[0].pc != thread.pc:
        return [f"does not begin at the thread's pc {thread.pc:#x}"]
    found = []
    callees: set[int] = set()
    end = len(frames)
    for record in reversed(records):
        caller = next(
            (i for i in range(end - 1, 0, -1) if frames[i].pc == record.return_address), None
        )
        if caller is None:
            found.append(f"lacks {record.function}'s return address {record.return_address:#x}")
            continue
        returned_astray = caller == 1 and not modules.is_code(frames[0].pc)
        if not returned_astray and not is_function(frames[caller - 1], record.function):
            instead = frames[caller - 1].function
            found.append(f"{instead} instead of {record.function} below {record.return_address:#x}")
        callees.add(caller - 1)
        end = caller
    for i, frame in enumerate(frames):
        if i and not modules.is_code(frame.pc):
            found.append(f"frame {i} at {frame.pc:#x} is not in code")
        if i not in callees and not frame.is_exact and frame.true_name in recorded:
            found.append(f"frame {i} in {frame.function} left no record")
        if i and is_outermost(frame) and i != len(frames) - 1:  # frame 0 may be calling clone
            found.append(f"frames beyond {frame.function}")
    return found
