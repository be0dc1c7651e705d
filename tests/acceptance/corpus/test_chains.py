"""Every case of the crash corpus: the chain is the true one, and no name is wrong.

There are two corpora of the same programs. In the first they have unwind tables, in the second they
have none, and each frame has to be found by other means.
"""

from __future__ import annotations

import pytest
from corpus import ThreadTruth, TrueFrame

from acceptance.helpers import chains
from acceptance.helpers.corpusruns import NAMES, Corpora
from whocall import Backtrace, Frame, demangle

EVERY_CASE = [*NAMES[True], *NAMES[False]]


def _message(trace: Backtrace, truth: ThreadTruth) -> str:
    true = [f"  {frame.pc:#x} {frame.true_name}" for frame in truth.frames[:40]]
    return "\n".join(["whocall:", chains.listing(trace), "truth:", *true])


@pytest.mark.parametrize("case_name", EVERY_CASE)
def test_chain_of_the_crashed_thread(case_name: str, corpora: Corpora) -> None:
    """All true frames in their order and nothing else."""
    run = corpora.run(case_name)
    truth = run.built.truth().crashed
    trace = run.stripped[truth.tid]
    message = f"{run.judged.wrong}\n{_message(trace, truth)}"
    assert chains.pcs(trace) == [frame.pc for frame in truth.frames], message


@pytest.mark.parametrize("case_name", EVERY_CASE)
def test_chains_of_the_other_threads(case_name: str, corpora: Corpora) -> None:
    """The bystanders; where the truth does not reach the outermost frame, as far as it reaches."""
    run = corpora.run(case_name)
    threads = run.built.truth().threads
    assert set(run.stripped) == {thread.tid for thread in threads}
    for truth in threads[1:]:
        trace = run.stripped[truth.tid]
        true = [frame.pc for frame in truth.frames]
        found = chains.pcs(trace)
        assert (found if truth.complete else found[: len(true)]) == true, _message(trace, truth)


def _is_number(name: str | None) -> bool:
    """No name: nothing, or only where the function starts."""
    return name is None or name.startswith("sub_")


def _is_true(ours: Frame, true: TrueFrame) -> bool:
    """A slot of a virtual table tells the class, and that of an array no name at all."""
    if ours.name_source == "initializer":
        return True
    owner, slot, _ = (ours.function or "").partition("::[slot ")
    if ours.name_source == "vtable" and slot:
        return any(demangle(name).startswith(f"{owner}::") for name in true.true_names)
    return ours.function in true.true_names


def _complaint(ours: Frame, true: TrueFrame, must: tuple[str, ...]) -> str | None:
    """What is wrong with the name of a frame that has to carry one of the names `must`, if any.

    A name is wrong as well when it contradicts the twin: no name would be better.
    """
    if ours.signal_trampoline != true.is_signal_frame:
        return f"{ours.pc:#x}: trampoline or not"
    if true.is_signal_frame:
        return None
    if must and ours.function not in {*must, *true.true_names}:
        return f"{ours.pc:#x}: {ours.function} ({ours.name_source}) instead of {must}"
    if not _is_number(ours.function) and not _is_true(ours, true):
        return f"{ours.pc:#x}: {ours.function} ({ours.name_source}), in truth {true.true_names}"
    return None


def _complaints(trace: Backtrace, truth: ThreadTruth, named: str | None) -> list[str]:
    """The wrong names of a backtrace; functions of the module `named` must have their true names.

    Elsewhere only what the stripped files export can be asked for. Frames are paired by position
    from the innermost on, as far as the chain is true.
    """
    found = []
    for ours, true in zip(chains.physical(trace), truth.frames):
        if ours.pc != true.pc:
            break
        must = true.true_names if true.module == named else true.visible_names
        complaint = _complaint(ours, true, must)
        if complaint:
            found.append(complaint)
    return found


@pytest.mark.parametrize("case_name", EVERY_CASE)
def test_names(case_name: str, corpora: Corpora) -> None:
    """Exported functions have their names, and nothing has a name that is not its own."""
    run = corpora.run(case_name)
    for truth in run.built.truth().threads:
        complaints = _complaints(run.stripped[truth.tid], truth, named=None)
        assert not complaints, "\n".join(complaints[:20])


@pytest.mark.parametrize("case_name", EVERY_CASE)
def test_names_with_the_unstripped_program(case_name: str, corpora: Corpora) -> None:
    """Given the twin, every function of the program has its true name."""
    run = corpora.run(case_name)
    module = str(run.built.exe.resolve())
    named = 0
    for truth in run.built.truth().threads:
        trace = run.with_twin[truth.tid]
        complaints = _complaints(trace, truth, named=module)
        assert not complaints, "\n".join(complaints[:20])
        named += sum(not _is_number(frame.function) for frame in trace.frames)
    assert named, "not one frame has a name"
