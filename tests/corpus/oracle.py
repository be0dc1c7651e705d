"""The truth of a case: three voices combined, none of them the product.

gdb (with the twin's symbols) is believed where its chain holds every record of the program's own shadow stack, in order,
and nothing impossible; else eu-stack under the same conditions; else the records themselves, with the outermost frames of
whichever voice has them.  Where none is possible the case is broken, loudly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corpus.build import Binaries, CorpusError
from corpus.catalog import Program
from corpus.corefile import Core, CoreThread
from corpus.frames import TrueFrame, true_frames
from corpus.judge import complaints, from_shadow, is_outermost
from corpus.names import ModuleMap
from corpus.shadow import Record, read_shadows, recorded_functions
from corpus.voices import Claim, ask_eu_stack, ask_gdb


@dataclass(frozen=True)
class ThreadTruth:
    """The true chain of one thread, innermost frame first."""

    tid: int
    signal: int
    frames: tuple[TrueFrame, ...]
    decided_by: str
    """gdb+eu-stack (they agree), gdb, eu-stack, or shadow; the last with +gdb or +eu-stack for borrowed frames."""
    complete: bool
    """Whether the last frame is known to be the outermost one."""
    errors: dict[str, tuple[str, ...]]
    """What is wrong with the voices that were not believed."""

    def names(self) -> list[str | None]:
        """True names, innermost first."""
        return [frame.true_name for frame in self.frames]


@dataclass(frozen=True)
class Truth:
    """The truth of a core: its threads, the crashed one first."""

    threads: tuple[ThreadTruth, ...]

    @property
    def crashed(self) -> ThreadTruth:
        """The thread that took the signal."""
        return self.threads[0]

    @property
    def frames(self) -> tuple[TrueFrame, ...]:
        """The crashed thread's chain."""
        return self.crashed.frames

    @property
    def decided_by(self) -> str:
        """The voice that was believed for the crashed thread."""
        return self.crashed.decided_by


class _Case:
    """What all threads of one core share."""

    def __init__(self, core: Core, program: Program, binaries: Binaries) -> None:
        self.core = core
        self.modules = ModuleMap(core, binaries)
        self.shadows = read_shadows(core, program, binaries, self.modules)
        self.recorded = recorded_functions(program)
        self.voices = {"gdb": ask_gdb(binaries.twin, core.path), "eu-stack": ask_eu_stack(binaries.twin, core.path)}

    def faults(self, frames: Sequence[TrueFrame], thread: CoreThread) -> list[str]:
        records = self.shadows.get(thread.tid, [])
        return complaints(frames, thread, records, self.recorded, self.core)

    def thread(self, thread: CoreThread) -> ThreadTruth:
        chains = {voice: true_frames(said.get(thread.tid, []), self.modules, voice)
                  for voice, said in self.voices.items()}
        errors = {voice: tuple(self.faults(frames, thread)) for voice, frames in chains.items()}
        believed = [voice for voice in chains if not errors[voice]]
        # A chain that reaches the outermost frame is preferred to one that stops before it.
        believed.sort(key=lambda voice: not is_outermost(chains[voice][-1]))
        if believed:
            frames = chains[believed[0]]
            agree = all([f.pc for f in chains[voice]] == [f.pc for f in frames] for voice in chains)
            return self._truth(thread, frames, "gdb+eu-stack" if agree else believed[0], errors)
        return self._by_records(thread, chains, errors)

    def _by_records(self, thread: CoreThread, chains: dict[str, list[TrueFrame]],
                    errors: dict[str, tuple[str, ...]]) -> ThreadTruth:
        records: list[Record] = self.shadows.get(thread.tid, [])
        own = from_shadow(thread, records)
        candidates = []
        for voice, frames in chains.items():
            tail = _tail_beyond(own[-1], frames)
            candidates.append((f"shadow+{voice}" if tail else "shadow",
                               true_frames(map(Claim, [*own, *tail]), self.modules, "shadow")))
        candidates.sort(key=lambda one: (not is_outermost(one[1][-1]), -len(one[1])))
        reasons = []
        for decided, frames in candidates:
            faults = self.faults(frames, thread)
            if not faults:
                return self._truth(thread, frames, decided, errors)
            reasons.append(f"{decided}: {'; '.join(faults)}")
        reasons += [f"{voice}: {'; '.join(faults)}" for voice, faults in errors.items()]
        raise CorpusError(f"{self.core.path}: no consistent truth for thread {thread.tid}\n  " + "\n  ".join(reasons))

    @staticmethod
    def _truth(thread: CoreThread, frames: Sequence[TrueFrame], decided: str,
               errors: dict[str, tuple[str, ...]]) -> ThreadTruth:
        complete = is_outermost(frames[-1])
        return ThreadTruth(thread.tid, thread.signal, tuple(frames), decided, complete, errors)


def _tail_beyond(pc: int, frames: Sequence[TrueFrame]) -> list[int]:
    """The frames that a voice has outside of the given return address."""
    at = next((i for i, frame in enumerate(frames) if frame.pc == pc), None)
    return [] if at is None else [frame.pc for frame in frames[at + 1 :]]


def truth_of(core: Core, program: Program, binaries: Binaries) -> Truth:
    """Find the true chains of all threads; CorpusError where there is no consistent one."""
    case = _Case(core, program, binaries)
    if not core.threads:
        raise CorpusError(f"{core.path}: no threads")
    return Truth(tuple(case.thread(thread) for thread in core.threads))
