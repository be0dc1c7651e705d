"""Programs whose own code no unwind table describes: what is sure about their frames, with the
unwind tables of all other code and with those hidden.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from oracles import eu_stack, frame_pointers
from stock.program import StockCore, StockProgram
from stock.runtimes import LEVELS, runtimes

from acceptance.helpers import chains
from whocall.base.process_image import Walk

if TYPE_CHECKING:
    from whocall.base.model import Backtrace, Frame

PROGRAMS = {program.name: program for program in runtimes()}

MOST_FURTHER = 5
"""Frames that a walk may find beside those that frame pointers link: functions without a frame."""

GUESSED_END = "has given up its return address"


class RuntimeCores:
    """The cores, each dumped when a test first asks for it."""

    def core(self, name: str) -> StockCore:
        """The core of one program."""
        return PROGRAMS[name].kept()


@pytest.fixture(scope="module")
def cores() -> RuntimeCores:
    """Half a gigabyte."""
    return RuntimeCores()


@pytest.fixture(params=["tables", "hidden"])
def walk(request: pytest.FixtureRequest) -> Walk:
    """With all strategies, and without the unwind tables."""
    without = ("cfi",) if request.param == "hidden" else ()
    return Walk(without=without, past_main=True, lines=False, demangle=False)


def _main_thread(traces: dict[int, Backtrace]) -> Backtrace:
    """The one whose id is the process'."""
    return traces[min(traces)]


def _assert_deep(program: StockProgram, trace: Backtrace) -> None:
    assert len(chains.pcs(trace)) >= program.frames, chains.listing(trace)


def _lisp_pcs(frames: list[eu_stack.EuFrame]) -> list[int]:
    """Those in the image that SBCL maps, which is no ELF file."""
    return [it.pc for it in frames if not it.module or it.module.endswith("/sbcl.core")]


def test_sbcl(cores: RuntimeCores, walk: Walk) -> None:
    """Compiled Lisp keeps rbp in every frame, and eu-stack follows it where no table covers a pc:
    all its frames are true. Assembly routines keep no frame, so few more may be right.

    The main thread enters Lisp on another stack than its own. The table of call_into_lisp leads
    over its caller there; what the code itself leaves behind does not.
    """
    stock = cores.core("sbcl")
    theirs = eu_stack.of_core(stock.core, stock.exe)
    assert theirs.complete
    assert max(len(_lisp_pcs(frames)) for frames in theirs.threads.values()) >= LEVELS
    ours = chains.of_core(stock.core, stock.exe, walk)
    assert ours.keys() == theirs.threads.keys()
    for tid, frames in theirs.threads.items():
        found = chains.pcs(ours[tid])
        true = [frame.pc for frame in frames]
        assert not chains.difference(found, true).missing, chains.listing(ours[tid])
        assert len(found) <= len(frames) + MOST_FURTHER, chains.listing(ours[tid])[-3000:]
    _assert_deep(PROGRAMS["sbcl"], _main_thread(ours))
    names = _functions(chains.physical(_main_thread(ours)))
    if walk.without:
        assert names[names.index("initialize_lisp") - 1] == "create_main_lisp_thread"


def test_shellcheck(cores: RuntimeCores, walk: Walk) -> None:
    """Compiled Haskell has a stack of its own, of which the C stack shows nothing: there are only
    the scheduler, main and the C library, no signal and nothing of the dynamic linker.
    """
    stock = cores.core("shellcheck")
    trace = _main_thread(chains.of_core(stock.core, stock.exe, walk))
    frames = chains.physical(trace)
    listing = chains.listing(trace)
    _assert_deep(PROGRAMS["shellcheck"], trace)
    assert all(frame.trust != "context" for frame in frames[1:]), listing
    modules = {Path(frame.module or "nowhere").name for frame in frames}
    assert {"shellcheck", "libc.so.6"} <= modules, listing
    assert not any(name.startswith("ld-linux") or name == "nowhere" for name in modules), listing
    assert _functions(frames)[-4:] == [
        "main",
        "__libc_start_call_main",
        "__libc_start_main",
        "_start",
    ]


def _functions(frames: list[Frame]) -> list[str]:
    return [frame.function or "??" for frame in frames]


def _exact_chain(stock: StockCore, trace: Backtrace) -> None:
    """That eu-stack, to whose end it got, found the same."""
    theirs = eu_stack.of_core(stock.core, stock.exe)
    assert theirs.complete
    difference = chains.difference(chains.pcs(trace), theirs.pcs()[trace.lwp])
    assert not difference, f"{difference}\n{chains.listing(trace)}"


@pytest.mark.parametrize("name", ["luajit", "luajit-flat"])
def test_luajit(cores: RuntimeCores, walk: Walk, name: str) -> None:
    """The interpreter is one piece of assembler with unwind tables for all of it: eu-stack's chain
    is the truth.
    """
    stock = cores.core(name)
    trace = _main_thread(chains.of_core(stock.core, stock.exe, walk))
    _assert_deep(PROGRAMS[name], trace)
    _exact_chain(stock, trace)


