"""The truth of a case: several voices combined, none of them the product.

The stepper, where it watched the very process that crashed, saw each call happen; then comes gdb
with the twin's symbols, then eu-stack, then the bare records of the program's own shadow stack.
The first voice is believed whose chain holds every record, in order, and nothing impossible.
Where there is none the case is broken, loudly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus.build import Binaries, CorpusError
from corpus.catalog import Program
from corpus.corefile import Core, CoreThread
from corpus.frames import TrueFrame, true_frames
from corpus.judge import complaints, is_outermost
from corpus.names import ModuleMap
from corpus.shadow import read_shadows, recorded_functions
from corpus.stepper import read_steps
from corpus.voices import Chain, Claim, ask_eu_stack, ask_gdb


@dataclass(frozen=True)
class ThreadTruth:
    """The true chain of one thread, innermost frame first."""

    tid: int
    signal: int
    frames: tuple[TrueFrame, ...]
    decided_by: str
    """The believed voice, then `+` each that says exactly the same: `gdb+eu-stack`, `steps+gdb`."""
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

    def __init__(
        self, core: Core, program: Program, binaries: Binaries, steps: Path | None
    ) -> None:
        self.core = core
        self.modules = ModuleMap(core, binaries)
        self.shadows = read_shadows(core, program, binaries, self.modules)
        self.recorded = recorded_functions(program)
        self._steps = read_steps(steps) if steps else {}
        debuggers = {"gdb": ask_gdb, "eu-stack": ask_eu_stack}
        self._said = {
            name: {} if program.only_steps else ask(binaries.twin, core.path)
            for name, ask in debuggers.items()
        }

    def voices(self, thread: CoreThread) -> dict[str, dict[int, Chain]]:
        """What each voice says, the most trusted one first."""
        said = dict(self._said)
        if thread.tid in self._steps:
            callers = self._steps[thread.tid]
            said = {"steps": {thread.tid: [Claim(thread.pc), *callers]}, **said}
        own = [
            Claim(thread.pc),
            *(Claim(record.return_address) for record in self.shadows.get(thread.tid, [])),
        ]
        return {**said, "shadow": {thread.tid: own}}

    def faults(self, frames: Sequence[TrueFrame], thread: CoreThread) -> list[str]:
        records = self.shadows.get(thread.tid, [])
        return complaints(frames, thread, records, self.recorded, self.modules)

    def thread(self, thread: CoreThread) -> ThreadTruth:
        chains = {
            voice: true_frames(said.get(thread.tid, []), self.modules, voice)
            for voice, said in self.voices(thread).items()
        }
        errors = {voice: tuple(self.faults(frames, thread)) for voice, frames in chains.items()}
        believed = next((voice for voice in chains if not errors[voice]), None)
        if believed is None:
            reasons = "".join(
                f"\n  {voice}: {'; '.join(faults)}" for voice, faults in errors.items()
            )
            raise CorpusError(
                f"{self.core.path}: no consistent truth for thread {thread.tid}{reasons}"
            )
        frames = chains[believed]
        agreeing = [
            voice for voice in chains if [f.pc for f in chains[voice]] == [f.pc for f in frames]
        ]
        complete = believed == "steps" or is_outermost(frames[-1])
        return ThreadTruth(
            thread.tid, thread.signal, tuple(frames), "+".join(agreeing), complete, errors
        )


def truth_of(core: Core, program: Program, binaries: Binaries, steps: Path | None = None) -> Truth:
    """Find the true chains of all threads; CorpusError where there is no consistent one."""
    case = _Case(core, program, binaries, steps)
    if not core.threads:
        raise CorpusError(f"{core.path}: no threads")
    return Truth(tuple(case.thread(thread) for thread in core.threads))
