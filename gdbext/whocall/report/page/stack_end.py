"""A stack that is used up.

That the fault lies near the stack does not prove it: an index below an array reaches the guard page
too, with the stack pointer far above. So the stack pointer itself has to have left the stack, or to
stand where the next push does.
"""

from __future__ import annotations

from typing import NamedTuple

from whocall.report.backtrace.cycles import gaps
from whocall.report.page.faults import KERNEL, is_x86
from whocall.report.page.scene import Fact, Scene

NEAR = 1 << 16  # bytes below the stack: a page or some that guard it, and a frame
LARGEST_FRAME = 1 << 30  # bytes: what is further off is no frame but a bad stack pointer
_INNERMOST = 8  # frames, of which one tells what the stack is


class StackEnd(NamedTuple):
    """A stack that is used up: from where to where it reaches."""

    begin: int
    end: int


def _pushed(arch: str) -> int:
    """Bytes below the stack pointer that an instruction may touch: what it pushes, the red zone,
    and the frame that PowerPC's `stdu` makes.
    """
    if is_x86(arch):
        return 128 + 8
    return 1 << 15 if arch.startswith("ppc") else 512


def _stack(scene: Scene) -> StackEnd | None:
    """What the innermost frames lie in, where that is above the stack pointer or around it."""
    for at, frame in enumerate(scene.trace.frames[:_INNERMOST]):
        if frame.cfa is None or frame.trust == "scan":
            continue
        mapping = scene.mapping_at(frame.cfa)
        if mapping is None or "w" not in mapping[2]:
            continue
        furthest = LARGEST_FRAME if at == 0 else NEAR
        close = mapping[0] - scene.sp <= furthest and scene.sp < mapping[1]
        return StackEnd(mapping[0], mapping[1]) if close else None
    return None


def used_up(scene: Scene) -> StackEnd | None:
    """The stack of a thread that crashed because there is no more of it."""
    if scene.signal not in ("SIGSEGV", "SIGBUS") or scene.was_sent:
        return None
    stack = _stack(scene)
    if stack is None or scene.image.native.partial_map:  # where the stack begins is not known
        return None
    if scene.fault is None:
        # With a handler for the signal, but without a stack for it, the kernel finds no room to
        # call it, and ends the program without telling the address.
        beyond = scene.sp - scene.image.word_size
        return stack if scene.code == KERNEL and _is_beyond(scene, stack, beyond) else None
    if scene.fault < scene.sp - _pushed(scene.image.arch):
        return None
    return stack if _is_beyond(scene, stack, scene.fault) else None


def may_be_used_up(scene: Scene) -> bool:
    """Whether the access that faulted may be the stack's growth, of which too little is known."""
    fault, sp = scene.fault, scene.sp
    if fault is None or not sp - _pushed(scene.image.arch) <= fault < sp + NEAR:
        return False
    if scene.operation is not None and scene.operation.flow == "leave":  # a return grows nothing
        return False
    return scene.image.native.partial_map or not scene.is_writable(sp)


def _is_beyond(scene: Scene, stack: StackEnd, address: int) -> bool:
    """Whether it lies below the stack, where no memory is: a guard has no permissions."""
    hit = scene.mapping_at(address)
    return address < stack.begin and (hit is None or not set("rwx") & set(hit[2]))


def _size(count: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count} bytes"


def stack_overflow(scene: Scene) -> Fact | None:
    """The fault lies right below the thread's stack, and so does the stack pointer."""
    stack = used_up(scene)
    if stack is None:
        return None
    frames = scene.trace.frames
    last = frames[-1].cfa  # other memory may follow the stack right away
    end = last if last is not None and stack.begin < last <= stack.end else stack.end
    text = f"the stack overflowed: {_size(end - stack.begin)} are used up by {len(frames):,} frames"
    runs = max(gaps(frames), key=lambda gap: gap.end - gap.begin, default=None)
    if runs is not None:
        cycle = frames[runs.begin - runs.period : runs.begin]
        names = list(dict.fromkeys(frame.shown for frame in cycle))
        many = f" and {len(names) - 3} more" if len(names) > 3 else ""
        text += f", {runs.end - runs.begin + runs.period:,} of them a recursion of "
        text += ", ".join(names[:3]) + many
    if stack.begin - scene.sp > NEAR:
        text += f"; {frames[0].shown} takes {_size(stack.begin - scene.sp)} more"
    told = "the kernel tells no address"
    if scene.fault is not None:
        told = f"the fault's address {scene.fault:#x} lies below it"
    return Fact(
        "stack-overflow",
        text,
        f"the stack begins at {stack.begin:#x}, {told}, and the stack pointer is {scene.sp:#x}",
    )
