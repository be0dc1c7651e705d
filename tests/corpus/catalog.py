"""The programs of the corpus as data: what to compile, what it needs, and how it must die."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).parent / "programs"
SMALL_STACK = 256 * 1024


@dataclass(frozen=True)
class Program:
    """One crashing program; several may share a source file and differ by its defines."""

    name: str
    source: str
    signal: str = "SIGSEGV"
    defines: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    library: str | None = None
    """Source of a shared library that the program is linked with."""
    glibc_only: bool = False
    bits: int | None = None
    """The only machine on which the program makes sense, if any."""
    compiler: str | None = None
    stack_limit: int | None = None
    """RLIMIT_STACK of the crashing run, in bytes."""
    unrecorded: frozenset[str] = frozenset()
    """Functions of the program itself that may be on the stack without a record."""
    variants: int = 4
    """In how many variants of the matrix to build it."""
    musl_signal: str | None = None
    """The signal with musl, where that differs."""

    only_steps: bool = False
    """Whether the stepper alone knows the truth, since no debugger can."""
    throws: bool = False
    """Whether it cannot live without unwind tables."""

    @property
    def is_cpp(self) -> bool:
        """Whether the C++ compiler builds it."""
        return self.source.endswith(".cpp")


PROGRAMS: tuple[Program, ...] = (
    Program("chain", "chain.c", variants=99),
    Program("abort", "abort_deep.c", "SIGABRT", variants=12),
    Program("assert_fail", "assert_fail.c", "SIGABRT"),
    Program("null_call", "wild_call.c", defines=("TARGET=0",), variants=6),
    Program("wild_call", "wild_call.c", defines=("TARGET=0x41414140",)),
    Program("wild_data", "wild_call.c", defines=("TARGET=wild_data",)),
    Program("recursion", "recursion.c", variants=2),
    Program("recursion_small_stack", "recursion.c", stack_limit=SMALL_STACK),
    Program("threads", "threads.c", variants=6),
    Program("signal_altstack", "signal_altstack.c", "SIGABRT", variants=6),
    Program("signal_timer", "signal_timer.c", "SIGABRT", variants=6),
    Program("signal_nested", "signal_nested.c"),
    Program("exception_uncaught", "exceptions.cpp", "SIGABRT", defines=("MODE=0",), throws=True),
    Program("exception_in_catch", "exceptions.cpp", defines=("MODE=1",), throws=True),
    Program("exception_in_destructor", "exceptions.cpp", defines=("MODE=2",), throws=True),
    Program("exception_noexcept", "exceptions.cpp", "SIGABRT", defines=("MODE=3",), throws=True),
    Program("virtual_calls", "virtual_calls.cpp"),
    Program("shared_library", "shared_library.c", library="shared_library_lib.c", variants=6),
    Program("qsort_callback", "qsort_callback.c"),
    Program("alloca_vla", "alloca_vla.c"),
    Program("varargs", "varargs.c"),
    Program("big_frame", "big_frame.c"),
    Program("registers", "registers.c"),
    Program("leaf", "leaf.c", "SIGFPE"),
    Program(
        "first_instruction_ud2",
        "first_instruction.c",
        "SIGILL",
        defines=('INSTRUCTION="ud2"',),
        unrecorded=frozenset({"stumble"}),
    ),
    Program(
        "first_instruction_int3",
        "first_instruction.c",
        "SIGTRAP",
        defines=('INSTRUCTION="int3"',),
        unrecorded=frozenset({"stumble"}),
        variants=3,
    ),
    Program(
        "libc_strlen",
        "libc_fault.c",
        defines=("FAULT=strlen(bad_pointer)",),
        flags=("-fno-builtin",),
    ),
    Program(
        "libc_memcpy",
        "libc_fault.c",
        defines=("FAULT=memcpy(bad_pointer,buffer,sizeof buffer)",),
        flags=("-fno-builtin",),
    ),
    Program(
        "libc_strtol",
        "libc_fault.c",
        defines=("FAULT=strtol(bad_pointer,0,10)",),
        flags=("-fno-builtin",),
    ),
    Program("long_jump", "long_jump.c"),
    Program("constructor", "constructor.c"),
    Program("atexit_return", "atexit_handler.c", defines=("BY_RETURN=1",)),
    Program("atexit_exit", "atexit_handler.c", defines=("BY_RETURN=0",)),
    Program("small_stack_thread", "small_stack_thread.c"),
    Program("fork_child", "fork_child.c"),
    Program(
        "stack_smash",
        "stack_smash.c",
        "SIGABRT",
        flags=("-fstack-protector-all",),
        unrecorded=frozenset({"overrun"}),
        musl_signal="SIGSEGV",
    ),
    Program("heap_corruption", "heap_corruption.c", "SIGABRT", musl_signal="SIGSEGV"),
    Program("cold_path", "cold_path.c"),
    Program("tail_call", "tail_call.c", unrecorded=frozenset({"forward"})),
    Program("user_context", "user_context.c", glibc_only=True, unrecorded=frozenset({"main"})),
    Program("i386_conventions", "i386_conventions.c", bits=32),
)
