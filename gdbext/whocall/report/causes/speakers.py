"""By what the runtimes that end a program show on its stack: names of functions, and words that
their code refers to. Who asks for this alone does not pay for a closer look.
"""

from __future__ import annotations

from whocall.base.model import rows

TYPE_CHECKING = False

if TYPE_CHECKING:
    import whocall._native as native
    from whocall.base.model import Backtrace

# What functions of libraries say, as their constants begin. glibc's assert(), musl's, that of
# libstdc++'s containers, glibc's checks of buffers, and what takes any text.
GLIBC_ASSERTS = b"%s%s%s:%u: %s%sAssertion `%s' failed.\n"
LATER_GLIBC_ASSERTS = b"%s%s%s:%s: %s%sAssertion `%s' failed.\n"  # the line is a text, from 2.43 on
MUSL_ASSERTS = b"Assertion failed: %s (%s: %s: %d)\n\0"
CXX_ASSERTS = b"%s:%d: %s: Assertion '%s' failed.\n\0"
CHECKS, ANY_TEXT = b"*** %s ***: terminated\n\0", b"%s\n\0"
# The handler of std::terminate() in libstdc++ and in libc++abi.
TERMINATE_SAYS = (
    *(b"  what():  \0", b"terminate called without an active exception\n\0"),
    *(b"terminate called recursively\n\0", b"terminate called after throwing an instance of '\0"),
    *(b"terminating with %s exception of type %s: %s\0", b"terminating with %s exception of type"),
    *(b"terminating due to %s exception of type %s: %s\0", b"terminating due to %s exception of"),
)
# Rust's panic where one comes to another: before 1.81 and from then on.
PANIC_SAYS = (
    b"thread panicked while panicking. aborting.\n",
    b"thread caused non-unwinding panic. aborting.\n",
    b"thread panicked while processing panic. aborting.\n",
)
# Its handler of faults, of one release or another.
OVERFLOW_SAYS = (
    b"\nthread '' has overflowed its stack\n",
    b"fatal runtime error: stack overflow",
)
PYTHON_SAYS = (b"Fatal Python error: \0",)

_SAYS = (
    *(GLIBC_ASSERTS, LATER_GLIBC_ASSERTS, MUSL_ASSERTS, CXX_ASSERTS, CHECKS, ANY_TEXT),
    *(*TERMINATE_SAYS, *PANIC_SAYS, *OVERFLOW_SAYS, *PYTHON_SAYS),
)
# Parts of the names that prove the same.
_NAMES = (
    *("runtime.gopanic", "runtime.throw", "runtime.fatal", "std::panicking::"),
    *("terminate", "Py_FatalError"),
)
_DEEPEST = 32  # frames whose code is looked at: more of their own no runtime has
_ABORT = ("abort", "__GI_abort")


def may_have_spoken(scene: native.Scene, trace: Backtrace) -> bool:
    """Whether one of the innermost frames may be that of a runtime which says why it ends the
    program. False is a proof, of what the closer look can find.
    """
    frames = list(rows(trace.frames, "function", "aliases", "module"))
    for (function, _, module), (_, _, of_caller) in zip(frames, frames[1:]):
        if function in _ABORT and module == of_caller:
            return True  # the C library's own end, which keeps what it wrote
    names = [name for function, others, _ in frames for name in (function or "", *others)]
    if any(part in name for name in names for part in _NAMES):
        return True
    return any(
        scene.referred_text(at, _SAYS) is not None for at in range(min(_DEEPEST, len(frames)))
    )