def test_chezscheme(cores: RuntimeCores, walk: Walk) -> None:
    """Scheme has a stack of its own. C code enters it by S_call_help alone, which is therefore the
    innermost function on the C stack. A search finds it; from one place in ten the code of Scheme
    leads to a return to C, and analysis does.
    """
    stock = cores.core("chezscheme")
    trace = _main_thread(chains.of_core(stock.core, stock.exe, walk))
    frames = chains.physical(trace)
    assert frames[0].module is None, "in Scheme"
    assert frames[1].function == "S_call_help", chains.listing(trace)
    assert frames[1].trust in ("scan", "analysis")
    assert "main" in _functions(frames), chains.listing(trace)
    assert frames[-1].function == "_start"


def test_emacs(cores: RuntimeCores, walk: Walk) -> None:
    """Its interpreter of Lisp calls itself, on the C stack."""
    stock = cores.core("emacs")
    trace = _main_thread(chains.of_core(stock.core, stock.exe, walk))
    _assert_deep(PROGRAMS["emacs"], trace)
    _exact_chain(stock, trace)


def test_guile_interpreted(cores: RuntimeCores, walk: Walk) -> None:
    """Interpreted Scheme has a stack of its own; the C stack is that of the interpreter."""
    stock = cores.core("guile-interpreted")
    trace = _main_thread(chains.of_core(stock.core, stock.exe, walk))
    _assert_deep(PROGRAMS["guile-interpreted"], trace)
    _exact_chain(stock, trace)


def test_guile_compiled(cores: RuntimeCores, walk: Walk) -> None:
    """Code that was compiled at run time has one frame on the C stack for each call of Scheme from
    C, however deep it recurs. The same calls as in the interpreter lead there, and one function of
    the library alone enters such code.
    """
    interpreted = cores.core("guile-interpreted")
    frames_there = eu_stack.of_core(interpreted.core, interpreted.exe).threads
    named = [
        frame.name.partition("@")[0] for frame in frames_there[min(frames_there)] if frame.name
    ]
    expected = named[named.index("scm_call_n") :]
    stock = cores.core("guile-compiled")
    trace = _main_thread(chains.of_core(stock.core, stock.exe, walk))
    frames = chains.physical(trace)
    listing = chains.listing(trace)
    _assert_deep(PROGRAMS["guile-compiled"], trace)
    names = _functions(frames)
    assert [it for it in names[names.index("scm_call_n") :] if it in expected] == expected, listing
    generated = [number for number, frame in enumerate(frames) if frame.module is None]
    if generated[:2] == [0, 1]:  # in a routine that such code has in common, and calls
        assert "call-target" in frames[1].evidence, listing
        del generated[0]
    assert len(generated) == expected.count("scm_call_n"), listing
    assert len({frames[number + 1].pc for number in generated}) == 1, listing
    libraries = {Path(frame.module).name.partition(".")[0] for frame in frames if frame.module}
    libraries -= {"[vdso]"}  # it looks at the clock now and then
    assert libraries == {"guile", "libguile-3", "libgc", "libc"}, listing


def test_valgrind(cores: RuntimeCores, walk: Walk) -> None:
    """Code that the tool made runs above two functions of the scheduler, which are the outermost
    ones in a system call as well: there eu-stack's chain is the truth. Between them are at most the
    three that give the lock away, and what calls the kernel.
    """
    waiting = cores.core("valgrind-call")
    trace = _main_thread(chains.of_core(waiting.core, waiting.exe, walk))
    _assert_deep(PROGRAMS["valgrind-call"], trace)
    _exact_chain(waiting, trace)
    outermost = chains.physical(trace)[-2:]
    stock = cores.core("valgrind")
    trace = _main_thread(chains.of_core(stock.core, stock.exe, walk))
    frames = chains.physical(trace)
    assert PROGRAMS["valgrind"].frames <= len(frames) <= 7, chains.listing(trace)
    assert {frame.module for frame in frames} <= {None, outermost[0].module}
    assert frames[-1].pc == outermost[1].pc, chains.listing(trace)
    assert frames[-2].function == outermost[0].function, chains.listing(trace)


def test_java(cores: RuntimeCores, walk: Walk) -> None:
    """HotSpot's interpreter keeps rbp in every frame, but returns to table entries that no call
    stands before. The chain of rbp is the truth as long as it is in generated code.
    """
    stock = cores.core("java")
    levels = PROGRAMS["java"].frames
    linked = frame_pointers.of_generated_code(stock.core)
    assert [tid for tid, pcs in linked.items() if len(pcs) > levels], "none in deep recursion"
    ours = chains.of_core(stock.core, stock.exe, walk)
    for tid, pcs in linked.items():
        assert chains.pcs(ours[tid])[: len(pcs)] == pcs, chains.listing(ours[tid])
    for trace in ours.values():
        assert GUESSED_END not in (trace.stop.detail or ""), chains.listing(trace)


def test_java_threads_that_wait(cores: RuntimeCores, walk: Walk) -> None:
    """The runtime's own threads wait in C code; where they came through interpreted code, eu-stack
    follows rbp as well: all its frames are true.
    """
    stock = cores.core("java")
    theirs = eu_stack.of_core(stock.core, stock.exe)
    assert theirs.complete
    ours = chains.of_core(stock.core, stock.exe, walk)
    assert ours.keys() == theirs.threads.keys()
    for tid, pcs in theirs.pcs().items():
        assert not chains.difference(chains.pcs(ours[tid]), pcs).missing, chains.listing(ours[tid])
