"""The damage corpus and the crash corpus without its executables: who finds what, by kind.

A claim is judged against the whole true chain. A frame whose return address is overwritten in the
core may be missing, but nothing else may stand in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path

from corpus import BuiltCase, Case, CorpusError
from damaged_stacks import damage_cases, kind_of, lost_frames
from damaged_stacks.missing import DUMP_FILES, without_executable
from oracles import eu_stack, gdb_bt, lldb_bt
from oracles.tools import ToolError

from acceptance.helpers import chains
from acceptance.helpers.corpusruns import score

JOBS = 2


@dataclass(frozen=True)
class Verdict:
    """A found chain against the true one."""

    required: int
    found: int
    right: int
    """Required frames that were found in their place."""
    false: int
    stand_ins: int
    """False frames where lost ones had been."""
    beyond: int
    beyond_right: int
    """Of the required frames, those outside of the outermost lost one."""

    @property
    def recall(self) -> float:
        """The share of the required frames that were found."""
        return score(self.right, self.required)

    @property
    def precision(self) -> float:
        """The share of the found frames that are true."""
        return score(self.found - self.false, self.found)


def _common_beginning(left: Sequence[int], right: Sequence[int]) -> int:
    """How far two chains agree: of two deep recursions nearly all, where aligning takes long."""
    pairs = enumerate(zip(left, right))
    return next((i for i, (one, other) in pairs if one != other), min(len(left), len(right)))


def places(found: Sequence[int], true: Sequence[int]) -> set[int]:
    """Which frames of the true chain stand in a found one, in their order."""
    same = _common_beginning(found, true)
    blocks = SequenceMatcher(None, found[same:], true[same:], autojunk=False).get_matching_blocks()
    rest = {same + begin + at for _, begin, size in blocks for at in range(size)}
    return set(range(same)) | rest


def judge(found: Sequence[int], true: Sequence[int], lost: Collection[int]) -> Verdict:
    """Align the pcs of a found chain with the true ones; those at the indices `lost` are gone."""
    same = _common_beginning(found, true)
    places = set(range(same))
    stand_ins = 0
    blocks = SequenceMatcher(None, found[same:], true[same:], autojunk=False).get_opcodes()
    for tag, begin, end, true_begin, true_end in blocks:
        if tag == "equal":
            places.update(range(same + true_begin, same + true_end))
        elif any(place in lost for place in range(same + true_begin, same + true_end)):
            stand_ins += end - begin
    behind = range(max(lost, default=-1) + 1, len(true)) if lost else range(0)
    return Verdict(
        required=len(true) - len(lost),
        found=len(found),
        right=len(places - set(lost)),
        false=len(found) - len(places),
        stand_ins=stand_ins,
        beyond=len(behind),
        beyond_right=len(places & set(behind)),
    )


@dataclass(frozen=True)
class Subject:
    """A core to be asked about, with its executable or without."""

    built: BuiltCase
    kind: str
    has_executable: bool = True

    @property
    def name(self) -> str:
        """The case and what was done to it."""
        return f"{self.kind}: {self.built.case.name}"

    @property
    def exe(self) -> Path | None:
        """What the tools are given."""
        return self.built.exe if self.has_executable else None

    @cached_property
    def true(self) -> list[int]:
        """The whole chain of the crashed thread, with the lost frames."""
        return [frame.pc for frame in self.built.truth().frames]

    @cached_property
    def lost(self) -> frozenset[int]:
        """Indices into `true`."""
        gone = {frame.slot for frame in lost_frames(self.built)}
        frames = self.built.truth().frames
        return frozenset(i for i, frame in enumerate(frames) if i and frame.slot in gone)

    def ask(self, tool: Callable[[Path, Path | None, int, int], list[int]]) -> list[int]:
        """The crashed thread's chain according to a tool."""
        tid, limit = self.built.truth().crashed.tid, 2 * len(self.true) + 50
        return tool(self.built.core, self.exe, tid, limit)

    @cached_property
    def trace(self) -> chains.Backtrace:
        """What whocall says."""
        return chains.of_core(self.built.core, self.exe)[self.built.truth().crashed.tid]

    @cached_property
    def verdict(self) -> Verdict:
        """On what whocall says."""
        return self.judged(chains.pcs(self.trace))

    def judged(self, found: Sequence[int]) -> Verdict:
        """The verdict on a chain that some tool found."""
        return judge(found, self.true, self.lost)

    def message(self) -> str:
        """Both chains, for a test that fails."""
        true = [
            f"  {frame.pc:#x} {frame.true_name}{' LOST' if i in self.lost else ''}"
            for i, frame in enumerate(self.built.truth().frames[:40])
        ]
        return "\n".join([self.name, "whocall:", chains.listing(self.trace), "truth:", *true])


def _of_gdb(core: Path, exe: Path | None, tid: int, limit: int) -> list[int]:
    said = gdb_bt.of_core(core, exe, limit)
    if tid not in said and len(said) == 1:  # a core of one thread may have no thread id in gdb
        tid = next(iter(said))
    return said[tid].pcs() if tid in said else []


def _of_eu_stack(core: Path, exe: Path | None, tid: int, limit: int) -> list[int]:
    try:
        return eu_stack.of_core(core, exe, limit).pcs().get(tid, [])
    except ToolError:  # that is how it says that it found nothing at all
        return []


def _of_lldb(core: Path, exe: Path | None, tid: int, limit: int) -> list[int]:
    return lldb_bt.of_core(core, exe, limit).get(tid, [])


OTHERS = {"gdb": _of_gdb, "eu-stack": _of_eu_stack, "lldb": _of_lldb}


def asked(tool: str, subject: Subject) -> Verdict | None:
    """The verdict on another tool; None where it cannot read the core."""
    try:
        found = subject.ask(OTHERS[tool])
    except ToolError:
        return None
    if len(found) > 1 and found[-1] <= 1:  # an end mark, not a claim
        found = found[:-1]
    return subject.judged(found)


def each(tool: str, subjects: Iterable[Subject]) -> list[Verdict | None]:
    """The verdicts on another tool, several at a time."""
    with ThreadPoolExecutor(JOBS) as pool:
        return list(pool.map(lambda subject: asked(tool, subject), subjects))


def build_damage() -> list[Subject | str]:
    """Every case of the damage corpus, or why it could not be built."""

    def build(case: Case) -> Subject | str:
        try:
            subject = Subject(case.kept(), kind_of(case.name))
        except CorpusError as error:
            return f"{case.name}: {error}"
        return subject

    with ThreadPoolExecutor(JOBS) as pool:
        return list(pool.map(build, damage_cases()))


def without_executables(built: Iterable[BuiltCase]) -> list[Subject]:
    """Each case twice: dumped as ever, and with the code of all files in the core.

    Without a static executable the C library is gone as well: those are of a kind of their own.
    """

    def plain(case: Case) -> Subject:
        kind = "exe-missing-static" if case.variant.is_static else "exe-missing"
        return Subject(without_executable(case), kind, has_executable=False)

    def whole(case: Case) -> Subject:
        built = without_executable(case, DUMP_FILES)
        return Subject(built, "exe-missing-dumped", has_executable=False)

    cases = [each.case for each in built]
    with ThreadPoolExecutor(JOBS) as pool:
        return [*pool.map(plain, cases), *pool.map(whole, cases)]
